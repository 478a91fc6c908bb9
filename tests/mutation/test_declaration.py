"""spec/mutation.json is one with the operators and observers of the code [MUT-2] [MUT-6]."""

from collections import Counter

from lockstep import spec
from lockstep.mutation import declaration
from lockstep.mutation.observer import BLOCK_SIZE
from lockstep.mutation.observers import OBSERVERS
from lockstep.mutation.operators import operators
from lockstep.relations.catalogue import declared

DATA = spec.load(declaration.FILE)


def test_operators_are_those_of_the_code() -> None:
    assert declaration.document(DATA) == DATA
    assert len(DATA["operators"]) >= 40


def test_observers_are_those_of_the_code() -> None:
    names = [observer.name for observer in OBSERVERS]
    assert [one.name for one in declaration.observers()] == names
    relations = [one.name for one in declaration.observers() if one.sort == "relation"]
    assert relations == list(declared())
    assert DATA["block_size"] == BLOCK_SIZE


def test_every_subsystem_has_operators_of_both_kinds_of_sight() -> None:
    named = Counter(operator.subsystem for operator in operators().values())
    assert set(named) == {
        "lifecycle", "allocator", "prefix_cache", "sampling", "sampler", "batch", "model",
        "host_kernels", "triton_kernels",
    }  # fmt: skip
    sight = Counter(operator.black_box for operator in operators().values())
    assert sight["visible"] and sight["invisible"]


def test_every_operator_says_its_cause_and_its_reason() -> None:
    for operator in operators().values():
        assert operator.cause.endswith(".") and operator.reason.endswith("."), operator.id
        assert operator.source, operator.id


def test_every_fault_is_counted_where_it_runs_and_where_it_is_read() -> None:
    for operator in operators().values():
        faults = "".join(edit.new for edit in operator.edits)
        every = faults + "".join(edit.new for edit in operator.live)
        assert "sentinel.ran(" in every or "sentinel.inject(" in every, operator.id
        assert any(f"sentinel.{name}(" in every for name in ("inject", "live", "read")), operator.id
