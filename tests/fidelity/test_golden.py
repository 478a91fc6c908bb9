"""Golden digests: what differs under an equal binding, and what is not compared under another."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lockstep.engine.backends.host import HostBackend
from lockstep.engine.model import Model
from lockstep.engine.opening import Opened, open_model
from lockstep.engine.tiny import TinyModel
from lockstep.errors import LockstepError
from lockstep.fidelity.corpus import Prompt
from lockstep.fidelity.golden import (
    SUBJECTS,
    Golden,
    compare,
    golden,
    read_baseline,
    write_baseline,
)
from tests.fidelity.defects import FoldReversed, ScaleOff

COMMITTED = Path(__file__).resolve().parents[2] / "evidence" / "golden.json"


@pytest.fixture(scope="session")
def baseline(opened: Opened, folded: tuple[Prompt, ...]) -> Golden:
    """Made of the tree as it is, in this run: no binding parts it from what it is held against."""
    return golden(opened, folded)


def test_the_same_tree_gives_the_same_bytes(baseline: Golden, folded: tuple[Prompt, ...]) -> None:
    again = golden(open_model(TinyModel()), folded)
    assert compare([baseline], [again]).equal == len(folded)


@pytest.mark.parametrize("fault", [FoldReversed, ScaleOff], ids=lambda fault: fault.__name__)
def test_a_change_that_fidelity_may_not_see_is_seen(
    fault: type[HostBackend],
    faulty: Callable[[type[HostBackend]], Model],
    opened: Opened,
    baseline: Golden,
    folded: tuple[Prompt, ...],
) -> None:
    mine = golden(replace(opened, model=faulty(fault)), folded)
    with pytest.raises(LockstepError) as caught:
        compare([baseline], [mine])
    assert caught.value.code == "GOLDEN_MISMATCH"
    same = {name for name, digests in baseline.prompts.items() if mine.prompts[name] == digests}
    # The fold of splits has no order where there are fewer than three.
    assert same == ({"short", "past"} if fault is FoldReversed else set())


def test_another_binding_is_not_compared(baseline: Golden) -> None:
    binding = {**baseline.binding, "numpy": "0.0"}
    wrong = {name: ("0" * 64, "0" * 64) for name in baseline.prompts}
    found = compare([baseline], [replace(baseline, binding=binding, prompts=wrong)])
    assert (found.equal, found.not_comparable) == (0, len(baseline.prompts))
    assert found.reasons == (f"numpy {baseline.binding['numpy']} / 0.0",)


def test_a_model_or_a_prompt_that_is_not_computed(baseline: Golden) -> None:
    for here in ([], [replace(baseline, prompts={})]):
        with pytest.raises(LockstepError) as caught:
            compare([baseline], here)
        assert caught.value.code == "MISSING_FIELD"


def test_a_baseline_is_read_as_it_was_written(tmp_path: Path, baseline: Golden) -> None:
    write_baseline(tmp_path / "golden.json", [baseline])
    assert read_baseline(tmp_path / "golden.json") == (baseline,)


def test_a_baseline_of_another_corpus_is_refused(tmp_path: Path, baseline: Golden) -> None:
    path = tmp_path / "golden.json"
    write_baseline(path, [baseline])
    document = json.loads(path.read_bytes())
    for edit in ({"corpus_sha256": "0" * 64}, {"entries": [{"model": {}}]}):
        path.write_text(json.dumps(document | edit))
        with pytest.raises(LockstepError) as caught:
            read_baseline(path)
        assert caught.value.code == "BAD_VALUE"


def test_the_committed_baseline_is_of_the_declared_subjects() -> None:
    held = read_baseline(COMMITTED)
    assert [(entry.model["recipe"], entry.model["dtype"]) for entry in held] == [
        ({"seed": r.seed, "head_dim": r.head_dim, "dtype": r.dtype, "tied": r.tied}, dtype)
        for r, dtype in SUBJECTS
    ]


SETTINGS = [
    {},
    {"OPENBLAS_CORETYPE": "Haswell", "OPENBLAS_NUM_THREADS": "1"},
    {"OPENBLAS_CORETYPE": "SkylakeX", "OPENBLAS_NUM_THREADS": "2"},
    {"OPENBLAS_CORETYPE": "Prescott", "OPENBLAS_NUM_THREADS": "1"},
    {
        "NPY_DISABLE_CPU_FEATURES": " ".join(
            np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
        )
    },
]


@pytest.mark.slow
@pytest.mark.parametrize("setting", SETTINGS, ids=lambda s: "-".join(s.values())[:40] or "as it is")
def test_the_committed_baseline_holds_on_any_cpu(setting: dict[str, str]) -> None:
    """Whole logits, under other BLAS kernels and instructions; test_golden of kernels has all."""
    command = [sys.executable, "-c", "import sys; from lockstep.cli import main; sys.exit(main())"]
    done = subprocess.run(
        [*command, "golden", "--baseline", str(COMMITTED)],
        env={**os.environ, **setting},
        capture_output=True,
        text=True,
        check=False,
    )
    said = done.stdout + done.stderr
    if "equal: 0" in said:
        pytest.skip(f"NOT_COMPARABLE: {said.splitlines()[1].strip()}")
    assert done.returncode == 0, said
    assert "equal: 21 golden digests; NOT_COMPARABLE: 0" in said
