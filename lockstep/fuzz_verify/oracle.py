"""What a mutant's answer must be, from the classes of the fields that it changed.

- file bytes, or a value that its field does not admit: refused;
- derived: refused, unless the change is in a declaration and a second implementation agrees that
  the document is true of it;
- witnessed: refused where its bytes are supplied, as they are for every other mutant; as derived
  otherwise, in a hunt; as attested in the other kinds, which bind no files;
- what `not_run` adds to its beginning, and whether a run that left nothing was made: the signer's
  to say;
- attested: refused, or verified with the parent's verdict and counts (the payload's digest differs,
  since the payload does).

A refusal has a registered code other than INTERNAL, and comes within the limits of `process`.
"""

from lockstep import limits
from lockstep.errors import registry
from lockstep.fuzz_verify import second_opinion
from lockstep.fuzz_verify.mutants import BYTES, SHAPE, Mutant
from lockstep.fuzz_verify.process import Answer

OPEN_LIST = "/not_run"
"""Whoever signs may add to it; the verifier derives how it begins."""
REDECLARED = "REDECLARED"
"""Shown in place of OK for a mutant that says the same in another way."""


def supplies(mutant: Mutant) -> bool:
    """Decide whether the bytes that witnessed fields bind are supplied with a mutant."""
    return "witnessed" in mutant.changed and mutant.number % 2 == 0


def judge(
    mutant: Mutant, answer: Answer, parent: Answer, kind: str = "hunt", filed: bool = True
) -> tuple[str, str | None]:
    """Give the outcome to count, and what is wrong with the answer if something is.

    Args:
        mutant: what was judged.
        answer: the verifier's.
        parent: its answer to the parent.
        kind: the certificate's kind.
        filed: whether the files that it binds are at hand.
    """
    if answer.seconds > limits.MUTANT_SECONDS:
        return (
            answer.code,
            f"took {answer.seconds:.2f} s, at most {limits.MUTANT_SECONDS} s are allowed",
        )
    if answer.code != "OK":
        if answer.code == "INTERNAL" or answer.code not in registry():
            return answer.code, "no refusal with a registered code"
        return answer.code, None
    if {BYTES, SHAPE} & mutant.changed:
        return answer.code, "accepted, though no reader may take it"
    if filed and supplies(mutant):
        return answer.code, "accepted, though the bytes that it binds were supplied"
    if mutant.changed & ({"derived", "witnessed"} if kind == "hunt" else {"derived"}):
        predicate = mutant.predicate
        if _said_by_the_signer(mutant):
            return answer.code, _changed(answer, parent)
        if kind == "hunt" and predicate is not None and second_opinion.declares(mutant.path):
            if second_opinion.agrees(predicate):
                return REDECLARED, None
            return answer.code, "accepted, and the producer derives something else"
        return answer.code, "accepted, though a derived field differs"
    return answer.code, _changed(answer, parent)


def _said_by_the_signer(mutant: Mutant) -> bool:
    """Decide whether a field is derived from the document only up to what the signer says."""
    if mutant.path == OPEN_LIST:
        return mutant.operator in ("insert", "duplicate")
    # Of a run that left nothing, nothing tells whether it was made.
    outcomes = {mutant.before, mutant.after} if mutant.path.endswith("/outcome") else set()
    return outcomes == {"not_run", "vacuous"}


def _changed(answer: Answer, parent: Answer) -> str | None:
    if (answer.verdict, answer.counts) != (parent.verdict, parent.counts):
        return "an attested field changed the verdict or the counts"
    return None
