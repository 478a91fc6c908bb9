"""The cases of whole certificates: one that is valid, and each refusal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from changes import edit

KIND = "urn:lockstep:certificate:sampling:v1"
P, S = "/statement/predicate", "/statement/predicate/sequences"
BAD, COUNTS, OUTCOME = "BAD_VALUE", "H10_COUNTS_DO_NOT_RECOMPUTE", "OUTCOME_NOT_DERIVED"
SUBJECT = "SUBJECT_MISMATCH"
Row = tuple[str, str, str, str, str, Any, str]
"""Name, rule, code, note, what is changed, to what, and where that is told if elsewhere."""

REQUESTS: tuple[Row, ...] = (
    ("user-seed-above", "SAMP-4", BAD, "Past 64 bits.", f"{S}/0/request/user_seed", str(2**63), ""),
    ("min-tokens-above", "SAMP-25", BAD, "More than max.", f"{S}/0/request/min_tokens", 4, ""),
    ("stop-token-twice", "SAMP-25", BAD, "Not ascending.", f"{S}/0/request/stop_tokens", [4, 4],
     f"{S}/0/request/stop_tokens/1"),
    ("stop-token-above", "SAMP-25", BAD, "No token.", f"{S}/0/request/stop_tokens", [60],
     f"{S}/0/request/stop_tokens/0"),
    ("features-twice", "SAMP-25", BAD, "Not ascending.", f"{S}/0/request/features",
     ["beam", "beam"], f"{S}/0/request/features/1"),
    ("choice-above", "SAMP-38", BAD, "A choice that nobody asked for.", f"{S}/1/choice", 2, ""),
    ("request-differs", "SAMP-38", BAD, "One id, two requests.", f"{S}/1/request/temperature",
     "0.9", f"{S}/1/request"),
    ("choice-twice", "SAMP-38", BAD, "One choice twice.", f"{S}/1/choice", 0, ""),
    ("version-other", "SAMP-38", BAD, "Not this version.", f"{P}/version", "sampling/v2", ""),
)  # fmt: skip
SAID: tuple[Row, ...] = (
    ("sequence-positions", "SAMP-38", COUNTS, "Not their number.", f"{S}/0/positions", 9, ""),
    ("sequence-covered", "SAMP-35", COUNTS, "Covered, though greedy.", f"{S}/3/covered", 3, ""),
    ("sequence-fraud", "SAMP-38", COUNTS, "None is.", f"{S}/0/fraud_positions", 1, ""),
    ("sequence-invalid", "SAMP-38", COUNTS, "None is.", f"{S}/0/invalid_positions", 1, ""),
    ("reason-other", "SAMP-34", OUTCOME, "It does not follow.", f"{S}/0/reason", "length", ""),
    ("position-other", "SAMP-34", OUTCOME, "A place of no reason.", f"{S}/0/position", 0, ""),
    ("verdict-of-sequence", "SAMP-34", OUTCOME, "Not covered, said to be honest.",
     f"{S}/3/verdict", "honest", ""),
    ("verdict-other", "SAMP-36", OUTCOME, "It does not follow.", f"{P}/verdict", "fraud", ""),
    ("not-run-left-out", "SAMP-38", BAD, "Nothing said of what is not covered.", f"{P}/not_run",
     ["a", "b", "c"], ""),
    ("lemma-left-out", "SAMP-38", "H3_PROOF_MISSING", "A lemma of another name.",
     f"{P}/lemmas/0/name", "Sampling.other", f"{P}/lemmas"),
    ("lemma-of-another-statement", "SAMP-38", "LEMMA_STATEMENT_MISMATCH", "Another statement.",
     f"{P}/lemmas/9/statement_sha256", "0" * 64, ""),
    ("requests-of-others", "SAMP-40", SUBJECT, "The digest of other requests.",
     "/statement/subject/1/digest/sha256", "0" * 64, ""),
    ("requests-unbound", "SAMP-40", SUBJECT, "No digest of the requests.",
     "/statement/subject/1/name", "other", "/subject"),
)  # fmt: skip


def hidden(statement: dict[str, Any]) -> tuple[Row, ...]:
    """Give lies of an executor in a certificate that calls them honest."""
    signed = statement["predicate"]["sequences"][0]["artifact"]["positions"][0]
    other = next(token for token, _ in signed["support"] if token != signed["token"])
    at = f"{S}/0/artifact/positions/0"
    return (
        ("fraud-called-honest", "SAMP-34", COUNTS, "A forged token.", f"{at}/token", other,
         f"{S}/0/fraud_positions"),
        ("invalid-called-honest", "SAMP-34", COUNTS, "No support.", f"{at}/support", None,
         f"{S}/0/invalid_positions"),
        ("copy-called-honest", "SAMP-27", OUTCOME, "A copy of another seed.",
         f"{S}/0/artifact/user_seed", "-8", f"{S}/0/reason"),
    )  # fmt: skip


def of_certificates(statement: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Give the cases of certificates, whose parent is that of a statement."""
    counts = statement["predicate"]["counts"]
    value = {"verdict": "honest", "unknown_signatures": 0, "counts": counts}
    scenario = {"op": "certificate", "statement": "sampling", "policy": "policy-sampling"}
    note = "Four sequences, one of them not covered."
    yield {"id": "valid", "rule": "SAMP-36", "note": note, "expect": {"value": value},
           "scenario": scenario}  # fmt: skip
    covered = counts["positions_covered"]
    for name, minimum, code in (("met", covered, "OK"), ("not-met", covered + 1, "FLOOR_NOT_MET")):
        floor = {"predicateType": KIND, "count": "positions_covered", "minimum": minimum}
        yield {"id": f"floor-{name}", "parent": "valid", "rule": "TRUST-13", "code": code,
               "note": "A policy demands so many positions.",
               "edits": [edit("/policy/floors", [floor])]}  # fmt: skip
    stated = tuple(
        (f"count-{name.replace('_', '-')}", "SAMP-39", COUNTS, "A count that does not follow.",
         f"{P}/counts/{name}", count + 1, "")
        for name, count in counts.items()
    )  # fmt: skip
    missing = [edit(f"{S}/{place}/request/choices", 3) for place in (0, 1)]
    for name, edits, code, at in (
        ("choice-missing", [], COUNTS, "/counts/choices_missing"),
        ("choice-missing-called-honest", [edit(f"{P}/counts/choices_missing", 1)], OUTCOME,
         "/verdict"),
    ):  # fmt: skip
        yield {"id": name, "parent": "valid", "rule": "SAMP-47", "code": code,
               "note": "A third sequence was asked for.", "expect": {"pointer": f"/predicate{at}"},
               "edits": [*missing, *edits]}  # fmt: skip
    for name, rule, code, note, at, changed, told in (
        *REQUESTS, *SAID, *stated, *hidden(statement),
    ):  # fmt: skip
        pointer = (told or at).removeprefix("/statement")
        yield {"id": name, "parent": "valid", "rule": rule, "note": note, "code": code,
               "expect": {"pointer": pointer}, "edits": [edit(at, changed)]}  # fmt: skip
