"""What `lockstep show` prints of servers that were measured: who answered, and what was sent."""

from collections.abc import Iterable
from typing import Any

from lockstep.cli.payload_parts import table
from lockstep.cli.tables import Table


def identity(arms: list[dict[str, Any]], at: str, rows: bool) -> Table:
    """Show what each server said it is, beside what was recorded of it.

    Args:
        arms: of a predicate.
        at: pointer of these.
        rows: whether fields of which nothing was recorded are listed.
    """
    shown = [
        (one["name"], pin, f"{at}/{place}/pins/{number}")
        for place, one in enumerate(arms)
        for number, pin in enumerate(one["pins"])
        if rows or pin["recorded"] is not None
    ]
    return table(
        "identity",
        ("arm", "field", "observed", "recorded"),
        [
            (arm, pin["name"], pin["observed"] or "not read", pin["recorded"] or "-")
            for arm, pin, _ in shown
        ],
        [pointer for *_, pointer in shown],
    )


def sent(settings: list[dict[str, Any]], at: str, rows: bool) -> Table:
    """Show the settings that change what is measured, as they were asked for and sent.

    Args:
        settings: of each arm.
        at: pointer of these.
        rows: whether those that were sent as requested are listed.
    """
    shown = [
        (one["arm"], entry, f"{at}/{place}/entries/{number}")
        for place, one in enumerate(settings)
        for number, entry in enumerate(one["entries"])
        if rows or entry["cause"] != "requested"
    ]
    return table(
        "settings, read back from what was sent",
        ("arm", "setting", "requested", "resolved", "cause"),
        [
            (
                arm,
                entry["name"],
                _told(entry["requested"]),
                _told(entry["resolved"]),
                entry["cause"],
            )
            for arm, entry, _ in shown
        ],
        [pointer for *_, pointer in shown],
    )


def probes(run: dict[str, Any] | None, rows: bool) -> list[Table]:
    """Show a run of probes: servers, their batch budgets and pools, identity, settings sent."""
    if run is None:
        return []
    at = "/predicate/probes"
    return [
        table(
            "servers",
            ("arm", "adapter", "process", "batch budget", "KV pool, as printed", "prompts counted"),
            _servers(run),
            f"{at}/arms",
        ),
        identity(run["arms"], f"{at}/arms", rows),
        sent(run["settings"], f"{at}/settings", rows),
    ]


def _servers(run: dict[str, Any]) -> Iterable[tuple[str, ...]]:
    for arm, budget in zip(run["arms"], run["budgets"], strict=True):
        process = "there already" if arm["launch"] is None else "its own in each block"
        pool = "nothing" if arm["kv_pool"] is None else arm["kv_pool"]["printed"]
        yield (
            arm["name"],
            arm["adapter"],
            process,
            _budget(budget),
            pool,
            _counted(run, arm["name"]),
        )


def _budget(one: dict[str, Any]) -> str:
    least, greatest = one["least"], one["greatest"]
    if least is None:
        return "not told by any counter of steps"
    if greatest is None:
        return f"at least {least} tokens a step"
    if least > greatest:
        return "no one budget fits"
    return f"{least} tokens a step" if least == greatest else f"{least} to {greatest} tokens a step"


def _counted(run: dict[str, Any], arm: str) -> str:
    """Say by which metric it is known whose prompts were in an arm's windows."""
    window = next(one["window"] for one in run["samples"] if one["arm"] == arm)
    found = {one["question"]: one["metric"] for one in window["counters"]}
    return found["prompt_tokens"] or "by nothing: unguarded"


def _told(value: str | None) -> str:
    return "nothing" if value is None else value
