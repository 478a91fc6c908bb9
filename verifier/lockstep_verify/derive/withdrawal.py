"""Re-derive a withdrawal of claims (spec/withdrawal.md)."""

from typing import Any

from lockstep_verify import lcj, spec
from lockstep_verify.derive import Derivation, Options
from lockstep_verify.derive.not_run import check_not_run
from lockstep_verify.errors import Refusal

_AT = "/predicate"


def derive(statement: dict[str, Any], options: Options) -> Derivation:
    """Re-derive the statement of a withdrawal.

    Raises:
        Refusal: the first offence in the order of derivation of WDR-2.
    """
    predicate = statement["predicate"]
    target, claims = predicate["certificate"]["payload_sha256"], predicate["claims"]
    for i, claim in enumerate(claims):
        at = f"{_AT}/claims/{i}"
        before = claims[i - 1]["pointer"] if i else None
        _check_pointer(claim["pointer"], before, f"{at}/pointer")
        if claim["replacement"] is not None:
            _check_replacement(claim, target, f"{at}/replacement")
    replaced = [claim for claim in claims if claim["replacement"] is not None]
    counts = {"claims": len(claims), "replaced": len(replaced)}
    for name, count in counts.items():
        if predicate["counts"][name] != count:
            code, got = "H10_COUNTS_DO_NOT_RECOMPUTE", predicate["counts"][name]
            raise Refusal(code, f"{_AT}/counts/{name}", count, got)
    check_not_run(predicate["not_run"], spec.load("withdrawal.json")["not_run"])
    _check_subject(statement, target)
    lines = tuple(f"{claim['pointer'] or 'all'}: {claim['reason']}" for claim in claims)
    return Derivation("WITHDRAWN", counts, lines)


def _check_pointer(pointer: str, before: str | None, at: str) -> None:
    if pointer and pointer.split("/")[1] != "predicate":
        raise Refusal("BAD_VALUE", at, "a pointer below /predicate", pointer)
    if before is not None and lcj.utf16_order(pointer) <= lcj.utf16_order(before):
        raise Refusal("BAD_VALUE", at, "pointers that ascend", pointer)


def _check_replacement(claim: dict[str, Any], target: str, at: str) -> None:
    stated = claim["replacement"]
    if (stated["pointer"] is None) != (stated["payload_sha256"] is None):
        raise Refusal("BAD_VALUE", f"{at}/pointer", "with payload_sha256", stated["pointer"])
    if (stated["payload_sha256"], stated["pointer"]) == (target, claim["pointer"]):
        raise Refusal("BAD_VALUE", at, "another claim", stated["pointer"])


def _check_subject(statement: dict[str, Any], target: str) -> None:
    names = [subject["name"] for subject in statement["subject"]]
    if "certificate" not in names:
        raise Refusal("SUBJECT_MISMATCH", "/subject", f"certificate {target}", names)
    at = names.index("certificate")
    got = statement["subject"][at]["digest"]["sha256"]
    if got != target:
        raise Refusal("SUBJECT_MISMATCH", f"/subject/{at}/digest/sha256", target, got)
