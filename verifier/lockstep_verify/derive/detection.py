"""Re-derive a certificate of what the certifier detects (spec/detection.md).

That trials took place, and what a server answered, is the signer's word. Which trials there are,
that what is shown is no answer of a server without fault, outcomes, counts and the verdict are not.
The order of the checks below is the normative order of derivation.
"""

from __future__ import annotations

import hashlib
from typing import Any

from lockstep_verify import lcj, spec
from lockstep_verify.derive import Derivation, Options
from lockstep_verify.derive.certification_plan import (
    COUNTS,
    COVERAGE,
    OUTCOME,
    cells,
    check_plan,
    require,
)
from lockstep_verify.derive.detection_evidence import check_evidence
from lockstep_verify.derive.detection_shown import check_shown
from lockstep_verify.derive.detection_trials import data, declared, trial_plan
from lockstep_verify.errors import Refusal

Document = dict[str, Any]

_ADAPTER = {"name": "lockstep", "gauge": None, "verified": False}
_DEFAULTS = (
    "seed", "max_new", "top", "design", "filler", "order", "fixed_width", "varying_widths",
    "repeats", "priming",
)  # fmt: skip
_DIFFERING = ("difference", "rescoring")
_UNSHOWN = ("failures", "cells_hang", "cells_error", "cells_malformed")
"""Counts of a certificate that are 0 where a trial showed nothing."""
_SUMS = ("lifetimes", "rounds", "requests", "pairs")


def derive(statement: Document, options: Options) -> Derivation:
    """Re-derive the statement of what the certifier detects.

    Raises:
        Refusal: the first offence in the order of derivation of spec/detection.md.
    """
    predicate = statement["predicate"]
    for name in ("mutation", "certification"):
        sha256 = hashlib.sha256(spec.read(f"{name}.json")).hexdigest()
        require(COVERAGE, f"{name}_sha256", sha256, predicate[f"{name}_sha256"])
    _check_default(predicate)
    wanted, trials = declared(), predicate["trials"]
    require(COVERAGE, "trials", len(wanted), len(trials))
    for i, (one, trial) in enumerate(zip(wanted, trials, strict=True)):
        _check_trial(one, trial, f"trials/{i}")
    plans = [trial_plan(trial, predicate) for trial in trials]
    made = {_key(plan): list(cells(plan)) for plan in {_key(one): one for one in plans}.values()}
    planned = [made[_key(plan)] for plan in plans]
    for i, trial in enumerate(trials):
        if trial["shown"] is not None:
            check_shown(trial["shown"], plans[i], planned[i], f"trials/{i}/shown")
    for i, trial in enumerate(trials):
        _check_certificate(trial, wanted[i]["runs"], plans[i], len(planned[i]), f"trials/{i}")
        require(OUTCOME, f"trials/{i}/outcome", outcome(trial), trial["outcome"])
    operators = [trial for trial in trials if trial["operator"] is not None]
    blind = [
        one["name"] for one in operators if (one["expected"], one["outcome"]) == ("clean",) * 2
    ]
    not_run = [one["name"] for one in operators if one["outcome"] == "not_run"]
    require(OUTCOME, "blind", blind, predicate["blind"])
    require(OUTCOME, "not_run", not_run, predicate["not_run"])
    counts = _counts(trials)
    for name, value in counts.items():
        require(COUNTS, f"counts/{name}", value, predicate["counts"][name])
    verdict = _verdict(counts, trials)
    require(OUTCOME, "verdict", verdict, predicate["verdict"])
    seen = check_evidence(trials, plans, options.evidence)
    _check_subject(statement)
    return Derivation(verdict, counts, _lines(predicate, seen))


