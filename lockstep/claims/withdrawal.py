"""The withdrawal of claims of a certificate, folded into the predicate (spec/withdrawal.md)."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from lockstep import spec
from lockstep.certificate import lcj
from lockstep.errors import LockstepError
from lockstep.evidence.index import at_pointer

PREDICATE_TYPE = "urn:lockstep:certificate:withdrawal:v1"


def predicate(
    certificate: bytes,
    claims: Sequence[Mapping[str, Any]],
    *,
    issued_at: str,
    producer: Mapping[str, str],
) -> dict[str, Any]:
    """Withdraw claims of a certificate.

    Args:
        certificate: its bytes; whether it verifies is not asked: what is wrong may be withdrawn.
        claims: of each its `pointer`, its `reason` and its `replacement` (`says`, and
            `payload_sha256` with `pointer` where a certificate makes the claim that replaces it);
            a `payload_sha256` that is `same` stands for the certificate's own.
        issued_at: UTC time, as the schema writes it.
        producer: name, version, python, machine and command.

    Raises:
        LockstepError: NOT_AN_OBJECT or BASE64_NONCANONICAL, the bytes are no certificate;
            BAD_VALUE or WITHDRAWAL_MISMATCH, a pointer leads to no claim.
    """
    payload = payload_of(certificate)
    statement, digest = _statement(payload), hashlib.sha256(payload).hexdigest()
    folded = [_claim(one, statement, digest) for one in claims]
    folded.sort(key=lambda one: lcj.utf16_order(str(one["pointer"])))
    return {
        "issued_at": issued_at,
        "critical": [],
        "producer": dict(producer),
        "certificate": {"payload_sha256": digest, "predicate_type": statement["predicateType"]},
        "claims": folded,
        "counts": {
            "claims": len(folded),
            "replaced": len([one for one in folded if one["replacement"] is not None]),
        },
        "not_run": list(spec.load("withdrawal.json")["not_run"]),
    }


def payload_of(certificate: bytes) -> bytes:
    """Give the payload of a certificate, whoever signed it.

    Raises:
        LockstepError: NOT_AN_OBJECT, BASE64_NONCANONICAL.
    """
    try:
        envelope = json.loads(certificate)
        return base64.b64decode(envelope["payload"], validate=True)
    except (ValueError, KeyError, TypeError) as fault:
        code = "BASE64_NONCANONICAL" if isinstance(fault, binascii.Error) else "NOT_AN_OBJECT"
        raise LockstepError(code, "/payload", "a certificate", type(fault).__name__) from None


def _statement(payload: bytes) -> dict[str, Any]:
    try:
        found = json.loads(payload)
    except ValueError:
        found = None
    if not isinstance(found, dict) or not isinstance(found.get("predicateType"), str):
        raise LockstepError("NOT_AN_OBJECT", "/payload", "a statement", type(found).__name__)
    return found


def value_at(statement: Any, pointer: str) -> Any:
    """Give the value of a statement at a pointer.

    Raises:
        LockstepError: BAD_VALUE, no claim of a certificate has such a pointer [WDR-1];
            WITHDRAWAL_MISMATCH, nothing stands there.
    """
    if pointer and pointer.split("/")[:2] != ["", "predicate"]:
        hint = "Point into the statement, as /predicate/counts; the empty pointer is all of it."
        raise LockstepError("BAD_VALUE", pointer, "a pointer that begins /predicate", None, hint)
    try:
        return at_pointer(statement, pointer)
    except (KeyError, TypeError):
        raise LockstepError("WITHDRAWAL_MISMATCH", pointer, "a claim", "nothing") from None


def _claim(one: Mapping[str, Any], statement: Any, digest: str) -> dict[str, Any]:
    value = value_at(statement, one["pointer"])
    replacement = one.get("replacement")
    if replacement is not None:
        replacement = {"payload_sha256": None, "pointer": None, **replacement}
        if replacement["payload_sha256"] == "same":
            replacement["payload_sha256"] = digest
    return {
        "pointer": one["pointer"],
        "value_sha256": hashlib.sha256(lcj.encode({"value": value})).hexdigest(),
        "reason": one["reason"],
        "replacement": replacement,
    }
