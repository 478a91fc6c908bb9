"""Lean's command line inside a Python process: `python host.py LIBRARY ARGUMENT...`.

Run by its path as a process of its own, since Lean takes over its process's signal handlers and
threads and never gives them back. Imports nothing of Lockstep, so that it also runs with `-I`.
"""

import ctypes
import os
import sys


def main(library: str, arguments: list[str]) -> int:
    """Run `lean` with arguments and give 0 if it succeeded, else 1.

    Raises:
        OSError: the library cannot be loaded.
    """
    # Global, since Lean's interpreter looks compiled code up by symbol name.
    lean = ctypes.CDLL(library, mode=ctypes.RTLD_GLOBAL)
    words = [b"lean", *(os.fsencode(argument) for argument in arguments)]
    vector = (ctypes.c_char_p * (len(words) + 1))(*words, None)
    status = lean.lean_main(len(words), vector)
    # Lean writes through C streams, which leaving by _exit would not flush.
    ctypes.CDLL(None).fflush(None)
    # An exit status holds 8 bits, and 256 must not read as 0.
    return 0 if status == 0 else 1


if __name__ == "__main__":
    # Lean's threads and destructors outlive its main function.
    os._exit(main(sys.argv[1], sys.argv[2:]))
