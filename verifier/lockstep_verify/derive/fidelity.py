"""Re-derive a certificate of fidelity (spec/fidelity.md).

The corpus and the bounds are the specification's, the measures follow from the records; that the
logits were what the records say is the signer's word. The order of the checks is the normative one.
"""

import hashlib
from typing import Any

from lockstep_verify import spec
from lockstep_verify.derive import Derivation, Options
from lockstep_verify.derive.environment import Environment, check_environment
from lockstep_verify.derive.model import check_model, largest_logit
from lockstep_verify.derive.not_run import check_not_run
from lockstep_verify.errors import Refusal

_AT = "/predicate"
_COUNTS = "H10_COUNTS_DO_NOT_RECOMPUTE"
_LARGEST = (1 << 53) - 1
_ONE = 10**12
Record = dict[str, int]

NOT_RUN = (
    "prompts other than those of the corpus, and requests in company",
    "models and backends other than these",
)
"""What no such certificate covers [FID-9]."""


def derive(statement: dict[str, Any], options: Options) -> Derivation:
    """Re-derive the statement of a run of F1.

    Raises:
        Refusal: the first offence in the order of derivation of [FID-10].
    """
    predicate = statement["predicate"]
    environment = check_environment(predicate["environment"], f"{_AT}/environment")
    _check_backends(environment, check_environment(predicate["reference"], f"{_AT}/reference"))
    model = predicate["model"]
    dtype = model["dtype"]
    check_model(model, environment.resolved["dtype"])
    _check_prompts(predicate["prompts"], model)
    records = [record for prompt in predicate["prompts"] for record in prompt["records"]]
    measures = _check_measures(predicate["measures"], records, dtype)
    counts = _counts(predicate["prompts"], records, dtype)
    for name, count in counts.items():
        _require(_COUNTS, f"{_AT}/counts/{name}", count, predicate["counts"][name])
    check_not_run(predicate["not_run"], NOT_RUN)
    _check_bounds(predicate["measures"])
    _check_subject(statement, model["sha256"])
    return Derivation("WITHIN_BOUNDS", counts, _lines(environment, counts, measures))


def _require(code: str, pointer: str, expected: object, got: object) -> None:
    if type(expected) is not type(got) or expected != got:
        raise Refusal(code, pointer, expected, got)


def _check_backends(environment: Environment, reference: Environment) -> None:
    """See that a backend is compared with the reference, and not the reference with itself."""
    for name in ("backend", "dtype"):
        _require("BAD_VALUE", f"{_AT}/reference", "float64", reference.resolved[name])
    if environment.resolved["backend"] == "float64":
        raise Refusal("BAD_VALUE", f"{_AT}/environment", "another backend", "float64")


def tokens(name: str, count: int, vocab_size: int) -> list[int]:
    """Give the tokens of a prompt of the corpus [FID-1]."""
    stream = bytearray()
    counter = 0
    while len(stream) < 4 * count:
        stream += hashlib.sha256(f"lockstep/corpus/1/{name}/{counter}".encode("ascii")).digest()
        counter += 1
    words = (int.from_bytes(stream[i : i + 4], "big") for i in range(0, 4 * count, 4))
    return [1 + word % (vocab_size - 1) for word in words]


def _check_prompts(prompts: list[dict[str, Any]], model: dict[str, Any]) -> None:
    data, vocab_size = spec.load("fidelity.json"), model["vocab_size"]
    for i, (prompt, entry) in enumerate(zip(prompts, data["corpus"], strict=False)):
        at = f"{_AT}/prompts/{i}"
        numbers = tokens(entry["id"], entry["tokens"], vocab_size)
        encoded = b"".join(number.to_bytes(8, "big") for number in numbers)
        derived = {
            "id": entry["id"],
            "tokens": entry["tokens"],
            "sha256": hashlib.sha256(encoded).hexdigest(),
            "crosses_split": entry["tokens"] > data["split"],
        }
        for member, value in derived.items():
            _require("BAD_VALUE", f"{at}/{member}", value, prompt[member])
        _check_records(prompt["records"], entry["positions"], model, f"{at}/records")
    _require("BAD_VALUE", f"{_AT}/prompts", len(data["corpus"]), len(prompts))


def _check_records(
    records: list[Record], ranges: list[list[int]], model: dict[str, Any], at: str
) -> None:
    """See that the positions are the corpus's, and each record what logits can give [FID-4]."""
    positions = [p for first, last in ranges for p in range(first, last + 1)]
    _require("BAD_VALUE", at, len(positions), len(records))
    for i, (record, position) in enumerate(zip(records, positions, strict=True)):
        _require("BAD_VALUE", f"{at}/{i}/position", position, record["position"])
        for member in ("top", "reference_top"):
            if record[member] >= model["vocab_size"]:
                raise Refusal("BAD_VALUE", f"{at}/{i}/{member}", "a token", record[member])
        broken = inconsistency(record, model["vocab_size"], largest_logit(model))
        if broken:
            raise Refusal("BAD_VALUE", f"{at}/{i}", broken, record)