def _check_default(predicate: Document) -> None:
    """Check that the plan is the default one (DET-4; step 2)."""
    plan, known = predicate["plan"], spec.load("certification.json")
    check_plan(plan, _ADAPTER, True)
    offers = set(plan["offers"])
    lacking = {one["value"] for one in known["cache_needs"] if one["capability"] not in offers}
    caches = next(axis["values"] for axis in known["axes"] if axis["name"] == "cache")
    wanted = {
        "form": "tokens",
        "observable": "logprobs",
        "lifetimes": 1,
        "positive": "absent",
        "positive_cases": [],
        "cases": [one["name"] for one in known["cases"] if set(one["needs"]) <= offers],
        "cache": [value for value in caches if value not in lacking],
        **{name: known["defaults"][name] for name in _DEFAULTS},
    }
    for name in spec.load("schemas/detection.schema.json")["$defs"]["plan"]["required"]:
        if name in wanted:
            require(COVERAGE, f"plan/{name}", wanted[name], plan[name])
    contexts = predicate["contexts"]
    require(COVERAGE, "contexts", len(data()["servers"]), len(contexts))
    require(COVERAGE, "contexts/0", plan["context"], contexts[0])


def _check_trial(wanted: Document, trial: Document, at: str) -> None:
    """Check that a trial is the declared one, and whether it was run (step 3)."""
    runs = wanted["runs"]
    names = ("name", "operator", "edits_sha256", "mode", "server", "lifetimes", "expected")
    for name in (*names, "command"):
        require(COVERAGE, f"{at}/{name}", wanted[name], trial[name])
    members = ("elapsed_us",) if runs else ("elapsed_us", "certificate", "shown")
    for name in members:
        if (trial[name] is not None) != runs:
            told = "a value" if runs else "null: it is not run"
            raise Refusal("BAD_VALUE", f"/predicate/{at}/{name}", told, trial[name])


def _key(plan: Document) -> str:
    return repr(sorted(plan.items()))


def _check_certificate(trial: Document, runs: bool, plan: Document, size: int, at: str) -> None:
    """Check what is said of a trial's certificate (DET-14; step 5)."""
    stated, shown = trial["certificate"], trial["shown"]
    sort = None if shown is None else shown["sort"]
    if (stated is not None) != (runs and sort != "no_answer"):
        got = None if stated is None else stated["sha256"]
        wanted = "null where it was not run or had no answer"
        raise Refusal("BAD_VALUE", f"/predicate/{at}/certificate", wanted, got)
    if stated is None:
        return
    verdict, counts = stated["verdict"], stated["counts"]
    if (sort in _DIFFERING) != (verdict == "DIVERGENT") and sort not in (
        "malformed", "failure", "reused",
    ):  # fmt: skip
        wanted = "DIVERGENT" if sort in _DIFFERING else "CLEAN or INCONCLUSIVE"
        raise Refusal(OUTCOME, f"/predicate/{at}/certificate/verdict", wanted, verdict)
    if sort is not None and verdict == "CLEAN":
        raise Refusal(OUTCOME, f"/predicate/{at}/certificate/verdict", "not CLEAN", verdict)
    wanted_counts = dict.fromkeys(_UNSHOWN, 0) if sort is None else {}
    if verdict == "CLEAN":
        wanted_counts |= {
            "cases_planned": len(plan["cases"]),
            "cells_planned": size,
            "cells_run": size,
            "lifetimes": trial["lifetimes"],
        }
    for name, value in wanted_counts.items():
        require(COUNTS, f"{at}/certificate/counts/{name}", value, counts[name])


def outcome(trial: Document) -> str:
    """Give the outcome of a trial (DET-15)."""
    if trial["elapsed_us"] is None:
        return "not_run"
    if trial["shown"] is not None:
        late = trial["expected"] == "caught" and trial["elapsed_us"] > data()["bound_us"]
        return "late" if late else "caught"
    return "clean" if trial["certificate"]["verdict"] == "CLEAN" else "quiet"


