"""Falsifications of what a certificate of the lemmas says; the mutant is signed by a trusted key.

The certificate that is mutated repeats the registered theorems and modules, with made-up sources:
no kernel ran for it, and it is thrown away. What refuses its mutants is what would refuse those of
a real one.
"""

from typing import Any

from lockstep import spec
from lockstep.certificate.statement import lean_subjects, statement
from lockstep.claims.lean import predicate, registered
from lockstep.falsify.content import Mutation, Statement
from lockstep.lean.observe import LeanObservations

_ZERO = "0" * 64
_NOBODY = dict.fromkeys(("name", "version", "python", "machine", "command"), "none")
_KERNEL = {"builder": "wheel", "version": "0.0.0", "commit": "0" * 40, "library_sha256": _ZERO}


def draft(issued_at: str) -> Statement:
    """Give a statement that says all that is registered of the lemmas, and nothing else."""
    seen = LeanObservations(
        kernel=_KERNEL,
        host="none",
        theorems=registered(),
        modules=dict.fromkeys(spec.load("lemmas.json")["modules"], _ZERO),
        kernel_accepted=None,
        gates_passed=None,
        official_toolchain_agrees=None,
        export=None,
    )
    folded: dict[str, Any] = predicate(seen, issued_at=issued_at, producer=_NOBODY)
    return statement("lean", lean_subjects(folded), folded)


def mutant(issued_at: str, mutate: Mutation) -> Statement:
    """Give that statement with one mutation."""
    made = draft(issued_at)
    mutate(made)
    return made


def axiom_added(statement: Statement) -> None:
    """Let the first theorem rest on an axiom that stands for a missing proof."""
    theorem = statement["predicate"]["theorems"][0]
    theorem["axioms"] = [*theorem["axioms"], "sorryAx"]


MUTATIONS: dict[str, Mutation] = {"lemma-with-an-extra-axiom": axiom_added}
"""Mutations of that statement, by the name of their falsification."""
