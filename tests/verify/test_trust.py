"""TRUST-3 to TRUST-13 and TIME-3 to TIME-5, as pure decisions."""

import pytest

from lockstep_verify import ed25519, lcj, trust
from lockstep_verify.errors import Refusal
from lockstep_verify.times import seconds

LATER = "2027-06-01T00:00:00Z"


def refusal(document):
    data = document if isinstance(document, bytes) else lcj.encode(document)
    with pytest.raises(Refusal) as caught:
        trust.load(data)
    return caught.value.code, caught.value.pointer


def test_a_good_policy(shop):
    policy = trust.load(lcj.encode(shop.policy()))
    assert policy.version == 1 and set(policy.keys) == {shop.ann.keyid, shop.bob.keyid}
    assert trust.load(lcj.encode(shop.policy(keys=[], rules=[]))).keys == {}


def test_policies_that_are_invalid(shop):
    ann = shop.ann.entry
    invalid = {
        b"": "",
        b"{}": "/version",
        lcj.encode(shop.policy()) + b"\n": "",
        lcj.encode(shop.policy()).replace(b":", b": ", 1): "",
        lcj.encode(shop.policy(version=0)): "/version",
        lcj.encode(shop.policy(version=True)): "/version",
        lcj.encode(shop.policy(extra=1)): "/extra",
        lcj.encode(shop.policy(expires="2026-02-30T00:00:00Z")): "/expires",
        lcj.encode(shop.policy([ann(public="00")])): "/keys/0/public",
        lcj.encode(shop.policy([ann(public=shop.ann.public.hex().upper())])): "/keys/0/public",
        lcj.encode(shop.policy([ann(revoked_at="never")])): "/keys/0/revoked_at",
        lcj.encode(shop.policy([ann(revoked_at="")])): "/keys/0/revoked_at",
        lcj.encode(shop.policy([ann(not_after="2025-01-01T00:00:00Z")])): "/keys/0/not_before",
        lcj.encode(shop.policy([ann(), ann(name="other")])): "/keys/1",
        lcj.encode(shop.policy([ann(), shop.bob.entry(name="ann")])): "/keys/1",
        lcj.encode(shop.policy(rules=shop.rule() * 2)): "/rules/1",
        lcj.encode(shop.policy(rules=shop.rule(threshold=0))): "/rules/0/threshold",
        lcj.encode(shop.policy(rules=shop.rule(max_age_days=0))): "/rules/0/max_age_days",
        lcj.encode(shop.policy(limits={"envelope_bytes": 1 << 30, "payload_bytes": 1})): (
            "/limits/envelope_bytes"
        ),
    }
    for data, pointer in invalid.items():
        assert refusal(data) == ("POLICY_INVALID", pointer), data


def test_low_order_keys_are_weak(shop):
    for weak in ed25519.LOW_ORDER:
        policy = shop.policy([shop.bob.entry(), shop.ann.entry(public=weak.hex())])
        assert refusal(policy) == ("WEAK_KEY", "/keys/1/public")


def test_currency(shop, refuses):
    policy = trust.load(lcj.encode(shop.policy(version=3)))
    now, later = seconds("2027-01-01T00:00:00Z"), seconds("2027-01-01T00:00:01Z")
    for last in (None, 2, 3):
        trust.check_current(policy, now, last)
    assert refuses(trust.check_current, policy, now, 4) == "POLICY_ROLLBACK"
    assert refuses(trust.check_current, policy, later, 4) == "POLICY_ROLLBACK"
    assert refuses(trust.check_current, policy, later, 3) == "POLICY_EXPIRED"


def test_owners_are_counted_and_not_keys(shop):
    keys = [shop.ann.entry(), shop.bob.entry(owner="ann"), shop.eve.entry()]
    policy = shop.policy(keys, rules=shop.rule(threshold=2))
    one = shop.certificate(signers=[shop.ann])
    same_owner = shop.certificate(signers=[shop.ann, shop.bob])
    two = shop.certificate(signers=[shop.ann, shop.eve])
    assert shop.judge(one, policy).code == "THRESHOLD_NOT_MET"
    assert shop.judge(same_owner, policy).code == "THRESHOLD_NOT_MET"
    assert shop.judge(two, policy).code == "OK"


def test_every_known_signer_needs_a_role(shop):
    policy = shop.policy([shop.ann.entry(), shop.bob.entry(roles=["auditor", "x"])])
    both = shop.certificate(signers=[shop.ann, shop.bob])
    assert shop.judge(both, policy).code == "ROLE_NOT_ALLOWED"
    policy["rules"] = shop.rule(roles=["x", "claimant"])
    assert shop.judge(both, policy).code == "OK"


def test_a_kind_without_a_rule(shop):
    assert shop.judge(shop.certificate(), shop.policy(rules=[])).code == "PREDICATE_NOT_ALLOWED"


@pytest.mark.parametrize(
    ("changes", "at", "code"),
    [
        ({}, "2026-01-01T00:00:00Z", "ISSUED_IN_FUTURE"),
        ({}, "2025-12-31T23:59:59Z", "KEY_NOT_VALID_NOW"),
        ({}, "2027-01-01T00:00:00Z", "OK"),
        ({}, "2027-01-01T00:00:01Z", "KEY_NOT_VALID_NOW"),
        ({"revoked_at": "2026-05-15T00:00:00Z"}, "2026-06-01T00:00:00Z", "TIME_UNPROVEN"),
        ({"revoked_at": "2026-06-01T00:00:00Z"}, "2026-06-01T00:00:00Z", "TIME_UNPROVEN"),
        ({"revoked_at": "2026-06-01T00:00:01Z"}, "2026-06-01T00:00:00Z", "OK"),
        ({"revoked_at": "2026-05-15T00:00:00Z"}, LATER, "TIME_UNPROVEN"),
        ({}, "2026-04-30T23:59:59Z", "ISSUED_IN_FUTURE"),
        ({}, "2026-05-01T00:00:00Z", "OK"),
    ],
)
def test_time(shop, changes, at, code):
    policy = shop.policy([shop.ann.entry(**changes)], expires="2030-01-01T00:00:00Z")
    assert shop.judge(shop.certificate(), policy, at).code == code


def test_age_counts_seconds(shop):
    policy = shop.policy(rules=shop.rule(max_age_days=30))
    assert shop.judge(shop.certificate(), policy, "2026-05-31T00:00:00Z").code == "OK"
    late = shop.judge(shop.certificate(), policy, "2026-05-31T00:00:01Z")
    assert (late.code, late.pointer) == ("CERTIFICATE_TOO_OLD", "/predicate/issued_at")


def test_floors(shop):
    kind = shop.statement()["predicateType"]
    for count, minimum, code in (
        ("terms", 3, "OK"),
        ("terms", 4, "FLOOR_NOT_MET"),
        ("never-counted", 0, "FLOOR_NOT_MET"),
    ):
        floor = {"predicateType": kind, "count": count, "minimum": minimum}
        other = {**floor, "predicateType": kind.replace("tiny", "other"), "minimum": 99}
        policy = shop.policy(floors=[other, floor])
        assert shop.judge(shop.certificate(), policy).code == code
