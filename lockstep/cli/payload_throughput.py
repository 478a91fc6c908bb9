"""What `lockstep show` prints of the payload of servers that were compared."""

from typing import Any

from lockstep.cli.measure_throughput import ratio
from lockstep.cli.payload_parts import about, counts_table, listed, table
from lockstep.cli.tables import Table


def throughput(predicate: dict[str, Any], rows: bool) -> list[Table]:
    """Show servers that were compared: verdict, ratios, criteria, arms, settings, receipts."""
    workload, comparisons = predicate["workload"], predicate["comparisons"]
    return [
        about(
            ("verdict", predicate["verdict"], "/predicate/verdict"),
            ("prompts, in tokens", listed([str(one) for one in workload["prompts"]])),
            ("tokens of each answer", workload["max_new"]),
            ("blocks", f"{predicate['blocks']}, their order shuffled by seed {workload['seed']}"),
        ),
        table(
            "ratios of walls",
            ("comparison",),
            [(ratio(one),) for one in comparisons],
            "/predicate/comparisons",
        ),
        table(
            "criteria",
            ("ratio", "threshold", "outcome", "killed"),
            [_criterion(one, comparisons) for one in predicate["criteria"]],
            "/predicate/criteria",
        ),
        table(
            "arms",
            ("arm", "role", "adapter", "process", "walls, largest to smallest"),
            [
                _arm(one, spread)
                for one, spread in zip(predicate["arms"], predicate["spreads"], strict=True)
            ],
            "/predicate/arms",
        ),
        table(
            "identity",
            ("arm", "field", "observed", "recorded"),
            [
                (one["name"], pin["name"], pin["observed"] or "not read", pin["recorded"] or "-")
                for one in predicate["arms"]
                for pin in one["pins"]
                if rows or pin["recorded"] is not None
            ],
        ),
        table(
            "settings, read back from what was sent",
            ("arm", "setting", "requested", "resolved", "cause"),
            [
                (one["arm"], *_setting(entry))
                for one in predicate["settings"]
                for entry in one["entries"]
                if rows or entry["cause"] != "requested"
            ],
        ),
        table(
            "refused samples",
            ("sample", "arm", "refusal"),
            [
                (one["name"], one["arm"], one["refusal"])
                for one in predicate["samples"]
                if one["refusal"] is not None
            ],
        ),
        table(
            "limits",
            ("what it does not say",),
            [(one,) for one in predicate["limits"]],
            "/predicate/limits",
        ),
        counts_table(predicate),
    ]


def _criterion(one: dict[str, Any], comparisons: list[dict[str, Any]]) -> tuple[Any, ...]:
    compared = comparisons[one["comparison"]]
    threshold = f"{one['kills']} {one['threshold_ppm'] / 1e6:g}"
    killed = "yes" if one["killed"] else "no"
    return f"{compared['a']}/{compared['b']}", threshold, one["outcome"], killed


def _arm(one: dict[str, Any], spread: dict[str, Any]) -> tuple[str, ...]:
    process = "its own for each sample" if one["launch"] is not None else "there already"
    walls = "no sample is left"
    if spread["smallest_us"] is not None:
        walls = f"{spread['largest_us'] / spread['smallest_us']:.2f}"
    flagged = ", flagged" if spread["flagged"] else ""
    return one["name"], one["role"], one["adapter"], process, walls + flagged


def _setting(entry: dict[str, Any]) -> tuple[str, ...]:
    return (
        entry["name"],
        _told(entry["requested"]),
        _told(entry["resolved"]),
        entry["cause"],
    )


def _told(value: str | None) -> str:
    return "nothing" if value is None else value
