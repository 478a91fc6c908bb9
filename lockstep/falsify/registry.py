"""The registered falsifications, as `spec/falsifications.toml` lists them [HUNT-15]."""

import tomllib
from dataclasses import dataclass
from functools import cache

from lockstep import spec


@dataclass(frozen=True)
class Entry:
    """One registered falsification.

    Attributes:
        name: its name, unique.
        origin: `published`, `attack` or `verifier`.
        expected: the code, verdict or frontier code that it must end in.
        rule: the rule that it breaks.
        reason: why this code, and how it relates to the published one.
        seed_code: the published certificate's code, for published ones.
    """

    name: str
    origin: str
    expected: str
    rule: str
    reason: str
    seed_code: str | None = None


@cache
def entries() -> tuple[Entry, ...]:
    """Give the registered falsifications in their order."""
    document = tomllib.loads(spec.read("falsifications.toml").decode("utf-8"))
    return tuple(Entry(**entry) for entry in document["falsification"])


def placeholders() -> list[dict[str, str]]:
    """Give the list that a draft carries until its falsifications have run."""
    return [
        {"name": entry.name, "expected": entry.expected, "actual": entry.expected}
        for entry in entries()
    ]
