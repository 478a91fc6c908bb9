"""The DSSE envelope: pre-authentication encoding and signatures [ENV-1, SIG-1, SIG-2]."""

import base64
from collections.abc import Sequence
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from lockstep.certificate import lcj
from lockstep.certificate.keys import key_id
from lockstep.mutation.load import require_unmutated

PAYLOAD_TYPE = "application/vnd.in-toto+json"


def pre_authentication_encoding(payload_type: str, payload: bytes) -> bytes:
    """Give the bytes that are signed; lengths are in bytes."""
    kind = payload_type.encode("utf-8")
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def seal(payload: bytes, keys: Sequence[Ed25519PrivateKey]) -> bytes:
    """Sign a payload's exact bytes with each key and give the envelope in LCJ.

    Args:
        payload: the LCJ of a statement.
        keys: 1 to 16 distinct private keys.
    """
    message = pre_authentication_encoding(PAYLOAD_TYPE, payload)
    signatures = [
        {"keyid": key_id(key.public_key()), "sig": _base64(key.sign(message))} for key in keys
    ]
    return lcj.encode(
        {
            "payload": _base64(payload),
            "payloadType": PAYLOAD_TYPE,
            "signatures": sorted(signatures, key=lambda signature: signature["keyid"]),
        }
    )


def sign_statement(statement: dict[str, Any], keys: Sequence[Ed25519PrivateKey]) -> bytes:
    """Encode a statement in LCJ, sign it and give the certificate's bytes.

    Raises:
        LockstepError: MUTATION_INSTALLED; what a mutated engine gives is evidence of nothing.
    """
    require_unmutated("a certificate")
    return seal(lcj.encode(statement), keys)


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
