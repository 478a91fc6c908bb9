"""Write a tiny model's folder as a GGUF file; run by the environment of the llama.cpp peer.

It needs the package gguf, which Lockstep does not; so nothing of `lockstep` is imported.
"""

import json
import sys
from pathlib import Path

import gguf
import numpy as np

NAMES = {
    "model.embed_tokens.weight": "token_embd.weight",
    "model.norm.weight": "output_norm.weight",
    "lm_head.weight": "output.weight",
}
LAYER = {
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}
STORED = {"F32": np.dtype("<f4"), "F16": np.dtype("<f2")}


def tensors(path: Path) -> dict[str, np.ndarray]:
    """Read a safetensors file of float32 or float16."""
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    found = {}
    for name, entry in json.loads(data[8 : 8 + length]).items():
        if name != "__metadata__":
            first, last = (8 + length + offset for offset in entry["data_offsets"])
            values = np.frombuffer(data[first:last], STORED[entry["dtype"]])
            found[name] = values.reshape(entry["shape"])
    return found


def renamed(name: str) -> str:
    """Give GGUF's name of a tensor.

    Raises:
        KeyError: it has none here.
    """
    if name in NAMES:
        return NAMES[name]
    _, _, layer, part = name.split(".", 3)
    return f"blk.{layer}.{LAYER[part.removesuffix('.weight')]}.weight"


def write(folder: Path, target: Path) -> None:
    """Write `target` from the folder of a Qwen3 model whose tokens are never merged."""
    config = json.loads((folder / "config.json").read_bytes())
    tokenizer = json.loads((folder / "tokenizer.json").read_bytes())
    vocabulary = sorted(tokenizer["model"]["vocab"].items(), key=lambda entry: entry[1])
    out = gguf.GGUFWriter(target, "qwen3")
    out.add_name(folder.name)
    out.add_context_length(config["max_position_embeddings"])
    out.add_embedding_length(config["hidden_size"])
    out.add_block_count(config["num_hidden_layers"])
    out.add_feed_forward_length(config["intermediate_size"])
    out.add_head_count(config["num_attention_heads"])
    out.add_head_count_kv(config["num_key_value_heads"])
    out.add_key_length(config["head_dim"])
    out.add_value_length(config["head_dim"])
    out.add_rope_freq_base(config["rope_theta"])
    out.add_layer_norm_rms_eps(config["rms_norm_eps"])
    out.add_vocab_size(config["vocab_size"])
    stored = tensors(folder / "model.safetensors")
    half = any(values.dtype == STORED["F16"] for values in stored.values())
    out.add_file_type(gguf.LlamaFileType.MOSTLY_F16 if half else gguf.LlamaFileType.ALL_F32)
    out.add_tokenizer_model("gpt2")
    out.add_tokenizer_pre("gpt-2")
    out.add_token_list([text for text, _ in vocabulary])
    out.add_token_types([gguf.TokenType.NORMAL] * len(vocabulary))
    # The reader asks for a list that is not empty, and takes a
    # merge whose result is in no vocabulary for none.
    out.add_token_merges(["! !"])
    out.add_eos_token_id(config["eos_token_id"][0])
    out.add_add_bos_token(False)
    for name, values in sorted(stored.items()):
        # Vectors are norms, which are computed in float32 whatever the rest is stored in.
        out.add_tensor(renamed(name), values.astype(np.float32) if values.ndim == 1 else values)
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()


if __name__ == "__main__":
    write(Path(sys.argv[1]), Path(sys.argv[2]))
