"""Write the parent of the conformance vectors of one of the kinds that look for faults.

Usage: python tools/fault_parent.py NAME > spec/cases/documents/NAME.json

NAME is mutation.

No model ran for these: environments, trials and records are made up, and folded by the claims of
their kinds. The documents are reviewed and committed; they are made anew where the rules or the
data of their kind change. Their lists are written an element a line, since they are long.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from engine_parent import ISSUED_AT, MODEL, PRODUCER, made_up

from lockstep import spec
from lockstep.certificate import lcj
from lockstep.certificate.statement import predicate_type
from lockstep.engine.digest import framed

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


MAKERS = {
    "mutation": mutation,
}
SUBJECTS = {"mutation": ("spec", "model")}


def document(name: str) -> dict[str, Any]:
    """Fold, and put placeholders where the vectors' builder fills in digests."""
    folded = json.loads(lcj.encode(MAKERS[name]()))
    kind = name.partition("-")[0]
    held = {"spec": f"$spec:{kind}", "model": folded["model"]["sha256"]}
    return {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [
            {"name": name, "digest": {"sha256": held.get(name, f"${name}")}}
            for name in SUBJECTS[kind]
        ],
        "predicateType": predicate_type(kind),
        "predicate": folded,
    }


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
    sys.stdout.write(written(document(sys.argv[1])) + "\n")
