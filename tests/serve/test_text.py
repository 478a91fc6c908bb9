"""Texts that grow: whole characters, stop strings held back, nothing lost."""

from __future__ import annotations

import hashlib
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from lockstep.engine.tiny import make_tiny
from lockstep.engine.tokenizer import TOKENIZER, Tokenizer
from lockstep.serve.text import ByteTexts, Growing, NoTexts, open_texts, token_bytes, token_name

BYTES = ByteTexts()


def test_the_bytes_of_a_tiny_model_are_those_of_its_tokenizer(tmp_path: Path) -> None:
    folder = make_tiny(tmp_path / "tiny")
    library = open_texts(folder, 256)
    assert isinstance(library, Tokenizer)
    assert BYTES.sha256 == library.sha256
    assert BYTES.sha256 == hashlib.sha256((folder / TOKENIZER).read_bytes()).hexdigest()
    for text in ("", "a b", "é€\U0001f600", "\n\t"):
        assert BYTES.encode(text) == library.encode(text)
        assert BYTES.decode(BYTES.encode(text)) == library.decode(library.encode(text)) == text


def test_a_folder_without_tokenizer_serves_ids(tmp_path: Path) -> None:
    texts = open_texts(tmp_path, 256)
    assert isinstance(texts, NoTexts)
    assert texts.decode((1, 2)) == ""
    assert token_name(texts, 7, False) == "token_id:7"


@given(st.lists(st.integers(0, 255), max_size=30))
def test_pieces_make_up_the_whole(tokens: list[int]) -> None:
    growing = Growing(BYTES)
    pieces = [growing.add(token) for token in tokens]
    assert "".join(pieces) + growing.end() == BYTES.decode(tuple(tokens)) == growing.text


@given(st.text("ab", max_size=12), st.lists(st.text("ab", min_size=1, max_size=3), max_size=3))
def test_a_stop_string_ends_a_text_before_it(text: str, stops: list[str]) -> None:
    growing, said = Growing(BYTES, tuple(stops)), ""
    for token in BYTES.encode(text):
        said += growing.add(token)
        if growing.stopped is not None:
            break
    said += growing.end()
    ends = [text.find(stop) + len(stop) for stop in stops if stop in text]
    seen = text[: min(ends)] if ends else text
    places = [seen.find(stop) for stop in stops if stop in seen]
    assert said == (seen[: min(places)] if places else text)


def test_a_character_waits_for_its_last_byte() -> None:
    growing = Growing(BYTES)
    assert [growing.add(token) for token in "é".encode()] == ["", "é"]


def test_a_token_that_is_no_text_is_named_by_its_id() -> None:
    assert token_name(BYTES, 0xC3, False) == "token_id:195"
    assert token_bytes(BYTES, 0xC3) is None
    assert token_name(BYTES, 97, False) == "a"
    assert token_name(BYTES, 97, True) == "token_id:97"
    assert token_bytes(BYTES, 97) == [97]
