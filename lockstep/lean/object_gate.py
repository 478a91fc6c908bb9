"""What built modules may declare, read from their objects: no text can hide a declaration there.

1. Axioms are those of the foundation, by name; no other module declares one.
2. Outside the foundation nothing is unsafe, opaque or partial.
3. What the kernel computes with by name has a specification, proved without axioms.
"""

from lockstep.errors import LockstepError
from lockstep.lean import declarations
from lockstep.lean.axioms import Axioms
from lockstep.lean.environment import FOUNDATION, Environment
from lockstep.lean.statement_digest import used_in
from lockstep.lean.terms import Name, show

AXIOMS = frozenset({"propext", "sorryAx", "lcErased", "lcAny", "lcVoid"})
"""Axioms of the foundation; lean/README.md says what each is for."""
ACCELERATED = {
    **{f"Nat.{name}": f"Nat.{name}_spec" for name in ("add", "mul", "sub", "beq", "ble")},
    **{f"Nat.{name}": "Nat.div_mod_spec" for name in ("div", "mod")},
    **{f"Nat.{name}": f"Nat.{name}_spec" for name in ("gcd", "pow", "land", "lor", "xor")},
    **{f"Nat.{name}": f"Nat.{name}_spec" for name in ("shiftLeft", "shiftRight")},
    "Nat": "Nat.nat_spec",
}
"""What the kernel of Lean 4.35 knows by name alone, each with the theorem that specifies it: the
operations in `reduce_nat` of its `type_checker.cpp`, and the type of number literals."""
COMPILED = frozenset({"Lean.reduceBool", "Lean.reduceNat"})
"""Names under which that kernel runs compiled code."""


def check(environment: Environment) -> int:
    """Judge what an environment's modules declare, and give how many constants they have.

    Raises:
        LockstepError: LEAN_SOURCE_REFUSED.
    """
    for module, data in environment.modules.items():
        for constant in data.constants.values():
            _declared(module, constant)
    axioms = Axioms(environment)
    for name, specification in ACCELERATED.items():
        if _name(name) in environment.constants:
            _specified(environment, axioms, _name(name), _name(specification))
    return len(environment.constants)


def _declared(module: Name, constant: declarations.Constant) -> None:
    where, name = f"{show(module)}: {show(constant.name)}", show(constant.name)
    founding = module[: len(FOUNDATION)] == FOUNDATION
    if isinstance(constant, declarations.Axiom) and not (founding and name in AXIOMS):
        raise LockstepError("LEAN_SOURCE_REFUSED", where, "no axiom but the foundation's", "axiom")
    # Lean makes a second, unsafe copy of a recursive function for its code generator. The kernel
    # lets nothing safe use it, as little as any other unsafe constant.
    copied = isinstance(constant, declarations.Definition) and constant.name[-1] == "_unsafe_rec"
    opaque = isinstance(constant, declarations.Opaque) or declarations.is_unsafe(constant)
    if opaque and not founding and not copied:
        raise LockstepError("LEAN_SOURCE_REFUSED", where, "a plain definition", "opaque or unsafe")
    if name in COMPILED:
        hint = "The kernel would run compiled code under this name; choose another."
        raise LockstepError("LEAN_SOURCE_REFUSED", where, hint=hint)


def _specified(environment: Environment, axioms: Axioms, name: Name, specification: Name) -> None:
    """Require a theorem of the given name, without axioms, whose statement names the operation."""
    theorem = environment.constants.get(specification)
    if (
        not isinstance(theorem, declarations.Theorem)
        or name not in used_in(environment, [theorem.type])
        or axioms.of(specification)
    ):
        raise LockstepError(
            "LEAN_SOURCE_REFUSED",
            show(name),
            f"a theorem {show(specification)} about it, without axioms",
            "none",
            "The kernel computes with this by its name; prove in Lockstep.Accelerated that the "
            "definition is what the kernel takes it for.",
        )


def _name(text: str) -> Name:
    return tuple(text.split("."))
