"""Re-derivation of certificates of the lemmas: each rule's mutation, in the order of derivation."""

import copy
import hashlib
import json

import pytest

from lockstep_verify import lcj, spec
from lockstep_verify.derive import lean
from lockstep_verify.kernel import statement_digests
from lockstep_verify.ledger import ledger
from tests.statements import judge, refusal

ZERO = "0" * 64
AXIOM = "AXIOM_NOT_ALLOWED"
H3 = "H3_PROOF_MISSING"
H9 = "H9_GUARD_FAILED_OPEN"
H10 = "H10_COUNTS_DO_NOT_RECOMPUTE"
MISMATCH = "LEMMA_STATEMENT_MISMATCH"
MODULES = spec.load("lemmas.json")["modules"]
SOURCES = {name.replace(".", "/") + ".lean": f"-- {name}\n".encode() for name in MODULES}


def sha256(data):
    return hashlib.sha256(data).hexdigest()


@pytest.fixture
def statement():
    data = spec.load("lemmas.json")
    sources = {path: sha256(text) for path, text in SOURCES.items()}
    theorems = copy.deepcopy(data["lemmas"])
    predicate = {
        "issued_at": "2026-05-01T00:00:00Z",
        "critical": [],
        "producer": dict.fromkeys(("name", "version", "python", "machine", "command"), "by hand"),
        "kernel": {
            "builder": "wheel", "version": "4.35.0", "commit": "0" * 40, "library_sha256": ZERO,
        },
        "host": "by hand",
        "allowed_axioms": list(data["allowed_axioms"]),
        "theorems": theorems,
        "modules": [
            {"name": name, "path": path, "sha256": digest}
            for name, (path, digest) in zip(MODULES, sources.items(), strict=True)
        ],
        "observations": {
            "kernel_accepted": True,
            "gates_passed": True,
            "official_toolchain_agrees": None,
        },
        "counts": {
            "theorems": len(theorems),
            "accepted": len(theorems),
            "axiom_free": len([one for one in theorems if not one["axioms"]]),
            "row_lemmas": len(data["rows"]),
            "layout_lemmas": len({name for names in data["layouts"].values() for name in names}),
            "modules": len(MODULES),
        },
        "export": None,
    }  # fmt: skip
    digests = {"spec": spec.digest("lean"), "sources": sha256(lcj.encode(sources))}
    return {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": name, "digest": {"sha256": it}} for name, it in digests.items()],
        "predicateType": "urn:lockstep:certificate:lean:v1",
        "predicate": predicate,
    }


@pytest.fixture
def folder(tmp_path):
    for path, text in SOURCES.items():
        place = tmp_path / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text)
    return tmp_path


def put(statement, pointer, value):
    *way, last = pointer.split("/")[1:]
    for step in way:
        statement = statement[int(step) if isinstance(statement, list) else step]
    if isinstance(statement, list) and last == "-":
        statement.append(value)
    else:
        statement[int(last) if isinstance(statement, list) else last] = value


def test_a_whole_certificate(statement, folder):
    derivation = judge(statement, evidence=folder)
    assert derivation.verdict == "ACCEPTED"
    assert derivation.counts == statement["predicate"]["counts"]
    said = "\n".join(derivation.lines)
    assert "kernel_accepted: true (attested)" in said
    assert "official_toolchain_agrees: not made (attested)" in said
    assert "export: not compared" in said


def test_acceptance_is_attested_and_statements_are_derived(statement):
    found = ledger(statement["predicate"], spec.load("schemas/lean.schema.json"))
    assert {kind for kind in found.attested_kinds if kind.startswith("/observations")} == {
        f"/observations/{name}" for name in lean.OBSERVATIONS
    }
    assert "/kernel/library_sha256" in found.attested_kinds
    assert not [kind for kind in found.attested_kinds if kind.startswith(("/theorems", "/counts"))]


