"""What `lockstep show` prints of the payload of servers that were compared."""

from typing import Any

from lockstep.cli.measure_throughput import ratio
from lockstep.cli.payload_parts import about, counts_table, listed, table
from lockstep.cli.payload_probes import identity, sent
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
        identity(predicate["arms"], "/predicate/arms", rows),
        sent(predicate["settings"], "/predicate/settings", rows),
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
