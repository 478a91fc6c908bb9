"""Exports that must be refused, each by the reason it is listed under."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .assembler import Assembler, sample

Case = Callable[[], Assembler]
CASES: dict[str, tuple[str, Case]] = {}
"""By name: the reason, and what makes the export."""


def case(reason: str) -> Callable[[Case], Case]:
    def register(make: Case) -> Case:
        CASES[make.__name__] = (reason, make)
        return make

    return register


# Terms.


@case("VALUE_TYPE")
def proof_of_another_statement() -> Assembler:
    a = sample()
    nat = a.const("Nat")
    a.theorem("Bad", a.equals(a.succ(0), nat, a.nat(0), a.nat(1)), a.refl(a.succ(0), nat, a.nat(0)))
    return a


@case("VALUE_TYPE")
def wrong_universe() -> Assembler:
    a = sample()
    a.define("Bad", a.type, a.type)
    return a


@case("VALUE_TYPE")
def type_in_type_by_imax() -> Assembler:
    a = sample()
    u = a.param("u")
    over = a.sort(a.imax(a.succ(u), u))
    a.define("Bad", over, a.pi(a.sort(u), a.sort(u)), "u")
    return a


@case("VALUE_TYPE")
def literals_off_by_one() -> Assembler:
    a = sample()
    nat = a.const("Nat")
    sum_ = a.app(a.const("Nat.add"), a.nat(1 << 70), a.nat(1))
    equation = a.equals(a.succ(0), nat, sum_, a.nat(1 << 70))
    a.theorem("Bad", equation, a.refl(a.succ(0), nat, sum_))
    return a


@case("VALUE_TYPE")
def truth_values_confused() -> Assembler:
    a = sample()
    truth = a.const("Bool")
    equation = a.equals(a.succ(0), truth, a.const("Bool.true"), a.const("Bool.false"))
    a.theorem("Bad", equation, a.refl(a.succ(0), truth, a.const("Bool.true")))
    return a


@case("VALUE_TYPE")
def numbers_taken_for_proofs() -> Assembler:
    a = sample()
    nat = a.const("Nat")
    equation = a.pi(nat, nat, a.equals(a.succ(0), nat, a.bvar(1), a.bvar(0)))
    a.theorem("Bad", equation, a.lam(nat, nat, a.refl(a.succ(0), nat, a.bvar(1))))
    return a


@case("VALUE_TYPE")
def functions_by_eta_too_many() -> Assembler:
    a = sample()
    nat = a.const("Nat")
    step = a.pi(nat, nat)
    twice = a.lam(nat, a.app(a.bvar(1), a.app(a.bvar(1), a.bvar(0))))
    equation = a.pi(step, a.equals(a.succ(0), step, twice, a.bvar(0)))
    a.theorem("Bad", equation, a.lam(step, a.refl(a.succ(0), step, twice)))
    return a


@case("VALUE_TYPE")
def proof_computed_where_index_differs() -> Assembler:
    a = sample()
    one, nat = a.succ(0), a.const("Nat")
    hypothesis = a.equals(one, nat, a.nat(0), a.nat(1))
    motive = a.lam(nat, a.equals(one, nat, a.nat(0), a.bvar(0)), nat)
    moved = a.app(a.const("Eq.rec", one, one), nat, a.nat(0), motive, a.nat(7), a.nat(1), a.bvar(0))
    equation = a.pi(hypothesis, a.equals(one, nat, moved, a.nat(7)))
    a.theorem("Bad", equation, a.lam(hypothesis, a.refl(one, nat, a.nat(7))))
    return a


@case("UNIVERSE_COUNT")
def constant_without_its_universe() -> Assembler:
    a = sample()
    a.define("Bad", a.type, a.app(a.const("Eq"), a.const("Nat")))
    return a


@case("UNIVERSE_COUNT")
def constant_with_a_universe_more() -> Assembler:
    a = sample()
    a.define("Bad", a.const("Nat", 0), a.nat(0))
    return a


@case("LOOSE_BOUND_VARIABLE")
def loose_variable_in_a_type() -> Assembler:
    a = sample()
    a.theorem("Bad", a.bvar(0), a.nat(0))
    return a


@case("LOOSE_BOUND_VARIABLE")
def loose_variable_in_a_value() -> Assembler:
    a = sample()
    a.define("Bad", a.pi(a.const("Nat"), a.const("Nat")), a.lam(a.const("Nat"), a.bvar(1)))
    return a


@case("NOT_A_TYPE")
def number_as_a_type() -> Assembler:
    a = sample()
    a.define("Bad", a.nat(3), a.nat(0))
    return a


@case("NOT_A_TYPE")
def number_as_a_binders_type() -> Assembler:
    a = sample()
    a.define("Bad", a.pi(a.const("Nat"), a.const("Nat")), a.lam(a.nat(3), a.nat(0)))
    return a


@case("NOT_A_FUNCTION")
def number_as_a_function() -> Assembler:
    a = sample()
    a.define("Bad", a.const("Nat"), a.app(a.nat(0), a.nat(0)))
    return a


@case("ARGUMENT_TYPE")
def argument_of_another_type() -> Assembler:
    a = sample()
    a.define("Bad", a.const("Nat"), a.app(a.const("Nat.succ"), a.const("Bool.true")))
    return a


@case("ARGUMENT_TYPE")
def wrong_motive() -> Assembler:
    a = sample()
    motive = a.lam(a.const("Nat"), a.const("Bool"))
    step = a.lam(a.const("Nat"), a.const("Nat"), a.bvar(0))
    recursor = a.app(a.const("Nat.rec", a.succ(0)), motive, a.nat(0), step, a.nat(2))
    a.define("Bad", a.const("Bool"), recursor)
    return a


@case("ARGUMENT_TYPE")
def large_elimination_of_a_disjunction() -> Assembler:
    a = sample()
    true = a.const("True")
    either = a.app(a.const("Or"), true, true)
    motive = a.lam(either, a.const("Nat"))
    one, other = a.lam(true, a.nat(0)), a.lam(true, a.nat(1))
    proof = a.app(a.const("Or.inl"), true, true, a.const("True.intro"))
    a.define("Bad", a.const("Nat"), a.app(a.const("Or.rec"), true, true, motive, one, other, proof))
    return a


@case("LET_TYPE")
def ill_typed_let() -> Assembler:
    a = sample()
    a.define("Bad", a.const("Nat"), a.let(a.const("Nat"), a.const("Bool.true"), a.nat(0)))
    return a


def _pair(a: Assembler) -> int:
    nat = a.const("Nat")
    return a.app(a.const("Prod.mk", 0, 0), nat, nat, a.nat(1), a.nat(2))


@case("PROJECTION")
def projection_index_too_large() -> Assembler:
    a = sample()
    a.define("Bad", a.const("Nat"), a.proj("Prod", 2, _pair(a)))
    return a


@case("PROJECTION")
def projection_of_another_type() -> Assembler:
    a = sample()
    a.define("Bad", a.const("Nat"), a.proj("Subtype", 0, _pair(a)))
    return a


@case("PROJECTION")
def projection_of_two_constructors() -> Assembler:
    a = sample()
    a.define("Bad", a.const("Nat"), a.proj("Nat", 0, a.nat(1)))
    return a


@case("PROJECTION")
def projection_of_the_type_being_declared() -> Assembler:
    a = sample()
    own = a.const("Bad")
    inner = a.equals(0, a.const("True"), a.proj("Bad", 0, a.bvar(0)), a.const("True.intro"))
    return _group_of_one(a, a.type, [("mk", a.pi(own, inner, own), 2)])


@case("VALUE_TYPE")
def projection_of_the_other_field() -> Assembler:
    a = sample()
    nat = a.const("Nat")
    equation = a.equals(a.succ(0), nat, a.proj("Prod", 1, _pair(a)), a.nat(1))
    a.theorem("Bad", equation, a.refl(a.succ(0), nat, a.nat(1)))
    return a


def _exists(a: Assembler, sort: int) -> tuple[int, int]:
    """A proposition that holds a number, of a sort that is or equals Prop; and its motive's use."""
    nat, own = a.const("Nat"), a.const("Bad")
    motive = a.pi(own, a.sort(0))
    minor = a.pi(nat, a.app(a.bvar(1), a.app(a.const("Bad.mk"), a.bvar(0))))
    type_ = a.pi(motive, minor, own, a.app(a.bvar(2), a.bvar(0)))
    rule = a.lam(motive, minor, nat, a.app(a.bvar(1), a.bvar(0)))
    a.inductive("Bad", sort, [("mk", a.pi(nat, own), 1)], (type_, [rule]), level=())
    return nat, own


