"""Kinds are found by predicate type and imported only when they are used."""

import sys
from types import ModuleType

from lockstep_verify import derive
from lockstep_verify.derive import Derivation, Options


def test_kinds_are_named_by_their_urn():
    for predicate_type, module in derive.KINDS.items():
        assert predicate_type == f"urn:lockstep:certificate:{module}:v1"
        assert derive.kind_of(predicate_type) == module
    for unknown in (
        "",
        "hunt",
        "urn:lockstep:certificate:hunt:v2",
        "urn:lockstep:certificate:os:v1",
    ):
        assert derive.kind_of(unknown) is None


def test_options_default_to_the_bounded_run():
    assert Options() == Options(exhaustive=False, evidence=None)


def test_a_kind_is_called_with_statement_and_options(shop):
    statement = shop.statement()
    assert derive.derive(statement, Options()) == Derivation("SUMS", {"terms": 3}, ("note: ",))


def test_a_published_document_goes_to_its_adapter(monkeypatch):
    module = ModuleType("lockstep_verify.published.seed_004")
    module.derive = lambda data, options: Derivation("READ", {"bytes": len(data)})
    monkeypatch.setitem(sys.modules, module.__name__, module)
    assert derive.derive_published(b"1234", Options()).counts == {"bytes": 4}