def inconsistency(record: Record, vocab_size: int, largest: int | None = None) -> str:
    """Say which inequality a record breaks that any two rows of logits obey [FID-4].

    Args:
        record: a position's measures, in the units of [FID-3].
        vocab_size: entries of a row.
        largest: what no logit of the model exceeds, in 10^-12; None where nothing is known.

    Returns:
        What should hold, in words; empty where all does.
    """
    kl, error, scale, margin = (record[name] for name in ("kl", "error", "scale", "margin"))
    differ = record["top"] != record["reference_top"]
    # The probability that must have moved from one top to the other, squared, over 10^18.
    moved = 2 * (kl + 1) * (vocab_size * (_ONE + margin)) ** 2
    rules = (
        ("a scale of 1 or more", scale >= 1),
        ("a margin that the scale admits", margin <= 2 * scale + 1),
        ("equal rows where the error is 0", error > 0 or not (kl or differ)),
        ("a divergence that the error admits", (kl - 1) * 2_000_000 <= error**2),
        ("an error that moves the top token", not differ or 2 * error >= margin),
        (
            "a divergence that moves the top token",
            not differ or kl == _LARGEST or moved >= 10**18 * margin**2,
        ),
        ("a scale that a tiny model reaches", largest is None or scale <= largest),
    )
    return next((said for said, holds in rules if not holds), "")


def _near_tie(record: Record, dtype: str) -> bool:
    bounds = {entry["name"]: entry[dtype] for entry in spec.load("fidelity.json")["bounds"]}
    return bool(record["margin"] * _ONE <= 2 * record["scale"] * bounds["error_max"])


def _measured(records: list[Record], dtype: str) -> dict[str, int]:
    """Give the seven measures of records [FID-6]."""
    n = len(records)
    relative = sorted((r["error"] * _ONE + r["scale"] - 1) // r["scale"] for r in records)
    ties = sum(_near_tie(r, dtype) for r in records)
    differ = [r for r in records if r["top"] != r["reference_top"]]
    return {
        "kl_max": max(r["kl"] for r in records),
        "kl_mean": (sum(r["kl"] for r in records) + n - 1) // n,
        "error_max": max(relative),
        "error_median": relative[(n - 1) // 2],
        "near_ties": (1000 * ties + n - 1) // n,
        "top_disagreements": sum(not _near_tie(r, dtype) for r in differ),
        "top_agreement": 1000 * (n - len(differ)) // n,
    }


def _check_measures(
    stated: list[dict[str, Any]], records: list[Record], dtype: str
) -> dict[str, int]:
    bounds, measured = spec.load("fidelity.json")["bounds"], _measured(records, dtype)
    _require("BAD_VALUE", f"{_AT}/measures", len(bounds), len(stated))
    for i, (measure, entry) in enumerate(zip(stated, bounds, strict=True)):
        at = f"{_AT}/measures/{i}"
        for member, value in (("name", "name"), ("limit", "limit"), ("bound", dtype)):
            _require("BAD_VALUE", f"{at}/{member}", entry[value], measure[member])
        _require(_COUNTS, f"{at}/value", measured[entry["name"]], measure["value"])
    return measured


def _check_bounds(measures: list[dict[str, Any]]) -> None:
    for i, measure in enumerate(measures):
        value, bound = measure["value"], measure["bound"]
        if value > bound if measure["limit"] == "at most" else value < bound:
            at = f"{_AT}/measures/{i}/value"
            raise Refusal("FIDELITY_BOUND_EXCEEDED", at, f"{measure['limit']} {bound}", value)


def _counts(prompts: list[dict[str, Any]], records: list[Record], dtype: str) -> dict[str, int]:
    split = spec.load("fidelity.json")["split"]
    return {
        "prompts": len(prompts),
        "prompts_past_split": sum(prompt["crosses_split"] for prompt in prompts),
        "logit_rows": len(records),
        "logit_rows_past_split": sum(record["position"] >= split for record in records),
        "near_ties": sum(_near_tie(record, dtype) for record in records),
        "top_agreements": sum(r["top"] == r["reference_top"] for r in records),
        "bounds": len(spec.load("fidelity.json")["bounds"]),
    }


def _check_subject(statement: dict[str, Any], expected: str) -> None:
    names = [subject["name"] for subject in statement["subject"]]
    if "model" not in names:
        raise Refusal("SUBJECT_MISMATCH", "/subject", f"model {expected}", "no subject model")
    at = names.index("model")
    got = statement["subject"][at]["digest"]["sha256"]
    _require("SUBJECT_MISMATCH", f"/subject/{at}/digest/sha256", expected, got)


def _lines(
    environment: Environment, counts: dict[str, int], measures: dict[str, int]
) -> tuple[str, ...]:
    return (
        f"{counts['logit_rows']} positions of {counts['prompts']} prompts, "
        f"{counts['logit_rows_past_split']} of them past the split of attention",
        f"{counts['top_agreements']} of {counts['logit_rows']} top tokens agree; "
        f"{counts['near_ties']} near ties",
        f"bounds: all {counts['bounds']} hold over the records (attested): "
        + ", ".join(f"{name} {value}" for name, value in measures.items()),
        *environment.lines(),
    )
