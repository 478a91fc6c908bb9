"""Generate lean/Lockstep/Cert/: what `lockstep.layouts` emits for each lossless layout, as lemmas.

A lemma states the tables that `index_map` and `inverse_map` give at the layout's slice, and that
they are the map of the steps that `steps` gives, and its inverse. So Lean checks the Python
implementation itself, and with it the theorems that hold for every geometry.

A lemma is named after the first layout that has its declaration, in the order of the sets; where
an earlier lemma has that name already, the name of the layout's set follows.
"""

import hashlib
from dataclasses import dataclass, replace

from lockstep import spec
from lockstep.certificate import lcj
from lockstep.hunt.demand import lossless_members
from lockstep.layouts.declaration import Layout
from lockstep.layouts.sets import load_set
from lockstep.lean import certificate_text as text
from lockstep.lean.layout_slices import slice_geometry

SETS = ("seed-004", "engines")
"""The sets whose lossless layouts have lemmas."""

DECLARED = ("attention", "block", "kv_heads", "quantisation", "rank_axis", "ranks", "tensors")
"""The fields of a declaration that its digest is of."""

ENDINGS = ("", "_same_map", "_every_geometry")
"""What follows a layout's name in the names of its lemmas, in the order in which rows name them."""


@dataclass(frozen=True)
class Lemma:
    """A lemma: its name within the namespace, its layout, and every `set/layout` it stands for."""

    name: str
    layout: Layout
    layouts: tuple[str, ...]


def lossless(set_name: str) -> tuple[Layout, ...]:
    """List the layouts of a set that are lossless in some group, in declared order [HUNT-3]."""
    given = load_set(set_name)
    names = {
        name
        for group in given.groups
        for name in lossless_members(group, given.layouts, given.geometry)
    }
    return tuple(layout for name, layout in given.layouts.items() if name in names)


def declaration_sha256(layout: Layout, dtype: str) -> str:
    """Give the digest of a declaration, the elements having a dtype's width."""
    stated = layout.as_json(replace(slice_geometry(layout), dtype=dtype))
    return hashlib.sha256(lcj.encode({name: stated[name] for name in DECLARED})).hexdigest()


def lemmas() -> tuple[Lemma, ...]:
    """List the lemmas in the order of the sets, one for each declaration."""
    found: dict[str, Lemma] = {}
    for set_name in SETS:
        for layout in lossless(set_name):
            digest = declaration_sha256(layout, slice_geometry(layout).dtype)
            member = f"{set_name}/{layout.name}"
            if digest in found:
                known = found[digest]
                found[digest] = replace(known, layouts=(*known.layouts, member))
            else:
                names = {lemma.name for lemma in found.values()}
                found[digest] = Lemma(_name(layout, set_name, names), layout, (member,))
    return tuple(found.values())


def registered() -> dict[str, list[str]]:
    """Map each declaration's digest to the full names of its lemmas, at each width of an element.

    They are the layout's certificate, its agreement with the declaration at the slice, and the
    declaration at every geometry ([HUNT-18]; `lockstep.lean.every_geometry` makes the last two).
    The map of a lossless layout counts slots, and its elements are one slot wide whatever their
    dtype, so that the same lemmas stand for all.
    """
    dtypes = spec.load("hunt.json")["dtypes"]
    return dict(
        sorted(
            (
                declaration_sha256(lemma.layout, dtype),
                [f"{text.NAMESPACE}.{lemma.name}{ending}" for ending in ENDINGS],
            )
            for lemma in lemmas()
            for dtype in dtypes
        )
    )


def files() -> dict[str, str]:
    """Give the generated modules by their paths below lean/, one for each folder of layouts."""
    parts: dict[str, list[str]] = {}
    for lemma in lemmas():
        folder = lemma.layout.source_path.split("/")[0]
        realised = text.realised_at(lemma.layout, slice_geometry(lemma.layout))
        about = f"{' and '.join(lemma.layouts)}."
        parts.setdefault(folder, []).append(text.certificate(lemma.name, about, realised))
    return {
        f"{text.FOLDER}/{_module(folder)}.lean": text.module(
            f"What lockstep.layouts emits for layouts/{folder}, and that the steps give it.",
            found,
        )
        for folder, found in parts.items()
    }


def _module(folder: str) -> str:
    return "".join(part.capitalize() for part in folder.split("-"))


def _name(layout: Layout, set_name: str, taken: set[str]) -> str:
    name = text.identifier(layout.name)
    return name if name not in taken else text.identifier(f"{name}_{set_name}")
