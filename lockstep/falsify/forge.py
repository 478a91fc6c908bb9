"""Throwaway keys, and envelopes and policies made with them, right or wrong on purpose."""

import base64
import copy
from dataclasses import dataclass, field
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from lockstep.certificate import keys
from lockstep.certificate.envelope import PAYLOAD_TYPE, pre_authentication_encoding
from lockstep.certificate.lcj import encode
from lockstep.certificate.statement import predicate_type

ROLE = "claimant"
KINDS = ("hunt", "lean")
"""What the policy of the trials allows: a hunt, and the lemmas that its rows name."""
_FIRST, _LAST = "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"


@dataclass(frozen=True)
class Signer:
    """A key pair that lives as long as one run of falsifications."""

    name: str
    private: Ed25519PrivateKey = field(default_factory=Ed25519PrivateKey.generate)

    @property
    def public(self) -> bytes:
        """The 32 bytes of the public key."""
        return keys.raw(self.private.public_key())

    @property
    def keyid(self) -> str:
        """The key's id [KEY-1]."""
        return keys.key_id(self.private.public_key())

    def sign(self, payload: bytes, payload_type: str = PAYLOAD_TYPE) -> bytes:
        """Sign a payload under a type [SIG-1]."""
        return self.private.sign(pre_authentication_encoding(payload_type, payload))

    def signature(self, payload: bytes) -> dict[str, str]:
        """Give an envelope's entry for a payload."""
        return entry(self.keyid, self.sign(payload))


def entry(keyid: str, sig: bytes) -> dict[str, str]:
    """Give a signature as an envelope writes it."""
    return {"keyid": keyid, "sig": base64.b64encode(sig).decode("ascii")}


def envelope(payload: bytes, *signatures: dict[str, str]) -> dict[str, Any]:
    """Give an envelope as a value; its signatures are sorted, not judged."""
    return {
        "payload": base64.b64encode(payload).decode("ascii"),
        "payloadType": PAYLOAD_TYPE,
        "signatures": sorted(signatures, key=lambda one: one["keyid"]),
    }


@dataclass(frozen=True)
class Forge:
    """The draft's statement, two trusted keys, and a stranger's.

    Attributes:
        statement: the draft, unmutated; never changed in place.
        issued_at: its time, and the verifier's clock in every trial.
    """

    statement: dict[str, Any]
    issued_at: str
    ann: Signer = field(default_factory=lambda: Signer("ann"))
    bob: Signer = field(default_factory=lambda: Signer("bob"))
    stranger: Signer = field(default_factory=lambda: Signer("stranger"))

    def draft(self) -> dict[str, Any]:
        """Give a copy of the statement, to be mutated."""
        return copy.deepcopy(self.statement)

    @property
    def payload(self) -> bytes:
        """The draft's payload."""
        return encode(self.statement)

    def signed(self, payload: bytes) -> bytes:
        """Give a certificate over a payload, whatever it holds, signed by a trusted key."""
        return encode(envelope(payload, self.ann.signature(payload)))

    def policy(self, **changes: Any) -> dict[str, Any]:
        """Give a policy that trusts ann and bob, each an owner, with some members changed."""
        signers = [
            keys.Signer(one.name, one.name, one.public, (ROLE,), _FIRST, _LAST)
            for one in (self.ann, self.bob)
        ]
        kinds = [predicate_type(kind) for kind in KINDS]
        made = keys.policy(signers, kinds, version=1, expires=_LAST)
        return {**made, **changes}

    def policy_of_ann(self, **changes: Any) -> dict[str, Any]:
        """Give a policy in which some members of ann's key are changed."""
        ann, bob = self.policy()["keys"]
        return self.policy(keys=[{**ann, **changes}, bob])

    def policy_of_rule(self, **changes: Any) -> dict[str, Any]:
        """Give a policy in which some members of the hunt's rule are changed."""
        hunt, *others = self.policy()["rules"]
        return self.policy(rules=[{**hunt, **changes}, *others])
