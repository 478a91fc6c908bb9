"""Write the parent of the conformance vectors of one of the kinds that look for faults.

Usage: python tools/fault_parent.py NAME > spec/cases/documents/NAME.json

NAME is mutation, campaign, finding or finding-wedge.

No model ran for these: environments, trials and records are made up, and folded by the claims of
their kinds. The documents are reviewed and committed; they are made anew where the rules or the
data of their kind change. Their lists are written an element a line, since they are long.
"""

from __future__ import annotations

import hashlib
import json
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from engine_parent import ISSUED_AT, MODEL, PRODUCER, chosen, made_up, placed

from lockstep import spec
from lockstep.engine.digest import framed

if TYPE_CHECKING:
    from lockstep.fuzz.case import Case
    from lockstep.fuzz.failure import Failure
    from lockstep.fuzz.record import Record

DIFFERENCE = {
    "execution": "a", "request": "r", "position": 1, "layer": None, "part": "logits",
    "expected": "0", "got": "1",
}  # fmt: skip


def common() -> dict[str, Any]:
    """Give the members that the claims of these kinds take alike."""
    return {
        "model": MODEL,
        "environment": made_up("host", "float32"),
        "issued_at": ISSUED_AT,
        "producer": PRODUCER,
    }


def model_digest() -> str:
    """Give the digest of the made-up weights and their compute dtype."""
    return framed("lockstep/model/1", bytes.fromhex(str(MODEL["sha256"])), b"float32").hex()


def _cell(observer: str, seen: str, ran: int = 1, live: int = 1, steps: int = 9) -> dict[str, Any]:
    """Give a cell of a trial, with a reason or a difference where its form asks for one."""
    return {
        "observer": observer,
        "seen": seen,
        "reason": "it takes too long" if seen == "not_run" else "",
        "ran": ran,
        "live": live,
        "steps": steps,
        "milliseconds": 5,
        "first_difference": DIFFERENCE if seen == "differs" else None,
    }


def _trial(name: str, edits: str, killers: dict[str, int], **of_all: int) -> dict[str, Any]:
    """Give a trial in which some observers differ, each after a number of steps."""
    cells = []
    for one in spec.load("mutation.json")["observers"]:
        observer = one["name"]
        differs = observer in killers or observer == "ALWAYS-FAIL"
        counts = {"steps": 0 if observer == "KERNEL-EQ" else killers.get(observer, 9)} | of_all
        if one["sort"] == "baseline":
            counts = {"ran": 0, "live": 0, "steps": 0}
        cells.append(_cell(observer, "differs" if differs else "agrees", **counts))
    return {"operator": name, "edits_sha256": edits, "cells": cells}


def mutation() -> dict[str, Any]:
    """Give trials that kill every operator but the last, which survives.

    The second operator is killed by MR1 and GOLDEN, every fourth one, if it is visible, by MR2 and
    F1, all others by GOLDEN alone; the least steps to a kill are 1 for the first, 2 for the second,
    and so on.
    """
    from lockstep.claims.mutation import CONTROL, predicate

    declared = spec.load("mutation.json")["operators"]
    trials = [_trial(CONTROL, "0" * 64, {}, ran=0, live=0)]
    for place, one in enumerate(declared):
        killers = {"GOLDEN": place + 1}
        if place == 1:
            killers["MR1"] = 7
        elif place == len(declared) - 1:
            killers = {}
        elif place % 4 == 2 and one["black_box"] == "visible":
            killers = {"MR2": place + 9, "F1": place + 1}
        trials.append(_trial(one["id"], one["edits_sha256"], killers))
    return predicate(trials, model_digest=model_digest(), sources_sha256="6" * 64, **common())


SHORTEST = (("QUEUED", "admit"), ("ADMITTED", "decode"), ("DECODING", "finish"))
LITTLE = (("admit", "decode"), ("decode", "finish"), ("admit", "decode", "finish"))
"""Cells and n-grams of a request that emits one token."""


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def seed_record(population: str, seed: int) -> Record:
    """Give the record of a seed, without a parent: the third shows all, the fourth is refused."""
    from lockstep.claims.campaign_totals import legal
    from lockstep.fuzz.record import Record

    whole = legal()
    base = Record(population, seed, None, _sha256(f"case {population} {seed}"), requests=2)
    if seed == 3:
        above = whole["predicates"][-1:]
        return replace(base, outcome="refused", reason="REQUEST_NEVER_FITS", predicates=above)
    ran = replace(
        base,
        trajectory_sha256=_sha256(f"trajectory {population} {seed}"),
        outcome="clean",
        steps=5,
        events=6,
        twice=True,
        alone=True,
        cells=SHORTEST,
        n_grams=LITTLE,
        predicates=whole["predicates"][:1],
    )
    if seed != 2:
        return ran
    grams = (*whole["pairs"], *whole["triples"])
    shown = whole["predicates"][:-1]
    return replace(ran, steps=80, events=200, cells=whole["cells"], n_grams=grams, predicates=shown)


