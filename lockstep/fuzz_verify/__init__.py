"""Fuzzing of the verifier: mutants of a true certificate, signed anew, held against an oracle.

`parent` makes the certificate, `run` judges mutants of it, `write` keeps what was found.
"""

from lockstep.fuzz_verify.campaign import Outcome, lines, run, write
from lockstep.fuzz_verify.parent import Parent, make

__all__ = ["Outcome", "Parent", "lines", "make", "run", "write"]
