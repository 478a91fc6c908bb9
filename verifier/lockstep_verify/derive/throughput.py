"""Re-derive a certificate of throughput (spec/throughput.md).

Every refusal, ratio, interval and outcome is computed again from the samples. That the times were
taken is the signer's word. The order of the checks is the normative one.
"""

import hashlib
from typing import Any

from lockstep_verify import lcj, spec
from lockstep_verify.derive import Derivation, Options
from lockstep_verify.derive.probe_arms import (
    check_arms,
    check_bodies,
    check_settings,
    order,
    require,
)
from lockstep_verify.derive.probe_samples import (
    Bodies,
    check_derived,
    check_request,
    check_window,
)
from lockstep_verify.derive.probe_window import guarded
from lockstep_verify.derive.throughput_comparisons import Comparisons, check_comparison
from lockstep_verify.derive.throughput_ratios import Interval, outcome
from lockstep_verify.errors import Refusal

Document = dict[str, Any]

_AT = "/predicate"
_COUNTS = "H10_COUNTS_DO_NOT_RECOMPUTE"
_DENOMINATOR = "COVERAGE_DENOMINATOR_NOT_DERIVED"
_OUTCOME = "OUTCOME_NOT_DERIVED"
_STATISTICS = "STATISTICS_DO_NOT_RECOMPUTE"


def derive(statement: dict[str, Any], options: Options) -> Derivation:
    """Re-derive the statement of a run over arms.

    Raises:
        Refusal: the first offence in the order of derivation.
    """
    predicate = statement["predicate"]
    arms, samples = predicate["arms"], predicate["samples"]
    check_arms(arms, f"{_AT}/arms")
    check_bodies(predicate["bodies"], f"{_AT}/bodies")
    _check_samples(predicate)
    settings = predicate["settings"]
    check_settings(settings, arms, samples, predicate["bodies"], f"{_AT}/settings")
    _check_spreads(predicate)
    found = _check_comparisons(predicate)
    _check_criteria(predicate["criteria"], found)
    require(_OUTCOME, f"{_AT}/limits", spec.load("throughput.json")["limits"], predicate["limits"])
    digest = hashlib.sha256(lcj.encode(arms)).hexdigest()
    require("BAD_VALUE", f"{_AT}/arms_sha256", digest, predicate["arms_sha256"])
    counts = _counts(predicate)
    for name, count in counts.items():
        require(_COUNTS, f"{_AT}/counts/{name}", count, predicate["counts"][name])
    verdict = _verdict(predicate)
    require(_OUTCOME, f"{_AT}/verdict", verdict, predicate["verdict"])
    _check_subject(statement, digest)
    return Derivation(verdict, counts, _lines(predicate))


def _check_samples(predicate: Document) -> None:
    """See that the samples are those of the design, in its order, and each derived (step 3)."""
    arms = {arm["name"]: arm for arm in predicate["arms"]}
    workload, blocks = predicate["workload"], predicate["blocks"]
    samples, at = predicate["samples"], f"{_AT}/samples"
    require(_DENOMINATOR, at, blocks * len(arms), len(samples))
    due = [
        (block, name)
        for block in range(blocks)
        for name in order(workload["seed"], block, list(arms))
    ]
    bodies, begun = Bodies(len(predicate["bodies"])), 0
    known: dict[str, list[Document]] = {}
    for place, ((block, name), sample) in enumerate(zip(due, samples, strict=True)):
        here = f"{at}/{place}"
        expected = {"place": place, "block": block, "arm": name, "name": f"block-{block}"}
        for member, value in expected.items():
            require(_DENOMINATOR, f"{here}/{member}", value, sample[member])
        process = None if arms[name]["launch"] is None else place
        require("BAD_VALUE", f"{here}/process", process, sample["process"])
        if sample["begin_us"] < begun:
            raise Refusal("BAD_VALUE", f"{here}/begin_us", f"at least {begun}", sample["begin_us"])
        begun = sample["begin_us"] + sample["window"]["monotonic_us"]
        _check_requests(sample, workload, bodies, f"{here}/requests")
        check_window(sample, arms[name]["adapter"], known, here)
        check_derived(sample, here)
    bodies.close(f"{_AT}/bodies")


def _check_requests(sample: Document, workload: Document, bodies: Bodies, at: str) -> None:
    """See that a sample has the workload's requests, and each the form of one."""
    prompts, requests = workload["prompts"], sample["requests"]
    require("BAD_VALUE", at, len(prompts), len(requests))
    for i, (tokens, request) in enumerate(zip(prompts, requests, strict=True)):
        require("BAD_VALUE", f"{at}/{i}/prompt_tokens", tokens, request["prompt_tokens"])
        require("BAD_VALUE", f"{at}/{i}/max_new", workload["max_new"], request["max_new"])
        check_request(request, bodies, f"{at}/{i}")


def _check_spreads(predicate: Document) -> None:
    """See that spreads are those of the samples that are left (step 4)."""
    names = [arm["name"] for arm in predicate["arms"]]
    spreads, at = predicate["spreads"], f"{_AT}/spreads"
    require(_DENOMINATOR, at, names, [one["arm"] for one in spreads])
    bound = spec.load("throughput.json")["spread_permille"]
    for i, (name, one) in enumerate(zip(names, spreads, strict=True)):
        walls = [
            sample["wall_us"]
            for sample in predicate["samples"]
            if sample["arm"] == name and sample["refusal"] is None
        ]
        smallest, largest = (min(walls), max(walls)) if walls else (None, None)
        wide = smallest is None or largest is None or 1000 * largest > bound * smallest
        derived = {"smallest_us": smallest, "largest_us": largest, "flagged": wide}
        for member, value in derived.items():
            require(_STATISTICS, f"{at}/{i}/{member}", value, one[member])


