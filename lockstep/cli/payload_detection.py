"""What `lockstep show` prints of the payload of what the certifier detects."""

from typing import Any

from lockstep import spec
from lockstep.cli.payload_parts import about, counts_table, table
from lockstep.cli.tables import Table


def detection(predicate: dict[str, Any], rows: bool) -> list[Table]:
    """Show what the certifier detects: verdict, trials, blind spots with their reasons, counts."""
    reasons = {one["id"]: one["reason"] for one in spec.load("mutation.json")["operators"]}
    server = [f"{one['name']} {one['value']}" for one in predicate["server"]]
    chosen = [
        (number, one)
        for number, one in enumerate(predicate["trials"])
        if rows or one["outcome"] != one["expected"]
    ]
    trials = [
        (one["outcome"], one["expected"], one["name"], one["server"], _seconds(one), _by(one))
        for _, one in chosen
    ]
    return [
        about(
            ("verdict", predicate["verdict"], "/predicate/verdict"), ("server", "; ".join(server))
        ),
        table(
            "trials",
            ("outcome", "expected", "trial", "server", "s", "shown by"),
            trials,
            [f"/predicate/trials/{number}" for number, _ in chosen],
        ),
        table(
            "blind spots",
            ("fault", "why it is not seen from outside"),
            [(name, reasons[name]) for name in predicate["blind"]],
            "/predicate/blind",
        ),
        counts_table(predicate),
    ]


def _seconds(trial: dict[str, Any]) -> str:
    return "" if trial["elapsed_us"] is None else f"{trial['elapsed_us'] / 1e6:.0f}"


def _by(trial: dict[str, Any]) -> str:
    """Say what showed a fault, and in which case; empty where nothing did."""
    shown = trial["shown"]
    if shown is None:
        return ""
    return " ".join(filter(None, (shown["sort"], shown["kind"], shown["case"], shown["control"])))
