"""Groups, the pairs that they demand, and the rows that stand for them (HUNT-1 to HUNT-3)."""

from typing import Any, NamedTuple

from lockstep_verify.derive.hunt_words import frontier_code
from lockstep_verify.derive.layout import Layout
from lockstep_verify.errors import Refusal

H11 = "H11_ENGINE_UNDECLARED"
H12 = "H12_PAIR_DECLARED_TWICE"
_ROWS = "/predicate/rows"


def require(code: str, pointer: str, expected: object, got: object) -> None:
    """Refuse with `code` unless the two values are equal and of one type.

    Raises:
        Refusal: `code`.
    """
    if type(expected) is not type(got) or expected != got:
        # None would read as: nothing was expected, nothing was found.
        expected, got = ("null" if value is None else value for value in (expected, got))
        raise Refusal(code, pointer, expected, got)


class Group(NamedTuple):
    """An anchor, its members, and those of them that are lossless here (HUNT-3)."""

    anchor: Layout
    members: tuple[Layout, ...]
    lossless: tuple[Layout, ...]


class Pair(NamedTuple):
    """A row's two layouts and the anchor that its tokens are measured against."""

    src: Layout
    dst: Layout
    anchor: str
    frontier: str | None

    @property
    def lossless(self) -> bool:
        """Whether an exact map exists: no frontier, no lossy side."""
        sides = {self.src.quantisation, self.dst.quantisation}
        return self.frontier is None and sides == {"none"}


def groups(declared: list[dict[str, Any]], layouts: dict[str, Layout]) -> list[Group]:
    """Resolve the groups (HUNT-1).

    Raises:
        Refusal: H11, BAD_VALUE.
    """
    resolved = []
    for i, group in enumerate(declared):
        at = f"/predicate/groups/{i}"
        name, members = group["anchor"], group["members"]
        for j, member in enumerate(members):
            if member not in layouts:
                raise Refusal(H11, f"{at}/members/{j}", "a declared layout", member)
        if name not in layouts:
            raise Refusal(H11, f"{at}/anchor", "a declared layout", name)
        for j, member in enumerate(members):
            if member in members[:j]:
                raise Refusal("BAD_VALUE", f"{at}/members/{j}", "each member once", member)
        anchor = layouts[name]
        if name not in members or not anchor.realisable or anchor.quantisation != "none":
            expected = "a realisable member of quantisation none"
            raise Refusal("BAD_VALUE", f"{at}/anchor", expected, name)
        held = tuple(layouts[member] for member in members)
        lossless = tuple(
            layout
            for layout in held
            if layout.quantisation == "none" and frontier_code(layout, anchor) is None
        )
        resolved.append(Group(anchor, held, lossless))
    return resolved


def demanded(resolved: list[Group]) -> dict[str, Pair]:
    """Give the pairs that the groups demand, by pair_id; the first group counts (HUNT-3)."""
    pairs: dict[str, Pair] = {}
    for group in resolved:
        anchor = group.anchor
        wanted = [(a, b) for a in group.lossless for b in group.lossless if a is not b]
        for member in group.members:
            if member not in group.lossless:
                wanted += [(member, anchor), (anchor, member)]
        for src, dst in wanted:
            pair = Pair(src, dst, anchor.name, frontier_code(src, dst))
            pairs.setdefault(f"{src.name}->{dst.name}", pair)
    return pairs


def check_names(
    rows: list[dict[str, Any]], layouts: dict[str, Layout], pairs: dict[str, Pair]
) -> list[Pair]:
    """Resolve the rows in their order, and compare their set with the demanded one.

    Raises:
        Refusal: H11, H12.
    """
    before = ""
    for i, row in enumerate(rows):
        for side in ("src", "dst"):
            if row[side] not in layouts:
                raise Refusal(H11, f"{_ROWS}/{i}/{side}", "a declared layout", row[side])
        name = row["pair_id"]
        require(H12, f"{_ROWS}/{i}/pair_id", f"{row['src']}->{row['dst']}", name)
        if name <= before:
            raise Refusal(H12, f"{_ROWS}/{i}/pair_id", f"above {before}", name)
        before = name
    for i, row in enumerate(rows):
        if row["pair_id"] not in pairs:
            raise Refusal(H12, f"{_ROWS}/{i}/pair_id", "a demanded pair", row["pair_id"])
    if len(rows) != len(pairs):
        held = {row["pair_id"] for row in rows}
        missing = min(name for name in pairs if name not in held)
        raise Refusal(H12, _ROWS, missing, "no such row")
    return [pairs[row["pair_id"]] for row in rows]