@case("PROJECTION_FROM_PROP")
def projection_out_of_a_proof() -> Assembler:
    a = sample()
    nat, own = _exists(a, a.sort(0))
    a.define("Worse", a.pi(own, nat), a.lam(own, a.proj("Bad", 0, a.bvar(0))))
    return a


@case("PROJECTION_FROM_PROP")
def projection_out_of_a_proof_in_disguise() -> Assembler:
    a = sample()
    nat, own = _exists(a, a.sort(a.imax(a.succ(0), 0)))
    a.define("Worse", a.pi(own, nat), a.lam(own, a.proj("Bad", 0, a.bvar(0))))
    return a


@case("THEOREM_NOT_A_PROP")
def theorem_that_is_data() -> Assembler:
    a = sample()
    a.theorem("Bad", a.const("Nat"), a.nat(0))
    return a


@case("AXIOM_NOT_ALLOWED")
def axiom_of_its_own() -> Assembler:
    a = sample()
    a.axiom("Bad", a.pi(a.sort(0), a.bvar(0)))
    return a


@case("AXIOM_NOT_ALLOWED")
def allowed_axiom_that_states_more() -> Assembler:
    a = sample("propext")
    a.axiom("propext", a.pi(a.sort(0), a.bvar(0)))
    return a


@case("QUOTIENT_NOT_SUPPORTED")
def quotient() -> Assembler:
    a = sample()
    common = {"name": a.name("Quot"), "levelParams": [], "type": a.type, "kind": "type"}
    a.lines.append({"quot": common})
    return a


