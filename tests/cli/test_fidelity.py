"""`lockstep fidelity` and `lockstep golden` as people meet them, over two prompts of the corpus."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from lockstep import spec
from lockstep.engine.tiny import TinyModel, make_tiny
from lockstep.evidence.index import statement_of
from lockstep.fidelity import golden

Run = Callable[..., str]


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the corpus its two shortest prompts, in this process alone."""
    held = spec.load("fidelity.json")
    monkeypatch.setitem(held, "corpus", held["corpus"][:2])
    monkeypatch.setattr(golden, "SUBJECTS", ((TinyModel(), "float32"),))


def test_fidelity_is_measured_signed_and_verified(lockstep: Run, tmp_path: Path) -> None:
    make_tiny(tmp_path / "tiny", TinyModel(seed=2))
    said = lockstep("fidelity", "--model", "tiny", "-o", "f.cert.json")
    assert "alone: OK" in said
    predicate = statement_of((tmp_path / "f.cert.json").read_bytes())["predicate"]
    assert predicate["model"]["recipe"] is None
    assert len(predicate["measures"]) == 7


@pytest.mark.usefixtures("short")
def test_what_is_out_of_its_bound_leaves_no_certificate(
    lockstep: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(spec.load("fidelity.json")["bounds"][2], "float32", 1)
    said = lockstep("fidelity", "-o", "f.cert.json", exit=3)
    assert "FIDELITY_BOUND_EXCEEDED" in said
    assert "error_max" in said
    assert not (tmp_path / "f.cert.json").exists()


def test_faults_of_the_command_line(lockstep: Run) -> None:
    assert "USAGE" in lockstep("fidelity", "--backend", "float64", exit=2)
    assert "USAGE" in lockstep("fidelity", "--backend", "abacus", exit=2)
    assert "no folder" in lockstep("fidelity", "-o", "none/f.cert.json", exit=2)
    lockstep("golden", "--baseline", "none.json", exit=2)


@pytest.mark.usefixtures("short")
def test_golden_digests_are_claimed_and_held_against(lockstep: Run, tmp_path: Path) -> None:
    path = tmp_path / "golden.json"
    assert "a new claim" in lockstep("golden", "--baseline", "golden.json", "--new-claim")
    before = path.read_bytes()
    assert "equal: 2" in lockstep("golden", "--baseline", "golden.json")
    assert path.read_bytes() == before
    document = json.loads(before)
    document["entries"][0]["prompts"][1]["logits_sha256"] = "0" * 64
    path.write_text(json.dumps(document))
    said = lockstep("golden", "--baseline", "golden.json", exit=3)
    assert "GOLDEN_MISMATCH" in said
    assert "new claim" in said
    document["entries"][0]["binding"]["numpy"] = "0.0"
    path.write_text(json.dumps(document))
    said = lockstep("golden", "--baseline", "golden.json", exit=3)
    assert "NOT_COMPARABLE: 2" in said


@pytest.mark.usefixtures("short")
def test_a_backend_without_digests_has_nothing_to_compare(lockstep: Run) -> None:
    lockstep("golden", "--baseline", "golden.json", "--new-claim")
    said = lockstep("golden", "--baseline", "golden.json", "--backend", "fast", exit=3)
    assert "no digests of backend fast" in said
