"""ORDER-1, and the attacks on bytes, signatures and trust that a certificate must withstand."""

import base64
import gzip
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lockstep_verify import lcj
from lockstep_verify.ed25519 import GROUP_ORDER
from lockstep_verify.errors import registry

L = GROUP_ORDER


def test_a_good_certificate(shop):
    result = shop.judge(shop.certificate())
    assert (result.code, result.exit, result.verdict) == ("OK", 0, "SUMS")
    assert result.counts == {"terms": 3}
    assert result.signers == (("ann", "ann", shop.ann.keyid),)
    assert result.time == "unproven"
    assert result.ledger is not None and result.ledger.derived == 2


def text_of(shop, change):
    """Sign a payload that was changed as text, so that only its form is at fault."""
    return shop.certificate(change(lcj.encode(shop.statement()).decode()).encode("utf-8"))


def replaced(old, new):
    return lambda text: text.replace(old, new, 1)


FORM = {
    "1 extra space": (replaced('"sum":', '"sum": '), "NONCANONICAL_PAYLOAD"),
    "2 duplicate": (replaced('"sum":6', '"sum":6,"sum":6'), "DUPLICATE_KEY"),
    "3 escaped duplicate": (replaced('"sum":6', '"sum":6,"su\\u006d":7'), "DUPLICATE_KEY"),
    "4 other case": (replaced('{"critical"', '{"Sum":6,"critical"'), "UNKNOWN_FIELD"),
    "5 wide integer": (replaced(":6", ":9007199254740993"), "NUMBER_OUT_OF_PROFILE"),
    "6 fraction": (replaced(":6", ":6.0"), "NUMBER_OUT_OF_PROFILE"),
    "6 exponent": (replaced(":6", ":0.6e1"), "NUMBER_OUT_OF_PROFILE"),
    "6 minus zero": (replaced(":6", ":-0"), "NUMBER_OUT_OF_PROFILE"),
    "7 nan": (replaced(":6", ":NaN"), "NUMBER_OUT_OF_PROFILE"),
    "7 overflow": (replaced(":6", ":1e400"), "NUMBER_OUT_OF_PROFILE"),
    "8 lone surrogate": (replaced('"note":""', '"note":"\\ud800"'), "BAD_UNICODE"),
    "11 depth": (replaced('"note":""', '"note":' + "[" * 100_000), "LIMIT_DEPTH"),
    "13 other order": (replaced('"sum":6,"terms":[1,2,3]', '"terms":[1,2,3],"sum":6'),
                       "NONCANONICAL_PAYLOAD"),
    "14 newline": (lambda text: text + "\n", "TRAILING_DATA"),
    "14 nul": (lambda text: text + "\0", "TRAILING_DATA"),
    "14 second document": (lambda text: text + "{}", "TRAILING_DATA"),
    "empty": (lambda text: "", "MALFORMED_JSON"),
    "array": (lambda text: "[]", "NOT_AN_OBJECT"),
}  # fmt: skip


@pytest.mark.parametrize("name", FORM)
def test_payloads_of_bad_form_that_a_trusted_key_signed(shop, name):
    change, code = FORM[name]
    assert shop.judge(text_of(shop, change)).code == code


def test_13_names_in_code_point_order(shop):
    payload = b'{"\xee\x80\x80":1,"\xf0\x90\x80\x80":1}'
    assert shop.judge(shop.certificate(payload)).code == "NONCANONICAL_PAYLOAD"
    other = b'{"\xf0\x90\x80\x80":1,"\xee\x80\x80":1}'
    assert shop.judge(shop.certificate(other)).code == "UNKNOWN_FIELD"


@pytest.mark.parametrize("wrap", [False, True], ids=["envelope", "payload"])
def test_9_10_12_encodings(shop, wrap):
    good = lcj.encode(shop.statement()) if wrap else shop.certificate()
    for bad in (
        good.decode().encode("utf-16"),
        good.decode().encode("utf-16-le"),
        b"\xef\xbb\xbf" + good,
        good.replace(b"o", b"\xed\xa0\xbd\xed\xb8\x80", 1),
        good.replace(b"o", b"\xc1\xaf", 1),
        gzip.compress(good),
    ):
        assert shop.judge(shop.certificate(bad) if wrap else bad).code == "BAD_ENCODING"