@case("STRING_NOT_SUPPORTED")
def string_literal() -> Assembler:
    a = sample()
    a.define("String.ofList", a.const("Nat"), a.nat(0))
    a.define("Char.ofNat", a.const("Nat"), a.nat(0))
    a.define("Bad", a.const("Nat"), a.string("x"))
    return a


# Natural numbers.


def _unit_like(a: Assembler, name: str, constructor: str, type_: int) -> None:
    own = a.const(name)
    motive = a.pi(own, a.sort(a.param("elim")))
    minor = a.app(a.bvar(0), a.const(f"{name}.{constructor}"))
    recursor = a.pi(motive, minor, own, a.app(a.bvar(2), a.bvar(0)))
    a.inductive(name, type_, [(constructor, own, 0)], (recursor, [a.lam(motive, minor, a.bvar(0))]))


def _naturals(a: Assembler) -> int:
    nat, sort = a.const("Nat"), a.sort(a.param("elim"))
    motive = a.pi(nat, sort)
    at = a.app(a.bvar(0), a.const("Nat.zero"))
    after = a.app(a.bvar(3), a.app(a.const("Nat.succ"), a.bvar(1)))
    step = a.pi(nat, a.app(a.bvar(2), a.bvar(0)), after)
    type_ = a.pi(motive, at, step, nat, a.app(a.bvar(3), a.bvar(0)))
    again = a.app(a.const("Nat.rec", a.param("elim")), a.bvar(3), a.bvar(2), a.bvar(1), a.bvar(0))
    rules = [
        a.lam(motive, at, step, a.bvar(1)),
        a.lam(motive, at, step, nat, a.app(a.bvar(1), a.bvar(0), again)),
    ]
    constructors = [("zero", nat, 0), ("succ", a.pi(nat, nat), 1)]
    a.inductive("Nat", a.type, constructors, (type_, rules), recursive=True)
    return nat


@case("NATURALS_REDEFINED")
def naturals_with_zero_alone() -> Assembler:
    a = Assembler()
    _unit_like(a, "Nat", "zero", a.type)
    return a


@case("NATURALS_REDEFINED")
def truth_with_one_value() -> Assembler:
    a = Assembler()
    _unit_like(a, "Bool", "true", a.type)
    return a


@case("NATURALS_REDEFINED")
def literal_where_naturals_are_a_definition() -> Assembler:
    a = Assembler()
    a.define("Nat", a.type, a.sort(0))
    a.define("Bad", a.const("Nat"), a.nat(0))
    return a


@case("ACCELERATION_NOT_JUSTIFIED")
def addition_that_ignores_a_summand() -> Assembler:
    a = sample("Nat.add")
    nat = a.const("Nat")
    a.define("Nat.add", a.pi(nat, nat, nat), a.lam(nat, nat, a.bvar(1)))
    return a


@case("ACCELERATION_NOT_JUSTIFIED")
def comparison_that_always_holds() -> Assembler:
    a = sample()
    nat, truth = a.const("Nat"), a.const("Bool")
    a.define("Nat.ble", a.pi(nat, nat, truth), a.lam(nat, nat, a.const("Bool.true")))
    return a


