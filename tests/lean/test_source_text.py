"""Words, strings and comments are told apart as Lean tells them."""

from __future__ import annotations

from pathlib import Path

import pytest

from lockstep.errors import LockstepError
from lockstep.lean import build, source_text
from lockstep.lean.source_text import Header, Kind


def kinds(text: str) -> list[tuple[str, str]]:
    return [(token.kind.value, token.text) for token in source_text.tokens(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a -- sorry\nb", [("word", "a"), ("comment", "-- sorry"), ("word", "b")]),
        ("/- a /- b -/ c -/ d", [("comment", "/- a /- b -/ c -/"), ("word", "d")]),
        ("/-- a /- b -/ c -/ d", [("documentation", "/-- a /- b -/ c -/"), ("word", "d")]),
        ("/-! a -/b", [("documentation", "/-! a -/"), ("word", "b")]),
        ("/- -- -/ a", [("comment", "/- -- -/"), ("word", "a")]),
        ('/- " -/ a', [("comment", '/- " -/'), ("word", "a")]),
        ("-- /-\na", [("comment", "-- /-"), ("word", "a")]),
        ('"-- a" b', [("string", '"-- a"'), ("word", "b")]),
        (r'"\"/-" b', [("string", r'"\"/-"'), ("word", "b")]),
        ('r#"a"b"# c', [("string", 'r#"a"b"#'), ("word", "c")]),
        ("'\"' a", [("character", "'\"'"), ("word", "a")]),
        (r"'\'' a", [("character", r"'\''"), ("word", "a")]),
        ("h' a", [("word", "h'"), ("word", "a")]),
        ("a.«b c».d", [("word", "a.«b c».d")]),
        ("«--» a", [("word", "«--»"), ("word", "a")]),
        ("1sorry", [("number", "1"), ("word", "sorry")]),
        ("0x1fsorry", [("number", "0x1f"), ("word", "sorry")]),
        ("λsorry", [("symbol", "λ"), ("word", "sorry")]),
        ("α₁ x!", [("word", "α₁"), ("word", "x!")]),
        (".a", [("symbol", "."), ("word", "a")]),
        (
            "a.{u}",
            [("word", "a"), ("symbol", "."), ("symbol", "{"), ("word", "u"), ("symbol", "}")],
        ),
        (")-- a", [("symbol", ")"), ("comment", "-- a")]),
    ],
)
def test_tokens(text: str, expected: list[tuple[str, str]]) -> None:
    assert kinds(text) == expected


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("|--a", "--"),
        ("x //- a -/", "/-"),
        ("/--/ a -/", "/--/"),
        ("/-!/ a -/", "/-!/"),
        ("/- a /- -/", "/- a /- -/"),
        ('"a', '"a'),
        ("«a", "«"),
        ("'ab", "'"),
    ],
)
def test_what_two_readers_may_read_apart_is_ambiguous(text: str, shown: str) -> None:
    assert (Kind.AMBIGUOUS.value, shown) in kinds(text)


def test_tokens_know_their_places() -> None:
    places = [
        (token.text, token.line, token.column)
        for token in source_text.tokens("a\n /- b\n -/ c\n\n  d")
    ]
    assert places == [("a", 1, 1), ("/- b\n -/", 2, 2), ("c", 3, 5), ("d", 5, 3)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("prelude\nimport A.B\nimport C\ndef x := 1", Header(True, ("A.B", "C"))),
        ("-- import X\nprelude /- import Y -/ import Z", Header(True, ("Z",))),
        ("import A\nprelude", Header(False, ("A",))),
        ("prelude\ndef x := 1\nimport A", Header(True, ())),
        ("", Header(False, ())),
    ],
)
def test_header(text: str, expected: Header) -> None:
    assert source_text.header(text) == expected


def test_every_character_of_the_sources_is_in_a_token() -> None:
    for path in source_text.modules(build.source_folder()).values():
        text = path.read_text("utf-8")
        joined = "".join(token.text for token in source_text.tokens(text))
        assert "".join(joined.split()) == "".join(text.split()), path


def test_a_folder_without_sources_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LockstepError, match="FILE_UNREADABLE"):
        source_text.modules(tmp_path)