def test_12_size(shop):
    assert shop.judge(b" " * (17 * 2**20 + 1)).code == "LIMIT_SIZE"
    small = shop.policy(limits={"envelope_bytes": 17 << 20, "payload_bytes": 10})
    assert shop.judge(shop.certificate(), small).code == "LIMIT_SIZE"


def test_envelope_form(shop):
    good = shop.certificate()
    assert shop.judge(good + b"\n").code == "TRAILING_DATA"
    assert shop.judge(good.replace(b":", b": ", 1)).code == "NONCANONICAL_ENVELOPE"
    assert shop.judge(good.replace(b"/vnd", b"\\/vnd", 1)).code == "NONCANONICAL_ENVELOPE"


def test_15_base64(shop):
    for bad in ("e30", "e31=", "e3-0", "e30=\n"):
        assert shop.judge(shop.certificate(payload=b"{}").replace(b"e30=", bad.encode())).code in (
            "BASE64_NONCANONICAL",
            "MALFORMED_JSON",
        )
        changed = shop.envelope() | {"payload": bad}
        assert shop.judge(lcj.encode(changed)).code == "BASE64_NONCANONICAL"


def with_sig(shop, sig, **changes):
    entry = {"keyid": shop.ann.keyid, "sig": base64.b64encode(sig).decode(), **changes}
    return lcj.encode(shop.envelope() | {"signatures": [entry]})


@pytest.mark.parametrize("policy", [None, False], ids=["policy", "no policy"])
def test_16_malleable_and_weak_signatures(shop, policy):
    sig = shop.ann.sign(lcj.encode(shop.statement()))
    higher = (int.from_bytes(sig[32:], "little") + L).to_bytes(32, "little")
    assert shop.judge(with_sig(shop, sig[:32] + higher), policy).code == "SIGNATURE_MALLEABLE"
    assert shop.judge(with_sig(shop, bytes(32) + sig[32:]), policy).code == "WEAK_KEY"
    strange = with_sig(shop, sig[:32] + higher, keyid="0" * 64)
    assert shop.judge(strange, policy).code == "SIGNATURE_MALLEABLE"


def test_18_one_signature_twice(shop):
    envelope = shop.envelope()
    envelope["signatures"] *= 2
    assert shop.judge(lcj.encode(envelope)).code == "DUPLICATE_SIGNATURE"


def test_19_one_key_under_two_ids(shop):
    payload = lcj.encode(shop.statement())
    envelope = shop.envelope()
    envelope["signatures"].append(shop.signature(shop.ann, payload, keyid="f" * 64))
    policy = shop.policy(rules=shop.rule(threshold=2))
    result = shop.judge(lcj.encode(envelope), policy)
    assert (result.code, result.unknown_signatures) == ("THRESHOLD_NOT_MET", 1)


def test_20_another_trusted_keys_id(shop):
    sig = shop.bob.sign(lcj.encode(shop.statement()))
    assert shop.judge(with_sig(shop, sig)).code == "KEYID_MISMATCH"
    sig = shop.eve.sign(lcj.encode(shop.statement()))
    assert shop.judge(with_sig(shop, sig)).code == "SIGNATURE_INVALID"


def test_21_a_stranger_and_a_key_inside_the_document(shop):
    assert shop.judge(shop.certificate(signers=[shop.eve])).code == "UNTRUSTED_SIGNER"
    statement = shop.statement()
    statement["predicate"]["public"] = shop.eve.public.hex()
    data = shop.certificate(lcj.encode(statement), [shop.eve])
    assert shop.judge(data).rederivation is None
    result = shop.judge(data, False)
    assert (result.code, result.exit, result.rederivation) == (
        "UNTRUSTED_SIGNER",
        3,
        "UNKNOWN_FIELD",
    )


