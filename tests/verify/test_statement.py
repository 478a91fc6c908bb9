"""STMT-1 to STMT-10, each with the code and pointer of its first offence."""

import copy

import pytest

from lockstep_verify import lcj, spec

DELETE = object()


def edit(document, pointer, value):
    """Give a copy with one place set or removed."""
    document = copy.deepcopy(document)
    *path, last = [int(p) if p.isdigit() else p for p in pointer.split("/")[1:]]
    parent = document
    for step in path:
        parent = parent[step]
    if value is DELETE:
        del parent[last]
    else:
        parent[last] = value
    return document


CASES = [
    ("/_type", "https://in-toto.io/Statement/v0.1", "STATEMENT_TYPE", "/_type"),
    ("/_type", 1, "WRONG_TYPE", "/_type"),
    ("/_type", DELETE, "MISSING_FIELD", "/_type"),
    ("/key", "00", "UNKNOWN_FIELD", "/key"),
    ("/predicate", [], "WRONG_TYPE", "/predicate"),
    ("/predicateType", "urn:lockstep:certificate:unheard-of:v1", "PREDICATE_UNKNOWN", None),
    ("/predicateType", "urn:lockstep:certificate:tiny:v1 ", "PREDICATE_UNKNOWN", None),
    ("/subject", [], "BAD_VALUE", "/subject"),
    ("/subject/0/name", "", "BAD_VALUE", "/subject/0/name"),
    ("/subject/0/uri", "x", "UNKNOWN_FIELD", "/subject/0/uri"),
    ("/subject/0/digest", {"md5": "00" * 16}, "WEAK_DIGEST", "/subject/0/digest"),
    ("/subject/0/digest/sha256", 1, "WRONG_TYPE", "/subject/0/digest/sha256"),
    ("/subject/0/digest/sha256", "A" * 64, "BAD_VALUE", "/subject/0/digest/sha256"),
    ("/subject/0/digest/md5", "a", "BAD_VALUE", "/subject/0/digest/md5"),
    ("/subject/0/digest/sha256", "a" * 64, "SUBJECT_MISMATCH", "/subject/0/digest/sha256"),
    ("/subject/0/name", "spice", "SUBJECT_MISMATCH", "/subject"),
    ("/predicate/critical", ["x-new-rule"], "UNKNOWN_CRITICAL", "/predicate/critical/0"),
    ("/predicate/critical", [1], "WRONG_TYPE", "/predicate/critical/0"),
    ("/predicate/critical", DELETE, "MISSING_FIELD", "/predicate/critical"),
    ("/predicate/exact", DELETE, "MISSING_FIELD", "/predicate/exact"),
    ("/predicate/exact", "false", "WRONG_TYPE", "/predicate/exact"),
    ("/predicate/exact", 0, "WRONG_TYPE", "/predicate/exact"),
    ("/predicate/Exact", None, "UNKNOWN_FIELD", "/predicate/Exact"),
    ("/predicate/terms/1", -1, "BAD_VALUE", "/predicate/terms/1"),
    ("/predicate/issued_at", "2026-02-30T00:00:00Z", "BAD_VALUE", "/predicate/issued_at"),
    ("/predicate/issued_at", 5, "WRONG_TYPE", "/predicate/issued_at"),
    ("/predicate/sum", 7, "H10_COUNTS_DO_NOT_RECOMPUTE", "/predicate/sum"),
]


@pytest.mark.parametrize(("place", "value", "code", "pointer"), CASES)
def test_one_edit_signed_again(shop, place, value, code, pointer):
    result = shop.judge_statement(edit(shop.statement(), place, value))
    assert (result.code, result.exit) == (code, 3)
    assert pointer in (None, result.pointer)


def test_names_of_subjects_are_distinct(shop):
    statement = shop.statement()
    statement["subject"] *= 2
    result = shop.judge_statement(statement)
    assert (result.code, result.pointer) == ("BAD_VALUE", "/subject/1/name")


def test_an_extension_comes_before_the_fields_it_brings(shop):
    statement = edit(shop.statement(critical=["x-new-rule"]), "/predicate/a-new-field", 1)
    assert shop.judge_statement(statement).code == "UNKNOWN_CRITICAL"


def test_the_users_subject(shop):
    statement = shop.statement()
    statement["subject"].append({"name": "weights", "digest": {"sha256": "ab" * 32}})
    assert shop.judge_statement(statement, subject="ab" * 32).code == "OK"
    result = shop.judge_statement(statement, subject="cd" * 32)
    assert (result.code, result.pointer) == ("SUBJECT_MISMATCH", "/subject")


def test_the_spec_digest_is_that_of_the_canonical_listing():
    import hashlib

    files = {
        name: hashlib.sha256(spec.read(name)).hexdigest()
        for name in (
            "falsifications.toml",
            "hunt.json",
            "lemmas.json",
            "schemas/hunt.schema.json",
        )
    }
    assert spec.digest("hunt") == hashlib.sha256(lcj.encode(files)).hexdigest()
    del files["falsifications.toml"], files["hunt.json"], files["schemas/hunt.schema.json"]
    schema = "schemas/lean.schema.json"
    files[schema] = hashlib.sha256(spec.read(schema)).hexdigest()
    assert spec.digest("lean") == hashlib.sha256(lcj.encode(files)).hexdigest()
