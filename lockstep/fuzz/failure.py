"""What a run can show to be wrong with an engine [FUZZ-6]."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

Kind = Literal["stuck", "refused", "starved", "illegal", "differs_again", "differs_alone"]
KINDS: tuple[Kind, ...] = get_args(Kind)
"""Kinds of failures, in the order in which a case is judged for them."""

TEXT_CHARACTERS = 200
"""The longest text of a failure: a sentence with two digests."""


@dataclass(frozen=True)
class Failure:
    """The first thing that is wrong in a case.

    Two failures are the same one where kind, code and part are equal; `where` and `detail` are for
    the reader, and change as a case is reduced.

    Attributes:
        kind: of the failure.
        code: of the engine's refusal, by the registry or, where the engine stumbled, the name of
            the exception; empty where nothing was raised.
        part: what is wrong, by the kind [FUZZ-6].
        where: a pointer: `/steps/STEP/ACTION`, or `/outputs/REQUEST/PLACE`.
        detail: what was expected there and what was found.
    """

    kind: Kind
    code: str = ""
    part: str = ""
    where: str = ""
    detail: str = ""

    @property
    def signature(self) -> tuple[str, str, str]:
        """What makes two failures the same one."""
        return self.kind, self.code, self.part

    def document(self) -> dict[str, Any]:
        """Give the failure as a JSON value, its texts as a record may hold them."""
        told = asdict(self)
        return {**told, "where": plain(self.where), "detail": plain(self.detail)}


def parse_failure(document: dict[str, Any]) -> Failure:
    """Give the failure of what `Failure.document` gave."""
    return Failure(**document)


def plain(text: str) -> str:
    """Give a text as a record may hold it: printable ASCII, not too long."""
    shown = "".join(c if " " <= c <= "~" else "?" for c in text)
    return shown if len(shown) <= TEXT_CHARACTERS else f"{shown[: TEXT_CHARACTERS - 3]}..."
