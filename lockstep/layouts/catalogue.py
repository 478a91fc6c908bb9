"""The declared layouts that come with Lockstep, and how one is named on a command line."""

from pathlib import Path

from lockstep.errors import LockstepError
from lockstep.layouts.declaration import Layout, layouts_root, load

SETS = "sets"
"""The folder of sets, which holds no layouts."""


def members() -> tuple[str, ...]:
    """List the declared layouts as `folder/name`, sorted."""
    root = layouts_root()
    return tuple(
        path.relative_to(root).with_suffix("").as_posix()
        for path in sorted(root.glob("*/*.toml"))
        if path.parent.name != SETS
    )


def find(name: str) -> Layout:
    """Read a layout by `folder/name`, by its name where only one has it, or by a file's path.

    Raises:
        LockstepError: USAGE where nothing, or more than one layout, has the name; or what
            `declaration.load` raises.
    """
    if name.endswith(".toml"):
        return load(Path(name))
    known = members()
    found = [member for member in known if name in (member, member.split("/")[-1])]
    if len(found) == 1:
        return load(layouts_root() / f"{found[0]}.toml")
    raise LockstepError(
        "USAGE",
        name,
        f"one of {', '.join(found)}" if found else "a declared layout",
        name,
        "`lockstep layouts list` gives the names; a file's path ends in .toml.",
    )
