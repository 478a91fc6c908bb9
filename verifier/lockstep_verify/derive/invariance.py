"""Re-derive a certificate of relations between executions (spec/invariance.md).

What each run observed is the signer's word; its outcome, the coverage, the counts and the verdict
are not. The order of the checks below is the normative order of derivation.
"""

from __future__ import annotations

import hashlib
from typing import Any

from lockstep_verify import spec
from lockstep_verify.derive import Derivation, Options
from lockstep_verify.derive.environment import Environment, check_environment
from lockstep_verify.derive.invariance_controls import check_controls
from lockstep_verify.derive.invariance_counters import check_digests
from lockstep_verify.derive.invariance_runs import (
    CLAIM_DOES_NOT_APPLY,
    COVERAGE,
    OUTCOME,
    Demand,
    Gram,
    check_places,
    check_run,
    combined,
    demand,
    fold,
    require,
    words,
)
from lockstep_verify.derive.model import check_model
from lockstep_verify.errors import Refusal

_AT = "/predicate"
_COUNTS = "H10_COUNTS_DO_NOT_RECOMPUTE"
_ALL = "all"
_KERNELS = ("KERNEL-EQ", "kernels")
"""The relation between backends, and its counter of compared kernels."""

Runs = list[dict[str, Any]]


def derive(statement: dict[str, Any], options: Options) -> Derivation:
    """Re-derive the statement of relations between executions.

    Raises:
        Refusal: the first offence in the order of derivation of spec/invariance.md.
    """
    predicate = statement["predicate"]
    environment = check_environment(predicate["environment"], f"{_AT}/environment")
    _check_model(predicate, environment)
    _check_lifecycle(predicate["lifecycle"])
    legal = {n: words(predicate["lifecycle"]["cells"], n) for n in (2, 3)}
    resolved = environment.resolved
    wanted, runs, controls = demand(resolved), predicate["runs"], predicate["controls"]
    require(COVERAGE, f"{_AT}/does_not_apply", wanted.exempt, predicate["does_not_apply"])
    check_places(runs, wanted, predicate["seeds"], f"{_AT}/runs")
    for i, run in enumerate(runs):
        relation = wanted.relations[run["relation"]]
        check_run(run, relation, legal, f"{_AT}/runs/{i}", resolved["backend"])
    check_controls(controls, runs, wanted, legal, resolved, f"{_AT}/controls")
    check_digests(runs, controls, _AT)
    found, told = combined(runs), [control["shown"] for control in controls]
    _check_claims(predicate["claims"], found, told)
    shown = _check_coverage(predicate["coverage"], runs, legal)
    counts = _counts(predicate, wanted, found, shown, legal)
    for name, value in counts.items():
        require(_COUNTS, f"{_AT}/counts/{name}", value, predicate["counts"][name])
    verdict = fold(list(found.values()), told, "INVARIANT")
    require(OUTCOME, f"{_AT}/verdict", verdict, predicate["verdict"])
    _check_subject(statement)
    return Derivation(verdict, counts, _lines(predicate, environment))


def _check_model(predicate: dict[str, Any], environment: Environment) -> None:
    """Derive the digest of weights and compute dtype (INV-1, MODEL-16, ENG-8; step 1)."""
    model, dtype = predicate["model"], environment.resolved["dtype"]
    check_model(model, dtype)
    digest = hashlib.sha256()
    for field in (b"lockstep/model/1", bytes.fromhex(model["sha256"]), dtype.encode("ascii")):
        digest.update(len(field).to_bytes(8, "big") + field)
    require("BAD_VALUE", f"{_AT}/model_digest", digest.hexdigest(), predicate["model_digest"])


def _check_lifecycle(stated: dict[str, Any]) -> None:
    """Compare cells and digest with the spec's relation (INV-3)."""
    cells = spec.load("lifecycle.json")["cells"]
    require(COVERAGE, f"{_AT}/lifecycle/cells", cells, stated["cells"])
    sha256 = hashlib.sha256(spec.read("lifecycle.json")).hexdigest()
    require(COVERAGE, f"{_AT}/lifecycle/sha256", sha256, stated["sha256"])


def _check_claims(
    stated: list[dict[str, Any]], found: dict[tuple[str, int], str], told: list[str]
) -> None:
    """Derive each claim from the combinations of its relations (INV-8; step 6)."""
    data, at = spec.load("relations.json"), f"{_AT}/claims"
    require(COVERAGE, at, len(data["claims"]), len(stated))
    for i, (entry, claim) in enumerate(zip(data["claims"], stated, strict=True)):
        names = {one["name"] for one in data["relations"] if one["claim"] == entry["name"]}
        outcomes = [outcome for (relation, _), outcome in found.items() if relation in names]
        require(COVERAGE, f"{at}/{i}/name", entry["name"], claim["name"])
        require(COVERAGE, f"{at}/{i}/demanded", len(outcomes), claim["demanded"])
        require(_COUNTS, f"{at}/{i}/held", outcomes.count("holds"), claim["held"])
        verdict = fold(outcomes, told, "HOLDS") if outcomes else CLAIM_DOES_NOT_APPLY
        require(OUTCOME, f"{at}/{i}/verdict", verdict, claim["verdict"])


