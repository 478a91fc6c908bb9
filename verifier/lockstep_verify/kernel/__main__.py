"""`python -m lockstep_verify.kernel EXPORT`: check an export of Lean declarations."""

import argparse
import sys
import time

from lockstep_verify import limits, spec
from lockstep_verify.bytes import read_file
from lockstep_verify.errors import Refusal
from lockstep_verify.kernel.checking import Checked, check
from lockstep_verify.kernel.statement_digests import theorems


def main(argv: list[str] | None = None) -> int:
    """Check an export, say what was found, and give the exit status of the code."""
    parser = argparse.ArgumentParser(
        prog="python -m lockstep_verify.kernel",
        description="Check an export of Lean declarations with a kernel of its own.",
        allow_abbrev=False,
    )
    parser.add_argument("export", metavar="EXPORT", help="NDJSON in the format of lean4export")
    parser.add_argument(
        "--assume", metavar="NAME", action="append", default=[], help="a proof not to look at"
    )
    parser.add_argument(
        "--registered", action="store_true", help="ask for every lemma of spec/lemmas.json"
    )
    arguments = parser.parse_args(argv)
    start = time.monotonic()
    try:
        data = read_file(arguments.export, limits.EXPORT_BYTES)
        checked = check(data, arguments.assume)
        registered = _registered(data) if arguments.registered else None
    except Refusal as refusal:
        print(f"{refusal.code} {refusal.pointer}: {refusal.got} ({refusal.hint})")
        return refusal.exit
    _tell(checked, registered, time.monotonic() - start)
    return 0


def _registered(data: bytes) -> int:
    """Require every registered lemma, with the statement and the axioms that it is listed with.

    Raises:
        Refusal: H3_PROOF_MISSING, LEMMA_STATEMENT_MISMATCH, AXIOM_NOT_ALLOWED.
    """
    found = theorems(data)
    lemmas = spec.load("lemmas.json")["lemmas"]
    for lemma in lemmas:
        name = lemma["name"]
        if name not in found:
            raise Refusal("H3_PROOF_MISSING", got=name)
        statement, axioms = found[name]
        if statement != lemma["statement_sha256"]:
            raise Refusal("LEMMA_STATEMENT_MISMATCH", got=name)
        if list(axioms) != lemma["axioms"]:
            raise Refusal("AXIOM_NOT_ALLOWED", got=name)
    return len(lemmas)


def _tell(checked: Checked, registered: int | None, seconds: float) -> None:
    print(
        f"checked: {checked.declarations} declarations, {len(checked.theorems)} theorems, "
        f"{len(checked.assumed)} assumed, in {seconds:.0f} s"
    )
    for name in checked.assumed:
        print(f"  taken on Lean's word: {name}")
    if registered is not None:
        print(f"  all {registered} lemmas of spec/lemmas.json are among them, as registered")


if __name__ == "__main__":
    sys.exit(main())
