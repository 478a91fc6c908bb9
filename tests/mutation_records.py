"""Trials of mutation testing, made up: GOLDEN kills every operator, NEVER-FITS the first too."""

from __future__ import annotations

from typing import Any

from lockstep import spec
from lockstep.claims.mutation import CONTROL

DATA = spec.load("mutation.json")
NAMES = [one["name"] for one in DATA["observers"]]
FIRST = DATA["operators"][0]["id"]
HEX = "0" * 64
DIFFERENCE = {
    "execution": "e", "request": "r0", "position": 3, "layer": None, "part": "logits",
    "expected": "a", "got": "b",
}  # fmt: skip


def cell(observer: str, seen: str, ran: int = 1, live: int = 1, steps: int = 7) -> dict[str, Any]:
    return {
        "observer": observer,
        "seen": seen,
        "reason": "why" if seen == "not_run" else "",
        "ran": ran,
        "live": live,
        "steps": steps,
        "milliseconds": 12,
        "first_difference": DIFFERENCE if seen == "differs" else None,
    }


def _trial(name: str, sha256: str, killers: tuple[str, ...]) -> dict[str, Any]:
    count = 0 if name == CONTROL else 1
    cells = []
    for one in NAMES:
        seen = "differs" if one in (*killers, "ALWAYS-FAIL") else "agrees"
        looks = 0 if one.startswith("ALWAYS-") else count
        steps = 0 if one.startswith(("ALWAYS-", "KERNEL-EQ")) else 7
        cells.append(cell(one, seen, looks, looks, steps))
    return {"operator": name, "edits_sha256": sha256, "cells": cells}


def made() -> dict[str, dict[str, Any]]:
    """Give the trial of the control and of each operator, by name."""
    trials = {CONTROL: _trial(CONTROL, HEX, ())}
    for one in DATA["operators"]:
        killers = ("NEVER-FITS", "GOLDEN") if one["id"] == FIRST else ("GOLDEN",)
        trials[one["id"]] = _trial(one["id"], one["edits_sha256"], killers)
    return trials
