"""What built modules may declare, read from their objects: no text can hide a declaration there.

1. Axioms are those of the foundation, by name; no other module declares one. There is no quotient.
2. Outside the foundation nothing is unsafe, opaque or partial.
3. What the kernel computes with by name is specified by a registered theorem that states, by its
   digest, what spec/lean-kernel.json pins [EXP-26]; what has no such theorem there is not defined
   [EXP-27].
4. The foundation means what it meant when its digest was pinned [EXP-28].
"""

from typing import Any

from lockstep import spec
from lockstep.errors import LockstepError
from lockstep.lean import declarations
from lockstep.lean.axioms import Axioms
from lockstep.lean.environment import FOUNDATION, Environment
from lockstep.lean.lemmas import is_registered
from lockstep.lean.statement_digest import StatementDigests, digest, name_digest, number
from lockstep.lean.terms import Name, show

PINNED: dict[str, Any] = spec.load("lean-kernel.json")
AXIOMS = frozenset({"propext", "sorryAx", "lcErased", "lcAny", "lcVoid"})
"""Axioms of the foundation; lean/README.md says what each is for."""
ACCELERATED: dict[str, str | None] = {
    **{
        f"Nat.{function}": theorem
        for theorem, pinned in PINNED["specifications"].items()
        for function in pinned["functions"]
    },
    **{f"Nat.{function}": None for function in PINNED["unspecified"]},
    "Nat": "nat_spec",
}
"""What the kernel of Lean 4.35 knows by name alone: the operations in `reduce_nat` of its
`type_checker.cpp`, and the type of number literals. Each with the theorem below `Nat` that
specifies it; those without one may not be defined."""
COMPILED = frozenset({"Lean.reduceBool", "Lean.reduceNat"})
"""Names under which that kernel runs compiled code."""
_FOUNDATION = 0x31


def check(environment: Environment) -> int:
    """Judge what an environment's modules declare, and give how many constants they have.

    Raises:
        LockstepError: LEAN_SOURCE_REFUSED; LEAN_FOUNDATION_CHANGED.
    """
    for module, data in environment.modules.items():
        for constant in data.constants.values():
            _declared(module, constant)
    for text, specification in ACCELERATED.items():
        if tuple(text.split(".")) in environment.constants:
            _specified(environment, text, specification)
    _founded(environment)
    return len(environment.constants)


def _declared(module: Name, constant: declarations.Constant) -> None:
    where, name = f"{show(module)}: {show(constant.name)}", show(constant.name)
    founding = module[: len(FOUNDATION)] == FOUNDATION
    if isinstance(constant, declarations.Axiom) and not (founding and name in AXIOMS):
        raise LockstepError("LEAN_SOURCE_REFUSED", where, "no axiom but the foundation's", "axiom")
    if isinstance(constant, declarations.Quotient):
        raise LockstepError("LEAN_SOURCE_REFUSED", where, "no quotient", constant.kind)
    # Lean makes a second, unsafe copy of a recursive function for its code generator. The kernel
    # lets nothing safe use it, as little as any other unsafe constant.
    copied = isinstance(constant, declarations.Definition) and constant.name[-1] == "_unsafe_rec"
    opaque = isinstance(constant, declarations.Opaque) or declarations.is_unsafe(constant)
    if opaque and not founding and not copied:
        raise LockstepError("LEAN_SOURCE_REFUSED", where, "a plain definition", "opaque or unsafe")
    if name in COMPILED:
        hint = "The kernel would run compiled code under this name; choose another."
        raise LockstepError("LEAN_SOURCE_REFUSED", where, hint=hint)


def _specified(environment: Environment, text: str, specification: str | None) -> None:
    """Require the pinned statement of a registered theorem, without axioms."""
    if specification is None:
        hint = "The kernel computes with this by its name, and nothing specifies it; rename it."
        raise LockstepError("LEAN_SOURCE_REFUSED", text, "no such constant", hint=hint)
    name: Name = ("Nat", specification)
    wanted = PINNED["specifications"][specification]["statement_sha256"]
    found: object = "none"
    declaring = [m for m, data in environment.modules.items() if name in data.constants]
    if declaring and is_registered(name, environment, declaring[0]):
        found = StatementDigests(environment).statement(name)
        if axioms := Axioms(environment).of(name):
            found = f"one that rests on {axioms}"
    if found != wanted:
        raise LockstepError(
            "LEAN_SOURCE_REFUSED",
            text,
            f"a registered theorem {show(name)} with the statement {wanted}, without axioms",
            found,
            "The kernel computes with this by its name; prove in Lockstep.Accelerated that the "
            "definition is what the kernel takes it for. The statement is pinned in "
            "spec/lean-kernel.json#/specifications, definitions within it included.",
        )


def foundation(environment: Environment) -> str:
    """Give the digest of what the foundation's constants mean, in hex [EXP-28]."""
    digests = StatementDigests(environment)
    found = sorted(
        name_digest(name) + digests.constant(name)
        for module, data in environment.modules.items()
        for name in data.ranged & data.constants.keys()
        if module[: len(FOUNDATION)] == FOUNDATION
        and not declarations.is_unsafe(data.constants[name])
    )
    return digest(_FOUNDATION, number(len(found)), *found).hex()


def _founded(environment: Environment) -> None:
    found, wanted = foundation(environment), PINNED["foundation_sha256"]
    if found != wanted:
        raise LockstepError("LEAN_FOUNDATION_CHANGED", show(FOUNDATION), wanted, found)
