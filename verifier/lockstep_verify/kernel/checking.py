"""Checks the declarations of an export one after another."""

import gc
import sys
import threading
from collections.abc import Callable, Iterable
from typing import NamedTuple

from lockstep_verify import limits, spec
from lockstep_verify.kernel.acceleration import Acceleration
from lockstep_verify.kernel.declarations import Constant, Export, Group, names_of
from lockstep_verify.kernel.environment import Environment, Known
from lockstep_verify.kernel.export_declarations import read
from lockstep_verify.kernel.reasons import KernelRefusal, refuse
from lockstep_verify.kernel.statement_digests import statements

AXIOMS: dict[str, str] = spec.load("lean-kernel.json")["axioms"]
"""Axioms that are allowed, each with the digest of what it must state (EXP-17)."""

Tell = Callable[[Constant | Group, int], None]


class Checked(NamedTuple):
    """What was checked.

    Attributes:
        declarations: how many.
        theorems: the names of those whose proofs were checked.
        assumed: the names of theorems that were taken on Lean's word, as asked.
    """

    declarations: int
    theorems: tuple[str, ...]
    assumed: tuple[str, ...]


def check(
    data: bytes, assumed: Iterable[str] = (), tell: Tell = lambda declaration, steps: None
) -> Checked:
    """Check an export.

    Args:
        data: the export.
        assumed: names of theorems whose proofs are not looked at.
        tell: called with each declaration that has been checked and the steps that it took.

    Raises:
        Refusal: EXPORT_MALFORMED, LIMIT_SIZE or LIMIT_DEPTH of the reader; KERNEL_REFUSED with
            its reason where a declaration does not check.
    """
    result: list[Checked] = []
    fault: list[BaseException] = []

    def run() -> None:
        try:
            result.append(_Run(read(data), frozenset(assumed)).run(tell))
        except BaseException as raised:
            fault.append(raised)

    # Nothing here is cyclic, and there is much of it: collecting costs half of the time.
    collecting = gc.isenabled()
    gc.disable()
    # Terms are walked by recursion: a thread of its own has room for deep ones.
    frames, stack = sys.getrecursionlimit(), threading.stack_size(limits.KERNEL_STACK_BYTES)
    sys.setrecursionlimit(limits.KERNEL_FRAMES)
    try:
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    finally:
        sys.setrecursionlimit(frames)
        threading.stack_size(stack)
        if collecting:
            gc.enable()
    if fault:
        raise fault[0]
    return result[0]


class _Run:
    def __init__(self, export: Export, assumed: frozenset[str]) -> None:
        self.declarations = export.declarations
        self.assumed = assumed
        self.digests = statements(export)
        self.kernel = Acceleration(Environment(export.terms), self.digests)
        self.theorems: list[str] = []
        self.taken: list[str] = []

    def run(self, tell: Tell) -> Checked:
        terms = self.kernel.terms
        for declaration in self.declarations:
            name, self.kernel.steps = names_of(declaration)[0], 0
            mark = terms.mark()
            try:
                if isinstance(declaration, Group):
                    self.kernel.group(declaration)
                else:
                    self._constant(declaration)
                self.kernel.accelerate(declaration)
            except KernelRefusal as refusal:
                detail = f"{name}: {refusal.detail}"
                raise KernelRefusal(refusal.reason, detail, declaration.line) from None
            except RecursionError:
                raise KernelRefusal("TOO_DEEP", str(name), declaration.line) from None
            if isinstance(declaration, Constant) and terms.mark() - mark > limits.KERNEL_TERMS:
                # What was made on the way to this answer is of no use to others.
                self.kernel.forget()
                terms.drop(mark)
            tell(declaration, self.kernel.steps)
        return Checked(len(self.declarations), tuple(self.theorems), tuple(self.taken))

    def _constant(self, one: Constant) -> None:
        kernel, text = self.kernel, str(one.name)
        if one.kind == "quot":
            refuse("QUOTIENT_NOT_SUPPORTED", str(one.detail))
        level = kernel.sort_of(one.type, True)
        if one.kind == "thm" and not kernel.levels.is_zero(level):
            refuse("THEOREM_NOT_A_PROP", "its type lives in another sort")
        if one.kind == "axiom" and AXIOMS.get(text) != self.digests[one.name]:
            refuse("AXIOM_NOT_ALLOWED", text)
        if one.kind == "thm" and text in self.assumed:
            self.taken.append(text)
            # What was not checked must not compute.
            one = one._replace(value=None)
        elif one.value is not None:
            if not kernel.equal(kernel.check(one.value), one.type):
                refuse("VALUE_TYPE", "its value has another type than is declared")
            if one.kind == "thm":
                self.theorems.append(text)
        kernel.environment.constants[one.name] = Known(one.universes, one.type, one)