@case("ACCELERATION_NOT_JUSTIFIED")
def subtraction_without_a_predecessor() -> Assembler:
    a = sample()
    nat = a.const("Nat")
    a.define("Nat.sub", a.pi(nat, nat, nat), a.lam(nat, nat, a.bvar(1)))
    return a


@case("ACCELERATION_NOT_JUSTIFIED")
def comparison_without_truth_values() -> Assembler:
    a = sample("Bool")
    nat = _naturals(a)
    a.define("Nat.beq", a.pi(nat, nat, nat), a.lam(nat, nat, a.bvar(1)))
    return a


@case("ACCELERATION_NOT_JUSTIFIED")
def specification_of_division_that_says_nothing() -> Assembler:
    a = sample()
    a.theorem("Nat.div_mod_spec", a.const("True"), a.const("True.intro"))
    return a


# Inductive types.


def _group_of_one(
    a: Assembler,
    type_: int,
    constructors: list[tuple[str, int, int]],
    universes: tuple[str, ...] = (),
    **more: Any,
) -> Assembler:
    """A type that is refused before its recursor is looked at."""
    a.inductive("Bad", type_, constructors, (a.sort(0), [a.sort(0)] * 4), *universes, **more)
    return a


@case("NOT_POSITIVE")
def type_to_the_left_of_an_arrow() -> Assembler:
    a = sample()
    own = a.const("Bad")
    return _group_of_one(a, a.type, [("mk", a.pi(a.pi(own, a.const("Nat")), own), 1)])


@case("NOT_POSITIVE")
def type_within_a_pair() -> Assembler:
    a = sample()
    own = a.const("Bad")
    pair = a.app(a.const("Prod", 0, 0), own, own)
    return _group_of_one(a, a.type, [("mk", a.pi(pair, own), 1)])


@case("NESTED_NOT_SUPPORTED")
def nested_type() -> Assembler:
    a = sample()
    return _group_of_one(a, a.type, [], nested=1)


@case("MUTUAL_NOT_SUPPORTED")
def two_types_together() -> Assembler:
    a = sample()
    _group_of_one(a, a.type, [])
    group = a.lines[-1]["inductive"]
    other = {**group["types"][0], "name": a.name("Other")}
    both = [a.name("Bad"), a.name("Other")]
    group["types"].append(other)
    for one in group["types"]:
        one["all"] = both
    recursor = {**group["recs"][0], "name": a.name("Other.rec")}
    group["recs"].append(recursor)
    for one in group["recs"]:
        one["all"] = both
    a.lines.append(a.lines.pop(a.lines.index({"inductive": group})))
    return a


@case("INDUCTIVE_TYPE")
def more_parameters_than_binders() -> Assembler:
    a = sample()
    return _group_of_one(a, a.type, [], params=1)


@case("INDUCTIVE_TYPE")
def type_that_is_no_sort() -> Assembler:
    a = sample()
    return _group_of_one(a, a.const("Nat"), [])


@case("CONSTRUCTOR_PARAMETERS")
def constructor_of_another_parameter() -> Assembler:
    a = sample()
    own = a.app(a.const("Bad"), a.const("Nat"))
    constructors = [("mk", a.pi(a.const("Nat"), own), 0)]
    return _group_of_one(a, a.pi(a.type, a.type), constructors, params=1)


@case("ARGUMENT_TYPE")
def constructor_at_an_ill_typed_parameter() -> Assembler:
    a = sample()
    constructors = [("mk", a.pi(a.type, a.app(a.const("Bad"), a.nat(0))), 0)]
    return _group_of_one(a, a.pi(a.type, a.type), constructors, params=1)


@case("CONSTRUCTOR_RESULT")
def constructor_of_another_type() -> Assembler:
    a = sample()
    return _group_of_one(a, a.type, [("mk", a.const("Nat"), 0)])


@case("CONSTRUCTOR_RESULT")
def constructor_at_another_parameter() -> Assembler:
    a = sample()
    constructors = [("mk", a.pi(a.type, a.app(a.const("Bad"), a.const("Nat"))), 0)]
    return _group_of_one(a, a.pi(a.type, a.type), constructors, params=1)


@case("CONSTRUCTOR_UNIVERSE")
def universe_too_small() -> Assembler:
    a = sample()
    return _group_of_one(a, a.type, [("mk", a.pi(a.type, a.const("Bad")), 1)])


@case("CONSTRUCTOR_UNIVERSE")
def universe_too_small_for_some_parameter() -> Assembler:
    a = sample()
    u = a.param("u")
    own = a.const("Bad", u)
    constructors = [("mk", a.pi(a.const("Nat"), own), 1)]
    return _group_of_one(a, a.sort(u), constructors, ("u",))


