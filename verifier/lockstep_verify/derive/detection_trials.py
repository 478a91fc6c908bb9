"""The trials that are declared, and their plans (DET-1 to DET-4)."""

from __future__ import annotations

from typing import Any

from lockstep_verify import spec

Document = dict[str, Any]


def data() -> Document:
    """Give the data of the kind."""
    found: Document = spec.load("detection.json")
    return found


def declared() -> list[Document]:
    """Give what is declared of each trial, and whether it runs (DET-1 to DET-3)."""
    known, found = data(), []
    options = {one["name"]: one["options"] for one in known["servers"]}
    placed = {one["operator"]: one["server"] for one in known["placed"]}
    for one in known["controls"]:
        mode = " --mode fast" if one["mode"] == "fast" else ""
        command = f"{known['command']}{options[one['server']]}{mode}"
        names = ("name", "mode", "server", "lifetimes", "expected")
        told = {name: one[name] for name in names}
        found.append(
            {**told, "operator": None, "edits_sha256": None, "command": command, "runs": True}
        )
    for one in spec.load("mutation.json")["operators"]:
        visible = one["black_box"] == "visible"
        crowded = one["subsystem"] in known["crowded_subsystems"]
        server = "roomy"
        if visible:
            server = placed.get(one["id"], "crowded" if crowded else "roomy")
        found.append(
            {
                "name": one["id"],
                "operator": one["id"],
                "edits_sha256": one["edits_sha256"],
                "mode": "invariant",
                "server": server,
                "lifetimes": 1,
                "expected": "caught" if visible else "clean",
                "command": f"{known['command']}{options[server]} --fault {one['id']}",
                "runs": one["subsystem"] not in known["other_backend"],
            }
        )
    return found


def trial_plan(trial: Document, predicate: Document) -> Document:
    """Give the plan of a trial (DET-4)."""
    names = [one["name"] for one in data()["servers"]]
    at = names.index(trial["server"])
    plan = {
        **predicate["plan"],
        "lifetimes": trial["lifetimes"],
        "context": predicate["contexts"][at],
    }
    if trial["operator"] is None and trial["mode"] == "invariant":
        plan["positive"] = "mode_off"
        plan["positive_cases"] = spec.load("certification.json")["defaults"]["positive_cases"]
    return plan
