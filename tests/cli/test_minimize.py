"""`lockstep minimize`, `lockstep replay` of a finding, and `lockstep bench-minimize`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from lockstep.fuzz.lineage import Lineage, case_of
from lockstep.fuzz.store import Store
from lockstep.minimize import wedge
from lockstep.minimize.worker import Engine, Workers

Run = Callable[..., str]
HELD = ("--hold", "pool_blocks", "--hold", "block_size")
UNDER = ("--mutation", wedge.MUTATION)


@pytest.fixture
def lockstep(lockstep: Run) -> Run:
    """Run commands in a folder with the swarm's case of the oversized request."""
    Path("case.json").write_bytes(case_of(Lineage("swarm", (wedge.SEED,))).encode())
    return lockstep


def test_a_case_is_reduced_signed_and_shown_again(lockstep: Run) -> None:
    options = ("--certificate", "f.cert.json", "-o", "small.json", "--memo", "memo.json")
    said = lockstep("minimize", "case.json", *UNDER, *HELD, *options)
    assert "prompt of 61, max_new 4, arrives at 0" in said
    assert "without the mutation: illegal REQUEST_NEVER_FITS" in said
    assert "lockstep-verify, under a policy that trusts this key alone: OK" in said
    # A second search knows the outcomes of the first.
    again = lockstep("minimize", "case.json", *UNDER, *HELD, "--memo", "memo.json")
    assert "0 cases tested" in again
    # The certificate's case has nothing left to remove.
    assert "64 units to 62 single removals" in lockstep("minimize", "f.cert.json", *HELD)
    assert json.loads(Path("small.json").read_bytes())["steps"] == []
    replayed = lockstep("replay", "f.cert.json", "--removals")
    assert "the failure shows again under the mutation never_fitting_accepted" in replayed
    assert "2 other cases were tested again" in replayed
    shown = lockstep("show", "f.cert.json", exit=3)
    assert "never_fitting_accepted" in shown
    assert "illegal REQUEST_NEVER_FITS" in shown


@pytest.mark.parametrize(
    ("arguments", "exit", "said"),
    [
        (("case.json",), 3, "FINDING_NOT_REPRODUCED"),
        (("case.json", *UNDER, "--hold", "requets"), 2, "requets"),
        (("case.json", *UNDER, "--closed-by", "0123456"), 2, "closed"),
        (("case.json", "--mutation", "no_such"), 3, "MUTATION_UNKNOWN"),
        (("case.json", "--seed", "swarm:3"), 2, "no store"),
        (("case.json", "--certificate", "none/f.cert.json"), 2, "no folder"),
        (("nothing.json",), 2, "No such file"),
    ],
)
def test_what_cannot_be_reduced(
    arguments: tuple[str, ...], exit: int, said: str, lockstep: Run
) -> None:
    assert said in lockstep("minimize", *arguments, exit=exit)


def test_a_campaigns_failure_is_reduced_from_its_store(lockstep: Run) -> None:
    case = case_of(Lineage("swarm", (wedge.SEED,)))
    with Workers(Engine(wedge.MUTATION)) as workers:
        failure = workers.show(case).failure
    record = {
        "population": "swarm",
        "seed": wedge.SEED,
        "parent": None,
        "case_sha256": case.sha256,
        "failure": failure,
    }
    with Store(Path("records"), {"mutation": wedge.MUTATION}) as store:
        store.add({**record, "seed": 1, "failure": None})
        store.add(record)
        store.add({**record, "seed": 2, "case_sha256": "0" * 64})
    chosen = ("--seed", f"swarm:{wedge.SEED}")
    said = lockstep("minimize", "records", *chosen, *HELD)
    assert "prompt of 61, max_new 4" in said
    assert "NOT_COMPARABLE" in lockstep("minimize", "records", exit=3)
    assert "BAD_VALUE" in lockstep("minimize", "records", "--seed", "swarm:1", exit=3)


@pytest.mark.slow
def test_the_benchmark_tells_checks_side_by_side(lockstep: Run) -> None:
    said = lockstep(
        *("bench-minimize", "--only", "finish_frees_nothing"),
        *("--setting", "complements, forward"),
    )
    assert "Shrink Ray: " in said
    assert "checks, lockstep / picire, complements, forward: 0." in said
    assert "none of this name" in lockstep("bench-minimize", "--only", "nothing", exit=2)
