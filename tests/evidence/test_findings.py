"""The regression folder: each finding on the engine is derived, and replayed as closed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from lockstep.certificate.envelope import sign_statement
from lockstep.certificate.statement import finding_subjects, statement
from lockstep.claims.finding import predicate
from lockstep.evidence.index import statement_of
from lockstep.minimize import wedge
from lockstep.minimize.again import show_again
from lockstep_verify.derive import Options, derive
from lockstep_verify.statement import check_statement, check_subjects

FOLDER = Path(__file__).resolve().parents[2] / "evidence" / "findings"
COMMIT = "0123456789abcdef0123456789abcdef01234567"
PRODUCER = dict.fromkeys(("name", "version", "python", "numpy", "machine", "command"), "x")


def faults(folder: Path) -> list[str]:
    """List what is wrong in a folder of findings; nothing where all is closed."""
    found: list[str] = []
    for file in sorted(folder.iterdir()):
        if file.name == "README.md":
            continue
        if not file.name.endswith(".cert.json"):
            found.append(f"{file.name}: no certificate")
            continue
        stated = statement_of(file.read_bytes())
        check_statement(stated)
        check_subjects(stated, None)
        derive(stated, Options())
        told = stated["predicate"]
        if file.name != f"{told['case_sha256'][:16]}.cert.json":
            found.append(f"{file.name}: not named by its case")
        if told["mutation"] is not None or told["closed_by"] is None:
            found.append(f"{file.name}: no finding that a commit closed")
            continue
        again = show_again(told)
        if again.outcome != "closed":
            found.append(f"{file.name}: {again.outcome}, {again.got}")
    return found


def test_every_finding_is_closed() -> None:
    assert faults(FOLDER) == []


@pytest.fixture(scope="module")
def text() -> str:
    folded = predicate(wedge.found(), issued_at="2026-01-01T00:00:00Z", producer=PRODUCER)
    return json.dumps(statement("finding", finding_subjects(folded), folded))


def _write(stated: dict[str, Any], folder: Path, name: str = "") -> str:
    digest: str = stated["predicate"]["case_sha256"]
    name = name or f"{digest[:16]}.cert.json"
    key = Ed25519PrivateKey.generate()
    (folder / name).write_bytes(sign_statement(stated, [key]))
    return name


def _small(stated: dict[str, Any]) -> dict[str, Any]:
    """Make it a finding on the engine itself: a legal case, all of whose removals pass.

    It is the oversized request in a pool that holds it, which the engine serves.
    """
    told = stated["predicate"]
    told |= {"mutation": None, "unmutated": None, "closed_by": COMMIT}
    told["case"]["pool"]["blocks"] = 3
    from lockstep.fuzz.case import parse_case
    from lockstep.minimize.dimensions import removals
    from lockstep.minimize.removals import without

    case = parse_case(told["case"])
    told["case_sha256"] = case.sha256
    free = [entry["name"] for entry in told["dimensions"] if entry["held"] is None]
    told["removals"] = [
        {
            "dimension": removal.dimension,
            "place": list(removal.place),
            "sha256": without(case, (removal,)).sha256,
            "outcome": "passes",
            "code": "",
        }
        for removal in removals(case, free)
    ]
    from lockstep.engine.trajectory import Recorder

    told["trajectory_sha256"] = Recorder(case.pool).trajectory().sha256
    stated["subject"] = finding_subjects(told)
    return stated


def test_a_closed_finding_passes_and_an_open_one_does_not(text: str, tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("")
    stated = _small(json.loads(text))
    name = _write(stated, tmp_path)
    assert faults(tmp_path) == []
    _write(stated, tmp_path, "another.cert.json")
    assert faults(tmp_path) == ["another.cert.json: not named by its case"]
    (tmp_path / "another.cert.json").unlink()
    stated["predicate"]["closed_by"] = None
    assert _write(stated, tmp_path) == name
    assert faults(tmp_path) == [f"{name}: no finding that a commit closed"]
    (tmp_path / "notes.txt").write_text("")
    assert "notes.txt: no certificate" in faults(tmp_path)
