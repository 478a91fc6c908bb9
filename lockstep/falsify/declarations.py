"""Falsifications of what a certificate is about: its subjects and declared layouts.

The mutant is signed by a trusted key; each mutation changes a copy of a draft statement in place.
The anchor of the first group is the target, since it is realisable in every hunt.
"""

from lockstep.falsify.content import Mutation, Statement


def _other_digest(statement: Statement, name: str) -> None:
    subject = next(one for one in statement["subject"] if one["name"] == name)
    subject["digest"]["sha256"] = "0" * 64


def another_spec(statement: Statement) -> None:
    """Name other rules as the ones followed."""
    _other_digest(statement, "spec")


def other_layout_sources(statement: Statement) -> None:
    """Name other layout sources as the ones certified."""
    _other_digest(statement, "layouts")


def md5_only(statement: Statement) -> None:
    """Bind a subject by md5."""
    statement["subject"][0]["digest"] = {"md5": "0" * 32}


def shapes_shrunk(statement: Statement) -> None:
    """Shrink the anchor's shapes and every count of its positions by the same factor."""
    predicate = statement["predicate"]
    anchor = predicate["groups"][0]["anchor"]
    layout = next(one for one in predicate["layouts"] if one["name"] == anchor)
    derived = layout["derived"]
    for shape in derived["native_shapes"]:
        shape["extents"] = [1] * len(shape["extents"])
    before, after = derived["positions"], len(derived["native_shapes"])
    derived["positions"] = after
    for row in predicate["rows"]:
        for side, names in _SIDES.items():
            if row[side] == anchor and row["proof"] is not None:
                row["proof"] |= dict.fromkeys(names, after)
    for name in ("positions_checked", "source_positions_checked", "distinct_positions"):
        predicate["counts"][name] -= before - after
    predicate["coverage"]["positions_enumerated"] -= before - after


_SIDES = {
    "dst": ("positions_checked", "positions_total"),
    "src": ("source_positions_checked", "source_positions_total"),
}


def _anchor_axes(statement: Statement) -> list[str]:
    predicate = statement["predicate"]
    anchor = predicate["groups"][0]["anchor"]
    layout = next(one for one in predicate["layouts"] if one["name"] == anchor)
    axes: list[str] = max((tensor["axes"] for tensor in layout["tensors"]), key=len)
    return axes


def _last_real(axes: list[str]) -> int:
    return max(i for i, axis in enumerate(axes) if axis not in ("1", "L"))


def axis_repeated(statement: Statement) -> None:
    """Write an axis of the anchor twice."""
    axes = _anchor_axes(statement)
    at = _last_real(axes)
    # In the place of a unit axis or of another one, so that no layout has too many.
    other = next(i for i in range(len(axes) - 1, -1, -1) if i != at)
    axes[other] = axes[at]


def axis_dropped(statement: Statement) -> None:
    """Drop an axis of the anchor."""
    axes = _anchor_axes(statement)
    del axes[_last_real(axes)]


MUTATIONS: dict[str, Mutation] = {
    "another-spec": another_spec,
    "other-layout-sources": other_layout_sources,
    "md5-only": md5_only,
    "shapes-shrunk-with-the-denominator": shapes_shrunk,
    "axis-repeated": axis_repeated,
    "axis-dropped": axis_dropped,
}
"""Mutations of a statement, by the name of their falsification."""
