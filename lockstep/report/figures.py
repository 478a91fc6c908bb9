"""A certificate that may be shown, and figures that are bound to what backs them [REP-3]."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lockstep.evidence.index import at_pointer
from lockstep.report.markup import Content, Markup, element


@dataclass(frozen=True)
class Withdrawn:
    """A claim that its signer took back: where it stands, why, and what is said instead."""

    pointer: str
    reason: str
    instead: str | None


@dataclass(frozen=True)
class Judged:
    """A certificate with what the verifier said of it.

    Attributes:
        number: its place in the report, from 0.
        name: of its file.
        href: to its file, relative to the report.
        result: what the verifier said [OUT-2].
        statement: what it signs; None where it may not be shown [REP-2].
        withdrawn: claims of it that count as withdrawn.
    """

    number: int
    name: str
    href: str
    result: Mapping[str, Any]
    statement: Mapping[str, Any] | None
    withdrawn: tuple[Withdrawn, ...] = ()

    @property
    def verified(self) -> bool:
        """Whether it passes whole."""
        return bool(self.result["exit"] == 0)

    @property
    def kind(self) -> str:
        """The kind of its claim; empty where the verifier did not come so far."""
        return str(self.result["predicate_type"] or "::").split(":")[-2]

    @property
    def anchor(self) -> str:
        """The id of its entry in the list of certificates."""
        return f"c{self.number}"

    @property
    def predicate(self) -> dict[str, Any]:
        """The predicate of one that may be shown."""
        if self.statement is None:
            raise ValueError(f"{self.name} may not be shown")
        predicate: dict[str, Any] = self.statement["predicate"]
        return predicate

    def value(self, pointer: str) -> Any:
        """Give what stands at a pointer of the statement.

        Raises:
            KeyError: nothing does.
        """
        return at_pointer(self.statement, pointer)

    def mark(self, pointer: str) -> str | None:
        """Give the word for a value that is withdrawn, whole or in part; None where it stands."""
        held = [one.pointer for one in self.withdrawn]
        if any(f"{pointer}/".startswith(f"{one}/") for one in held):
            return "WITHDRAWN"
        return "WITHDRAWN IN PART" if any(one.startswith(f"{pointer}/") for one in held) else None


def figure(judged: Judged, pointer: str, text: Content = None) -> Markup:
    """Give a value of a certificate as a link to what backs it.

    Args:
        judged: the certificate.
        pointer: of the value in its statement.
        text: how it is shown; as it stands where nothing is given.

    Raises:
        KeyError: nothing stands at the pointer, so that the figure would be backed by nothing.
    """
    value = judged.value(pointer)
    shown = written(value) if text is None else text
    link = anchor(judged, pointer, shown)
    word = judged.mark(pointer)
    if word is None:
        return link
    return element("span", element("s", link), " ", element("strong", word), class_="gone")


def anchor(judged: Judged, pointer: str, content: Content) -> Markup:
    """Give content, such as a part of a drawing, as a link to the value that backs it.

    Raises:
        KeyError: nothing stands at the pointer.
    """
    judged.value(pointer)
    word = judged.mark(pointer)
    return element(
        "a",
        content,
        class_="gone" if word else None,
        href=f"#{judged.anchor}",
        data_p=pointer,
        title=word,
    )


def cell(
    judged: Judged,
    pointer: str,
    content: Content,
    class_: str,
    place: int | str,
    label: str | None = None,
) -> Markup:
    """Give a cell of a matrix, struck through where what it shows is withdrawn [REP-2].

    Args:
        judged: the certificate.
        pointer: of what the cell shows.
        content: of the cell.
        class_: which the key to the matrix has, too.
        place: which the script makes the pointer of.
        label: the cell in words; None to leave it to the key.
    """
    word = judged.mark(pointer)
    shown = content if word is None else element("s", content)
    return element("td", shown, class_=class_, data_i=place, title=word, aria_label=label)


def written(value: Any) -> str:
    """Write a value for people: thousands set off, words for true, false and null."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, list):
        return ", ".join(map(written, value)) or "none"
    return str(value)
