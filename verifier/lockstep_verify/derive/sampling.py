"""Re-derive a certificate of sampling (spec/sampling.md).

Every token is drawn again from the seed of the request and the log-probabilities that the executor
signed. Whether these are the model's is the signer's word. The order of the checks is the
normative one.
"""

import hashlib
from collections import Counter
from typing import Any

from lockstep_verify import lcj, limits, spec
from lockstep_verify.derive import Derivation, Options
from lockstep_verify.derive.hunt_lemmas import H3, statements
from lockstep_verify.derive.not_run import check_not_run
from lockstep_verify.derive.sampling_positions import (
    Request,
    Sequence,
    judge_sequence,
    read_request,
)
from lockstep_verify.errors import Refusal

_AT = "/predicate"
_COUNTS = "H10_COUNTS_DO_NOT_RECOMPUTE"
_OUTCOME = "OUTCOME_NOT_DERIVED"
_VERDICTS = ("fraud", "invalid_artifact", "inconclusive", "not_covered", "honest")
_DERIVED = {
    **dict.fromkeys(("positions", "covered", "fraud_positions", "invalid_positions"), _COUNTS),
    **dict.fromkeys(("reason", "position", "verdict"), _OUTCOME),
}
"""What is derived of a sequence, in the order of derivation, and the code of a lie."""


def derive(statement: dict[str, Any], options: Options) -> Derivation:
    """Re-derive the statement of sequences that were replayed.

    Raises:
        Refusal: the first offence in the order of derivation.
    """
    predicate = statement["predicate"]
    stated = predicate["sequences"]
    _check_size(stated)
    requests = _check_requests(stated)
    found = [
        _check_sequence(one, request, f"{_AT}/sequences/{i}")
        for i, (one, request) in enumerate(zip(stated, requests, strict=True))
    ]
    counts = _counts(stated, found)
    for name, count in counts.items():
        _require(_COUNTS, f"{_AT}/counts/{name}", count, predicate["counts"][name])
    verdict = _verdict(counts)
    _require(_OUTCOME, f"{_AT}/verdict", verdict, predicate["verdict"])
    check_not_run(predicate["not_run"], spec.load("sampling.json")["not_run"])
    _check_lemmas(predicate["lemmas"])
    _check_subject(statement, stated)
    return Derivation(verdict, counts, _lines(counts, found))


def _require(code: str, pointer: str, expected: object, got: object) -> None:
    if type(expected) is not type(got) or expected != got:
        raise Refusal(code, pointer, expected, got)


def _check_size(stated: list[dict[str, Any]]) -> None:
    """See that there are no more log-probabilities than can be looked at in a while [SAMP-32]."""
    positions = (position for one in stated for position in one["artifact"]["positions"])
    pairs = sum(len(position["support"] or ()) for position in positions)
    if pairs > limits.SAMPLING_PAIRS:
        most = f"{limits.SAMPLING_PAIRS} pairs"
        raise Refusal("LIMIT_SIZE", f"{_AT}/sequences", most, pairs)


def _check_requests(stated: list[dict[str, Any]]) -> list[Request]:
    """See that requests are in their ranges, and told apart by their ids [SAMP-25, SAMP-38]."""
    first: dict[str, dict[str, Any]] = {}
    choices: set[tuple[str, int]] = set()
    requests = []
    for i, one in enumerate(stated):
        at, request = f"{_AT}/sequences/{i}", one["request"]
        _check_request(request, f"{at}/request")
        if one["choice"] >= request["choices"]:
            raise Refusal("BAD_VALUE", f"{at}/choice", f"below {request['choices']}", one["choice"])
        name = request["inference_id"]
        if first.setdefault(name, request) != request:
            raise Refusal("BAD_VALUE", f"{at}/request", "the same request of one id", name)
        if (name, one["choice"]) in choices:
            raise Refusal("BAD_VALUE", f"{at}/choice", "each choice once", one["choice"])
        choices.add((name, one["choice"]))
        requests.append(read_request(request))
    return requests


def _check_request(request: dict[str, Any], at: str) -> None:
    if not -(1 << 63) <= int(request["user_seed"]) < 1 << 63:
        raise Refusal("BAD_VALUE", f"{at}/user_seed", "64 bits, signed", request["user_seed"])
    if request["min_tokens"] > request["max_tokens"]:
        most = f"at most {request['max_tokens']}"
        raise Refusal("BAD_VALUE", f"{at}/min_tokens", most, request["min_tokens"])
    before = -1
    for i, token in enumerate(request["stop_tokens"]):
        if not before < token < request["vocab_size"]:
            raise Refusal("BAD_VALUE", f"{at}/stop_tokens/{i}", "an ascending token", token)
        before = token
    features = request["features"]
    for i in range(1, len(features)):
        if features[i] <= features[i - 1]:
            raise Refusal("BAD_VALUE", f"{at}/features/{i}", "ascending names", features[i])


