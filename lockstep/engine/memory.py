"""How much memory this process may still take, so that what cannot fit is refused by name.

Without this a cache that is too large ends in an error of the array library, or, where the system
promises more than it has, in the end of the process.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from lockstep.errors import LockstepError

_ROOT = Path("/")


def free_bytes(root: Path = _ROOT) -> int | None:
    """Give the least of what the machine has, its control groups allow, and the process's limit.

    Args:
        root: where `proc` and `sys` are found.

    Returns:
        Bytes, at least 0; None where the system says nothing.
    """
    known = [*_machine(root), *_control_groups(root), *_address_space(root)]
    return max(0, min(known)) if known else None


def require_free(needed: int, free: int | None, pointer: str, what: str) -> None:
    """Refuse what does not fit into memory, before any of it is taken.

    Args:
        needed: bytes.
        free: bytes that may still be taken; None where the system does not say.
        pointer: what asks for them.
        what: what they are for, in words.

    Raises:
        LockstepError: MEMORY_SHORT.
    """
    if free is not None and needed > free:
        expected = f"at most {free:,} bytes, what memory is left, for {what}"
        raise LockstepError("MEMORY_SHORT", pointer, expected, f"{needed:,} bytes")


def _machine(root: Path) -> Iterator[int]:
    """Give what the machine has left; where it does not say, all that it has."""
    for line in _text(root / "proc/meminfo").splitlines():
        name, _, value = line.partition(":")
        if name == "MemAvailable":
            yield int(value.split()[0]) * 1024
            return
    try:
        yield os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):
        return


def _control_groups(root: Path) -> Iterator[int]:
    """Give what each control group above the process leaves, in version 2 and in version 1."""
    for line in _text(root / "proc/self/cgroup").splitlines():
        _, controllers, group = line.split(":", 2)
        if controllers == "":
            base, limit, used = root / "sys/fs/cgroup", "memory.max", "memory.current"
        elif "memory" in controllers.split(","):
            base = root / "sys/fs/cgroup/memory"
            limit, used = "memory.limit_in_bytes", "memory.usage_in_bytes"
        else:
            continue
        folder = base / group.lstrip("/")
        for place in (folder, *folder.parents):
            if place == base.parent:
                break
            most, now = _text(place / limit).strip(), _text(place / used).strip()
            if most.isdigit() and now.isdigit():
                yield int(most) - int(now)


def _address_space(root: Path) -> Iterator[int]:
    """Give what the process's own limit leaves."""
    try:
        import resource
    except ModuleNotFoundError:  # not on every system
        return
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    pages = _text(root / "proc/self/statm").split()
    if most != resource.RLIM_INFINITY and pages:
        yield most - int(pages[0]) * os.sysconf("SC_PAGE_SIZE")


def _text(path: Path) -> str:
    try:
        return path.read_text("ascii", "replace")
    except OSError:
        return ""
