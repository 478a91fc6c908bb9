"""Text to tokens and back by a model's tokenizer.json, with the library made for it.

The engine computes on tokens; nothing but the command line and reports asks for text.
"""

import os
from pathlib import Path
from typing import Any

from lockstep.engine.model_files import parse_object, read_bytes, sha256
from lockstep.errors import LockstepError
from lockstep.limits import MODEL_INDEX_BYTES

TOKENIZER = "tokenizer.json"
TOKENIZER_CONFIG = "tokenizer_config.json"

BYTES = 256


class Tokenizer:
    """A tokenizer of the library `tokenizers`.

    Args:
        folder: the model's folder, which holds tokenizer.json.
        vocab_size: the model's; the tokenizer's tokens lie below it.

    Attributes:
        sha256: digest of tokenizer.json, in hex.

    Raises:
        LockstepError: FILE_UNREADABLE, there is none; TOKENIZER_MALFORMED; LIBRARY_MISSING; those
            of a JSON file [MODEL-2].
    """

    def __init__(self, folder: str | os.PathLike[str], vocab_size: int) -> None:
        path = Path(folder, TOKENIZER)
        data = read_bytes(path, MODEL_INDEX_BYTES)
        parse_object(data, path)
        try:
            import tokenizers
        except ModuleNotFoundError:
            hint = "Install the extra 'engine', or give prompts as token ids."
            raise LockstepError(
                "LIBRARY_MISSING", "tokenizers", "the library", "none", hint
            ) from None
        try:
            self._tokenizer = tokenizers.Tokenizer.from_str(data.decode("utf-8"))
        # The library raises Exception itself, whatever is wrong.
        except Exception as fault:
            expected = "a tokenizer of the tokenizers library"
            raise LockstepError("TOKENIZER_MALFORMED", str(path), expected, str(fault)) from None
        self.sha256 = sha256(data)
        for token, number in self._tokenizer.get_vocab(with_added_tokens=True).items():
            if not 0 <= number < vocab_size:
                where = f"{path}:/model/vocab/{token}"
                raise LockstepError("TOKENIZER_MALFORMED", where, f"below {vocab_size}", number)

    def encode(self, text: str) -> tuple[int, ...]:
        """Give a text's tokens, without any that a chat template or a post-processor would add."""
        return tuple(self._tokenizer.encode(text, add_special_tokens=False).ids)

    def decode(self, tokens: tuple[int, ...]) -> str:
        """Give the text of tokens; what is no text in UTF-8 shows as U+FFFD."""
        return str(self._tokenizer.decode(list(tokens), skip_special_tokens=False))


def byte_tokenizer() -> dict[str, Any]:
    """Give tokenizer.json and tokenizer_config.json in which a token is a byte of UTF-8.

    The byte-level alphabet writes each byte as a printable character: printable Latin-1 as
    itself, the others, ascending, as U+0100 and on (as in GPT-2).
    """
    tokenizer: dict[str, Any] = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": {
            "type": "ByteLevel",
            "add_prefix_space": False,
            "trim_offsets": False,
            "use_regex": False,
        },
        "post_processor": None,
        "decoder": {
            "type": "ByteLevel",
            "add_prefix_space": False,
            "trim_offsets": False,
            "use_regex": False,
        },
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": byte_alphabet(),
            "merges": [],
        },
    }
    settings = {
        "clean_up_tokenization_spaces": False,
        "tokenizer_class": "PreTrainedTokenizerFast",
    }
    return {TOKENIZER: tokenizer, TOKENIZER_CONFIG: settings}


def byte_alphabet() -> dict[str, int]:
    """Give the byte-level alphabet: the character that stands for each byte, with the byte."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, BYTES)]
    others = [byte for byte in range(BYTES) if byte not in printable]
    characters = {byte: chr(byte) for byte in printable}
    characters.update({byte: chr(BYTES + place) for place, byte in enumerate(others)})
    return {characters[byte]: byte for byte in range(BYTES)}