def campaign(records: dict[str, list[Record]] | None = None) -> dict[str, Any]:
    """Give as many records as are demanded, of which one of each population is not clean."""
    from lockstep.claims.campaign import predicate
    from lockstep.fuzz.lineage import corpora, parent
    from lockstep.fuzz.populations import populations

    held: dict[str, list[Record]] = {}
    for name, one in populations().items():
        own = (records or {}).get(name) or [seed_record(name, seed) for seed in range(one.seeds)]
        done: list[Record] = []
        for record in own:
            by_round = corpora((before.seed, before.shown) for before in done)
            corpus = by_round.get(record.seed // spec.load("fuzz.json")["round"], ())
            done.append(replace(record, parent=parent(name, record.seed, corpus)))
        held[name] = done
    return predicate(held, model_digest=model_digest(), sources_sha256="6" * 64, **common())


def case_of_steps() -> Case:
    """Give the execution of the replay's vectors as a case: every event, blocks named and open."""
    from engine_parent import replay

    from lockstep.fuzz.case import parse_case

    told = replay()
    schedule = told["schedule"]
    document = {"version": 1, "workload": told["workload"], "pool": schedule["pool"]}
    return parse_case({**document, "policy": None, "steps": schedule["steps"]})


def wedge(prompt: int = 5, max_new: int = 2) -> Case:
    """Give a request that needs one block more than the pool has."""
    from lockstep.fuzz.case import Case
    from lockstep.lifecycle import Pool
    from lockstep.schedule.workload import Request, Workload

    return Case(Workload((Request("a", tuple(range(1, 1 + prompt)), max_new),)), Pool(3, 2), ())


def finding(
    case: Case, failure: Failure, mutation: str | None = None, held: dict[str, str] | None = None
) -> dict[str, Any]:
    """Give a case, with the outcomes that the rules give its removals, and `passes` elsewhere."""
    from lockstep.claims.finding import predicate
    from lockstep.minimize.dimensions import dimensions, removals
    from lockstep.minimize.legality import Rules
    from lockstep.minimize.memo import Outcome
    from lockstep.minimize.observe import FindingSeen
    from lockstep.minimize.reduce import Reduced
    from lockstep.minimize.removals import without
    from lockstep.minimize.worker import Shown

    def judged(tested: Case, rules: Rules) -> Outcome:
        code = rules.refusal(tested)
        return Outcome("illegal", code) if code else Outcome("passes")

    weakened, held = Rules(mutation), held or {}
    outcomes = []
    for removal in removals(case, [name for name in dimensions() if name not in held]):
        left = without(case, [removal])
        outcomes.append((removal, left.sha256, judged(left, weakened)))
    edits = {one["id"]: one["edits_sha256"] for one in spec.load("mutation.json")["operators"]}
    start = framed(
        "lockstep/trajectory/1",
        case.pool.blocks.to_bytes(8, "big"),
        case.pool.block_size.to_bytes(8, "big"),
    ).hex()
    seen = FindingSeen(
        model={**MODEL, "stop_tokens": [0], "max_positions": 4096},
        environment=made_up("host", "float32"),
        mutation=None if mutation is None else {"name": mutation, "sha256": edits[mutation]},
        shown=Shown(failure.document(), start, case.document()),
        reduced=Reduced(case, tuple(outcomes), checks=9, refused=4),
        held=held,
        source="made up for vectors",
        origin=case,
        unmutated=None if mutation is None else judged(case, Rules()),
    )
    return predicate(seen, issued_at=ISSUED_AT, producer=PRODUCER)


def finding_of_steps() -> dict[str, Any]:
    """Give a finding on the engine as it is, every dimension free."""
    from lockstep.fuzz.failure import Failure

    return finding(case_of_steps(), Failure("differs_alone", part="tokens", where="/outputs/0"))


def finding_wedge() -> dict[str, Any]:
    """Give the finding that a request which never fits waits for ever, of which all follows."""
    from lockstep.fuzz.failure import Failure

    held = dict.fromkeys(("pool_blocks", "block_size"), "the subject's configuration")
    stuck = Failure("stuck", part="machine", where="/steps/0")
    return finding(wedge(), stuck, "never_fitting_accepted", held)


MAKERS = {
    "mutation": mutation,
    "campaign": campaign,
    "finding": finding_of_steps,
    "finding-wedge": finding_wedge,
}
SUBJECTS = {
    "mutation": ("spec", "model"),
    "campaign": ("spec", "model"),
    "finding": ("spec", "model", "case"),
}


def document(name: str) -> dict[str, Any]:
    """Fold, and put placeholders where the vectors' builder fills in digests."""
    kind = name.partition("-")[0]
    return placed(kind, MAKERS[name](), SUBJECTS[kind])


def written(value: Any, depth: int = 0) -> str:
    """Write JSON with a line for each value that is short enough for one."""
    line = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, dict | list) or not value or len(line) <= 200 - depth:
        return line
    indent = "\n" + " " * (depth + 1)
    if isinstance(value, dict):
        inner = [f"{json.dumps(key)}: {written(item, depth + 1)}" for key, item in value.items()]
    else:
        inner = [written(item, depth + 1) for item in value]
    opening, closing = ("{", "}") if isinstance(value, dict) else ("[", "]")
    return opening + indent + ("," + indent).join(inner) + "\n" + " " * depth + closing


if __name__ == "__main__":
    sys.stdout.write(written(document(chosen(MAKERS))) + "\n")
