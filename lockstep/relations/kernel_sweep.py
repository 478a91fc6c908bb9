"""The comparison of the kernels in a process of its own, whose kernels are interpreted [REL-25].

Whether Triton's kernels are interpreted is decided when they are imported; so they are, in a
process that is started for it. Run as a module, this is that process: it prints a JSON object.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lockstep.mutation.load import module_command

if TYPE_CHECKING:
    from lockstep.relations.kernel_cases import Case

SECONDS = 1800
"""The longest that the process may take."""


class Compared(NamedTuple):
    """A kernel at one shape, compared bit for bit.

    Attributes:
        kernel: its name.
        shape: dtype and shapes, in words.
        elements: how many numbers were compared.
        differing: how many of them differ.
        expected: the digest of the host's result.
        got: that of Triton's; where it differs, with the first element that does.
    """

    kernel: str
    shape: str
    elements: int
    differing: int
    expected: str
    got: str


class Equality(NamedTuple):
    """What a sweep found.

    Attributes:
        not_run: why there was none; else empty.
        compared: all comparisons, in order.
        dots: products that went through the dot of the rules.
        versions: of Triton and NumPy, as the process told.
    """

    not_run: str
    compared: tuple[Compared, ...]
    dots: int
    versions: dict[str, str]

    @property
    def kernels(self) -> tuple[str, ...]:
        """The names of the kernels that were compared, each once."""
        return tuple(dict.fromkeys(entry.kernel for entry in self.compared))


def compare(block_size: int, seed: int, full: bool = False) -> Equality:
    """Compare all kernels at one block size of the caches, in a process of its own.

    Args:
        block_size: of the caches.
        seed: of all values.
        full: whether all shapes are swept, which takes minutes; else some, which takes seconds.

    Raises:
        RuntimeError: the process failed; says what it said.
    """
    done = subprocess.run(
        [*module_command(__name__), str(block_size), str(seed), "full" if full else "short"],
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
        env={**os.environ, "TRITON_INTERPRET": "1"},
    )
    if done.returncode:
        told = done.stderr.strip().splitlines() or ["nothing"]
        raise RuntimeError(f"the sweep of kernels ended with {done.returncode}: {told[-1]}")
    answer = json.loads(done.stdout)
    compared = tuple(Compared(**entry) for entry in answer.pop("compared"))
    return Equality(**answer, compared=compared)


def sweep(block_size: int, seed: int, full: bool) -> dict[str, Any]:
    """Compare in this process, and give what `compare` reads."""
    try:
        import triton

        from lockstep.relations import kernel_cases, triton_interpreter
    except ModuleNotFoundError as absent:
        if (absent.name or "").partition(".")[0] == "lockstep":
            raise
        return _not_run(f"{absent.name} is not installed")
    reason = triton_interpreter.why_not()
    if reason:
        return _not_run(reason)
    with triton_interpreter.ascending_dots() as dots, np.errstate(all="ignore"):
        cases = kernel_cases.Sweep(block_size, seed, full).cases()
        compared = [entry._asdict() for entry in _compared(cases)]
    return {
        "not_run": "",
        "compared": compared,
        "dots": dots.count,
        "versions": {"triton": triton.__version__, "numpy": np.__version__},
    }


def _compared(cases: Iterator[Case]) -> Iterator[Compared]:
    for case in cases:
        expected, got = np.ascontiguousarray(case.host), np.ascontiguousarray(case.triton)
        digests = [_digest(values) for values in (expected, got)]
        if (expected.dtype, expected.shape) != (got.dtype, got.shape):
            yield Compared(case.kernel, case.shape, expected.size, expected.size, *digests)
            continue
        different = np.flatnonzero(_bits(expected) != _bits(got))
        if len(different):
            place = int(different[0])
            one, other = expected.ravel()[place], got.ravel()[place]
            digests[1] += f", first at {np.unravel_index(place, got.shape)}: {one!r} {other!r}"
        yield Compared(case.kernel, case.shape, expected.size, len(different), *digests)


def _bits(values: Any) -> Any:
    """Give each number's bits; a not-a-number has any payload and sign [KERN-1]."""
    if values.dtype.kind == "f":
        values = np.where(np.isnan(values), values.dtype.type(np.nan), values)
    return np.ascontiguousarray(values).view(f"u{values.dtype.itemsize}").ravel()


def _digest(values: Any) -> str:
    """Give the SHA-256 over type, shape and bits, not-a-numbers being one."""
    head = f"{values.dtype.str} {list(values.shape)}\n".encode("ascii")
    return hashlib.sha256(head + _bits(values).tobytes()).hexdigest()


def _not_run(reason: str) -> dict[str, Any]:
    return {"not_run": reason, "compared": [], "dots": 0, "versions": {}}


def main(arguments: list[str]) -> int:
    """Sweep as the arguments say: block size, seed, `short` or `full`."""
    block_size, seed, extent = arguments
    json.dump(sweep(int(block_size), int(seed), extent == "full"), sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
