"""The lemmas that a hunt's rows rest on, by statement digest [HUNT-18]."""

from __future__ import annotations

import hashlib
from functools import cache
from typing import Any

from lockstep import spec
from lockstep.certificate.lcj import encode
from lockstep.layouts.declaration import Layout
from lockstep.layouts.geometry import Geometry

_LEFT_OUT = frozenset({"name", "engine", "citation", "source"})


@cache
def _registered() -> dict[str, dict[str, str]]:
    """Give each registered lemma as a row names it, by name."""
    return {
        entry["name"]: {"name": entry["name"], "statement_sha256": entry["statement_sha256"]}
        for entry in spec.load("lemmas.json")["lemmas"]
    }


def declaration_sha256(layout: Layout, geometry: Geometry) -> str:
    """Give the digest under which a declaration's lemmas are registered."""
    declared = layout.as_json(geometry)
    return hashlib.sha256(
        encode({name: value for name, value in declared.items() if name not in _LEFT_OUT})
    ).hexdigest()


def lemmas_of(layout: Layout, geometry: Geometry) -> tuple[str, ...]:
    """Name the lemmas that are registered for a layout's declaration, in their order."""
    registered = spec.load("lemmas.json")["layouts"]
    return tuple(registered.get(declaration_sha256(layout, geometry), ()))


def row_lemmas(src: Layout, dst: Layout, geometry: Geometry) -> list[dict[str, Any]]:
    """Give the lemmas of a row with a proof: the general ones, src's, and dst's if others."""
    names = list(spec.load("lemmas.json")["rows"])
    for side in (src, dst):
        names += [name for name in lemmas_of(side, geometry) if name not in names]
    return [dict(_registered()[name]) for name in names]