P = "/predicate"
OTHER = {"name": "Nobody.made", "statement_sha256": ZERO, "axioms": []}
ORDER = [
    (f"{P}/allowed_axioms", ["propext", "sorryAx"], AXIOM, None),
    (f"{P}/theorems/0/name", "Nobody.made", H3, None),
    (f"{P}/theorems/1", OTHER, H3, f"{P}/theorems/1/name"),
    (f"{P}/theorems/0/statement_sha256", ZERO, MISMATCH, None),
    (f"{P}/theorems/0/axioms", ["propext", "sorryAx"], AXIOM, f"{P}/theorems/0/axioms/1"),
    (f"{P}/theorems/0/axioms", ["propext"], AXIOM, None),
    (f"{P}/theorems/1/statement_sha256", ZERO, MISMATCH, None),
    (f"{P}/modules/1/name", "Lockstep", H3, None),
    (f"{P}/modules/0/path", "Other.lean", "BAD_VALUE", None),
    (f"{P}/observations/kernel_accepted", False, H9, None),
    (f"{P}/observations/gates_passed", False, H9, None),
    (f"{P}/observations/official_toolchain_agrees", False, H9, None),
    *[
        (f"{P}/counts/{name}", 0, H10, None)
        for name in ("theorems", "accepted", "axiom_free", "row_lemmas", "layout_lemmas", "modules")
    ],
    (f"{P}/export", {"path": "a/../b", "sha256": ZERO}, "BAD_VALUE", f"{P}/export/path"),
    ("/subject/1/name", "layouts", "SUBJECT_MISMATCH", "/subject"),
    (f"{P}/modules/0/sha256", ZERO, "SUBJECT_MISMATCH", "/subject/1/digest/sha256"),
]


@pytest.mark.parametrize(("pointer", "value", "code", "at"), ORDER)
def test_each_rule_refuses(statement, pointer, value, code, at):
    put(statement, pointer, value)
    assert refusal(statement) == (code, at or pointer)


def test_earlier_rules_come_first(statement):
    pending = copy.deepcopy(statement)
    for pointer, value, code, at in reversed(ORDER):
        put(pending, pointer, value)
        assert refusal(pending) == (code, at or pointer)


def test_theorems_that_end_early_or_go_on(statement):
    short = copy.deepcopy(statement)
    del short["predicate"]["theorems"][-1]
    assert refusal(short) == (H3, f"{P}/theorems")
    number = len(statement["predicate"]["theorems"])
    put(statement, f"{P}/theorems/-", OTHER)
    assert refusal(statement) == (H3, f"{P}/theorems/{number}/name")


def bind(statement, modules):
    """Put modules into a statement, everything else that depends on them agreeing."""
    statement["predicate"]["modules"] = modules
    statement["predicate"]["counts"]["modules"] = len(modules)
    bound = {module["path"]: module["sha256"] for module in modules}
    statement["subject"][1]["digest"]["sha256"] = sha256(lcj.encode(bound))
    return statement


def test_modules_are_all_that_are_registered_and_no_other(statement):
    whole = statement["predicate"]["modules"]
    evil = {"name": "Evil", "path": "Evil.lean", "sha256": sha256(b"prelude\n")}
    last = len(whole)
    for modules, at in (
        ([evil], f"{P}/modules/0/name"),
        (whole[:1], f"{P}/modules"),
        (whole[:-1], f"{P}/modules"),
        (whole[1:], f"{P}/modules/0/name"),
        ([*whole[:5], *whole[6:]], f"{P}/modules/5/name"),
        ([*whole, {**evil, "name": "Zvil", "path": "Zvil.lean"}], f"{P}/modules/{last}/name"),
        ([evil, *whole], f"{P}/modules/0/name"),
        ([whole[1], whole[0], *whole[2:]], f"{P}/modules/0/name"),
    ):
        assert refusal(bind(copy.deepcopy(statement), modules)) == (H3, at)
    assert judge(bind(statement, whole)).verdict == "ACCEPTED"


