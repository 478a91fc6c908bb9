"""Natural literals, and arithmetic on them where it is known to be right.

A literal stands for a constructor of `Nat` at a literal. The functions that `spec/lean-kernel.json`
lists compute on literals at once only when the environment's own definitions have been shown to
compute the same: by equations that hold by definition, or by theorems that were checked.
"""

from collections.abc import Callable

from lockstep_verify import limits
from lockstep_verify.kernel.environment import Environment
from lockstep_verify.kernel.reasons import refuse
from lockstep_verify.kernel.terms import APP, CONST, NAT, Name, Term

Numbers = list[int]

COMPUTE: dict[str, Callable[[int, int], int | bool]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: max(a - b, 0),
    "mul": lambda a, b: a * b,
    "pow": lambda a, b: a**b,
    "div": lambda a, b: a // b if b else 0,
    "mod": lambda a, b: a % b if b else a,
    "beq": lambda a, b: a == b,
    "ble": lambda a, b: a <= b,
}
"""What the functions of this name below `Nat` compute."""


class Naturals:
    """Literals and arithmetic over an environment.

    Attributes:
        accepted: whether `Nat` has been declared, and is what literals stand for.
    """

    def __init__(self, environment: Environment) -> None:
        self.environment = environment
        terms = self.terms = environment.terms
        name = terms.name
        self.nat_name = name("Nat")
        self.zero_name, self.succ_name = name("Nat", "zero"), name("Nat", "succ")
        self.accepted = False
        self.type = terms.const(self.nat_name, ())
        self.zero, self.succ = terms.const(self.zero_name, ()), terms.const(self.succ_name, ())
        self.bool_name = name("Bool")
        self.bool = terms.const(self.bool_name, ())
        self.false = terms.const(name("Bool", "false"), ())
        self.true = terms.const(name("Bool", "true"), ())

    def constructor(self, literal: Term) -> Term:
        """Give the constructor that a literal stands for, at a literal."""
        if literal.a == 0:
            return self.zero
        return self.terms.app(self.succ, self.terms.nat(literal.a - 1))

    def number(self, term: Term) -> int | None:
        """Give the number that a reduced term stands for at once."""
        if term.kind == NAT:
            number: int = term.a
            return number
        return 0 if term is self.zero else None

    def predecessor(self, term: Term) -> Term | None:
        """Give the term whose successor a term is, if it is written as one."""
        if term.kind == NAT:
            return self.terms.nat(term.a - 1) if term.a else None
        written = self.accepted and term.kind == APP and term.a is self.succ
        return term.b if written else None

    def is_zero(self, term: Term) -> bool:
        """Say whether a term is written as zero."""
        return term is self.zero or (term.kind == NAT and term.a == 0)

    def call(self, term: Term) -> tuple[str, list[Term]] | None:
        """Give function and arguments of an application that can be computed on literals."""
        head = term.a
        if head is self.succ:
            return ("succ", [term.b]) if self.accepted else None
        if head.kind != APP or head.a.kind != CONST:
            return None
        name = self.environment.accelerated.get(head.a.a)
        return None if name is None else (name, [head.b, term.b])

    def compute(self, name: str, numbers: Numbers) -> Term | None:
        """Compute a function on numbers; None where the result would be too large."""
        if name == "succ":
            return self.terms.nat(numbers[0] + 1)
        a, b = numbers
        bits = a.bit_length() * b if name == "pow" else a.bit_length() + b.bit_length()
        if bits > limits.KERNEL_NUMBER_BITS:
            refuse("TOO_MANY_STEPS", f"a number of more than {limits.KERNEL_NUMBER_BITS} bits")
        result = COMPUTE[name](a, b)
        if isinstance(result, bool):
            return self.true if result else self.false
        return self.terms.nat(result)

    def function(self, name: str) -> Name:
        """Give the name of the function below `Nat`."""
        return self.terms.child(self.nat_name, name)
