"""What `lockstep show` prints of the payload of a certified server."""

from typing import Any

from lockstep import spec
from lockstep.certify.report import name, percent
from lockstep.cli.payload_parts import about, counts_table, listed, table
from lockstep.cli.tables import Table


def certification(predicate: dict[str, Any], rows: bool) -> list[Table]:
    """Show a certified server: verdict, identity, cells, controls, limits, counts."""
    adapter, plan = predicate["adapter"], predicate["plan"]
    says = {one["id"]: one["says"] for one in spec.load("certification.json")["limits"]}
    chosen = [
        (number, one)
        for number, one in enumerate(predicate["cells"])
        if rows or one["verdict"] != "clean"
    ]
    cells = [
        (
            one["verdict"],
            one["case"],
            name(one),
            listed(one["kinds"]),
            str(one["width"]),
            _rate(one["statistics"]),
        )
        for _, one in chosen
    ]
    identity = [
        (one["name"], one["observed"] or "not read", one["recorded"] or "nothing")
        for one in predicate["subject"]["identity"]
    ]
    settings = [
        (one["name"], one["requested"] or "nothing", one["resolved"] or "not read")
        for one in predicate["settings"]
    ]
    return [
        about(
            ("verdict", predicate["verdict"], "/predicate/verdict"),
            ("adapter", adapter["name"] + ("" if adapter["verified"] else ", unverified adapter")),
            ("gauge", adapter["gauge"] or "none", "/predicate/adapter/gauge"),
            ("compared", plan["observable"], "/predicate/plan/observable"),
            ("turned off by the mode", listed(predicate["turned_off"]) or "nothing read"),
        ),
        table(
            "server",
            ("what", "observed", "recorded"),
            identity,
            "/predicate/subject/identity",
        ),
        table(
            "settings",
            ("setting", "requested", "resolved"),
            settings if rows else (),
            "/predicate/settings",
        ),
        table(
            "cells",
            ("verdict", "case", "condition", "differ", "width", "rate"),
            cells,
            [f"/predicate/cells/{number}" for number, _ in chosen],
        ),
        table(
            "controls",
            ("control", "status"),
            [(one["name"], one["status"]) for one in predicate["controls"]],
            "/predicate/controls",
        ),
        table("prompts", ("between", "answers flip", "scores flip"), _prompts(predicate)),
        table(
            "not shown",
            ("limit", "what it says"),
            [(i, says[i]) for i in predicate["limits"]],
            "/predicate/limits",
        ),
        counts_table(predicate),
    ]


def _rate(statistics: dict[str, Any] | None) -> str:
    if statistics is None:
        return "not scored"
    if statistics["differing"]:
        return f"{statistics['differing']} of {statistics['rounds']}"
    return f"below {percent(statistics['missed_ppm'])}"


def _prompts(predicate: dict[str, Any]) -> list[tuple[str, str, str]]:
    from lockstep.certify.prompts import called

    own = predicate["prompts"]
    if own is None:
        return []
    names = [called(condition) for condition in own["conditions"]]
    rows = [
        (
            names[one["a"]] if one["a"] == one["b"] else f"{names[one['a']]}; {names[one['b']]}",
            f"{one['answers']} of {one['items_compared']}",
            f"{one['scores']} of {one['scores_compared']}",
        )
        for one in own["comparisons"]
    ]
    return [*rows, ("verdict", own["verdict"], "")]