def _changed(text: str, part: str, place: int, **members: Any) -> Assembler:
    a = sample()
    a.find(text)[part][place].update(members)
    return a


@case("SIZES")
def fewer_fields_than_there_are() -> Assembler:
    return _changed("Prod", "ctors", 0, numFields=1)


@case("SIZES")
def indices_taken_for_none() -> Assembler:
    return _changed("Eq", "types", 0, numIndices=0)


@case("SIZES")
def recursion_denied() -> Assembler:
    return _changed("Nat", "types", 0, isRec=False)


@case("SIZES")
def recursion_claimed() -> Assembler:
    return _changed("Prod", "types", 0, isRec=True)


@case("SIZES")
def reflexive_claimed() -> Assembler:
    return _changed("Nat", "types", 0, isReflexive=True)


@case("SIZES")
def minor_premises_miscounted() -> Assembler:
    return _changed("Nat", "recs", 0, numMinors=1)


@case("LARGE_ELIMINATION")
def disjunction_eliminated_into_data() -> Assembler:
    a = sample()
    a.find("Or")["recs"][0]["levelParams"] = [a.name("PUnit")]
    return a


@case("LARGE_ELIMINATION")
def recursor_into_proofs_alone() -> Assembler:
    a = sample()
    group = a.find("Nat")
    group["recs"][0]["levelParams"] = []
    group["recs"][0]["type"] = group["types"][0]["type"]
    for rule in group["recs"][0]["rules"]:
        rule["rhs"] = group["types"][0]["type"]
    return a


@case("RECURSOR_TYPE")
def recursor_of_another_type() -> Assembler:
    a = sample()
    group = a.find("Nat")
    group["recs"][0]["type"] = group["types"][0]["type"]
    return a


@case("RECURSOR_TYPE")
def constructors_swapped() -> Assembler:
    a = sample()
    group = a.find("Bool")
    group["ctors"].reverse()
    group["types"][0]["ctors"].reverse()
    for place, one in enumerate(group["ctors"]):
        one["cidx"] = place
    return a


@case("RECURSOR_RULE")
def rules_swapped() -> Assembler:
    a = sample()
    group = a.find("Bool")
    first, second = group["recs"][0]["rules"]
    first["rhs"], second["rhs"] = second["rhs"], first["rhs"]
    return a


@case("RECURSOR_RULE")
def rule_of_another_constructor() -> Assembler:
    a = sample()
    a.find("Nat")["recs"][0]["rules"].reverse()
    return a


@case("RECURSOR_RULE")
def rule_left_out() -> Assembler:
    a = sample()
    a.find("Nat")["recs"][0]["rules"].pop()
    return a


@case("RECURSOR_RULE")
def rule_of_fewer_fields() -> Assembler:
    a = sample()
    a.find("Nat")["recs"][0]["rules"][1]["nfields"] = 0
    return a


@case("K_FLAG")
def k_on_naturals() -> Assembler:
    return _changed("Nat", "recs", 0, k=True)


@case("K_FLAG")
def k_on_a_disjunction() -> Assembler:
    return _changed("Or", "recs", 0, k=True)


@case("K_FLAG")
def k_denied() -> Assembler:
    return _changed("Eq", "recs", 0, k=False)


# Bounds.


@case("LEVEL_TOO_COMPLEX")
def many_deciding_parameters() -> Assembler:
    a = sample()
    names = tuple(f"u{place}" for place in range(12))
    level = a.param(names[0])
    for name in names[1:]:
        level = a.imax(level, a.param(name))
    other = a.max(level, 0)
    a.define("Bad", a.sort(a.succ(other)), a.sort(level), *names)
    return a


@case("TOO_DEEP")
def very_deep_term() -> Assembler:
    a = sample()
    nat = a.const("Nat")
    term = a.app(a.const("Nat.add"), a.nat(1), a.nat(2))
    for _ in range(90_000):
        term = a.app(a.const("Nat.succ"), term)
    a.theorem("Bad", a.equals(a.succ(0), nat, term, term), a.refl(a.succ(0), nat, term))
    return a


@case("TOO_MANY_STEPS")
def number_too_large() -> Assembler:
    a = sample()
    nat = a.const("Nat")
    size = a.nat(1 << 60)
    for _ in range(24):
        size = a.app(a.const("Nat.mul"), size, size)
    a.theorem("Bad", a.equals(a.succ(0), nat, size, a.nat(0)), a.refl(a.succ(0), nat, a.nat(0)))
    return a
