"""Falsifications: each registered one is carried out, and the code that it meets is recorded.

`run` is the only entry; `spec/falsifications.toml` says what is run, and with which outcome.
"""

from lockstep.falsify.run import run

__all__ = ["run"]
