"""What is signed, and that the independent verifier accepts the form."""

import base64
import json

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from lockstep.certificate import envelope, lcj
from lockstep.certificate.statement import hunt_subjects


def test_the_pre_authentication_encoding_counts_bytes() -> None:
    assert (
        envelope.pre_authentication_encoding("a/é", "ü".encode())
        == b"DSSEv1 4 a/\xc3\xa9 2 \xc3\xbc"
    )
    assert (
        envelope.pre_authentication_encoding(envelope.PAYLOAD_TYPE, b"")
        == b"DSSEv1 28 application/vnd.in-toto+json 0 "
    )


def test_signatures_are_sorted_and_verify_over_the_exact_payload() -> None:
    keys = [Ed25519PrivateKey.generate() for _ in range(4)]
    payload = b'{"a":1}'
    sealed = envelope.seal(payload, keys)
    document = json.loads(sealed)
    assert lcj.encode(document) == sealed
    assert base64.b64decode(document["payload"]) == payload
    ids = [entry["keyid"] for entry in document["signatures"]]
    assert ids == sorted(ids)
    by_id = {envelope.key_id(key.public_key()): key.public_key() for key in keys}
    message = envelope.pre_authentication_encoding(envelope.PAYLOAD_TYPE, payload)
    for entry in document["signatures"]:
        by_id[entry["keyid"]].verify(base64.b64decode(entry["sig"]), message)


def test_the_layouts_subject_binds_every_source() -> None:
    def digest(*sources: tuple[str, str]) -> str:
        layouts = [{"source": {"path": path, "sha256": sha}} for path, sha in sources]
        named = {entry["name"]: entry for entry in hunt_subjects({"layouts": layouts})}
        return str(named["layouts"]["digest"]["sha256"])

    one = digest(("a.toml", "00"), ("b.toml", "11"))
    assert one == digest(("b.toml", "11"), ("a.toml", "00"))
    assert one != digest(("a.toml", "00"), ("b.toml", "12"))
