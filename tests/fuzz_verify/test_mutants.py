"""Fields, operators and mutants: what a campaign draws from, and its denominators."""

import base64
import json
import random

import pytest

from lockstep import fuzz_verify, spec
from lockstep.certificate.lcj import encode
from lockstep.fuzz_verify import operators
from lockstep.fuzz_verify.fields import class_at, fields, leaves, predicate_schema, values
from lockstep.fuzz_verify.mutants import BYTES, SHAPE, Source, get, put, text
from lockstep.fuzz_verify.operators import OPERATORS, REMOVE, Context, NotApplicable, operators_of
from lockstep_verify.ledger import ledger


@pytest.fixture(scope="module")
def parent():
    return fuzz_verify.make()


@pytest.fixture(scope="module")
def source(parent):
    return Source(parent.forge, 7)


def test_the_parent_is_four_layouts_below_2000_positions(source):
    predicate = source.predicate
    assert predicate["counts"]["layouts"] == 4
    assert predicate["coverage"]["positions_enumerated"] < 2000
    assert {row["verdict"] for row in predicate["rows"]} == {
        "EXACT_BYTE",
        "EXACT_TOKEN",
        "NOT_EXACT",
        "REFUSED",
    }


def test_classes_are_those_of_the_verifiers_ledger(source):
    counted = ledger(source.predicate, predicate_schema())
    kinds = [value.field.kind for value in source.leaves]
    assert kinds.count("derived") == counted.derived
    assert kinds.count("witnessed") == counted.witnessed
    assert kinds.count("attested") == counted.attested
    assert len(kinds) == sum(counted[:3])


def test_a_place_has_the_class_of_its_field(source):
    for value in source.leaves:
        assert class_at(value.place, source.schema) == value.field.kind
        assert get(source.predicate, value.place) == value.held
    assert class_at(("producer", "unknown"), predicate_schema()) == "derived"
    assert class_at(("producer", "name"), predicate_schema()) == "attested"


def test_every_field_of_the_schema_has_operators_and_every_operator_a_field():
    applied = {operator for field in fields(predicate_schema()) for operator in operators_of(field)}
    assert applied == {*OPERATORS, REMOVE}
    assert all(operators_of(field) for field in fields(predicate_schema()))
    names = {field.path for field in fields(predicate_schema())}
    assert len(names) == len(list(fields(predicate_schema())))
    assert "/rows/*/observations/tokens_identical" in names
    assert len(names) > 100


def test_the_fast_encoding_is_canonical(source):
    assert text(source.forge.statement) == encode(source.forge.statement)


def test_mutants_follow_from_seed_and_number(parent, source):
    again, other = Source(parent.forge, 7), Source(parent.forge, 8)
    ours = [source.mutant(number) for number in range(60)]
    assert ours == [again.mutant(number) for number in range(60)]
    differing = [other.mutant(number).certificate for number in range(60)]
    assert [mutant.certificate for mutant in ours] != differing


def test_a_mutant_is_one_mutation_signed_by_the_trusted_key(source):
    for number in range(300):
        mutant = source.mutant(number)
        if mutant.kind == BYTES:
            assert mutant.changed == {BYTES} and mutant.certificate != source.parent
            continue
        payload = base64.b64decode(json.loads(mutant.certificate)["payload"])
        # Compared as text: in Python true equals 1.
        assert text(json.loads(payload)["predicate"]) == text(mutant.predicate)
        assert text(mutant.predicate) != text(source.predicate)
        assert mutant.changed
        if mutant.operator != REMOVE:
            mended = put(mutant.predicate, mutant.place, mutant.before)
            assert text(mended) == text(source.predicate)


def test_classes_that_changed_are_said(source):
    seen = {frozenset(source.mutant(number).changed) for number in range(400)}
    assert {"derived"} in seen and {"attested"} in seen and {"witnessed"} in seen
    assert any(SHAPE in changed for changed in seen)


def test_put_changes_a_copy_along_the_place_alone():
    held = {"a": [{"b": 1}, {"b": 2}], "c": {}}
    changed = put(held, ("a", 1, "b"), 3)
    assert changed == {"a": [{"b": 1}, {"b": 3}], "c": {}}
    assert held["a"][1] == {"b": 2} and changed["c"] is held["c"]
    assert put(held, ("a", 0), operators_absent()) == {"a": [{"b": 2}], "c": {}}
    assert put(held, ("c",), operators_absent()) == {"a": [{"b": 1}, {"b": 2}]}


def operators_absent():
    from lockstep.fuzz_verify.fields import ABSENT

    return ABSENT


@pytest.mark.parametrize("name", sorted(OPERATORS))
def test_an_operator_gives_another_value_or_none(source, name):
    applicable = [value for value in source.values if name in operators_of(value.field)]
    assert applicable
    given = 0
    for number, value in enumerate(applicable):
        context = Context(random.Random(number), value.field, source.pool)
        before = json.dumps(value.held)
        try:
            new = OPERATORS[name](value.held, context)
        except (NotApplicable, TypeError):
            continue
        given += 1
        assert json.dumps(value.held) == before
        if name not in ("swap", "lengthen", "shorten", "duplicate"):
            assert not operators.same(new, value.held)
    assert given


def test_leaves_of_a_value_cover_what_values_gives(source):
    found = dict(leaves(source.predicate))
    for value in values(source.predicate, source.schema):
        if not isinstance(value.held, dict | list):
            assert found[value.place] == value.held
    assert spec.load("schemas/hunt.schema.json") is predicate_schema()
