"""What tests of the report share: certificates without their verification, and a parsed page."""

from __future__ import annotations

from collections.abc import Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from lockstep.evidence.index import statement_of
from lockstep.report.figures import Judged, Withdrawn

EVIDENCE = Path(__file__).resolve().parents[2] / "evidence"
VOID = frozenset({"meta", "br", "col"})


def told(predicate_type: str | None, **changed: Any) -> dict[str, Any]:
    """Give a result as the verifier's of a certificate that passes, or with other members."""
    return {
        "file": "x", "result": "verified", "exit": 0, "code": "OK", "pointer": "",
        "expected": None, "got": None, "predicate_type": predicate_type, "verdict": "DERIVED",
        "lines": [], "counts": {}, "signers": ["k"], "rederivation": None,
        "ledger": {"derived": 1, "witnessed": 1, "attested": 1, "attested_kinds": ["/issued_at"]},
        "issued_at": "2026-01-01T00:00:00Z", "file_sha256": "f" * 64, "payload_sha256": "a" * 64,
        **changed,
    }  # fmt: skip


def taken(
    number: int, name: str, statement: Mapping[str, Any], withdrawn: tuple[Withdrawn, ...] = ()
) -> Judged:
    """Take a statement as verified."""
    return Judged(
        number, name, f"../{name}", told(statement["predicateType"]), statement, withdrawn
    )


def committed() -> list[Judged]:
    """Take all the committed certificates as verified; the slow tests have them verified."""
    files = [*sorted(EVIDENCE.glob("*.cert.json")), *sorted(EVIDENCE.glob("*/*.cert.json"))]
    return [
        taken(number, file.name, statement_of(file.read_bytes()))
        for number, file in enumerate(files)
    ]


class Page(HTMLParser):
    """A page's elements, each with its attributes, the certificate it is about, and its base."""

    def __init__(self, data: bytes) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.pointers: list[tuple[str, str]] = []
        self.texts: dict[str, list[str]] = {}
        self._open: list[tuple[str, dict[str, str]]] = []
        self.feed(data.decode("utf-8"))
        assert not self._open, "every element is closed"

    def _nearest(self, attribute: str) -> str:
        held = [one[attribute] for _, one in self._open if attribute in one]
        return held[-1] if held else ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        own = {name: value or "" for name, value in attrs}
        self.elements.append((tag, own))
        if "data-p" in own:
            self.pointers.append((own.get("data-c") or self._nearest("data-c"), own["data-p"]))
        if "data-i" in own:
            place = self._nearest("data-base") + own["data-i"].replace(":", "/cells/")
            self.pointers.append((self._nearest("data-c"), place))
        if tag not in VOID:
            self._open.append((tag, own))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self._open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        if self._open:
            self.texts.setdefault(self._open[-1][0], []).append(data)

    def all(self, tag: str) -> list[dict[str, str]]:
        """Give the attributes of every element of a name."""
        return [own for name, own in self.elements if name == tag]
