"""The second checker accepts every lemma that Lean accepts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lockstep.errors import LockstepError
from lockstep.lean import build, toolchain
from lockstep.lean.environment import load
from lockstep.lean.export import export
from lockstep.lean.lemmas import registered
from lockstep_verify.kernel.checking import check
from lockstep_verify.kernel.statement_digests import theorems

REGISTRY = Path(__file__).parents[3] / "spec" / "lemmas.json"


@pytest.mark.slow
def test_every_registered_lemma_is_accepted(tmp_path: Path) -> None:
    try:
        toolchain.find()
    except LockstepError as error:
        pytest.skip(f"no Lean here, and its wheel is for Linux on x86-64 alone: {error.got}")
    build.build(output=tmp_path)
    environment = load(tmp_path)
    data = export(environment, registered(environment))
    checked = check(data)
    assert checked.assumed == ()
    lemmas = json.loads(REGISTRY.read_bytes())["lemmas"]
    found = theorems(data)
    for lemma in lemmas:
        expected = (lemma["statement_sha256"], tuple(lemma["axioms"]))
        assert found[lemma["name"]] == expected, lemma["name"]
    assert {lemma["name"] for lemma in lemmas} <= set(checked.theorems)
