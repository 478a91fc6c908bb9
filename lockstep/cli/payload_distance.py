"""What `lockstep show` prints of a calibration of distances."""

from typing import Any

from lockstep import spec
from lockstep.cli.payload_parts import SHOWN_DIGITS, about, counts_table, table
from lockstep.cli.tables import Table

UNITS = {"mae": 10**12, "kl": 10**15, "max": 10**12}
"""Of a nat, by measure [DIST-4]."""


def distance_calibration(predicate: dict[str, Any], rows: bool) -> list[Table]:
    """Show a ladder: its rungs, how far each is, and which a line tells from the model."""
    model, accepts = predicate["model"], predicate["accepts"]
    chosen = predicate["placements"][accepts - 1]
    names = [rung["name"] for rung in predicate["rungs"]]
    return [
        about(
            ("verdict", predicate["verdict"], "/predicate/verdict"),
            ("model", f"{model['sha256'][:SHOWN_DIGITS]}, stored {model['stored_dtype']}"),
            ("count as the model", ", ".join(names[:accepts]), "/predicate/accepts"),
            ("tokens of a support", predicate["support_tokens"], "/predicate/support_tokens"),
            ("not run", "; ".join(predicate["not_run"]), "/predicate/not_run"),
        ),
        table(
            "rungs",
            ("rung", "weights", "computed by", "outcome", "mae (median)", "kl (median)", "max"),
            [
                _rung(rung, outcome)
                for rung, outcome in zip(predicate["rungs"], chosen["outcomes"], strict=True)
            ],
            "/predicate/rungs",
        ),
        table(
            "thresholds",
            ("gate", "nat"),
            thresholds(chosen["thresholds"]),
            f"/predicate/placements/{accepts - 1}/thresholds",
        ),
        table(
            "where else the line could be",
            ("last that is accepted", "told apart", "not told apart", "accepted and beyond"),
            [_placement(one, names) for one in predicate["placements"]] if rows else (),
            "/predicate/placements",
        ),
        counts_table(predicate),
    ]


def gate_name(gate: dict[str, Any]) -> str:
    """Name a gate for people."""
    return f"{gate['measure']} at {gate['permille'] / 10:g} %"


def thresholds(stated: list[int]) -> list[tuple[str, str]]:
    """Give each gate by its name, with its threshold in nats."""
    gates = spec.load("distance-calibration.json")["gates"]
    return [
        (gate_name(gate), nats(gate["measure"], most))
        for gate, most in zip(gates, stated, strict=True)
    ]


def nats(measure: str, value: int) -> str:
    """Give a measure in nats, to three digits."""
    return f"{value / UNITS[measure]:.3g}"


def _rung(rung: dict[str, Any], outcome: str) -> tuple[str, ...]:
    (mae, kl, largest), median = rung["quantiles"], 1
    computed = f"{rung['backend']} {rung['dtype']}, {rung['schedule']}"
    told = (nats("mae", mae[median]), nats("kl", kl[median]), nats("max", largest[-1]))
    return rung["name"], rung["weights"], computed, outcome, *told


def _placement(one: dict[str, Any], names: list[str]) -> tuple[str, str, str, str]:
    told = list(zip(names, one["outcomes"], strict=True))
    others = told[one["accepts"] :]
    return (
        names[one["accepts"] - 1],
        ", ".join(name for name, outcome in others if outcome == "separated") or "none",
        ", ".join(f"{name} ({word})" for name, word in others if word != "separated") or "none",
        ", ".join(name for name, word in told if word == "not_held") or "none",
    )
