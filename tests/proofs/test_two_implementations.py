"""The producer's texts and plans against the verifier's, which shares the specification only."""

from __future__ import annotations

import pytest

from lockstep.layouts.sets import load_set
from lockstep.proofs.geometries import Case, Excluded, geometries, plan
from lockstep.proofs.layout_queries import guards, proofs
from lockstep_verify import spec
from lockstep_verify.derive import smt, smt_texts


@pytest.mark.parametrize("name", ["engines", "seed-004"])
def test_both_plan_the_same_and_write_the_same_texts(name: str) -> None:
    layouts = tuple(load_set(name).layouts.values())
    planned = plan(layouts)
    mine = [entry for entry in planned if isinstance(entry, Case)]
    geometry = next(iter(geometries().values()))
    theirs, absent = smt._plan([layout.as_json(geometry) for layout in layouts])
    assert [case.name for case in mine] == [case.name for case in theirs]
    assert absent == [
        {"layout": e.layout, "geometry": e.geometry, "mode": e.mode, "reason": e.reason}
        for e in planned
        if isinstance(e, Excluded)
    ]
    kinds = spec.load("smt.json")["kinds"]
    for case, other in zip(mine, theirs, strict=True):
        for kind in kinds:
            assert proofs(case)[kind].text == smt_texts.text(other, kind, None)
            guard, wrong = guards(case)[kind], smt_texts.planted(other, kind)
            assert (guard.planted.axis, guard.planted.stride) == wrong
            assert guard.query.text == smt_texts.text(other, kind, wrong)
