"""What samples of probes give their records, and what an arm of probes is (PROBE-17, PROBE-18)."""

from typing import Any, NamedTuple

from lockstep_verify import spec
from lockstep_verify.derive.probe_arms import require
from lockstep_verify.derive.probe_window import quantities, wall
from lockstep_verify.errors import Refusal

Document = dict[str, Any]

_STATISTICS = "STATISTICS_DO_NOT_RECOMPUTE"


class Probed(NamedTuple):
    """What probes found of an arm.

    Attributes:
        budget: None where more than one fits.
        settings: name, requested and resolved, of those that resolved to something.
    """

    adapter: str
    budget: int | None
    settings: list[tuple[str, str | None, str]]


class Sampled(NamedTuple):
    """What a sample gives its record.

    Attributes:
        arm: that was asked.
        values: by quantity.
        metric: that counted steps, None where none did.
        refusal: of the sample.
    """

    arm: str
    values: dict[str, int]
    metric: str | None
    refusal: str | None


def records(predicate: Document) -> dict[str, Sampled]:
    """Give what each sample gives its record, by the record's id (PROBE-18)."""
    probes = predicate["probes"]
    if probes is None:
        return {}
    listed = {one["name"]: one["quantities"] for one in spec.load("probe.json")["probes"]}
    kinds = probes_by_name(probes)
    found = {}
    for sample in probes["samples"]:
        values = {"wall_us": wall(sample)}
        if sample["refusal"] is None:
            told = quantities(sample)
            named = listed[kinds[sample["name"]]]
            values = {name: value for name in named if (value := told[name]) is not None}
        metric = next(
            (one["metric"] for one in sample["window"]["counters"] if one["question"] == "steps"),
            None,
        )
        found[sample["name"]] = Sampled(sample["arm"], values, metric, sample["refusal"])
    return found


def arms(predicate: Document) -> dict[str, Probed]:
    """Give each arm that probes have by name."""
    probes = predicate["probes"]
    if probes is None:
        return {}
    budgets = {
        one["arm"]: one["least"] if one["least"] == one["greatest"] else None
        for one in probes["budgets"]
    }
    found = {}
    for one in probes["arms"]:
        settings = [
            (setting["name"], setting["requested"], setting["resolved"])
            for setting in one["server_settings"]
            if setting["resolved"] is not None
        ]
        found[one["name"]] = Probed(one["adapter"], budgets[one["name"]], settings)
    return found


def check_arm(arm: Document, probed: Probed, at: str) -> None:
    """See that an arm is what probes found of it (MEAS-3).

    Raises:
        Refusal: BAD_VALUE, another engine or value of a setting; STATISTICS_DO_NOT_RECOMPUTE,
            another budget; COVERAGE_DENOMINATOR_NOT_DERIVED, other settings.
    """
    require("BAD_VALUE", f"{at}/engine", probed.adapter, arm["engine"])
    require(_STATISTICS, f"{at}/budget_tokens", probed.budget, arm["budget_tokens"])
    due = [name for name, _, _ in probed.settings]
    names = [setting["name"] for setting in arm["settings"]]
    require("COVERAGE_DENOMINATOR_NOT_DERIVED", f"{at}/settings", due, names)
    for j, (_, requested, resolved) in enumerate(probed.settings):
        setting, here = arm["settings"][j], f"{at}/settings/{j}"
        require("BAD_VALUE", f"{here}/requested", requested, setting["requested"])
        require("BAD_VALUE", f"{here}/effective", resolved, setting["effective"])


def check_unsampled(record: Document, at: str) -> None:
    """See that nothing but a distance stands beside the samples of an arm (MEAS-4).

    Raises:
        Refusal: BAD_VALUE.
    """
    if [one["quantity"] for one in record["values"]] != ["distance_unat"]:
        raise Refusal("BAD_VALUE", f"{at}/sample", "a sample of this arm", None)


def check_record_head(record: Document, sampled: dict[str, Sampled], at: str) -> None:
    """See that a record with a sample is that sample's, and nothing besides.

    Raises:
        Refusal: BAD_VALUE at the member.
    """
    sample = sampled.get(record["sample"])
    if sample is None or record["sample"] != record["id"]:
        raise Refusal("BAD_VALUE", f"{at}/sample", "the record's own sample", record["sample"])
    require("BAD_VALUE", f"{at}/arm", sample.arm, record["arm"])
    for member in ("against", "source", "attribution"):
        require("BAD_VALUE", f"{at}/{member}", None, record[member])


def check_record_values(record: Document, sample: Sampled, at: str) -> None:
    """See that a record has what its sample gives it (PROBE-18)."""
    due = [
        {
            "quantity": quantity,
            "value": value,
            "resolution": 1,
            "metric": sample.metric if quantity == "steps" else None,
        }
        for quantity, value in sorted(sample.values.items())
    ]
    require(_STATISTICS, f"{at}/values", due, record["values"])


def probes_by_name(probes: Document) -> dict[str, str]:
    """Give the probe of each sample that a run has by the sample's name (PROBE-16)."""
    return {
        f"{arm['name']}-{entry['name']}-{block}": entry["probe"]
        for arm in probes["arms"]
        for entry in probes["entries"]
        for block in range(probes["blocks"])
    }
