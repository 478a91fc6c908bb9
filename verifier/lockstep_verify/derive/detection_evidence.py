"""The certificates of trials, where they are at hand (DET-19)."""

from __future__ import annotations

import os
from typing import Any

from lockstep_verify import lcj, limits
from lockstep_verify.bytes import evidence
from lockstep_verify.derive import Derivation, Options, derive
from lockstep_verify.derive.certification_plan import AT, OUTCOME
from lockstep_verify.envelope import open_envelope
from lockstep_verify.errors import Refusal

Document = dict[str, Any]

FOLDER = "detection"
_KIND = "urn:lockstep:certificate:certification:v1"


def check_evidence(
    trials: list[Document], plans: list[Document], folder: os.PathLike[str] | None
) -> int:
    """Derive the certificates of trials that lie in the evidence folder; give how many (step 7).

    Raises:
        Refusal: the codes of `bytes.evidence`, those of a certificate, OUTCOME_NOT_DERIVED.
    """
    found = 0
    for i, (trial, plan) in enumerate(zip(trials, plans, strict=True)):
        name, stated = f"{FOLDER}/{trial['name']}.cert.json", trial["certificate"]
        if stated is None or folder is None or not os.path.lexists(os.path.join(folder, name)):
            continue
        at = f"{AT}/trials/{i}/certificate"
        data = evidence(folder, name, stated["sha256"], f"{at}/sha256", limits.ENVELOPE_BYTES)
        try:
            statement, derivation = _derived(data)
        except Refusal as refusal:
            raise Refusal(refusal.code, at, refusal.expected, refusal.got) from None
        _compare(trial, plan, statement["predicate"], derivation, at)
        found += 1
    return found


def _derived(data: bytes) -> tuple[Document, Derivation]:
    from lockstep_verify.statement import check_statement, check_subjects

    envelope = open_envelope(
        lcj.parse(data, "NONCANONICAL_ENVELOPE", limits.ENVELOPE_MARKS), limits.PAYLOAD_BYTES
    )
    statement: Document = lcj.parse(envelope.payload, "NONCANONICAL_PAYLOAD")
    check_statement(statement)
    if statement["predicateType"] != _KIND:
        raise Refusal("PREDICATE_UNKNOWN", "", _KIND, statement["predicateType"])
    check_subjects(statement, None)
    return statement, derive(statement, Options())


def _compare(
    trial: Document, plan: Document, held: Document, derivation: Derivation, at: str
) -> None:
    """Compare what is said of a trial with what its certificate has."""
    launch = held["subject"]["launch"]
    said = {
        "plan": (plan, held["plan"]),
        "command": (trial["command"], launch and launch["command"]),
        "verdict": (trial["certificate"]["verdict"], derivation.verdict),
        "counts": (trial["certificate"]["counts"], derivation.counts),
    }
    for name, (stated, found) in said.items():
        if stated != found:
            raise Refusal(OUTCOME, at, f"the certificate's {name}", f"another {name}")
    shown = trial["shown"]
    if shown is None:
        return
    for one in shown["answers"]:
        output = _round(held, one["cell"], one, at)["outputs"][one["place"]]
        if output is None or held["outputs"][output] != one["output"]:
            raise Refusal(OUTCOME, at, "the answer that is shown", "another answer")
    if (failure := shown["failure"]) is not None:
        told = {name: failure[name] for name in ("request", "kind", "status", "detail")}
        if told not in _round(held, shown["cell"], failure, at)["failures"]:
            raise Refusal(OUTCOME, at, "the failure that is shown", "none like it")
    reused = shown["reused"]
    if reused and _round(held, shown["cell"], reused, at)["cached"] != reused["cached"]:
        raise Refusal(OUTCOME, at, "the reports that are shown", "other reports")


def _round(held: Document, cell: int, where: Document, at: str) -> Document:
    """Give a round of the trial's certificate.

    Raises:
        Refusal: OUTCOME_NOT_DERIVED, the certificate has no such round.
    """
    for one in held["cells"][cell]["rounds"]:
        if (one["lifetime"], one["number"]) == (where["lifetime"], where["number"]):
            found: Document = one
            return found
    raise Refusal(OUTCOME, at, "the round that is shown", "no such round")
