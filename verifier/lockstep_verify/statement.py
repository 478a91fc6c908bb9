"""The in-toto Statement and its subjects (STMT-1 to STMT-10)."""

from typing import Any

from lockstep_verify import derive, schema, spec
from lockstep_verify.envelope import is_hex
from lockstep_verify.errors import Refusal
from lockstep_verify.times import seconds

STATEMENT_TYPE = "https://in-toto.io/Statement/v1"

_OBJECT: dict[str, Any] = {"type": "object"}
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["_type", "subject", "predicateType", "predicate"],
    "properties": {
        "_type": {"type": "string"},
        "predicateType": {"type": "string"},
        "predicate": _OBJECT,
        "subject": {
            "type": "array",
            "minItems": 1,
            "maxItems": 64,
            "items": {
                "type": "object",
                "required": ["name", "digest"],
                "properties": {
                    "name": {"type": "string", "minLength": 1, "maxLength": 200},
                    "digest": _OBJECT,
                },
            },
        },
    },
}
_KNOWN_EXTENSIONS: frozenset[str] = frozenset()


def _check_digests(subjects: list[dict[str, Any]]) -> None:
    names: set[str] = set()
    for i, subject in enumerate(subjects):
        pointer = f"/subject/{i}/digest"
        if subject["name"] in names:
            raise Refusal("BAD_VALUE", f"/subject/{i}/name", "distinct names", subject["name"])
        names.add(subject["name"])
        if "sha256" not in subject["digest"]:
            raise Refusal("WEAK_DIGEST", pointer, "sha256", sorted(subject["digest"]))
        for algorithm, value in subject["digest"].items():
            at = f"{pointer}/{schema.escape(algorithm)}"
            if type(value) is not str:
                raise Refusal("WRONG_TYPE", at, "string", value)
            lengths = (64, 64) if algorithm == "sha256" else (2, 128)
            if not lengths[0] <= len(value) <= lengths[1] or not is_hex(value, len(value)):
                raise Refusal("BAD_VALUE", at, f"{lengths[0]} to {lengths[1]} hex digits", value)


def check_statement(statement: dict[str, Any]) -> int:
    """Check a parsed statement and its predicate's shape, and give `issued_at` in seconds.

    Raises:
        Refusal: STATEMENT_TYPE, PREDICATE_UNKNOWN, WEAK_DIGEST, UNKNOWN_CRITICAL, and the codes
            of `schema.check`.
    """
    schema.check(statement, _SCHEMA)
    if statement["_type"] != STATEMENT_TYPE:
        raise Refusal("STATEMENT_TYPE", "/_type", STATEMENT_TYPE, statement["_type"])
    kind = derive.kind_of(statement["predicateType"])
    if kind is None:
        got = statement["predicateType"]
        raise Refusal("PREDICATE_UNKNOWN", "/predicateType", sorted(derive.KINDS), got)
    _check_digests(statement["subject"])
    predicate = statement["predicate"]
    critical = predicate.get("critical")
    for i, name in enumerate(critical if type(critical) is list else ()):
        if type(name) is str and name not in _KNOWN_EXTENSIONS:
            raise Refusal("UNKNOWN_CRITICAL", f"/predicate/critical/{i}", "[]", name)
    schema.check(predicate, spec.load(f"schemas/{kind}.schema.json"), "/predicate")
    for name in ("issued_at", "critical"):
        if name not in predicate:
            raise Refusal("MISSING_FIELD", f"/predicate/{name}", "this field")
    issued_at = seconds(predicate["issued_at"])
    if issued_at is None:
        code = "BAD_VALUE" if type(predicate["issued_at"]) is str else "WRONG_TYPE"
        raise Refusal(code, "/predicate/issued_at", "a time", predicate["issued_at"])
    return issued_at


def check_subjects(statement: dict[str, Any], subject_sha256: str | None) -> None:
    """Compare the subject `spec`, and the user's subject file if any (STMT-8, STMT-10).

    Raises:
        Refusal: SUBJECT_MISMATCH.
    """
    kind = derive.kind_of(statement["predicateType"])
    assert kind is not None  # noqa: S101 - check_statement has passed
    expected = spec.digest(kind)
    digests = [subject["digest"]["sha256"] for subject in statement["subject"]]
    names = [subject["name"] for subject in statement["subject"]]
    if "spec" not in names:
        raise Refusal("SUBJECT_MISMATCH", "/subject", f"spec {expected}", "no subject spec")
    at = names.index("spec")
    if digests[at] != expected:
        raise Refusal("SUBJECT_MISMATCH", f"/subject/{at}/digest/sha256", expected, digests[at])
    if subject_sha256 is not None and subject_sha256 not in digests:
        raise Refusal("SUBJECT_MISMATCH", "/subject", subject_sha256, digests)
