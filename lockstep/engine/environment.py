"""The environment tuple: what was asked for, and what was in force [TUPLE-1] to [TUPLE-5]."""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Mapping
from typing import Any

from lockstep import spec
from lockstep.certificate import lcj
from lockstep.engine.backend import Backend

DEFAULT = "default"
"""What was requested where a choice was left to the backend."""

_SHOWN = 400
"""Characters of a value."""


def environment(
    backend: Backend, dtype: str | None = None, variables: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Tell what a backend was asked to be and what it is, as a certificate holds it.

    Args:
        backend: what has computed; the resolved settings are read back from it.
        dtype: as requested, None where it was left to the backend.
        variables: the process's environment variables; None for those of this process.
    """
    given = os.environ if variables is None else variables
    asked = {"backend": backend.name, "dtype": DEFAULT if dtype is None else dtype}
    asked |= {name: given[name] for name in spec.load("environment.json")["variables"]
              if name in given}  # fmt: skip
    binding = backend.binding()
    settings = {"python": platform.python_version(), **backend.environment(), **binding}
    return {
        "requested": [
            {"name": name, "value": plain(value)} for name, value in sorted(asked.items())
        ],
        "resolved": [
            {"name": name, "value": plain(value), "binds": name in binding}
            for name, value in sorted(settings.items())
        ],
        "binding_sha256": binding_sha256(binding),
    }


def binding_sha256(binding: Mapping[str, str]) -> str:
    """Give the digest of binding settings, in hex [TUPLE-4]."""
    told = {name: plain(value) for name, value in binding.items()}
    return hashlib.sha256(lcj.encode(told)).hexdigest()


def binding_of(document: Mapping[str, Any]) -> dict[str, str]:
    """Give the binding settings of a certificate's `environment`."""
    return {entry["name"]: entry["value"] for entry in document["resolved"] if entry["binds"]}


def not_comparable(a: Mapping[str, str], b: Mapping[str, str]) -> str:
    """Say in which settings two bindings differ, in words; empty where they are equal."""
    names = [name for name in sorted(a.keys() | b.keys()) if a.get(name) != b.get(name)]
    return ", ".join(f"{name} {a.get(name, 'absent')} / {b.get(name, 'absent')}" for name in names)


def plain(text: str) -> str:
    """Give a value as [TUPLE-1] admits it: printable ASCII, not too long."""
    return "".join(c if " " <= c <= "~" else "?" for c in text)[:_SHOWN]
