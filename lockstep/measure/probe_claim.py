"""What a measurement asks of a run of probes: profiles, arms, readings, fits (spec/measurement.md).

Nothing is decided here: readings and fits are named, and the claim computes them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from lockstep import spec
from lockstep.claims.measurement import opened
from lockstep.errors import LockstepError
from lockstep.measure import laws
from lockstep.measure.observation import Arm
from lockstep.measure.probe_records import budget_of, probes_document, records
from lockstep.measure.probes import Probed
from lockstep.measure.window import FILE, refusal

_MODEL = re.compile(r"(?P<name>.*) sha256:(?P<sha256>[0-9a-f]{64})")
_KV_POLICY = ("block-size", "block_size", "cache_dtype", "page-size", "prefix_cache")
_TOPOLOGY = ("tensor_parallel_size", "tp-size")


def measurement_document(
    seen: Probed, versions: dict[str, dict[str, str | None]]
) -> dict[str, Any]:
    """Give what a claim about measurements is folded from.

    Args:
        seen: a run of probes.
        versions: of each arm by name, `model` and `runtime` as its server tells them, and the
            digest of its `tokenizer`.

    Raises:
        LockstepError: the refusal of the first sample, where none is left.
    """
    if all(refusal(one) is not None for one in seen.samples):
        code = "ZERO_POPULATION" if not seen.samples else str(refusal(seen.samples[0])).upper()
        hint = f"None of {len(seen.samples)} samples is left."
        raise LockstepError(code, "samples", "a sample that can be used", None, hint)
    profiles, of = _profiles(seen, versions)
    arms = [_arm(seen, one, of[one.name], place) for place, one in enumerate(seen.arms)]
    fits, not_fitted = _fits(seen, arms)
    return {
        "profiles": profiles,
        "arms": arms,
        "probes": probes_document(seen),
        "records": list(records(seen)),
        "direct": list(_direct(seen)),
        "fits": fits,
        "derived": list(_derived(seen)),
        "tables": list(_tables(seen)),
        "not_run": [*not_fitted, "other lengths, other widths, and other machines than these"],
    }


def _profiles(
    seen: Probed, versions: dict[str, dict[str, str | None]]
) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """Give the distinct profiles, and the id of each arm's."""
    found: list[dict[str, Any]] = []
    of = {}
    for arm in seen.arms:
        told = versions[arm.name]
        match = _MODEL.fullmatch(told["model"] or "")
        members = {
            "model": told["model"] if match is None else match["name"],
            "model_sha256": None if match is None else match["sha256"],
            "tokenizer": told["tokenizer"],
            "runtime": None if told["runtime"] is None else f"{arm.adapter} {told['runtime']}",
            "kv_policy": _listed(arm, _KV_POLICY),
            "topology": _listed(arm, _TOPOLOGY),
            "speculative_policy": _listed(arm, ("speculation",)),
        }
        same = next((one for one in found if _members(one) == members), None)
        if same is None:
            same = {"id": f"profile-{len(found)}", **members}
            found.append(same)
        of[arm.name] = same["id"]
    return found, of


def _members(profile: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in profile.items() if name != "id"}


def _listed(arm: Arm, names: tuple[str, ...]) -> str | None:
    told = [
        f"{one.name} {one.resolved}"
        for one in arm.server_settings
        if one.name in names and one.resolved is not None
    ]
    return ", ".join(told) or None


def _arm(seen: Probed, arm: Arm, profile: str, launch: int) -> dict[str, Any]:
    return {
        "id": arm.name,
        "engine": arm.adapter,
        "profile": profile,
        "launch": launch,
        "budget_tokens": budget_of(seen, arm.name).exact,
        "settings": [
            {"name": one.name, "requested": one.requested, "effective": one.resolved}
            for one in arm.server_settings
            if one.resolved is not None
        ],
    }


def _shown(probe: str) -> tuple[str, ...]:
    """Give the quantities of a probe that readings are made of, but for what was planned."""
    listed: list[str] = next(
        one["quantities"] for one in spec.load(FILE)["probes"] if one["name"] == probe
    )
    return tuple(name for name in listed if name not in ("generated_tokens", "tokens"))


def _direct(seen: Probed) -> Iterator[dict[str, Any]]:
    """Give the median of each quantity of each entry of each arm, over what is not refused."""
    values = {one["id"]: {v["quantity"] for v in one["values"]} for one in records(seen)}
    for arm in seen.arms:
        for entry in seen.entries:
            names = [
                one.name
                for one in seen.samples
                if one.arm == arm.name
                and one.name == f"{arm.name}-{entry.name}-{one.block}"
                and refusal(one) is None
            ]
            for quantity in _shown(entry.probe):
                having = [name for name in names if quantity in values[name]]
                if having:
                    yield {
                        "name": _reading(arm.name, entry.name, quantity),
                        "records": having,
                        "quantity": quantity,
                        "statistic": "median",
                    }


def _reading(arm: str, entry: str, quantity: str) -> str:
    """Give a reading's name, which ends with its unit [MEAS-2]."""
    return f"{arm}.{entry}.{'steps_step' if quantity == 'steps' else quantity}"


def _fits(seen: Probed, arms: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[str]]:
    """Give the fits that the population can tell, and a word on each that it can't."""
    names = [arm["id"] for arm in arms]
    wanted = [("wall", "wall", names), ("stall", "stall", names)]
    wanted += [(f"{name}.linear", "linear", [name]) for name in names]
    by_id = {arm["id"]: arm for arm in arms}
    told = [opened({**one, "against": None}, by_id) for one in records(seen)]
    fits, not_fitted = [], []
    for name, law, over in wanted:
        try:
            laws.fit(law, laws.population(told, law, over, ()))
        except LockstepError as fault:
            got = "" if fault.got is None else f", got {fault.got}"
            said = f"the fit {law} over {', '.join(over)}: {fault.code}, needs {fault.expected}"
            not_fitted.append(f"{said}{got}"[:400])
        else:
            fits.append({"name": name, "law": law, "arms": over})
    return fits, not_fitted


def _derived(seen: Probed) -> Iterator[dict[str, Any]]:
    """Give how many times longer a decoder waits beside each long prefill than alone."""
    known = {one["name"] for one in _direct(seen)}
    alone = next((entry.name for entry in seen.entries if entry.probe == "decode"), None)
    for arm in seen.arms:
        for entry in seen.entries:
            stall = _reading(arm.name, entry.name, "stall_us")
            cadence = _reading(arm.name, alone or "", "cadence_us")
            if entry.probe == "stall" and {stall, cadence} <= known:
                yield {
                    "name": f"{arm.name}.{entry.name}.stall_ratio",
                    "workload": f"one decoder beside a prompt of {entry.prompts[1]} units",
                    "operation": "quotient",
                    "operands": [stall, cadence],
                }


def _tables(seen: Probed) -> Iterator[dict[str, Any]]:
    direct = [one["name"] for one in _direct(seen)]
    for arm in seen.arms:
        own = [name for name in direct if name.startswith(f"{arm.name}.")]
        if own:
            title = f"{arm.name}, medians over blocks"
            yield {"name": f"{arm.name}-measured", "title": title, "readings": own}