def _check_coverage(
    stated: dict[str, Any], runs: Runs, legal: dict[int, set[Gram]]
) -> dict[int, set[Gram]]:
    """Derive the coverage of each population, and give what all runs show (INV-10; step 7)."""
    by_population: dict[str, set[Gram]] = {
        entry["name"]: set() for entry in spec.load("relations.json")["relations"]
    }
    for run in runs:
        by_population[run["relation"]].update(tuple(entry["events"]) for entry in run["n_grams"])
    by_population[_ALL] = set().union(*by_population.values())
    rows = [(name, n) for name in by_population for n in (2, 3)]
    at = f"{_AT}/coverage/n_grams"
    require(COVERAGE, at, len(rows), len(stated["n_grams"]))
    for i, ((name, n), row) in enumerate(zip(rows, stated["n_grams"], strict=True)):
        require(COVERAGE, f"{at}/{i}/population", name, row["population"])
        require(COVERAGE, f"{at}/{i}/n", n, row["n"])
        require(COVERAGE, f"{at}/{i}/legal", len(legal[n]), row["legal"])
        observed = sum(len(gram) == n for gram in by_population[name])
        require(_COUNTS, f"{at}/{i}/observed", observed, row["observed"])
    shown = {n: {gram for gram in by_population[_ALL] if len(gram) == n} for n in legal}
    unseen = [list(gram) for n in (2, 3) for gram in sorted(legal[n] - shown[n])]
    require(_COUNTS, f"{_AT}/coverage/unseen", unseen, stated["unseen"])
    return shown


def _counts(
    predicate: dict[str, Any],
    wanted: Demand,
    found: dict[tuple[str, int], str],
    shown: dict[int, set[Gram]],
    legal: dict[int, set[Gram]],
) -> dict[str, int]:
    """Give the counts, in their order (INV-11)."""
    runs, told = predicate["runs"], [control["shown"] for control in predicate["controls"]]
    outcomes = list(found.values())
    relation, kernels = _KERNELS
    compared = [
        counter["value"]
        for run in runs
        if run["relation"] == relation and run["outcome"] == "holds"
        for counter in run["counters"]
        if counter["name"] == kernels
    ]
    return {
        "relations": len({name for name, _ in found}),
        "demanded": len(found),
        **{name: outcomes.count(name) for name in ("holds", "violated", "vacuous", "not_run")},
        "does_not_apply": len(wanted.exempt),
        "runs": len(runs),
        **{
            name: sum(run[name] for run in runs)
            for name in ("executions", "requests", "positions", "differences")
        },
        **{
            name: len({digest for run in runs for digest in run[name]})
            for name in ("workloads", "schedules")
        },
        "controls": len(told),
        "controls_shown": told.count("shown"),
        "controls_not_comparable": told.count("not_comparable"),
        "two_grams": len(shown[2]),
        "two_grams_legal": len(legal[2]),
        "three_grams": len(shown[3]),
        "three_grams_legal": len(legal[3]),
        "kernels_equal": max(compared, default=0),
    }


def _check_subject(statement: dict[str, Any]) -> None:
    """Compare the subject `model` with the model's digest (INV-1; step 9)."""
    expected = statement["predicate"]["model"]["sha256"]
    names = [subject["name"] for subject in statement["subject"]]
    if "model" not in names:
        raise Refusal("SUBJECT_MISMATCH", "/subject", f"model {expected}", "no subject model")
    at = names.index("model")
    got = statement["subject"][at]["digest"]["sha256"]
    require("SUBJECT_MISMATCH", f"/subject/{at}/digest/sha256", expected, got)


def _lines(predicate: dict[str, Any], environment: Environment) -> tuple[str, ...]:
    """Give the report for people: what held, what did not, and what was not looked at."""
    counts = predicate["counts"]
    rows = [
        *environment.lines(),
        f"runs: {counts['holds']} hold of {counts['demanded']} combinations of relation and block "
        f"size; {counts['violated']} violated, {counts['vacuous']} vacuous, "
        f"{counts['not_run']} not run",
        f"positions compared bit for bit: {counts['positions']}, in {counts['executions']} "
        f"executions of {counts['workloads']} workloads and {counts['schedules']} schedules "
        "(attested)",
        *(f"claim {one['name']}: {one['verdict']}, {one['held']} of {one['demanded']}"
          for one in predicate["claims"]),
        *(f"control {one['backend']}, {one['relation']}: {one['shown']}"
          for one in predicate["controls"]),
        f"pairs of events: {counts['two_grams']} of {counts['two_grams_legal']}; triples: "
        f"{counts['three_grams']} of {counts['three_grams_legal']}",
        f"kernels equal between backends: {counts['kernels_equal']}",
    ]  # fmt: skip
    exempt = {one["relation"]: one["reason"] for one in predicate["does_not_apply"]}
    rows += [f"does not apply: {relation}: {reason}" for relation, reason in exempt.items()]
    for run in predicate["runs"]:
        if run["outcome"] != "holds":
            first = run["first_difference"]
            why = run["reason"]
            if first is not None:
                why = f"{run['differences']} differences, first in {first['execution']}, "
                why += f"{first['part']}"
            place = f"{run['relation']} at {run['block_size']}, seed {run['seed']}"
            rows.append(f"{run['outcome']}: {place}: {why}")
    return tuple(rows)
