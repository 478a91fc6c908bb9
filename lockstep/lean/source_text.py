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


PART = re.compile(r"«[^»]*»|[^.«»]+")
# Lean's letters are more than these; a letter not meant here joins no word that matters, since
# every word with a meaning of its own is ASCII.
WORD = re.compile(r"(?:[^\W\d]|«[^»\n]*»)(?:[\w'!?]|«[^»\n]*»|\.(?=[^\W\d]|«))*")
NUMBER = re.compile(r"\d[\w]*(?:\.\d+)?")
STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
RAW_STRING = re.compile(r'r(#*)".*?"\1', re.DOTALL)
CHARACTER = re.compile(r"'(?:[^\\'\n]|\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.))'")
COMMENT_EDGE = re.compile(r"/-|-/")


def tokens(text: str) -> Iterator[Token]:
    """Give the tokens of a source, white space left out, comments included.

    What never ends, such as a comment without `-/`, is one ambiguous token to the end.
    """
    position, line, start = 0, 1, 0
    while position < len(text):
        if text[position].isspace():
            if text[position] == "\n":
                line, start = line + 1, position + 1
            position += 1
            continue
        kind, end = _token(text, position)
        yield Token(kind, text[position:end], line, position - start + 1)
        if breaks := text.count("\n", position, end):
            line, start = line + breaks, text.rindex("\n", position, end) + 1
        position = end


def _token(text: str, at: int) -> tuple[Kind, int]:
    """Give the kind and the end of the token that begins at `at`."""
    if text.startswith("--", at):
        end = text.find("\n", at)
        return Kind.COMMENT, len(text) if end < 0 else end
    if text.startswith("/-", at):
        return _comment(text, at)
    if match := RAW_STRING.match(text, at):
        return Kind.STRING, match.end()
    if match := WORD.match(text, at):
        return Kind.WORD, match.end()
    if match := NUMBER.match(text, at):
        return Kind.NUMBER, match.end()
    if text[at] == '"':
        match = STRING.match(text, at)
        return (Kind.STRING, match.end()) if match else (Kind.AMBIGUOUS, len(text))
    if match := CHARACTER.match(text, at):
        return Kind.CHARACTER, match.end()
    if text[at] in "«»'":
        return Kind.AMBIGUOUS, at + 1
    return Kind.SYMBOL, at + 1


def _comment(text: str, at: int) -> tuple[Kind, int]:
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


def header(text: str) -> Header:
    """Read the words before the first that is neither `prelude` nor an import."""
    prelude = False
    imports: list[str] = []
    words = (t for t in tokens(text) if t.kind not in {Kind.COMMENT, Kind.DOCUMENTATION})
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
