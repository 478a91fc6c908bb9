"""`lockstep record`, `lockstep replay` and `lockstep-verify --replay` as people meet them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lockstep.certificate import keys, lcj, times
from lockstep.certificate.verifier import verify
from lockstep.evidence.index import statement_of

Run = Callable[..., str]


@pytest.fixture
def lockstep(lockstep: Run) -> Run:
    """Run commands in a folder with a workload of four requests."""
    make = "workload make --kind prefixes --requests 4 --block-size 8 --max-new 5 --seed 2"
    lockstep(*make.split(), "-o", "w.json")
    return lockstep


RECORD = ("record", "--workload", "w.json", "--block-size", "8")


def edited(tmp_path: Path, edit: Callable[[dict[str, Any]], None]) -> str:
    """Write an edited statement of the recorded execution, and give its name."""
    statement = statement_of((tmp_path / "r.cert.json").read_bytes())
    edit(statement["predicate"])
    (tmp_path / "edited.json").write_bytes(lcj.encode(statement))
    return "edited.json"


def test_an_execution_is_recorded_and_repeated(lockstep: Run, tmp_path: Path) -> None:
    said = lockstep(*RECORD, "--policy", "adversarial", "-o", "r.cert.json")
    assert "alone: OK" in said
    assert "nothing differs" in lockstep("replay", "r.cert.json")
    trajectory = statement_of((tmp_path / "r.cert.json").read_bytes())["predicate"]["trajectory"]
    assert trajectory["sha256"] in said

    def other(predicate: dict[str, Any]) -> None:
        predicate["trajectory"]["steps"][3]["work"] = "0" * 64

    said = lockstep("replay", edited(tmp_path, other), exit=3)
    assert "REPLAY_DIFFERS" in said
    assert "step 3, work" in said

    def elsewhere(predicate: dict[str, Any]) -> None:
        for entry in predicate["environment"]["resolved"]:
            entry["value"] = "0.0" if entry["name"] == "numpy" else entry["value"]

    said = lockstep("replay", edited(tmp_path, elsewhere), exit=3)
    assert "NOT_COMPARABLE" in said
    assert "numpy 0.0" in said
    told = json.loads(lockstep("replay", "edited.json", "--json", exit=3))
    assert told["outcome"] == "not_comparable"


def test_a_schedule_is_executed_as_it_is(lockstep: Run, tmp_path: Path) -> None:
    lockstep(*RECORD, "--policy", "swarm", "--seed", "5", "-o", "driven.cert.json")
    driven = statement_of((tmp_path / "driven.cert.json").read_bytes())["predicate"]
    (tmp_path / "s.json").write_bytes(lcj.encode(driven["schedule"]))
    lockstep(*RECORD[:3], "--schedule", "s.json", "-o", "r.cert.json")
    predicate = statement_of((tmp_path / "r.cert.json").read_bytes())["predicate"]
    for member in ("schedule", "trajectory", "events", "outputs"):
        assert predicate[member] == driven[member]
    both = (*RECORD[:3], "--schedule", "s.json", "--policy", "swarm")
    assert "a schedule has it already" in lockstep(*both, exit=2)
    assert "no folder" in lockstep(*RECORD, "-o", "none/r.cert.json", exit=2)


def test_the_verifier_demands_what_a_floor_demands(lockstep: Run, tmp_path: Path) -> None:
    signer = keys.new_key_file(tmp_path / "key.pem")
    lockstep(*RECORD, "-o", "r.cert.json", "--key", "key.pem")
    policy = keys.sole_policy(signer.public_key(), "signer", "signer", times.period(1))
    kind = "urn:lockstep:certificate:replay:v1"
    policy["floors"] = [{"predicateType": kind, "count": "replayed", "minimum": 1}]
    (tmp_path / "trust.json").write_bytes(lcj.encode(policy))
    options = ("--trust", "trust.json", "--state", str(tmp_path))
    certificate = tmp_path / "r.cert.json"
    assert verify([certificate], *options).results[0]["code"] == "FLOOR_NOT_MET"
    result = verify([certificate], *options, "--replay").results[0]
    assert (result["code"], result["verdict"], result["counts"]["replayed"]) == (
        "OK",
        "REPLAYED",
        1,
    )
