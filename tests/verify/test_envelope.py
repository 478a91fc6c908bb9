"""ENV-1 to ENV-7."""

import pytest

from lockstep_verify import lcj
from lockstep_verify.envelope import open_envelope
from lockstep_verify.errors import Refusal

A, B = "a" * 64, "b" * 64
SIG = "A" * 86 + "=="


def envelope(**changes):
    return {
        "payload": "e30=",
        "payloadType": "application/vnd.in-toto+json",
        "signatures": [{"keyid": A, "sig": SIG}],
        **changes,
    }


def entry(keyid=A, sig=SIG, **more):
    return {"keyid": keyid, "sig": sig, **more}


def refusal(value, limit=100):
    with pytest.raises(Refusal) as caught:
        open_envelope(value, limit)
    return caught.value.code, caught.value.pointer


def test_a_good_one_opens():
    opened = open_envelope(envelope(signatures=[entry(A), entry(B)]), 100)
    assert opened.payload == b"{}"
    assert [s.keyid for s in opened.signatures] == [A, B]
    assert opened.signatures[0].sig == bytes(64)
    assert open_envelope(envelope(payload=""), 0).payload == b""


CASES = {
    "no payload": ({"payloadType": "", "signatures": []}, "ENVELOPE_SHAPE", ""),
    "unknown": (envelope(Payload="e30="), "ENVELOPE_SHAPE", ""),
    "kelvin": (envelope(**{"\u212aey": 1}), "ENVELOPE_SHAPE", ""),
    "payload is null": (envelope(payload=None), "ENVELOPE_SHAPE", "/payload"),
    "no signature": (envelope(signatures=[]), "ENVELOPE_SHAPE", "/signatures"),
    "seventeen": (
        envelope(signatures=[entry(f"{i:064x}") for i in range(17)]),
        "ENVELOPE_SHAPE",
        "/signatures",
    ),
    "signatures is an object": (envelope(signatures={}), "ENVELOPE_SHAPE", "/signatures"),
    "a key inside": (envelope(signatures=[entry(key=A)]), "ENVELOPE_SHAPE", "/signatures/0"),
    "sig is a number": (envelope(signatures=[entry(sig=1)]), "ENVELOPE_SHAPE", "/signatures/0/sig"),
    "type": (envelope(payloadType="text/plain"), "PAYLOAD_TYPE", "/payloadType"),
    "type, then key id": (
        envelope(payloadType="application/vnd.in-toto+json ", signatures=[entry("x")]),
        "PAYLOAD_TYPE",
        "/payloadType",
    ),
    "upper case": (
        envelope(signatures=[entry("A" * 64)]),
        "KEYID_SHAPE",
        "/signatures/0/keyid",
    ),
    "newline": (envelope(signatures=[entry(A[1:] + "\n")]), "KEYID_SHAPE", "/signatures/0/keyid"),
    "digits of another script": (
        envelope(signatures=[entry("\u0661" * 64)]),
        "KEYID_SHAPE",
        "/signatures/0/keyid",
    ),
    "twice": (
        envelope(signatures=[entry(A), entry(A)]),
        "DUPLICATE_SIGNATURE",
        "/signatures/1/keyid",
    ),
    "order": (envelope(signatures=[entry(B), entry(A)]), "SIGNATURE_ORDER", "/signatures/1/keyid"),
    "order before base64": (
        envelope(payload="!", signatures=[entry(B), entry(A)]),
        "SIGNATURE_ORDER",
        "/signatures/1/keyid",
    ),
    "63 bytes": (
        envelope(signatures=[entry(sig="A" * 84)]),
        "SIGNATURE_SHAPE",
        "/signatures/0/sig",
    ),
    "base64 of a signature": (
        envelope(signatures=[entry(A, "A" * 84), entry(B, "A")]),
        "SIGNATURE_SHAPE",
        "/signatures/0/sig",
    ),
    "size": (envelope(payload="A" * 136), "LIMIT_SIZE", "/payload"),
    "size before signatures": (
        envelope(payload="A" * 136, signatures=[entry(sig="!")]),
        "LIMIT_SIZE",
        "/payload",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_first_offence(name):
    value, code, pointer = CASES[name]
    assert refusal(value) == (code, pointer)


@pytest.mark.parametrize(
    "text",
    ["e30", "e30==", "e31=", "e3 0=", "e30=\n", "\ne30=", "-_8=", "e30=e30=", "=", "====", "A",
     "e30=A", "\uff4530=", "e3\x000=", "e3=0", "e30=\u00e9"],
)  # fmt: skip
def test_base64_has_one_spelling(text):
    assert refusal(envelope(payload=text)) == ("BASE64_NONCANONICAL", "/payload")
    assert lcj.encode(envelope(payload=text))
