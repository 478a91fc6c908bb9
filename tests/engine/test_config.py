"""Configurations [MODEL-2] [MODEL-4] to [MODEL-9]: each demand, and each refusal with its key."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lockstep.engine.checkpoint import read_config
from lockstep.engine.config import ModelConfig
from lockstep.errors import LockstepError

# config.json as published with Qwen3-0.6B.
QWEN3_06B = Path(__file__).with_name("qwen3-0.6b.json").read_text("utf-8")
GENERATION = """{
  "bos_token_id": 151643,
  "do_sample": true,
  "eos_token_id": [151645, 151643],
  "pad_token_id": 151643,
  "temperature": 0.6,
  "top_k": 20,
  "top_p": 0.95,
  "transformers_version": "4.51.0"
}"""
ABSENT = object()


def read(folder: Path, changes: dict[str, Any] | None = None) -> ModelConfig:
    document = json.loads(QWEN3_06B) | (changes or {})
    kept = {key: value for key, value in document.items() if value is not ABSENT}
    (folder / "config.json").write_text(json.dumps(kept), "utf-8")
    return read_config(folder)[0]


def refused(folder: Path, changes: dict[str, Any]) -> LockstepError:
    with pytest.raises(LockstepError) as caught:
        read(folder, changes)
    assert caught.value.pointer.startswith(f"{folder / 'config.json'}:/")
    return caught.value


def test_a_published_configuration(tmp_path: Path) -> None:
    (tmp_path / "generation_config.json").write_text(GENERATION, "utf-8")
    assert read(tmp_path) == ModelConfig(
        vocab_size=151936,
        hidden_size=1024,
        intermediate_size=3072,
        layers=28,
        heads=16,
        kv_heads=8,
        head_dim=128,
        rms_norm_eps=1e-6,
        rope_theta=1e6,
        tie_word_embeddings=True,
        max_position_embeddings=40960,
        eos_token_ids=(151643, 151645),
    )


def test_files_are_digested_and_generation_config_is_optional(tmp_path: Path) -> None:
    assert read(tmp_path).eos_token_ids == (151645,)
    assert set(read_config(tmp_path)[1]) == {"config.json"}
    (tmp_path / "generation_config.json").write_text(GENERATION, "utf-8")
    assert set(read_config(tmp_path)[1]) == {"config.json", "generation_config.json"}


@pytest.mark.parametrize(
    ("own", "generation", "stops"),
    [
        (7, None, (7,)),
        ([9, 2, 9], None, (2, 9)),
        (None, None, ()),
        (ABSENT, None, ()),
        (7, {}, (7,)),
        (7, {"eos_token_id": None}, (7,)),
        (7, {"eos_token_id": [4]}, (4,)),
        (7, {"eos_token_id": []}, ()),
        (0, {"eos_token_id": 151935}, (151935,)),
    ],
)
def test_stop_tokens(
    tmp_path: Path, own: Any, generation: dict[str, Any] | None, stops: tuple[int, ...]
) -> None:
    if generation is not None:
        (tmp_path / "generation_config.json").write_text(json.dumps(generation), "utf-8")
    assert read(tmp_path, {"eos_token_id": own}).eos_token_ids == stops


def test_a_stop_token_of_generation_config_is_refused_there(tmp_path: Path) -> None:
    path = tmp_path / "generation_config.json"
    path.write_text('{"eos_token_id": 151936}', "utf-8")
    with pytest.raises(LockstepError) as caught:
        read(tmp_path)
    assert (caught.value.code, caught.value.pointer) == ("BAD_VALUE", f"{path}:/eos_token_id")


@pytest.mark.parametrize(
    ("changes", "theta"),
    [
        ({"rope_theta": 500000.0}, 500000.0),
        (
            {
                "rope_theta": ABSENT,
                "rope_scaling": ABSENT,
                "rope_parameters": {"rope_theta": 1e4, "rope_type": "default"},
            },
            1e4,
        ),
        ({"rope_parameters": {"rope_theta": 1e6, "rope_type": "default"}}, 1e6),
        ({"rope_scaling": {"type": "default"}}, 1e6),
        ({"rope_parameters": None}, 1e6),
    ],
)
def test_places_of_the_rotary_base(tmp_path: Path, changes: dict[str, Any], theta: float) -> None:
    assert read(tmp_path, changes).rope_theta == theta


def test_what_has_no_effect_may_stand_there(tmp_path: Path) -> None:
    changes = {
        "sliding_window": 4096,
        "max_window_layers": 3,
        "layer_types": ["full_attention"] * 28,
        "quantization_config": None,
        "mlp_bias": False,
        "a_key_of_somebody": {"else": 1},
    }
    assert read(tmp_path, changes) == read(tmp_path)


@pytest.mark.parametrize(
    "key",
    [
        "architectures",
        "model_type",
        "hidden_act",
        "vocab_size",
        "hidden_size",
        "intermediate_size",
        "num_hidden_layers",
        "num_attention_heads",
        "num_key_value_heads",
        "head_dim",
        "rms_norm_eps",
        "rope_theta",
        "max_position_embeddings",
    ],
)
def test_required_keys(tmp_path: Path, key: str) -> None:
    fault = refused(tmp_path, {key: ABSENT})
    assert fault.code == "MISSING_FIELD"
    assert fault.pointer.endswith(f":/{key}")


def test_untied_where_nothing_is_said(tmp_path: Path) -> None:
    assert read(tmp_path, {"tie_word_embeddings": ABSENT}).tie_word_embeddings is False


UNSUPPORTED: list[tuple[str, Any]] = [
    ("architectures", ["LlamaForCausalLM"]),
    ("architectures", ["Qwen3MoeForCausalLM"]),
    ("architectures", ["Qwen3ForCausalLM", "Other"]),
    ("architectures", "Qwen3ForCausalLM"),
    ("model_type", "qwen2"),
    ("hidden_act", "gelu"),
    ("attention_bias", True),
    ("attention_bias", 0),
    ("mlp_bias", True),
    ("use_sliding_window", True),
    ("quantization_config", {"quant_method": "fp8"}),
    ("auto_map", {"AutoModel": "modeling.Model"}),
    ("partial_rotary_factor", 0.5),
    ("layer_types", ["full_attention"] * 27 + ["sliding_attention"]),
    ("layer_types", ["full_attention"] * 27),
    ("layer_types", None),
]


@pytest.mark.parametrize(("key", "value"), UNSUPPORTED)
def test_unsupported(tmp_path: Path, key: str, value: Any) -> None:
    fault = refused(tmp_path, {key: value})
    assert fault.code == "MODEL_UNSUPPORTED"
    assert fault.pointer.endswith(f":/{key}")


@pytest.mark.parametrize("place", ["rope_scaling", "rope_parameters"])
@pytest.mark.parametrize(
    ("name", "value"),
    [("rope_type", "yarn"), ("type", "linear"), ("factor", 4.0), ("partial_rotary_factor", 0.5)],
)
def test_scaled_positions_are_unsupported(
    tmp_path: Path, place: str, name: str, value: Any
) -> None:
    fault = refused(tmp_path, {place: {"rope_theta": 1e6, name: value}})
    assert fault.code == "MODEL_UNSUPPORTED"
    assert fault.pointer.endswith(f":/{place}/{name}")


BAD: list[tuple[str, Any, str]] = [
    ("vocab_size", 0, "BAD_VALUE"),
    ("vocab_size", 2**24 + 1, "BAD_VALUE"),
    ("vocab_size", "151936", "WRONG_TYPE"),
    ("vocab_size", 151936.0, "WRONG_TYPE"),
    ("hidden_size", True, "WRONG_TYPE"),
    ("hidden_size", -1, "BAD_VALUE"),
    ("num_hidden_layers", 1025, "BAD_VALUE"),
    ("num_key_value_heads", 3, "BAD_VALUE"),
    ("num_key_value_heads", None, "WRONG_TYPE"),
    ("head_dim", 127, "BAD_VALUE"),
    ("max_position_embeddings", 2**20 + 1, "BAD_VALUE"),
    ("rms_norm_eps", 0, "BAD_VALUE"),
    ("rms_norm_eps", -1e-6, "BAD_VALUE"),
    ("rms_norm_eps", 1, "BAD_VALUE"),
    ("rms_norm_eps", "1e-6", "WRONG_TYPE"),
    ("tie_word_embeddings", 1, "WRONG_TYPE"),
    ("rope_theta", 0.5, "BAD_VALUE"),
    ("rope_theta", 10**400, "BAD_VALUE"),
    ("rope_theta", None, "WRONG_TYPE"),
    ("rope_scaling", "yarn", "WRONG_TYPE"),
    ("eos_token_id", 151936, "BAD_VALUE"),
    ("eos_token_id", -1, "BAD_VALUE"),
    ("eos_token_id", [1, "2"], "WRONG_TYPE"),
    ("eos_token_id", True, "WRONG_TYPE"),
]


@pytest.mark.parametrize(("key", "value", "code"), BAD)
def test_bad_values(tmp_path: Path, key: str, value: Any, code: str) -> None:
    fault = refused(tmp_path, {key: value})
    assert fault.code == code
    assert fault.pointer.endswith(f":/{key}")


def test_two_rotary_bases_that_differ(tmp_path: Path) -> None:
    fault = refused(tmp_path, {"rope_parameters": {"rope_theta": 1e4}})
    assert (fault.code, fault.pointer.rpartition(":")[2]) == (
        "BAD_VALUE",
        "/rope_parameters/rope_theta",
    )


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "MALFORMED_JSON"),
        (QWEN3_06B.encode()[:-2], "MALFORMED_JSON"),
        (QWEN3_06B.encode() + b"{}", "MALFORMED_JSON"),
        (b"\xef\xbb\xbf{}", "BAD_ENCODING"),
        (b'{"head_dim": "\xff"}', "BAD_ENCODING"),
        (b'{"head_dim": 1, "head_dim": 2}', "DUPLICATE_KEY"),
        (b'{"rms_norm_eps": NaN}', "MALFORMED_JSON"),
        (b'{"rms_norm_eps": Infinity}', "MALFORMED_JSON"),
        (b'{"rms_norm_eps": 1e999}', "BAD_VALUE"),
        (b'{"head_dim": ' + b"9" * 5000 + b"}", "MALFORMED_JSON"),
        (b'{"a": ' + b"[" * 200_000 + b"]" * 200_000 + b"}", "LIMIT_DEPTH"),
        (b'{"a": ["\\uD800"]}', "BAD_UNICODE"),
        (b'{"a": "\\ud83d\\ude00"}', "MISSING_FIELD"),
        (b"[]", "NOT_AN_OBJECT"),
        (b" " * (1 << 20) + b"{}", "LIMIT_SIZE"),
    ],
    ids=range(15),
)
def test_files_that_are_no_configuration(tmp_path: Path, data: bytes, code: str) -> None:
    path = tmp_path / "config.json"
    path.write_bytes(data)
    with pytest.raises(LockstepError) as caught:
        read_config(tmp_path)
    assert caught.value.code == code
    assert caught.value.pointer.partition(":")[0] == str(path)


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(LockstepError) as caught:
        read_config(tmp_path)
    assert (caught.value.code, caught.value.pointer) == (
        "FILE_UNREADABLE",
        str(tmp_path / "config.json"),
    )
    (tmp_path / "config.json").mkdir()
    with pytest.raises(LockstepError, match="FILE_UNREADABLE"):
        read_config(tmp_path)