def _check_comparisons(predicate: Document) -> list[Interval | None]:
    """Derive every comparison (step 5), and give their intervals."""
    run = Comparisons(predicate)
    seen: list[tuple[str, str]] = []
    found = []
    for i, one in enumerate(predicate["comparisons"]):
        here = f"{_AT}/comparisons/{i}"
        for member in ("a", "b"):
            if one[member] not in run.arms:
                raise Refusal("BAD_VALUE", f"{here}/{member}", "an arm", one[member])
        if one["a"] == one["b"]:
            raise Refusal("BAD_VALUE", f"{here}/b", f"another arm than {one['a']}", one["b"])
        if (one["a"], one["b"]) in seen:
            raise Refusal("BAD_VALUE", here, "a comparison that was not made", "an earlier one")
        seen.append((one["a"], one["b"]))
        found.append(check_comparison(run, one, here))
    return found


def _check_criteria(criteria: list[Document], found: list[Interval | None]) -> None:
    for i, one in enumerate(criteria):
        here = f"{_AT}/criteria/{i}"
        if one["comparison"] >= len(found):
            raise Refusal(
                "BAD_VALUE", f"{here}/comparison", f"below {len(found)}", one["comparison"]
            )
        side = outcome(found[one["comparison"]], one["threshold_ppm"])
        require(_OUTCOME, f"{here}/outcome", side, one["outcome"])
        require(_OUTCOME, f"{here}/killed", side == one["kills"], one["killed"])


def _counts(predicate: Document) -> dict[str, int]:
    samples, comparisons = predicate["samples"], predicate["comparisons"]
    requests = [request for sample in samples for request in sample["requests"]]
    agreed = [pin["agrees"] for arm in predicate["arms"] for pin in arm["pins"]]
    causes = [entry["cause"] for one in predicate["settings"] for entry in one["entries"]]
    flagged = spec.load("probe.json")["flagged"]
    outcomes = [one["outcome"] for one in predicate["criteria"]]
    return {
        "arms": len(predicate["arms"]),
        "blocks": predicate["blocks"],
        "samples": len(samples),
        "samples_refused": len([one for one in samples if one["refusal"] is not None]),
        "samples_guarded": len([one for one in samples if guarded(one)]),
        "requests": len(requests),
        "tokens": sum(one["generated"] for one in requests if one["generated"] is not None),
        "comparisons": len(comparisons),
        "comparisons_measured": [one["verdict"] for one in comparisons].count("MEASURED"),
        "pairs": sum(one["pairs"] for one in comparisons),
        "excluded": sum(len(one["excluded"]) for one in comparisons),
        "criteria": len(outcomes),
        "criteria_killed": len([one for one in predicate["criteria"] if one["killed"]]),
        "criteria_not_separable": outcomes.count("not_separable"),
        "pins_agreeing": agreed.count(True),
        "pins_differing": agreed.count(False),
        "settings_flagged": len([cause for cause in causes if cause in flagged]),
        "arms_flagged": len([one for one in predicate["spreads"] if one["flagged"]]),
    }


def _verdict(predicate: Document) -> str:
    pins = [pin for arm in predicate["arms"] for pin in arm["pins"]]
    if any(pin["agrees"] is False for pin in pins):
        return "IDENTITY_DIFFERS"
    for one in predicate["settings"]:
        if any(entry["cause"] in ("altered", "dropped") for entry in one["entries"]):
            return "SETTING_ALTERED"
    verdicts: list[str] = [one["verdict"] for one in predicate["comparisons"]]
    ranked: list[str] = spec.load("throughput.json")["comparison_verdicts"]
    return min(verdicts, key=ranked.index)


def _check_subject(statement: dict[str, Any], expected: str) -> None:
    for i, subject in enumerate(statement["subject"]):
        if subject["name"] == "arms":
            at = f"/subject/{i}/digest/sha256"
            require("SUBJECT_MISMATCH", at, expected, subject["digest"]["sha256"])
            return
    raise Refusal("SUBJECT_MISMATCH", "/subject", f"arms {expected}", "no subject arms")


def _lines(predicate: Document) -> tuple[str, ...]:
    lines = [
        f"{predicate['counts']['samples']} samples (attested), "
        f"{predicate['counts']['samples_refused']} of them refused"
    ]
    for one in predicate["comparisons"]:
        said = f"{one['a']} against {one['b']}: {one['verdict']}, {one['pairs']} pairs"
        if one["median"] is not None:
            low, median, high = (one[end]["ppm"] / 1e6 for end in ("low", "median", "high"))
            said += f", {median:.3f} times as long, between {low:.3f} and {high:.3f}"
        lines.append(said + (f"; flagged {', '.join(one['flags'])}" if one["flags"] else ""))
    for one in predicate["criteria"]:
        lines.append(
            f"criterion {one['threshold_ppm'] / 1e6:g} on comparison {one['comparison']}: "
            f"{one['outcome']}"
        )
    return tuple(lines)