def test_without_a_policy_the_rederivation_is_shown(shop):
    result = shop.judge(shop.certificate(), False)
    assert (result.code, result.rederivation, result.verdict) == ("UNTRUSTED_SIGNER", "OK", "SUMS")
    lie = shop.certificate(lcj.encode(shop.statement(sum=7)))
    result = shop.judge(lie, False)
    assert (result.code, result.rederivation) == (
        "UNTRUSTED_SIGNER",
        "H10_COUNTS_DO_NOT_RECOMPUTE",
    )


def test_22_a_good_and_a_broken_signature(shop):
    envelope = shop.envelope(signers=[shop.ann, shop.bob])
    for i in (0, 1):
        changed = json.loads(json.dumps(envelope))
        broken = changed["signatures"][i]
        sig = bytearray(base64.b64decode(broken["sig"]))
        sig[0] ^= 1
        broken["sig"] = base64.b64encode(sig).decode()
        assert shop.judge(lcj.encode(changed)).code == "SIGNATURE_INVALID"


def test_23_what_is_signed(shop):
    payload = lcj.encode(shop.statement())
    assert shop.judge(with_sig(shop, shop.ann.private.sign(payload))).code == "SIGNATURE_INVALID"
    other = shop.ann.sign(payload, "text/plain")
    assert shop.judge(with_sig(shop, other)).code == "SIGNATURE_INVALID"


def test_24_replay_as_another_kind(shop):
    statement = shop.statement()
    other = "urn:lockstep:certificate:other:v1"
    statement["predicateType"] = other
    rules = [*shop.rule(), *shop.rule(predicateType=other, roles=["other"])]
    data = shop.certificate(lcj.encode(statement))
    assert shop.judge(data, shop.policy(rules=rules)).code == "ROLE_NOT_ALLOWED"


def test_26_and_27_are_refused(shop):
    revoked = shop.policy([shop.ann.entry(revoked_at="2026-05-20T00:00:00Z")])
    assert shop.judge(shop.certificate(), revoked).code == "TIME_UNPROVEN"
    assert shop.judge_statement(shop.statement(critical=["x"])).code == "UNKNOWN_CRITICAL"


def test_the_order_of_stages(shop):
    """Break everything at once, then mend from the front: the codes come in stage order."""
    bad = shop.statement(sum=7)
    bad["subject"][0]["digest"]["sha256"] = "0" * 64
    kind = bad["predicateType"]
    policy = shop.policy(
        [shop.ann.entry(revoked_at="2026-05-20T00:00:00Z")],
        rules=[],
        floors=[{"predicateType": kind, "count": "terms", "minimum": 9}],
    )
    seen = []

    def look():
        seen.append(shop.judge_statement(bad, policy=policy).code)

    look()
    policy["rules"] = shop.rule(threshold=2, roles=["other"])
    look()
    policy["rules"] = shop.rule(threshold=2)
    look()
    policy["rules"] = shop.rule()
    look()
    bad["subject"] = shop.statement()["subject"]
    look()
    policy["keys"] = [shop.ann.entry()]
    look()
    bad["predicate"]["sum"] = 6
    look()
    policy["floors"] = []
    look()
    assert seen == [
        "PREDICATE_NOT_ALLOWED",
        "ROLE_NOT_ALLOWED",
        "THRESHOLD_NOT_MET",
        "SUBJECT_MISMATCH",
        "TIME_UNPROVEN",
        "H10_COUNTS_DO_NOT_RECOMPUTE",
        "FLOOR_NOT_MET",
        "OK",
    ]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200)
@given(st.data())
def test_no_byte_can_be_changed(shop, data):
    good = bytearray(shop.certificate(signers=[shop.ann, shop.bob]))
    place = data.draw(st.integers(0, len(good) - 1))
    value = data.draw(st.integers(0, 255).filter(lambda v: v != good[place]))
    good[place] = value
    result = shop.judge(bytes(good), shop.policy(rules=shop.rule(threshold=2)))
    assert result.code in registry() and result.exit in (1, 3)


def test_payload_is_not_read_before_its_signature(shop, monkeypatch):
    parsed = []
    real = lcj.parse
    monkeypatch.setattr(lcj, "parse", lambda data, *a: parsed.append(a[0]) or real(data, *a))
    shop.judge(shop.certificate(signers=[shop.eve]))
    assert "NONCANONICAL_PAYLOAD" not in parsed[1:]
