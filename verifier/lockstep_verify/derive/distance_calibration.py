"""Re-derive a calibration of distances (spec/distance.md).

Every measure of every position, and all that follows of them, comes from the log-probabilities
that stand in the certificate. That a computation gave these is the signer's word. The order of the
checks is the normative one.
"""

import hashlib
from typing import Any

from lockstep_verify import lcj, limits, spec
from lockstep_verify.derive import Derivation, Options
from lockstep_verify.derive.distance_measures import (
    Measured,
    Support,
    by_measure,
    massive,
    measure,
    parse,
    quantile,
    statistics,
)
from lockstep_verify.derive.distance_placements import Placement, place, verdict
from lockstep_verify.derive.not_run import check_not_run
from lockstep_verify.errors import Refusal

_AT = "/predicate"
_COUNTS = "H10_COUNTS_DO_NOT_RECOMPUTE"
_OUTCOME = "OUTCOME_NOT_DERIVED"
_QUANTILES = (50, 500, 950, 1000)
_UNBOUND = ("issued_at", "critical", "producer", "not_run")

Texts = list[list[Support]]
"""For each text, what was recomputed at each of its tokens."""

Signed = list[list[dict[str, int] | None]]
"""For each text, what a rung signed at each of its tokens; None where it is the reference's."""


def derive(statement: dict[str, Any], options: Options) -> Derivation:
    """Re-derive the statement of a calibration.

    Raises:
        Refusal: the first offence in the order of derivation.
    """
    predicate = statement["predicate"]
    _check_members(predicate)
    _check_sizes(predicate)
    reference = _reference(predicate)
    rungs = [_signed(predicate, i, reference) for i in range(len(predicate["rungs"]))]
    _check_needed(predicate, reference, rungs)
    found = [
        _check_rung(one, f"{_AT}/rungs/{i}", rungs[i], reference)
        for i, one in enumerate(predicate["rungs"])
    ]
    placements = _check_placements(predicate["placements"], found)
    chosen = placements[predicate["accepts"] - 1]
    counts = _counts(predicate, reference, rungs, chosen)
    for name, count in counts.items():
        _require(_COUNTS, f"{_AT}/counts/{name}", count, predicate["counts"][name])
    told = verdict([len(text) for text in reference], chosen)
    _require(_OUTCOME, f"{_AT}/verdict", told, predicate["verdict"])
    check_not_run(predicate["not_run"], spec.load("distance-calibration.json")["not_run"])
    _check_subjects(statement)
    return Derivation(told, counts, _lines(predicate, counts, chosen))


def _require(code: str, pointer: str, expected: object, got: object) -> None:
    if type(expected) is not type(got) or expected != got:
        raise Refusal(code, pointer, expected, got)


def _check_members(predicate: dict[str, Any]) -> None:
    """See that the ladder has an end, and that names and tokens are what they may be."""
    rungs, vocab_size = predicate["rungs"], predicate["model"]["vocab_size"]
    if predicate["accepts"] >= len(rungs):
        most = f"below {len(rungs)}"
        raise Refusal("BAD_VALUE", f"{_AT}/accepts", most, predicate["accepts"])
    if predicate["support_tokens"] > vocab_size:
        got = predicate["support_tokens"]
        raise Refusal("BAD_VALUE", f"{_AT}/support_tokens", f"at most {vocab_size}", got)
    ids: set[str] = set()
    whole: set[tuple[int, ...]] = set()
    for i, text in enumerate(predicate["texts"]):
        at = f"{_AT}/texts/{i}"
        _check_new(text["id"], ids, f"{at}/id")
        for name in ("prompt", "tokens"):
            for place_, token in enumerate(text[name]):
                if token >= vocab_size:
                    raise Refusal("BAD_VALUE", f"{at}/{name}/{place_}", "a token", token)
        wanted, got = len(text["tokens"]), len(text["reference"])
        _require("BAD_VALUE", f"{at}/reference", wanted, got)
        tokens = (*text["prompt"], *text["tokens"])
        if tokens in whole:
            raise Refusal("BAD_VALUE", f"{at}/tokens", "another text", "one that is there")
        whole.add(tokens)
    names: set[str] = set()
    for i, rung in enumerate(rungs):
        _check_new(rung["name"], names, f"{_AT}/rungs/{i}/name")


