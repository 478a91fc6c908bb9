"""What `lockstep show` prints of experiments on sampling."""

from typing import Any

from lockstep.cli.payload_parts import SHOWN_DIGITS, about, counts_table, table
from lockstep.cli.tables import Table


def sampling_experiments(predicate: dict[str, Any], rows: bool) -> list[Table]:
    """Show experiments: what came of each, its rates with their bounds, and its distances."""
    model = predicate["model"]
    return [
        about(
            ("verdict", predicate["verdict"], "/predicate/verdict"),
            ("model", f"{model['sha256'][:SHOWN_DIGITS]}, stored {model['stored_dtype']}"),
            ("not run", "; ".join(predicate["not_run"]), "/predicate/not_run"),
        ),
        table(
            "experiments",
            ("number", "name", "outcome"),
            [(one["experiment"], one["name"], one["outcome"]) for one in predicate["experiments"]],
            "/predicate/experiments",
        ),
        table(
            "compared position by position",
            ("experiment", "role", "of", "temperature, top_k, top_p, min_p", "differ", "rate"),
            [_series(one) for one in predicate["series"]],
            "/predicate/series",
        ),
        table(
            "distances",
            ("experiment", "role", "measure", "5 %", "50 %", "95 %", "largest"),
            [
                (one["experiment"], one["role"], one["measure"], *one["quantiles"])
                for one in predicate["distances"]
            ],
            "/predicate/distances",
        ),
        counts_table(predicate),
    ]


def _series(one: dict[str, Any]) -> tuple[Any, ...]:
    way = one["parameters"] or {}
    told = ", ".join(str(value) for value in way.values() if value is not None) or "-"
    rate = f"{one['low_ppm'] / 10000:.2f} to {one['high_ppm'] / 10000:.2f} %"
    return (
        one["experiment"],
        one["role"],
        one["of"],
        told,
        f"{one['count']} of {one['positions']}",
        rate,
    )
