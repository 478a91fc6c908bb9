"""The assurance ledger: how much of each certificate is derived, bound by digest, or only said."""

from __future__ import annotations

from collections.abc import Sequence

from lockstep.report.charts import drawing
from lockstep.report.classes import CLASSES, by_member
from lockstep.report.figures import Judged, figure
from lockstep.report.markup import Content, Markup, element
from lockstep.report.parts import details, key, table

SAYS = {
    "derived": "derived: the verifier computes it and compares",
    "witnessed": "witnessed: bound by a digest of data that anyone can hash",
    "attested": "attested: the signer's word",
}
"""What the class of a leaf field means, as `lockstep-verify` counts them [LEDGER-1]."""
_WIDTH = 240


def draw(certificates: Sequence[Judged]) -> Markup:
    """Show the ledger of every certificate whose payload is shown."""
    shown = [one for one in certificates if one.statement is not None and one.result["ledger"]]
    return element(
        "div",
        key([(f"l-{name}", "■", says) for name, says in SAYS.items()]),
        table(
            "Leaf fields by what they rest on",
            ("certificate", "derived", "witnessed", "attested", "shares"),
            [*map(_row, shown), _total(shown)],
            "ledger",
        ),
        element("h3", "Member by member, and what is only said"),
        element("div", [_member_by_member(one) for one in shown], class_="said"),
    )


def _member_by_member(judged: Judged) -> Markup:
    """Fold what each member of a predicate rests on, and the fields that are only said."""
    members = by_member(judged.predicate, judged.kind)
    rows = [
        (
            figure(judged, f"/predicate/{name}", name.replace("_", " ")),
            *(f"{own[sort]:,}" if own[sort] else None for sort in CLASSES),
        )
        for name, own in members.items()
    ]
    paths = judged.result["ledger"]["attested_kinds"]
    return details(
        [judged.name, " ", element("small", f"{len(paths)} only said")],
        table("Leaf fields by member of the predicate", ("member", *CLASSES), rows),
        element("p", "Only said, with * for every place of a list:"),
        element("ul", [element("li", element("code", path)) for path in paths], class_="paths"),
        _not_run(judged),
        id=f"{judged.anchor}-kinds",
        data_c=judged.anchor,
    )


def _row(judged: Judged) -> list[Content]:
    link = element("a", judged.name, href=f"#{judged.anchor}")
    return [link, *_cells(_numbers(judged))]


def _total(shown: Sequence[Judged]) -> list[Content]:
    sums = [sum(column) for column in zip(*map(_numbers, shown), strict=True)]
    return [element("b", "all"), *_cells(sums or [0, 0, 0])]


def _numbers(judged: Judged) -> list[int]:
    return [int(judged.result["ledger"][name]) for name in CLASSES]


def _cells(numbers: Sequence[int]) -> list[Content]:
    """Give the numbers of the three classes, and a bar of their shares."""
    total, x = sum(numbers) or 1, 0.0
    parts: list[Content] = []
    for name, number in zip(CLASSES, numbers, strict=True):
        width = _WIDTH * number / total
        parts.append(element("rect", x=x, y=0, width=width, height=12, class_=f"l-{name}"))
        x += width
    told = ", ".join(
        f"{100 * number // total} % {name}" for name, number in zip(CLASSES, numbers, strict=True)
    )
    bar = drawing(_WIDTH, 12, told, parts)
    return [*(f"{number:,}" for number in numbers), bar]


def _not_run(judged: Judged) -> Content:
    """Say what the certificate itself says was not run."""
    said = judged.predicate.get("not_run")
    if not said:
        return None
    return [
        element("p", "It does not speak of:"),
        element("ul", [element("li", one) for one in said]),
    ]
