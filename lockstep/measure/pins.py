"""Which build answered: each field read by itself, and held to its own constant [PROBE-9].

A version that a distribution's metadata has and one that the running server tells may be one text
or two: a source build has no suffix, a precompiled one has it in the metadata alone. So neither
stands in for the other, and equality of the two is no rule.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from lockstep import spec
from lockstep.certify import launch
from lockstep.certify.ask import member
from lockstep.measure.observation import Pin
from lockstep.measure.window import FILE

if TYPE_CHECKING:
    from lockstep.certify.config import Command

_SECONDS = 60
"""For an interpreter to say what it has."""
_COMMIT = re.compile(r"\+(?:[0-9a-z.]*\.)?g(?P<commit>[0-9a-f]{7,40})\b")
"""A commit in a version, as build tools write it: 0.28.1.dev132+ge126687a9."""
_BUILD = """
import hashlib, importlib.metadata, json, sys
told = {}
for name in sys.argv[1:]:
    try:
        found = importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        continue
    told["name"], told["version"] = name, found.version
    direct = json.loads(found.read_text("direct_url.json") or "{}")
    told["commit"] = direct.get("vcs_info", {}).get("commit_id")
    archive = direct.get("archive_info", {})
    told["wheel"] = archive.get("hashes", {}).get("sha256") or archive.get("hash")
    if direct.get("dir_info", {}).get("editable"):
        told["mode"] = "editable"
    elif "vcs_info" in direct or "dir_info" in direct:
        told["mode"] = "source"
    elif found.read_text("WHEEL"):
        tags = [line[4:].strip() for line in found.read_text("WHEEL").splitlines()
                if line.startswith("Tag:")]
        told["mode"] = "wheel " + " ".join(tags)
    record = found.read_text("RECORD")
    told["record"] = hashlib.sha256(record.encode()).hexdigest() if record else None
    break
print(json.dumps(told))
"""


class Reading(NamedTuple):
    """A value that was read, None where it could not be, and where."""

    observed: str | None
    source: str


def read_build(command: Command, distributions: Sequence[str]) -> Mapping[str, Any]:
    """Ask the server's own interpreter how the first of these distributions was built.

    Returns:
        Members name, version, commit, mode, wheel, record, each where it is known; empty where
        the command runs no Python.
    """
    words, environment = launch.parted(command.text.replace("{port}", "0"))
    path = command.interpreter or launch.interpreter_of(words[0])
    if path is None:
        return {}
    try:
        done = subprocess.run(
            [path, "-c", _BUILD, *distributions],
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=True,
            env={**os.environ, **command.environment, **environment},
        )
        told = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return {}
    return told if isinstance(told, dict) else {}


def readings(
    build: Mapping[str, Any], runtime_version: str | None, source: str, version: Any
) -> dict[str, Reading]:
    """Give each field of the identity as it was read, by the names of the data.

    Args:
        build: what the server's interpreter says of its distribution.
        runtime_version: what the running server says.
        source: where it says so.
        version: its document of /version; None without one.
    """
    name = build.get("name")
    metadata = f"package metadata of {name} in the server's interpreter" if name else "not asked"
    return {
        "commit": _commit(build, metadata, runtime_version, source, version),
        "distribution_version": Reading(_text(build.get("version")), metadata),
        "runtime_version": Reading(_text(runtime_version), source or "not told"),
        "build_mode": Reading(_text(build.get("mode")), metadata),
        "wheel_digest": _digest(build, metadata),
    }


def _commit(
    build: Mapping[str, Any], metadata: str, runtime: str | None, source: str, version: Any
) -> Reading:
    told = _text(member(version, "commit"))
    if told is not None:
        return Reading(told, f"{source or '/version'}, member commit")
    if build.get("commit") is not None:
        return Reading(_text(build["commit"]), f"direct_url.json in {metadata}")
    match = _COMMIT.search(runtime or "")
    if match is not None:
        return Reading(match["commit"], f"the version that {source or 'the server'} tells")
    return Reading(None, "not told")


def _digest(build: Mapping[str, Any], metadata: str) -> Reading:
    """Give the wheel's digest; where its installer kept none, that of the list of its files."""
    if build.get("wheel") is not None:
        return Reading(_text(build["wheel"]), f"direct_url.json in {metadata}")
    if build.get("record") is not None:
        return Reading(_text(build["record"]), f"SHA-256 of RECORD in {metadata}")
    return Reading(None, metadata)


def _text(value: Any) -> str | None:
    return launch.plain([str(value)])[0][:400] if value not in (None, "") else None


def pins(recorded: Mapping[str, str], observed: Mapping[str, Reading]) -> tuple[Pin, ...]:
    """Put each reading beside the constant of its own field."""
    return tuple(
        Pin(name, recorded.get(name), observed[name].observed, observed[name].source)
        for name in spec.load(FILE)["pins"]
    )


def agrees(pin: Pin) -> bool | None:
    """Whether a field is as recorded; None where nothing is recorded for it."""
    return None if pin.recorded is None else pin.observed == pin.recorded
