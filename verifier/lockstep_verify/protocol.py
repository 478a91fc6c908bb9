"""The JSON-lines protocol of conformance/README.md: one request a line, one answer a line."""

import gc
import hashlib
import json
import tempfile
from base64 import b64decode
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from lockstep_verify import lcj, limits, trust
from lockstep_verify.bytes import read_file
from lockstep_verify.derive import Derivation, Options, hunt_rows
from lockstep_verify.ed25519 import (
    LOW_ORDER,
    key_id,
    pre_authentication_encoding,
    require_form,
    verifies,
)
from lockstep_verify.envelope import PAYLOAD_TYPE, open_envelope
from lockstep_verify.errors import Refusal
from lockstep_verify.result import Result
from lockstep_verify.statement import check_statement, check_subjects
from lockstep_verify.times import seconds
from lockstep_verify.verify import Verification

Request = dict[str, Any]
Values = dict[str, Any]
Operation = Callable[[Request], Values | Result]
"""Gives values, or a judgement that may be a refusal; raises Refusal otherwise."""
_NONCANONICAL = {"envelope": "NONCANONICAL_ENVELOPE", "payload": "NONCANONICAL_PAYLOAD"}


def _optional(text: str | None) -> bytes | None:
    return None if text is None else b64decode(text)


def _subject(request: Request) -> str | None:
    data = _optional(request["subject"])
    return None if data is None else hashlib.sha256(data).hexdigest()


def _clock(request: Request) -> int:
    moment = seconds(request["at"])
    if moment is None:
        raise Refusal("USAGE", expected="a time", got=request["at"])
    return moment


def _policy(request: Request) -> trust.Policy:
    policy = trust.load(b64decode(request["policy"]))
    trust.check_current(policy, _clock(request), request["last_version"])
    return policy


class _Admission(Verification):
    """Stages 0 to 9: nothing is derived, and no floor is looked at."""

    def _derive(self, statement: dict[str, Any]) -> Derivation:
        return Derivation("", {})


def _found(result: Result) -> Values:
    """Give what a judgement found, whether or not it ended in a refusal."""
    return {
        "signers": [keyid for _, _, keyid in result.signers],
        "unknown_signatures": result.unknown_signatures,
        "verdict": result.verdict,
        "counts": result.counts,
        "rederivation": result.rederivation,
    }


def _read(request: Request) -> Values:
    data = read_file(request["path"], request["limit"])
    return {"sha256": hashlib.sha256(data).hexdigest()}


def _lcj(request: Request) -> Values:
    marks = limits.ENVELOPE_MARKS if request["role"] == "envelope" else limits.PAYLOAD_MARKS
    lcj.parse(b64decode(request["data"]), _NONCANONICAL[request["role"]], marks)
    return {}


def _envelope(request: Request) -> Values:
    data = b64decode(request["envelope"])
    if len(data) > limits.ENVELOPE_BYTES:
        raise Refusal("LIMIT_SIZE", got=len(data))
    envelope = open_envelope(
        lcj.parse(data, "NONCANONICAL_ENVELOPE", limits.ENVELOPE_MARKS), limits.PAYLOAD_BYTES
    )
    return {
        "payload_sha256": hashlib.sha256(envelope.payload).hexdigest(),
        "keyids": [signature.keyid for signature in envelope.signatures],
    }


def _pae(request: Request) -> Values:
    encoding = pre_authentication_encoding(PAYLOAD_TYPE, b64decode(request["payload"]))
    return {"sha256": hashlib.sha256(encoding).hexdigest()}


def _ed25519(request: Request) -> Values:
    public, message, sig = (b64decode(request[x]) for x in ("public", "message", "signature"))
    if len(public) != 32:
        raise Refusal("POLICY_INVALID", got=len(public))
    if public in LOW_ORDER:
        raise Refusal("WEAK_KEY", got=public.hex())
    if len(sig) != 64:
        raise Refusal("SIGNATURE_SHAPE", got=len(sig))
    require_form(sig, "")
    if not verifies(public, sig, message):
        raise Refusal("SIGNATURE_INVALID")
    return {}


def _keyid(request: Request) -> Values:
    return {"keyid": key_id(b64decode(request["public"]))}


def _judge_policy(request: Request) -> Values:
    _policy(request)
    return {}


def _admit(request: Request) -> Result:
    policy = _policy(request)._replace(floors=())
    judge = _Admission("", policy, _clock(request), Options(), _subject(request))
    return judge.run(b64decode(request["envelope"]))


def _statement(request: Request) -> Values:
    statement = lcj.parse(b64decode(request["payload"]), "NONCANONICAL_PAYLOAD")
    check_statement(statement)
    check_subjects(statement, _subject(request))
    return {}


def _verdict(request: Request) -> Values:
    observations = dict(zip(hunt_rows.OBSERVATIONS, request["observations"], strict=True))
    return {"verdict": hunt_rows.fold(request["frontier_code"], observations)}


def _sampling(request: Request) -> Values:
    # Importing it costs a while, and few runs need it.
    from lockstep_verify.derive.sampling_functions import perform

    return perform(request)


def _certificate(request: Request) -> Result:
    policy = None if request["policy"] is None else _policy(request)
    with tempfile.TemporaryDirectory() as scratch:
        folder = None if request["evidence"] is None else Path(scratch)
        for name, data in (request["evidence"] or {}).items():
            place = Path(scratch, *name.split("/"))
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(b64decode(data))
        options = Options(evidence=folder)
        judge = Verification("", policy, _clock(request), options, _subject(request))
        return judge.run(b64decode(request["certificate"]))


_SAMPLING = tuple(
    f"sampling_{name}"
    for name in ("draws", "seed", "exp", "weights", "scan", "position", "sequence")
)
OPS: dict[str, Operation] = {
    "read": _read,
    "lcj": _lcj,
    "envelope": _envelope,
    "pae": _pae,
    "ed25519": _ed25519,
    "keyid": _keyid,
    "policy": _judge_policy,
    "admit": _admit,
    "statement": _statement,
    "verdict": _verdict,
    **dict.fromkeys(_SAMPLING, _sampling),
    "certificate": _certificate,
}
"""What each op of the protocol does: gives the answer's value, or raises."""


def _refusal(code: str, pointer: str = "", value: Values | None = None) -> Values:
    return {"result": "refused", "code": code, "pointer": pointer, "value": value}


def answer(request: Request, ops: dict[str, Operation] = OPS) -> Values:
    """Answer one request; a fault of the verifier is the code INTERNAL, never an exception."""
    perform = ops.get(request["op"])
    if perform is None:
        return {"id": request["id"], "result": "unsupported"}
    try:
        outcome = perform(request)
        if not isinstance(outcome, Result):
            reply: Values = {"result": "ok", "code": "OK", "value": outcome}
        elif outcome.exit:
            reply = _refusal(outcome.code, outcome.pointer, _found(outcome))
        else:
            reply = {"result": "ok", "code": "OK", "value": _found(outcome)}
    except Refusal as refusal:
        reply = _refusal(refusal.code, refusal.pointer)
    except Exception:
        reply = _refusal("INTERNAL")
    return {"id": request["id"], **reply}


def serve(requests: BinaryIO, answers: BinaryIO) -> int:
    """Answer requests until there are no more, and give the exit status."""
    # A run of many requests is long enough for cycles to matter.
    gc.enable()
    for line in requests:
        answers.write(json.dumps(answer(json.loads(line))).encode("ascii") + b"\n")
        answers.flush()
    return 0
