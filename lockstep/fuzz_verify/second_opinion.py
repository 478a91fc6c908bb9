"""Whether a mutated declaration is another true one, by the producer's own layout code.

Some declarations say the same in two ways: 0 KV heads or the geometry's number, padding to a
multiple of 0 or of a divisor, layouts or members of a group in another order. A mutant that is
accepted after such a change is right, and nobody but a second implementation can tell.
"""

from typing import Any

from lockstep.claims.hunt import opened
from lockstep.claims.hunt_lemmas import row_lemmas
from lockstep.errors import LockstepError
from lockstep.hunt.demand import demanded_pairs, lossless_members, pair_id
from lockstep.layouts.derived import derived_json
from lockstep.layouts.frontier import frontier_code
from lockstep.layouts.geometry import Geometry
from lockstep.layouts.realise import realise
from lockstep.layouts.sets import Group
from lockstep.layouts.words import transformations

DECLARED = ("/geometry/", "/layouts", "/groups")
"""Where declarations stand; what a document derives from them has no second way of being said."""
_DERIVED = "/layouts/*/derived"


def declares(path: str) -> bool:
    """Decide whether a field is part of what a hunt declares."""
    return path.startswith(DECLARED) and not path.startswith(_DERIVED)


def agrees(predicate: dict[str, Any]) -> bool:
    """Derive layouts, pairs, words and frontier codes from the declarations and compare them."""
    try:
        return _agrees(predicate)
    except (LockstepError, KeyError, TypeError):
        # What no reader may take has no shape to rely on.
        return False


def _agrees(predicate: dict[str, Any]) -> bool:
    geometry = Geometry(**predicate["geometry"])
    layouts = {declared["name"]: opened(declared) for declared in predicate["layouts"]}
    if len(layouts) != len(predicate["layouts"]):
        return False
    for declared in predicate["layouts"]:
        layout = layouts[declared["name"]]
        if layout.as_json(geometry)["tensors"] != declared["tensors"]:
            return False
        realised = realise(layout, geometry)
        derived = derived_json(realised)
        if declared["derived"] != derived:
            return False
    groups = tuple(Group(group["anchor"], tuple(group["members"])) for group in predicate["groups"])
    pairs = demanded_pairs(groups, layouts, geometry)
    rows = {row["pair_id"]: row for row in predicate["rows"]}
    if list(rows) != [pair_id(*pair) for pair in pairs]:
        return False
    for src, dst in pairs:
        row, sides = rows[pair_id(src, dst)], (layouts[src], layouts[dst])
        if row["frontier_code"] != frontier_code(*sides, geometry):
            return False
        if row["transformations"] != list(transformations(*sides, geometry)):
            return False
        if row["proof"] is not None and row["proof"]["lemmas"] != row_lemmas(*sides, geometry):
            return False
        lossless = all(side.quantisation == "none" for side in sides)
        if row["frontier_code"] is None and lossless != row["verdict"].startswith("EXACT"):
            return False
    exact = {name for group in groups for name in lossless_members(group, layouts, geometry)}
    counted: list[str] = predicate["counts"]["lossless_layouts"]
    return counted == [name for name in layouts if name in exact]
