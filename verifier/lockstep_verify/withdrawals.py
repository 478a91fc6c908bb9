"""Withdrawals beside certificates: which count, and what they leave of one (WDR-3 to WDR-5)."""

import hashlib
import os
from collections.abc import Sequence
from typing import Any, NamedTuple

from lockstep_verify import lcj, trust
from lockstep_verify.errors import Refusal

SUFFIX = ".cert.json"
PREDICATE_TYPE = "urn:lockstep:certificate:withdrawal:v1"


class Withdrawal(NamedTuple):
    """A withdrawal that was verified.

    Attributes:
        file: its name, for people.
        predicate: what it says.
        signers: the keys of the policy that signed it.
    """

    file: str
    predicate: dict[str, Any]
    signers: tuple[trust.Key, ...]


def files(folder: str) -> list[str]:
    """List the certificates of a folder, names ascending by their bytes.

    Raises:
        Refusal: USAGE, it cannot be read.
    """
    try:
        names = os.listdir(folder)
    except OSError as fault:
        raise Refusal("USAGE", "", "--withdrawals: a folder", fault.strerror) from None
    chosen = sorted((name for name in names if name.endswith(SUFFIX)), key=os.fsencode)
    return [os.path.join(folder, name) for name in chosen]


def applied(
    statement: dict[str, Any],
    payload_sha256: str,
    policy: trust.Policy,
    withdrawals: Sequence[Withdrawal],
) -> tuple[list[str], list[str]]:
    """Give the pointers of a certificate that are withdrawn, and lines about them for people.

    Args:
        statement: of a certificate that has been verified.
        payload_sha256: of its payload.
        policy: under which it was.
        withdrawals: that were verified, in order.

    Raises:
        Refusal: WITHDRAWAL_MISMATCH.
    """
    pointers: list[str] = []
    lines: list[str] = []
    for one in withdrawals:
        if one.predicate["certificate"]["payload_sha256"] != payload_sha256:
            continue
        kind = statement["predicateType"]
        try:
            trust.check_rule(policy, kind, one.signers)
        except Refusal as refusal:
            lines.append(f"not counted: {one.file}: {refusal.code}")
            continue
        told = one.predicate["certificate"]["predicate_type"]
        if told != kind:
            raise Refusal("WITHDRAWAL_MISMATCH", "/predicateType", told, kind)
        for claim in one.predicate["claims"]:
            _check_value(statement, claim)
            pointers.append(claim["pointer"])
            lines.append(_line(claim))
    return pointers, lines


def _check_value(statement: dict[str, Any], claim: dict[str, Any]) -> None:
    """See that a withdrawn claim is what stands at its pointer."""
    pointer, value = claim["pointer"], statement
    for step in pointer.split("/")[1:]:
        value = _member(value, step.replace("~1", "/").replace("~0", "~"), pointer)
    digest = hashlib.sha256(lcj.encode({"value": value})).hexdigest()
    if digest != claim["value_sha256"]:
        raise Refusal("WITHDRAWAL_MISMATCH", pointer, claim["value_sha256"], digest)


def _member(value: Any, step: str, pointer: str) -> Any:
    if type(value) is dict and step in value:
        return value[step]
    plain = step == "0" or (step.isascii() and step.isdigit() and step[0] != "0")
    if type(value) is list and plain and len(step) < 8 and int(step) < len(value):
        return value[int(step)]
    raise Refusal("WITHDRAWAL_MISMATCH", pointer, "a value of the statement", "nothing")


def _line(claim: dict[str, Any]) -> str:
    place, line = claim["pointer"] or "the whole certificate", ""
    if claim["replacement"] is not None:
        line = f" Instead: {claim['replacement']['says']}"
    return f"WITHDRAWN {place}: {claim['reason']}{line}"