def _check_new(name: str, seen: set[str], pointer: str) -> None:
    if name in seen:
        raise Refusal("BAD_VALUE", pointer, "another name", name)
    seen.add(name)


def _check_sizes(predicate: dict[str, Any]) -> None:
    """See that each rung signs at each token, and that it can be read in a while [DIST-21]."""
    texts = predicate["texts"]
    written = [one for text in texts for one in text["reference"]]
    for i, rung in enumerate(predicate["rungs"]):
        at = f"{_AT}/rungs/{i}/supports"
        _require("BAD_VALUE", at, len(texts), len(rung["supports"]))
        for j, supports in enumerate(rung["supports"]):
            _require("BAD_VALUE", f"{at}/{j}", len(texts[j]["tokens"]), len(supports))
            written += (one for one in supports if one is not None)
    pairs = sum(one.count(":") for one in written)
    if pairs > limits.DISTANCE_PAIRS:
        raise Refusal("LIMIT_SIZE", _AT, f"{limits.DISTANCE_PAIRS} pairs", pairs)


def _read(predicate: dict[str, Any], text: str, pointer: str, exactly: bool) -> Support:
    """Read a support of at least, or exactly, so many tokens as all have."""
    count, vocab_size = predicate["support_tokens"], predicate["model"]["vocab_size"]
    support = parse(text, vocab_size)
    if support is None or len(support.values) < count:
        raise Refusal("BAD_VALUE", pointer, f"a support of {count} tokens", text)
    if exactly and len(support.values) != count:
        raise Refusal("BAD_VALUE", pointer, f"{count} tokens", len(support.values))
    if not massive(support, count, vocab_size):
        raise Refusal("BAD_VALUE", pointer, "the mass of a vocabulary", text)
    return support


def _reference(predicate: dict[str, Any]) -> Texts:
    return [
        [
            _read(predicate, one, f"{_AT}/texts/{i}/reference/{j}", exactly=False)
            for j, one in enumerate(text["reference"])
        ]
        for i, text in enumerate(predicate["texts"])
    ]


def _top(predicate: dict[str, Any], support: Support) -> dict[str, int]:
    tokens = support.ranking[: predicate["support_tokens"]]
    return {token: support.values[token] for token in tokens}


def _signed(predicate: dict[str, Any], rung: int, reference: Texts) -> Signed:
    """Read what a rung signed, None where that is what the reference would have signed."""
    found: Signed = []
    for i, supports in enumerate(predicate["rungs"][rung]["supports"]):
        found.append([])
        for j, text in enumerate(supports):
            if text is None:
                found[-1].append(None)
                continue
            pointer = f"{_AT}/rungs/{rung}/supports/{i}/{j}"
            signed = _read(predicate, text, pointer, exactly=True).values
            recomputed = reference[i][j]
            if not signed.keys() <= recomputed.values.keys():
                raise Refusal("BAD_VALUE", pointer, "tokens of the reference", text)
            if signed == _top(predicate, recomputed):
                raise Refusal("BAD_VALUE", pointer, "null, for what is the reference's", text)
            found[-1].append(signed)
    return found


def _check_needed(predicate: dict[str, Any], reference: Texts, rungs: list[Signed]) -> None:
    """See that the reference has no token that nobody has at that place [DIST-13]."""
    for i, text in enumerate(reference):
        for j, support in enumerate(text):
            needed = set(_top(predicate, support))
            needed.update(token for rung in rungs for token in rung[i][j] or ())
            if needed != support.values.keys():
                pointer = f"{_AT}/texts/{i}/reference/{j}"
                extra = sorted(support.values.keys() - needed)
                raise Refusal("BAD_VALUE", pointer, "tokens that are needed", extra)