def _check_sequence(stated: dict[str, Any], request: Request, at: str) -> Sequence:
    """Judge a sequence, and compare what is said of it."""
    found = judge_sequence(request, stated["choice"], stated["artifact"])
    for name, code in _DERIVED.items():
        _require(code, f"{at}/{name}", getattr(found, name), stated[name])
    return found


def _counts(stated: list[dict[str, Any]], found: list[Sequence]) -> dict[str, int]:
    """Give the counts of [SAMP-39], in its order."""
    told = Counter(one.verdict for one in found)
    choices = {one["request"]["inference_id"]: one["request"]["choices"] for one in stated}
    positions = sum(one.positions for one in found)
    covered = sum(one.covered for one in found)
    return {
        "sequences": len(found),
        **{name: told[name] for name in ("honest", *_VERDICTS[:-1])},
        "positions": positions,
        "positions_covered": covered,
        "covered_permille": 1000 * covered // positions if positions else 0,
        "fraud_positions": sum(one.fraud_positions for one in found),
        "invalid_positions": sum(one.invalid_positions for one in found),
        "support_tokens": sum(one.support_tokens for one in found),
        "beacons": sum(bool(one["request"]["beacon"]) for one in stated),
        "requests": len(choices),
        "choices_missing": sum(choices.values()) - len(stated),
    }


def _verdict(counts: dict[str, int]) -> str:
    """Give a certificate's verdict [SAMP-36]."""
    for name in ("fraud", "invalid_artifact", "inconclusive"):
        if counts[name]:
            return name
    least = spec.load("sampling.json")["coverage_least_permille"]
    covered = counts["positions_covered"]
    whole = not counts["choices_missing"]
    enough = whole and covered and 1000 * covered >= least * counts["positions"]
    return "honest" if enough else "not_covered"


def _check_lemmas(stated: list[dict[str, Any]]) -> None:
    """See that the lemmas are those that the rules rest on, as they are registered [SAMP-38]."""
    digests = statements()
    names = list(dict.fromkeys(one["name"] for one in spec.load("sampling.json")["lemmas"]))
    held = [one["name"] for one in stated]
    if held != names:
        raise Refusal(H3, f"{_AT}/lemmas", names, held)
    for i, one in enumerate(stated):
        at, expected = f"{_AT}/lemmas/{i}/statement_sha256", digests[one["name"]]
        _require("LEMMA_STATEMENT_MISMATCH", at, expected, one["statement_sha256"])


def _check_subject(statement: dict[str, Any], stated: list[dict[str, Any]]) -> None:
    """See that the subject `requests` is the digest of the requests, each id once [SAMP-40]."""
    requests = {one["request"]["inference_id"]: one["request"] for one in stated}
    expected = hashlib.sha256(lcj.encode(list(requests.values()))).hexdigest()
    names = [subject["name"] for subject in statement["subject"]]
    if "requests" not in names:
        raise Refusal("SUBJECT_MISMATCH", "/subject", f"requests {expected}", "no subject requests")
    at = names.index("requests")
    got = statement["subject"][at]["digest"]["sha256"]
    _require("SUBJECT_MISMATCH", f"/subject/{at}/digest/sha256", expected, got)


def _lines(counts: dict[str, int], found: list[Sequence]) -> tuple[str, ...]:
    told = ", ".join(f"{counts[name]} {name}" for name in ("honest", *_VERDICTS[:-1]))
    reasons = Counter(one.reason for one in found if one.reason)
    return (
        f"{counts['sequences']} sequences: {told}",
        f"{counts['positions_covered']} of {counts['positions']} positions drawn again, "
        f"{counts['fraud_positions']} fraud, {counts['invalid_positions']} invalid",
        f"{counts['support_tokens']} log-probabilities that are the executor's word; "
        f"{counts['beacons']} sequences of a beacon",
        f"{counts['requests']} requests, {counts['choices_missing']} choices of them missing; "
        f"draws, weights and scans rest on {len(spec.load('sampling.json')['lemmas'])} lemmas",
        *(f"{reason}: {count} sequences" for reason, count in sorted(reasons.items())),
    )
