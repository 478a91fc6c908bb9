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
    """Give the digest under which a declaration's lemma is registered."""
    declared = layout.as_json(geometry)
    return hashlib.sha256(
        encode({name: value for name, value in declared.items() if name not in _LEFT_OUT})
    ).hexdigest()


def lemma_of(layout: Layout, geometry: Geometry) -> str | None:
    """Name the lemma that is registered for a layout's declaration, if one is."""
    found: str | None = spec.load("lemmas.json")["layouts"].get(
        declaration_sha256(layout, geometry)
    )
    return found


def row_lemmas(src: Layout, dst: Layout, geometry: Geometry) -> list[dict[str, Any]]:
    """Give the lemmas of a row with a proof: the general ones, src's, and dst's if another."""
    names = list(spec.load("lemmas.json")["rows"])
    for side in (src, dst):
        own = lemma_of(side, geometry)
        if own is not None and own not in names:
            names.append(own)
    return [dict(_registered()[name]) for name in names]