def _check_rung(
    stated: dict[str, Any],
    at: str,
    signed: Signed,
    reference: Texts,
) -> list[list[int]]:
    """Measure a rung, compare what is said of it, and give its statistics [DIST-15]."""
    identical = sum(one is None for text in signed for one in text)
    _require(_COUNTS, f"{at}/identical", identical, stated["identical"])
    measured: list[list[Measured]] = [
        [
            (0, 0, 0) if one is None else measure(one, recomputed)
            for one, recomputed in zip(text, row, strict=True)
        ]
        for text, row in zip(signed, reference, strict=True)
    ]
    columns = by_measure([one for text in measured for one in text])
    quantiles = [[quantile(column, permille) for permille in _QUANTILES] for column in columns]
    _require(_COUNTS, f"{at}/quantiles", quantiles, stated["quantiles"])
    found = [statistics(text) for text in measured]
    _require(_COUNTS, f"{at}/statistics", found, stated["statistics"])
    return found


def _check_placements(
    stated: list[dict[str, Any]], found: list[list[list[int]]]
) -> list[Placement]:
    _require("BAD_VALUE", f"{_AT}/placements", len(found) - 1, len(stated))
    placements = []
    for i, one in enumerate(stated):
        at, placed = f"{_AT}/placements/{i}", place(found, i + 1)
        for name, code in (
            ("accepts", "BAD_VALUE"),
            ("thresholds", _COUNTS),
            ("outcomes", _OUTCOME),
            ("held_out_beyond", _COUNTS),
        ):
            _require(code, f"{at}/{name}", getattr(placed, name), one[name])
        placements.append(placed)
    return placements


def _counts(
    predicate: dict[str, Any],
    reference: Texts,
    rungs: list[Signed],
    chosen: Placement,
) -> dict[str, int]:
    """Give the counts of [DIST-20], in its order."""
    positions = sum(map(len, reference))
    signed = [one for rung in rungs for text in rung for one in text]
    return {
        "texts": len(reference),
        "texts_held_out": len(reference) // 2,
        "positions": positions,
        "rungs": len(rungs),
        "accepted": chosen.accepts,
        **{
            name: chosen.outcomes.count(name)
            for name in ("held", "separated", "overlapping", "not_separated")
        },
        "comparisons": positions * len(rungs),
        "identical": signed.count(None),
        "held_out_beyond": chosen.held_out_beyond,
        "signed_tokens": sum(len(one) for one in signed if one is not None),
        "reference_tokens": sum(len(one.values) for text in reference for one in text),
    }


def _check_subjects(statement: dict[str, Any]) -> None:
    """See that the subjects are the model, and what thresholds follow from [DIST-19]."""
    predicate = statement["predicate"]
    bound = {name: value for name, value in predicate.items() if name not in _UNBOUND}
    digests = {
        "model": predicate["model"]["sha256"],
        "calibration": hashlib.sha256(lcj.encode(bound)).hexdigest(),
    }
    names = [subject["name"] for subject in statement["subject"]]
    for name, expected in digests.items():
        if name not in names:
            raise Refusal("SUBJECT_MISMATCH", "/subject", f"{name} {expected}", "none of this name")
        at = names.index(name)
        got = statement["subject"][at]["digest"]["sha256"]
        _require("SUBJECT_MISMATCH", f"/subject/{at}/digest/sha256", expected, got)


def _lines(predicate: dict[str, Any], counts: dict[str, int], chosen: Placement) -> tuple[str, ...]:
    told = ", ".join(
        f"{rung['name']} {outcome}"
        for rung, outcome in zip(predicate["rungs"], chosen.outcomes, strict=True)
    )
    return (
        f"{counts['rungs']} rungs, the first {counts['accepted']} count as the model: {told}",
        f"{counts['comparisons']} positions measured, {counts['identical']} of them identical; "
        f"{counts['texts_held_out']} of {counts['texts']} texts held out, "
        f"{counts['held_out_beyond']} of accepted rungs beyond",
        "log-probabilities of both sides are the signer's word",
    )
