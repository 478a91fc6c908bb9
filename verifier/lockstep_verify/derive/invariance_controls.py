"""Controls of relations: their bindings, and what each came to (INV-7, INV-15)."""

from __future__ import annotations

from typing import Any

from lockstep_verify import spec
from lockstep_verify.derive.invariance_runs import (
    COVERAGE,
    OUTCOME,
    Demand,
    Gram,
    check_run,
    require,
)
from lockstep_verify.errors import Refusal

_REPEATED = (
    "workloads", "schedules", "executions", "requests", "positions", "counters", "n_grams"
)  # fmt: skip
"""What a control has in common with the run that it repeats."""
_HEX = frozenset("0123456789abcdef")

Records = list[dict[str, Any]]


def check_controls(
    controls: Records,
    runs: Records,
    wanted: Demand,
    legal: dict[int, set[Gram]],
    resolved: dict[str, str],
    at: str,
) -> None:
    """Check the controls against those that the spec declares (step 5).

    Args:
        controls: as the predicate has them.
        runs: all runs, checked.
        wanted: what the spec asks for.
        legal: the words of the lifecycle by their number of events.
        resolved: the environment's settings in force.
        at: where the controls stand.

    Raises:
        Refusal: the first offence, in the order of derivation.
    """
    declared = spec.load("relations.json")["controls"]
    require(COVERAGE, at, len(declared), len(controls))
    twins = {(run["relation"], run["block_size"], run["seed"]): run for run in runs}
    for i, (entry, control) in enumerate(zip(declared, controls, strict=True)):
        place = f"{at}/{i}"
        for member in ("backend", "relation", "block_size", "seed"):
            require(COVERAGE, f"{place}/{member}", entry[member], control[member])
        check_run(control, wanted.relations[entry["relation"]], legal, place)
        _check_binding(control, resolved, f"{place}/binding")
        twin = twins.get((entry["relation"], entry["block_size"], entry["seed"]))
        own = resolved["backend"] == entry["backend"]
        word = "not_shown" if own else shown(control, twin, entry["required"])
        require(OUTCOME, f"{place}/shown", word, control["shown"])


def shown(control: dict[str, Any], twin: dict[str, Any] | None, required: bool) -> str:
    """Say what a control on another backend than the subject's came to (INV-7).

    Args:
        control: its record.
        twin: the run that it should repeat; None where there is none.
        required: whether every machine shows it.
    """
    if twin is None or not control["positions"]:
        return "not_shown"
    if any(control[member] != twin[member] for member in _REPEATED):
        return "not_shown"
    if control["outcome"] == "violated":
        return "shown"
    return "not_comparable" if control["outcome"] == "holds" and not required else "not_shown"


def _check_binding(control: dict[str, Any], resolved: dict[str, str], at: str) -> None:
    """Check what a control says that its bits depend on (INV-15)."""
    settings = control["binding"]
    if control["outcome"] == "not_run":
        require("BAD_VALUE", at, [], settings)
        return
    data, before = spec.load("environment.json"), ""
    rules = data["backends"][control["backend"]]
    for i, setting in enumerate(settings):
        if setting["name"] <= before or setting["name"] in data["unbound"]:
            expected = f"a binding setting above {before or 'none'}"
            raise Refusal("BAD_VALUE", f"{at}/{i}/name", expected, setting["name"])
        before = setting["name"]
    there = {setting["name"] for setting in settings}
    for name in (*data["always"], *rules["also"]):
        if name not in there and name not in data["unbound"]:
            raise Refusal("MISSING_FIELD", at, f"the setting {name}")
    for i, setting in enumerate(settings):
        _check_setting(setting, control["backend"], resolved, f"{at}/{i}/value")


def _check_setting(
    setting: dict[str, str], backend: str, resolved: dict[str, str], at: str
) -> None:
    name, value = setting["name"], setting["value"]
    if name.endswith("_sha256"):
        if not (len(value) == 64 and set(value) <= _HEX):
            raise Refusal("BAD_VALUE", at, "64 hex digits", value)
        return
    expected = backend if name == "backend" else resolved.get(name, value)
    require("BAD_VALUE", at, expected, value)
