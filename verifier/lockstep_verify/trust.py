"""The verifier's own trust policy, as pure decisions (TRUST-3 to TRUST-13, SIG-3, TIME-3 to 5)."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from lockstep_verify import lcj, limits, schema, spec
from lockstep_verify.ed25519 import (
    LOW_ORDER,
    key_id,
    pre_authentication_encoding,
    require_form,
    verifies,
)
from lockstep_verify.envelope import PAYLOAD_TYPE, Envelope
from lockstep_verify.errors import Refusal
from lockstep_verify.times import seconds, written


class Key(NamedTuple):
    """A key of the policy; times in seconds since 1970."""

    name: str
    owner: str
    public: bytes
    keyid: str
    roles: frozenset[str]
    not_before: int
    not_after: int
    revoked_at: int | None


class Rule(NamedTuple):
    """What a certificate of one predicate type needs."""

    roles: frozenset[str]
    threshold: int
    max_age_days: int | None


class Floor(NamedTuple):
    """The least that a derived count of one predicate type may be."""

    predicate_type: str
    counted: str
    minimum: int


class Policy(NamedTuple):
    """A policy whose content has been checked; whether it is current is another question."""

    version: int
    expires: int
    keys: Mapping[str, Key]
    rules: Mapping[str, Rule]
    envelope_bytes: int
    payload_bytes: int
    floors: tuple[Floor, ...]


class Signers(NamedTuple):
    """The known signers in the order of the signatures, and how many signatures were skipped."""

    known: tuple[Key, ...]
    unknown: int


def _moment(document: dict[str, Any], name: str, pointer: str) -> int:
    moment = seconds(document[name])
    if moment is None:
        raise Refusal("POLICY_INVALID", f"{pointer}/{name}", "a time", document[name])
    return moment


def _key(entry: dict[str, Any], pointer: str) -> Key:
    public = bytes.fromhex(entry["public"])
    key = Key(
        name=entry["name"],
        owner=entry["owner"],
        public=public,
        keyid=key_id(public),
        roles=frozenset(entry["roles"]),
        not_before=_moment(entry, "not_before", pointer),
        not_after=_moment(entry, "not_after", pointer),
        revoked_at=None if entry["revoked_at"] is None else _moment(entry, "revoked_at", pointer),
    )
    if key.not_before > key.not_after:
        raise Refusal("POLICY_INVALID", f"{pointer}/not_before", "a time before not_after")
    return key


def _require_unique(entries: list[dict[str, Any]], names: tuple[str, ...], pointer: str) -> None:
    seen: set[tuple[Any, ...]] = set()
    for i, entry in enumerate(entries):
        identity = tuple(entry[name] for name in names)
        if identity in seen:
            raise Refusal("POLICY_INVALID", f"{pointer}/{i}", f"each {names[-1]} once", identity)
        seen.add(identity)


def load(data: bytes) -> Policy:
    """Read the bytes of a policy (TRUST-3 to TRUST-6).

    Raises:
        Refusal: POLICY_INVALID, WEAK_KEY.
    """
    try:
        if len(data) > limits.POLICY_BYTES:
            raise Refusal("LIMIT_SIZE")
        document = lcj.parse(data, "NONCANONICAL_PAYLOAD")
        schema.check(document, spec.load("schemas/trust.schema.json"))
    except Refusal as inner:
        got = inner.code if inner.got is None else f"{inner.code}: {inner.got}"
        raise Refusal("POLICY_INVALID", inner.pointer, inner.expected, got) from None
    expires = _moment(document, "expires", "")
    keys = [_key(entry, f"/keys/{i}") for i, entry in enumerate(document["keys"])]
    _require_unique(document["keys"], ("public",), "/keys")
    _require_unique(document["keys"], ("name",), "/keys")
    _require_unique(document["rules"], ("predicateType",), "/rules")
    _require_unique(document["floors"], ("predicateType", "count"), "/floors")
    for i, key in enumerate(keys):
        if key.public in LOW_ORDER:
            raise Refusal("WEAK_KEY", f"/keys/{i}/public", "a key of high order", key.public.hex())
    return Policy(
        version=document["version"],
        expires=expires,
        keys={key.keyid: key for key in keys},
        rules={
            rule["predicateType"]: Rule(
                frozenset(rule["roles"]), rule["threshold"], rule["max_age_days"]
            )
            for rule in document["rules"]
        },
        envelope_bytes=document["limits"]["envelope_bytes"],
        payload_bytes=document["limits"]["payload_bytes"],
        floors=tuple(
            Floor(floor["predicateType"], floor["count"], floor["minimum"])
            for floor in document["floors"]
        ),
    )


def check_current(policy: Policy, clock: int, last_version: int | None) -> None:
    """Refuse a policy that is older than one seen before, or has expired (TRUST-7, TRUST-8).

    Args:
        policy: the policy.
        clock: the verifier's, in seconds since 1970.
        last_version: the last version seen, if any was.

    Raises:
        Refusal: POLICY_ROLLBACK, POLICY_EXPIRED.
    """
    if last_version is not None and policy.version < last_version:
        raise Refusal("POLICY_ROLLBACK", "/version", f"at least {last_version}", policy.version)
    if clock > policy.expires:
        got = written(policy.expires)
        raise Refusal("POLICY_EXPIRED", "/expires", f"after {written(clock)}", got)


def check_signatures(envelope: Envelope, policy: Policy | None) -> Signers:
    """Judge every signature (SIG-3); without a policy, their form alone.

    Raises:
        Refusal: SIGNATURE_MALLEABLE, WEAK_KEY, KEYID_MISMATCH, SIGNATURE_INVALID.
    """
    keys: Mapping[str, Key] = policy.keys if policy else {}
    message = pre_authentication_encoding(PAYLOAD_TYPE, envelope.payload)
    known: list[Key] = []
    for i, (keyid, sig) in enumerate(envelope.signatures):
        pointer = f"/signatures/{i}/sig"
        require_form(sig, pointer)
        key = keys.get(keyid)
        if key is None:
            continue
        if not verifies(key.public, sig, message):
            others = (other for other in keys.values() if other is not key)
            if any(verifies(other.public, sig, message) for other in others):
                raise Refusal("KEYID_MISMATCH", f"/signatures/{i}/keyid", got=keyid)
            raise Refusal("SIGNATURE_INVALID", pointer, expected=f"a signature by {key.name}")
        known.append(key)
    return Signers(tuple(known), len(envelope.signatures) - len(known))


def check_rule(policy: Policy, predicate_type: str, known: tuple[Key, ...]) -> Rule:
    """Apply the policy's rule for a predicate type (TRUST-10 to TRUST-12) and give it.

    Raises:
        Refusal: PREDICATE_NOT_ALLOWED, ROLE_NOT_ALLOWED, THRESHOLD_NOT_MET.
    """
    rule = policy.rules.get(predicate_type)
    if rule is None:
        expected = sorted(policy.rules)
        raise Refusal("PREDICATE_NOT_ALLOWED", "/predicateType", expected, predicate_type)
    for key in known:
        if not key.roles & rule.roles:
            raise Refusal("ROLE_NOT_ALLOWED", "", sorted(rule.roles), sorted(key.roles))
    # Owners are counted: one owner's second key adds nothing, and keys are distinct already.
    owners = {key.owner for key in known}
    if len(owners) < rule.threshold:
        raise Refusal("THRESHOLD_NOT_MET", "", f"{rule.threshold} owners", sorted(owners))
    return rule


def check_time(known: tuple[Key, ...], rule: Rule, issued_at: int, clock: int) -> None:
    """Judge the signers' validity and the certificate's age (TIME-3 to TIME-5).

    Raises:
        Refusal: TIME_UNPROVEN, KEY_NOT_VALID_NOW, ISSUED_IN_FUTURE, CERTIFICATE_TOO_OLD.
    """
    for key in known:
        if key.revoked_at is not None and key.revoked_at <= clock:
            raise Refusal("TIME_UNPROVEN", "", f"{key.name} not revoked", written(key.revoked_at))
        if not key.not_before <= clock <= key.not_after:
            valid = f"{written(key.not_before)} to {written(key.not_after)}"
            raise Refusal("KEY_NOT_VALID_NOW", "", f"{key.name}: {valid}", written(clock))
    pointer = "/predicate/issued_at"
    if issued_at > clock:
        raise Refusal("ISSUED_IN_FUTURE", pointer, f"before {written(clock)}", written(issued_at))
    if rule.max_age_days is not None and clock - issued_at > rule.max_age_days * 86_400:
        allowed = f"at most {rule.max_age_days} days before {written(clock)}"
        raise Refusal("CERTIFICATE_TOO_OLD", pointer, allowed, written(issued_at))


def check_floors(policy: Policy, predicate_type: str, counts: Mapping[str, int]) -> None:
    """Compare derived counts with the policy's floors (TRUST-13).

    Raises:
        Refusal: FLOOR_NOT_MET.
    """
    for floor in policy.floors:
        if floor.predicate_type == predicate_type:
            got = counts.get(floor.counted)
            if got is None or got < floor.minimum:
                raise Refusal("FLOOR_NOT_MET", "", f"{floor.counted} at least {floor.minimum}", got)
