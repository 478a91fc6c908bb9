"""Re-derive a certificate of experiments on sampling (spec/sampling-experiments.md).

Each count, bound, quantile and outcome comes from the bits and values in the certificate. That
these were observed is the signer's word. The order of the checks is the normative one.
"""

import hashlib
from typing import Any, NamedTuple

from lockstep_verify import lcj, limits, spec
from lockstep_verify.derive import Derivation, Options
from lockstep_verify.derive.certification_statistics import bounds
from lockstep_verify.derive.not_run import check_not_run
from lockstep_verify.derive.sampling_weights import resolve
from lockstep_verify.errors import Refusal

_AT = "/predicate"
_COUNTS = "H10_COUNTS_DO_NOT_RECOMPUTE"
_OUTCOME = "OUTCOME_NOT_DERIVED"
_QUANTILES = (50, 500, 950, 1000)
_REPETITION = 6
"""The experiment that draws nothing [EXP-6]."""


class Found(NamedTuple):
    """What was observed, by experiment and role, or by experiment, role and measure.

    Attributes:
        differing: how many positions of a role's series differ.
        positions: how many it has.
        values: of a role's distances.
        told: what tells series, and distances, from one another.
    """

    differing: dict[tuple[int, str], int]
    positions: dict[tuple[int, str], int]
    values: dict[tuple[int, str, str], list[int]]
    told: set[tuple[Any, ...]]


def derive(statement: dict[str, Any], options: Options) -> Derivation:
    """Re-derive the statement of experiments.

    Raises:
        Refusal: the first offence in the order of derivation.
    """
    predicate = statement["predicate"]
    _check_size(predicate)
    found = Found({}, {}, {}, set())
    for i, one in enumerate(predicate["series"]):
        _check_series(one, f"{_AT}/series/{i}", found)
    for i, one in enumerate(predicate["distances"]):
        _check_distances(one, f"{_AT}/distances/{i}", found)
    outcomes = _check_experiments(predicate["experiments"], found)
    counts = _counts(predicate, found, outcomes)
    for name, count in counts.items():
        _require(_COUNTS, f"{_AT}/counts/{name}", count, predicate["counts"][name])
    verdict = "shown" if counts["shown"] == counts["experiments"] else "partly_shown"
    verdict = "diverged" if counts["replay_differing"] else verdict
    _require(_OUTCOME, f"{_AT}/verdict", verdict, predicate["verdict"])
    check_not_run(predicate["not_run"], spec.load("sampling-experiments.json")["not_run"])
    _check_subjects(statement)
    return Derivation(verdict, counts, _lines(predicate, counts))


def _require(code: str, pointer: str, expected: object, got: object) -> None:
    if type(expected) is not type(got) or expected != got:
        raise Refusal(code, pointer, expected, got)


def _check_size(predicate: dict[str, Any]) -> None:
    """Bound what is looked at, before it is [EXP-16]."""
    positions = sum(one["positions"] for one in predicate["series"])
    if positions > limits.EXPERIMENT_POSITIONS:
        most = f"{limits.EXPERIMENT_POSITIONS} positions"
        raise Refusal("LIMIT_SIZE", f"{_AT}/series", most, positions)
    values = sum(len(one["values"]) for one in predicate["distances"])
    if values > limits.EXPERIMENT_VALUES:
        most = f"{limits.EXPERIMENT_VALUES} values"
        raise Refusal("LIMIT_SIZE", f"{_AT}/distances", most, values)


