"""Fuzzing of the verifier: mutants of a true certificate, signed anew, held against an oracle.

`parent` makes or reads the certificate, `run` judges mutants of it, beside a second verifier where
one is given, and `write` keeps what was found.
"""

from lockstep.fuzz_verify.campaign import Outcome, lines, run, write
from lockstep.fuzz_verify.parent import Parent, make, read

__all__ = ["Outcome", "Parent", "lines", "make", "read", "run", "write"]
