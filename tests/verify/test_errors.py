"""The one exception type and its registry."""

import ast
from pathlib import Path

import pytest

import lockstep_verify
from lockstep_verify.errors import Refusal, registry

PACKAGE = Path(lockstep_verify.__file__).parent


def test_unregistered_codes_are_a_defect():
    with pytest.raises(KeyError):
        Refusal("NO_SUCH_CODE")


def test_a_refusal_knows_its_exit_status_and_place():
    refusal = Refusal("BAD_UNICODE", "/a")
    assert (refusal.exit, str(refusal)) == (1, "BAD_UNICODE at /a")
    assert str(Refusal("WEAK_KEY")) == "WEAK_KEY at the document"


def test_it_is_the_only_exception_type_and_codes_in_the_source_are_registered():
    codes, classes = set(), []
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.ClassDef):
                bases = {base.id for base in node.bases if isinstance(base, ast.Name)}
                classes += [node.name] if any("E" in b and b.endswith(("Exception", "Error"))
                                              for b in bases) else []  # fmt: skip
            is_refusal = isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Refusal"
            if is_refusal and node.args and isinstance(node.args[0], ast.Constant):
                codes.add(node.args[0].value)
    assert classes == ["Refusal"]
    assert len(codes) > 30 and codes <= set(registry())


def test_exit_statuses_are_those_of_the_specification():
    # A status of 6 is that of a command which asks a server; no verifier does.
    own = [entry for entry in registry().values() if entry["family"] != "certify"]
    assert {entry["exit"] for entry in own} == {1, 2, 3, 4}
    assert registry()["INTERNAL"]["exit"] == 4 and registry()["USAGE"]["exit"] == 2