def _check_series(one: dict[str, Any], at: str, found: Found) -> None:
    """Count the differing positions of a series, and bound their rate [EXP-10]."""
    key = (one["experiment"], one["role"])
    rules = spec.load("sampling-experiments.json")["roles"]
    known = [rule["role"] for rule in rules if rule["experiment"] == one["experiment"]]
    if one["role"] not in known:
        raise Refusal("BAD_VALUE", f"{at}/role", f"one of {known}", one["role"])
    _check_parameters(one, f"{at}/parameters")
    parameters = lcj.encode(one["parameters"])
    _check_told(found, (*key, one["of"], parameters), f"{at}/of")
    positions, text = one["positions"], one["differing"]
    digits = -(-positions // 4)
    whole = int(text, 16)
    spare = 4 * digits - positions
    if len(text) != digits or whole % (1 << spare):
        raise Refusal("BAD_VALUE", f"{at}/differing", f"{positions} bits", f"{len(text)} digits")
    count = bin(whole).count("1")
    low, high = bounds(count, positions)
    for name, expected in (("count", count), ("low_ppm", low), ("high_ppm", high)):
        _require(_COUNTS, f"{at}/{name}", expected, one[name])
    found.differing[key] = found.differing.get(key, 0) + count
    found.positions[key] = found.positions.get(key, 0) + positions


def _check_parameters(one: dict[str, Any], at: str) -> None:
    """See that parameters are resolved, and draw; null where nothing is drawn [EXP-10]."""
    stated = one["parameters"]
    if (stated is None) != (one["experiment"] == _REPETITION):
        raise Refusal("BAD_VALUE", at, "null in experiment 6 alone", lcj.encode(stated).decode())
    if stated is None:
        return
    names = ("temperature", "top_k", "top_p", "min_p")
    try:
        parameters = resolve(*(stated[name] for name in names))
    except Refusal as refused:
        raise Refusal("BAD_VALUE", at, refused.expected, refused.got) from refused
    kept = (parameters.top_k, *parameters.texts)
    if parameters.greedy or kept != tuple(stated[name] for name in names[1:]):
        raise Refusal("BAD_VALUE", at, "resolved, not greedy", lcj.encode(stated).decode())


def _check_told(found: Found, key: tuple[Any, ...], at: str) -> None:
    """See that nothing is counted twice [EXP-10, EXP-11]."""
    if key in found.told:
        raise Refusal("BAD_VALUE", at, "each once", "one that an earlier entry is of")
    found.told.add(key)


def _check_distances(one: dict[str, Any], at: str, found: Found) -> None:
    """Give the quantiles of distances [EXP-11]."""
    rules = spec.load("sampling-experiments.json")["orders"]
    known = {
        (rule["experiment"], rule[side], rule["measure"])
        for rule in rules
        for side in ("left", "right")
    }
    key = (one["experiment"], one["role"], one["measure"])
    if key not in known:
        raise Refusal("BAD_VALUE", f"{at}/role", "a role and measure of an order", one["role"])
    _check_told(found, (*key, one["of"]), f"{at}/of")
    if one["measure"] == "attempts":
        most = spec.load("sampling-experiments.json")["attempts_most"]
        for i, value in enumerate(one["values"]):
            if not 1 <= value <= most:
                raise Refusal("BAD_VALUE", f"{at}/values/{i}", f"1 to {most}", value)
    quantiles = [_quantile(one["values"], permille) for permille in _QUANTILES]
    _require(_COUNTS, f"{at}/quantiles", quantiles, one["quantiles"])
    found.values.setdefault(key, []).extend(one["values"])


def _quantile(values: list[int], permille: int) -> int:
    rank = (permille * len(values) + 999) // 1000
    return sorted(values)[rank - 1]


def _check_experiments(stated: list[dict[str, Any]], found: Found) -> list[str]:
    """Give the outcome of each experiment [EXP-12]."""
    wanted = spec.load("sampling-experiments.json")["experiments"]
    held = [{"experiment": one["experiment"], "name": one["name"]} for one in stated]
    if held != wanted:
        raise Refusal("BAD_VALUE", f"{_AT}/experiments", f"{len(wanted)} experiments", len(held))
    outcomes = []
    for i, one in enumerate(stated):
        outcome = _outcome(one["experiment"], found)
        _require(_OUTCOME, f"{_AT}/experiments/{i}/outcome", outcome, one["outcome"])
        outcomes.append(outcome)
    return outcomes


def _outcome(experiment: int, found: Found) -> str:
    data = spec.load("sampling-experiments.json")
    held = True
    for rule in data["roles"]:
        if rule["experiment"] == experiment:
            key = (experiment, rule["role"])
            if key not in found.differing:
                return "not_run"
            held &= (found.differing[key] > 0) == (rule["wanted"] == "some")
    for rule in data["orders"]:
        if rule["experiment"] == experiment:
            left = found.values.get((experiment, rule["left"], rule["measure"]))
            right = found.values.get((experiment, rule["right"], rule["measure"]))
            if left is None or right is None:
                return "not_run"
            held &= _holds(rule["is"], left, right)
    return "shown" if held else "not_shown"


def _holds(relation: str, left: list[int], right: list[int]) -> bool:
    if relation == "below":
        return _quantile(left, 500) < _quantile(right, 500)
    return (_quantile(left, 950) < _quantile(right, 50)) == (relation == "apart")


def _counts(predicate: dict[str, Any], found: Found, outcomes: list[str]) -> dict[str, int]:
    """Give the counts of [EXP-13], in its order."""
    replays = [key for key in found.positions if key[1] == "replay"]
    return {
        "series": len(predicate["series"]),
        "positions": sum(found.positions.values()),
        "differing": sum(found.differing.values()),
        "distances": len(predicate["distances"]),
        "values": sum(len(values) for values in found.values.values()),
        "experiments": len(outcomes),
        "shown": outcomes.count("shown"),
        "not_shown": outcomes.count("not_shown"),
        "not_run": outcomes.count("not_run"),
        "replay_positions": sum(found.positions[key] for key in replays),
        "replay_differing": sum(found.differing[key] for key in replays),
    }


def _check_subjects(statement: dict[str, Any]) -> None:
    """See that model and observations are bound [EXP-15]."""
    predicate = statement["predicate"]
    observed = {name: predicate[name] for name in ("model", "series", "distances")}
    digests = {
        "model": predicate["model"]["sha256"],
        "observations": hashlib.sha256(lcj.encode(observed)).hexdigest(),
    }
    names = [subject["name"] for subject in statement["subject"]]
    for name, expected in digests.items():
        if name not in names:
            raise Refusal("SUBJECT_MISMATCH", "/subject", f"{name} {expected}", f"no {name}")
        at = names.index(name)
        got = statement["subject"][at]["digest"]["sha256"]
        _require("SUBJECT_MISMATCH", f"/subject/{at}/digest/sha256", expected, got)


def _lines(predicate: dict[str, Any], counts: dict[str, int]) -> tuple[str, ...]:
    return (
        f"{counts['series']} series of {counts['positions']} positions, {counts['differing']} of "
        f"them differing; {counts['values']} distances: all as the signer observed them",
        *(
            f"experiment {one['experiment']}, {one['name']}: {one['outcome']}"
            for one in predicate["experiments"]
        ),
        f"replay: {counts['replay_differing']} of {counts['replay_positions']} positions differ",
    )
