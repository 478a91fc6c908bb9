"""Reading Lean's source text into words, strings and comments, as Lean's own tokenizer does.

Only what a reader needs who must not take prose for code nor code for prose. Where Lean's rule
for telling them apart is subtle, the text is reported as ambiguous instead of being guessed at.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from lockstep.errors import LockstepError


class Kind(Enum):
    """What a token is."""

    WORD = "word"
    STRING = "string"
    CHARACTER = "character"
    NUMBER = "number"
    SYMBOL = "symbol"
    COMMENT = "comment"
    DOCUMENTATION = "documentation"
    AMBIGUOUS = "ambiguous"


@dataclass(frozen=True)
class Token:
    """A token and where it begins; line and column count from 1.

    The text of a word stands as written; its parts, between dots, are in `parts` without the
    quotes « and ».
    """

    kind: Kind
    text: str
    line: int
    column: int

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts of a word, without quotes."""
        return tuple(match.strip("«»") for match in PART.findall(self.text))


@dataclass(frozen=True)
class Header:
    """A file's beginning: whether it says `prelude`, and the modules that it imports."""

    prelude: bool
    imports: tuple[str, ...]


# Lean joins some more letters to words. Apart from a word they can only show more of it, so that
# this stays on the safe side; λ, Π and Σ begin a token of their own.
GREEK = "\u0391-\u039f\u03a1-\u03a2\u03a4-\u03a9\u03b1-\u03ba\u03bc-\u03c9"
LETTER = rf"A-Za-z_{GREEK}\u2100-\u214f"
WORD = re.compile(
    rf"(?:[{LETTER}]|«[^«»\n]+»)(?:[{LETTER}0-9'!?₀-₉]|«[^«»\n]+»|\.(?=[{LETTER}«]))*"
)
PART = re.compile(r"«[^»]*»|[^.«»]+")
SPACE = re.compile(r"\s+")
NUMBER = re.compile(r"0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO][0-7]+|[0-9]+")
STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
RAW_STRING = re.compile(r'r(#*)".*?"\1', re.DOTALL)
CHARACTER = re.compile(r"'(?:[^\\'\n]|\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.))'")
COMMENT_EDGE = re.compile(r"/-|-/")
PATTERNS = (
    (Kind.STRING, RAW_STRING),
    (Kind.WORD, WORD),
    (Kind.NUMBER, NUMBER),
    (Kind.STRING, STRING),
    (Kind.CHARACTER, CHARACTER),
)
ALONE = frozenset("()[]{}⟨⟩,;")
"""Symbols that are part of no longer token."""


def tokens(text: str) -> Iterator[Token]:
    """Give the tokens of a source, white space left out, comments included.

    What never ends, such as a comment without `-/`, is one ambiguous token to the end.
    """
    position, line, start = 0, 1, 0
    joined = False
    while position < len(text):
        if space := SPACE.match(text, position):
            kind, end = None, space.end()
        else:
            kind, end = _token(text, position, joined)
            yield Token(kind, text[position:end], line, position - start + 1)
        joined = kind is Kind.SYMBOL and text[position] not in ALONE
        if breaks := text.count("\n", position, end):
            line, start = line + breaks, text.rindex("\n", position, end) + 1
        position = end


def _token(text: str, at: int, joined: bool) -> tuple[Kind, int]:
    """Give the kind and the end of the token at `at`; `joined` if a symbol stands right before."""
    if text.startswith(("--", "/-"), at):
        # To Lean the first of the two may end a token, such as `|-` or `//`.
        if joined:
            return Kind.AMBIGUOUS, at + 2
        return _block(text, at) if text[at] == "/" else _line(text, at)
    for kind, pattern in PATTERNS:
        if match := pattern.match(text, at):
            return kind, match.end()
    if text[at] == '"':
        return Kind.AMBIGUOUS, len(text)
    return Kind.AMBIGUOUS if text[at] in "«»'" else Kind.SYMBOL, at + 1


def _line(text: str, at: int) -> tuple[Kind, int]:
    end = text.find("\n", at)
    return Kind.COMMENT, len(text) if end < 0 else end


def _block(text: str, at: int) -> tuple[Kind, int]:
    """Give the end of a block comment; they nest, documentation too."""
    kind, position = Kind.COMMENT, at + 2
    if text.startswith(("/--", "/-!"), at):
        kind, position = Kind.DOCUMENTATION, at + 3
        # An empty comment to one reader, the opening of a long one to another.
        if text.startswith("/", position):
            return Kind.AMBIGUOUS, position + 1
    depth = 1
    while depth:
        edge = COMMENT_EDGE.search(text, position)
        if edge is None:
            return Kind.AMBIGUOUS, len(text)
        depth += 1 if edge[0] == "/-" else -1
        position = edge.end()
    return kind, position


def code(text: str) -> Iterator[Token]:
    """Give the tokens of a source without its comments."""
    prose = {Kind.COMMENT, Kind.DOCUMENTATION}
    return (token for token in tokens(text) if token.kind not in prose)


def header(text: str) -> Header:
    """Read the words before the first that is neither `prelude` nor an import."""
    prelude = False
    imports: list[str] = []
    words = code(text)
    for token in words:
        if token.text == "prelude" and not prelude and not imports:
            prelude = True
        elif token.text == "import":
            imports.append(next(words, token).text)
        else:
            break
    return Header(prelude, tuple(imports))


def modules(folder: Path) -> dict[str, Path]:
    """Give every Lean source below a folder by its module's name, in the order of names.

    Raises:
        LockstepError: FILE_UNREADABLE, the folder holds no Lean source.
    """
    paths = {
        ".".join(path.relative_to(folder).with_suffix("").parts): path
        for path in folder.rglob("*.lean")
    }
    if not paths:
        raise LockstepError("FILE_UNREADABLE", str(folder), hint="It holds no Lean source.")
    return dict(sorted(paths.items()))
