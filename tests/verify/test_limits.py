"""The limits in code, in the policy's schema and in the specification are the same."""

from lockstep_verify import limits, spec
from lockstep_verify.ed25519 import GROUP_ORDER


def test_limits_agree():
    text = spec.read("certificate.md").decode("utf-8")
    held = spec.load("schemas/trust.schema.json")["properties"]["limits"]["properties"]
    assert held["envelope_bytes"]["maximum"] == limits.ENVELOPE_BYTES
    assert held["payload_bytes"]["maximum"] == limits.PAYLOAD_BYTES
    for number in (limits.ENVELOPE_BYTES, limits.PAYLOAD_BYTES, limits.INTEGER):
        assert f"{number:,}" in text
    assert f"would make it {limits.DEPTH + 1}" in text
    assert f"1 to {limits.SIGNATURES} objects" in text
    assert limits.POLICY_BYTES == 2**20 and limits.EVIDENCE_BYTES == 2**30
    assert f"2^252 + {GROUP_ORDER - 2**252}" in text
