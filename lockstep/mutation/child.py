"""Runs a module in a process that is mutated: `python -m lockstep.mutation.child ID MODULE ...`.

A module that is run as a program imports the engine before its own code can mutate anything; so
this one, which imports nothing of the engine, installs the mutation and then runs it.
"""

from __future__ import annotations

import runpy
import sys

from lockstep.mutation import load


def main() -> None:
    """Install the mutation that the first argument names, and run the module of the second."""
    _, name, module, *rest = sys.argv
    load.install(name)
    sys.argv = [module, *rest]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
