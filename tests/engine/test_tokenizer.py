"""tokenizer.json [MODEL-1] [MODEL-14]: bytes as tokens, and files that are no tokenizer."""

from __future__ import annotations

import builtins
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockstep.engine.tiny import make_tiny
from lockstep.engine.tokenizer import Tokenizer, byte_alphabet
from lockstep.errors import LockstepError


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny(tmp_path_factory.mktemp("tiny") / "model")


@pytest.fixture(scope="module")
def tokenizer(folder: Path) -> Tokenizer:
    return Tokenizer(folder, 256)


@given(st.text())
def test_tokens_are_bytes(tokenizer: Tokenizer, text: str) -> None:
    tokens = tokenizer.encode(text)
    assert bytes(tokens) == text.encode("utf-8")
    assert tokenizer.decode(tokens) == text


def test_what_is_no_text_shows_as_such(tokenizer: Tokenizer) -> None:
    assert tokenizer.decode((0x41, 0xFF, 0x42)) == "A\N{REPLACEMENT CHARACTER}B"


def test_the_alphabet_writes_each_byte_as_one_character() -> None:
    alphabet = byte_alphabet()
    assert list(alphabet.values()) == list(range(256))
    assert all(len(character) == 1 and character.isprintable() for character in alphabet)
    assert {alphabet[character] for character in "aZ~é"} == {0x61, 0x5A, 0x7E, 0xE9}


def test_the_library_s_own_alphabet_is_the_same(tokenizer: Tokenizer) -> None:
    from tokenizers import pre_tokenizers

    assert set(byte_alphabet()) == set(pre_tokenizers.ByteLevel.alphabet())


@pytest.mark.xdist_group("transformers")
def test_transformers_loads_it(folder: Path) -> None:
    transformers = pytest.importorskip("transformers", reason="the extra 'dev' brings it")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    text = "A é 😀\n"
    assert tokenizer(text).input_ids == list(text.encode("utf-8"))
    assert tokenizer.decode(list(text.encode("utf-8"))) == text


def test_digest(folder: Path, tokenizer: Tokenizer) -> None:
    assert tokenizer.sha256 == hashlib.sha256((folder / "tokenizer.json").read_bytes()).hexdigest()


def test_tokens_beyond_the_vocabulary(folder: Path) -> None:
    with pytest.raises(LockstepError) as caught:
        Tokenizer(folder, 255)
    assert caught.value.code == "TOKENIZER_MALFORMED"
    assert caught.value.pointer == f"{folder / 'tokenizer.json'}:/model/vocab/ÿ"


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "MALFORMED_JSON"),
        (b"{}", "TOKENIZER_MALFORMED"),
        (b'{"model": {"type": "BPE"}}', "TOKENIZER_MALFORMED"),
        (b"\xff", "BAD_ENCODING"),
        (None, "FILE_UNREADABLE"),
    ],
)
def test_files_that_are_no_tokenizer(tmp_path: Path, data: bytes | None, code: str) -> None:
    if data is not None:
        (tmp_path / "tokenizer.json").write_bytes(data)
    with pytest.raises(LockstepError) as caught:
        Tokenizer(tmp_path, 256)
    assert caught.value.code == code
    assert caught.value.pointer.startswith(str(tmp_path / "tokenizer.json"))


@given(st.integers(0), st.integers(0, 7))
def test_damaged_files_are_refused_or_read(
    tmp_path_factory: pytest.TempPathFactory, folder: Path, place: int, bit: int
) -> None:
    data = bytearray((folder / "tokenizer.json").read_bytes())
    data[place % len(data)] ^= 1 << bit
    damaged = tmp_path_factory.mktemp("damaged")
    (damaged / "tokenizer.json").write_bytes(data)
    try:
        Tokenizer(damaged, 256).encode("abc")
    except LockstepError as fault:
        assert str(damaged) in fault.pointer


def test_the_library_is_absent(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    genuine = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name.partition(".")[0] == "tokenizers":
            raise ModuleNotFoundError("gone", name=name)
        return genuine(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(LockstepError, match=r"LIBRARY_MISSING.*token ids"):
        Tokenizer(folder, 256)


def test_json_is_plain(folder: Path) -> None:
    document = json.loads((folder / "tokenizer.json").read_bytes())
    assert document["added_tokens"] == []
    assert document["model"]["merges"] == []