@pytest.mark.parametrize(
    ("seen", "verdict"),
    [
        ((True, True, True), "REPRODUCED"),
        ((True, True, None), "ACCEPTED"),
        ((True, None, True), "UNPROVEN"),
        ((None, True, True), "UNPROVEN"),
        ((None, None, None), "UNPROVEN"),
    ],
)
def test_what_was_not_seen_lowers_the_verdict(statement, seen, verdict):
    predicate = statement["predicate"]
    predicate["observations"] = dict(zip(lean.OBSERVATIONS, seen, strict=True))
    if seen[0] is None:
        assert refusal(statement) == (H10, f"{P}/counts/accepted")
        predicate["counts"]["accepted"] = 0
    assert judge(statement).verdict == verdict


def test_sources_are_compared(statement, folder):
    (folder / "Lockstep.lean").write_bytes(b"prelude\naxiom lie : False\n")
    place = f"{P}/modules/0"
    assert refusal(statement, evidence=folder) == ("EVIDENCE_DIGEST_MISMATCH", f"{place}/sha256")
    (folder / "Lockstep.lean").unlink()
    assert refusal(statement, evidence=folder) == ("EVIDENCE_MISSING", f"{place}/path")
    (folder / "Lockstep.lean").write_bytes(b" " * ((4 << 20) + 1))
    assert refusal(statement, evidence=folder) == ("LIMIT_SIZE", f"{place}/path")


@pytest.fixture
def exported(statement, folder):
    """A certificate that names an export, which lies in the folder."""
    data = b"an export"
    (folder / "export.ndjson").write_bytes(data)
    statement["predicate"]["export"] = {"path": "export.ndjson", "sha256": sha256(data)}
    return statement


def says(monkeypatch, found):
    monkeypatch.setattr(statement_digests, "theorems", lambda data: found)


def test_an_export_is_compared_with_the_theorems(exported, folder, monkeypatch):
    first = exported["predicate"]["theorems"][0]
    found = {
        one["name"]: (one["statement_sha256"], tuple(one["axioms"]))
        for one in exported["predicate"]["theorems"]
    }
    says(monkeypatch, found)
    assert "export: statement digests" in "\n".join(judge(exported, evidence=folder).lines)
    place = f"{P}/theorems/0"
    for changed, outcome in (
        ((ZERO, ()), (MISMATCH, f"{place}/statement_sha256")),
        ((first["statement_sha256"], ("sorryAx",)), (AXIOM, f"{place}/axioms")),
    ):
        says(monkeypatch, {**found, first["name"]: changed})
        assert refusal(exported, evidence=folder) == outcome
    del found[first["name"]]
    says(monkeypatch, found)
    assert refusal(exported, evidence=folder) == (H3, f"{place}/name")


def test_an_export_that_is_none_is_refused(exported, folder):
    assert refusal(exported, evidence=folder) == ("EXPORT_MALFORMED", f"{P}/export")


def test_an_export_that_is_another_is_refused(exported, folder):
    (folder / "export.ndjson").write_bytes(b"another")
    assert refusal(exported, evidence=folder) == (
        "EVIDENCE_DIGEST_MISMATCH",
        f"{P}/export/sha256",
    )


def test_an_export_may_be_absent(exported, folder):
    (folder / "export.ndjson").unlink()
    assert "export: not compared" in "\n".join(judge(exported, evidence=folder).lines)


def test_the_registry_is_whole():
    data = spec.load("lemmas.json")
    names = [lemma["name"] for lemma in data["lemmas"]]
    assert names == sorted(set(names))
    own = list(data["layouts"].values())
    assert {*data["rows"], *(name for lemmas in own for name in lemmas)} <= set(names)
    assert all(len(set(lemmas)) == len(lemmas) == 3 for lemmas in own)
    assert data["modules"] == sorted(set(data["modules"]))
    assert (
        len(data["modules"])
        <= spec.load("schemas/lean.schema.json")["properties"]["modules"]["maxItems"]
    )
    assert len(set(data["rows"])) == len(data["rows"]) > 0
    for lemma in data["lemmas"]:
        assert set(lemma["axioms"]) <= set(data["allowed_axioms"])
        assert len(lemma["statement_sha256"]) == 64
    schema = spec.load("schemas/lean.schema.json")
    assert len(names) <= schema["properties"]["theorems"]["maxItems"]
    text = json.dumps(data)
    assert "sorryAx" not in text