def _counts(trials: list[Document]) -> dict[str, int]:
    """Give the counts, in their order (DET-18)."""
    operators = [one for one in trials if one["operator"] is not None]
    ran = [one for one in operators if one["outcome"] != "not_run"]
    visible = [one for one in ran if one["expected"] == "caught"]
    invisible = [one for one in ran if one["expected"] == "clean"]
    controls = [
        one for one in trials if one["operator"] is None and one["expected"] in ("clean", "quiet")
    ]
    seen, unseen = ([one["outcome"] for one in several] for several in (visible, invisible))
    good = [one for one in controls if one["outcome"] in ("clean", one["expected"])]
    shown = [one["shown"]["sort"] for one in trials if one["shown"] is not None]
    times = [one["elapsed_us"] for one in visible if one["outcome"] == "caught"]
    held = [one["certificate"]["counts"] for one in controls if one["certificate"] is not None]
    return {
        "trials": len(trials),
        "operators": len(operators),
        "visible": len(visible),
        "caught": seen.count("caught"),
        "late": seen.count("late"),
        "missed": seen.count("clean") + seen.count("quiet"),
        "invisible": len(invisible),
        "clean": unseen.count("clean"),
        "contradicted": unseen.count("caught"),
        "undecided": unseen.count("quiet"),
        "other_backend": len(operators) - len(ran),
        "controls": len(controls),
        "controls_good": len(good),
        "false_alarms": sum(one["outcome"] == "caught" for one in controls),
        "fast_caught": sum(
            (one["expected"], one["outcome"]) == ("any", "caught") for one in trials
        ),
        **{f"shown_{sort}": shown.count(sort) for sort in data()["sorts"]},
        "slowest_us": max(times, default=0),
        **{f"control_{name}": sum(one[name] for one in held) for name in _SUMS},
    }


def _verdict(counts: dict[str, int], trials: list[Document]) -> str:
    """Give the certificate's verdict (DET-17)."""
    if counts["false_alarms"]:
        return "FALSE_ALARM"
    if counts["caught"] != counts["visible"]:
        return "MISSED"
    clean = [one["outcome"] for one in trials if one["expected"] == "clean"]
    return "DETECTED" if {*clean} <= {"clean", "not_run"} else "INCONCLUSIVE"


def _check_subject(statement: Document) -> None:
    """Compare the subject `trials` with the digests of certificates (step 7)."""
    held = {
        one["name"]: one["certificate"] and one["certificate"]["sha256"]
        for one in statement["predicate"]["trials"]
    }
    expected = hashlib.sha256(lcj.encode(held)).hexdigest()
    names = [subject["name"] for subject in statement["subject"]]
    if "trials" not in names:
        raise Refusal("SUBJECT_MISMATCH", "/subject", f"trials {expected}", "no subject trials")
    at = names.index("trials")
    got = statement["subject"][at]["digest"]["sha256"]
    if got != expected:
        raise Refusal("SUBJECT_MISMATCH", f"/subject/{at}/digest/sha256", expected, got)


def _lines(predicate: Document, seen: int) -> tuple[str, ...]:
    """Give the report for people."""
    counts = predicate["counts"]
    reasons = {one["id"]: one["reason"] for one in spec.load("mutation.json")["operators"]}
    apart = [
        one
        for one in predicate["trials"]
        if one["outcome"] not in (one["expected"], "not_run") and one["expected"] != "any"
    ]
    held = sum(one["certificate"] is not None for one in predicate["trials"])
    return (
        f"caught: {counts['caught']} of {counts['visible']} visible faults, the slowest after "
        f"{counts['slowest_us'] // 1_000_000} s (attested)",
        f"without fault: {counts['control_lifetimes']} lifetimes, {counts['control_requests']} "
        f"requests, {counts['control_pairs']} pairs of answers; {counts['false_alarms']} alarms",
        f"mode fast: {'seen' if counts['fast_caught'] else 'not seen'}",
        *(f"{one['name']}: {one['outcome']}, expected {one['expected']}" for one in apart),
        *(f"blind: {name}: {reasons[name]}" for name in predicate["blind"]),
        *(f"not run on this backend: {name}" for name in predicate["not_run"]),
        f"certificates of trials at hand and derived again: {seen} of {held}",
    )
