"""What was asked: identity, settings and launch of a server, as a certificate states them."""

from __future__ import annotations

import platform
import re
from collections.abc import Mapping, Sequence
from importlib import metadata
from typing import TYPE_CHECKING

from lockstep import __version__, spec
from lockstep.certify.adapters.adapter import Adapter, Description, Resolved
from lockstep.certify.launch import Interpreter, parted, shown, startup_lines
from lockstep.certify.observation import Identity, Launch, Named, Setting
from lockstep.certify.requests import FILE

if TYPE_CHECKING:
    from collections.abc import Callable

    from lockstep.certify.config import Command
    from lockstep.certify.launch import Started

_TEXT = 400
"""Characters of a text that a certificate holds."""


def launch_of(
    command: Command,
    started: Started,
    interpreter: Interpreter,
    adapter: Adapter,
    hide: Callable[[str], str],
) -> Launch:
    """Give how a server was started, and what it said then."""
    return Launch(
        shown(command.text, hide),
        interpreter.interpreter,
        interpreter.distributions,
        startup_lines(started, adapter.startup, hide),
    )


def identity(
    adapter: Adapter, told: Description, launch: Launch | None, recorded: Mapping[str, str]
) -> tuple[Identity, ...]:
    """Give each field of the identity beside its own recorded constant [CERT-19].

    The distribution is the first of the adapter's that the interpreter has. Its version, and the
    version that the running server tells, are two fields; neither stands in for the other.
    """
    distribution = _distribution(adapter, launch)
    observed = {
        "distribution_version": (
            None if distribution is None else distribution.value,
            "no distribution was asked"
            if distribution is None
            else f"package metadata of {distribution.name} in the server's interpreter",
        ),
        "runtime_version": (_told(told.version), told.version_source or "not told"),
        "startup_version": (_started(adapter, launch), "start-up output"),
        "model": (_told(told.model), told.model_source or "not told"),
    }
    return tuple(
        Identity(name, recorded.get(name), *observed[name]) for name in spec.load(FILE)["identity"]
    )


def _distribution(adapter: Adapter, launch: Launch | None) -> Named | None:
    found = {} if launch is None else {one.name: one for one in launch.distributions}
    return next((found[name] for name in adapter.distributions if name in found), None)


def _started(adapter: Adapter, launch: Launch | None) -> str | None:
    for line in () if launch is None else launch.startup:
        match = adapter.startup_version.search(line)
        if match is not None:
            return match["version"]
    return None


def _told(text: str | None) -> str | None:
    """Give a text as a certificate holds it, in printable ASCII."""
    if text is None:
        return None
    return "".join(c if " " <= c <= "~" else "?" for c in text)[:_TEXT]


def settings(
    resolved: Sequence[Resolved], command: str | None, requested: Mapping[str, str]
) -> tuple[Setting, ...]:
    """Give what was requested beside what it resolved to, by ascending name [CERT-20].

    Args:
        resolved: as the server tells; of two of one name the later counts.
        command: that the server was started by; None where it was there.
        requested: what the user states besides.
    """
    asked = {**options(command or ""), **requested}
    found = {one.name: one for one in resolved}
    names = sorted({*found, *(name for name in asked if _is_name(name))})
    return tuple(
        Setting(
            name,
            _told(asked.get(name)),
            _told(found[name].value) if name in found else None,
            found[name].source if name in found else "not told",
        )
        for name in names
    )


def options(command: str) -> dict[str, str]:
    """Give the settings that a command asks for: its long options, and variables before it.

    `--no-x` asks for x to be off, an option without a value for it to be on. Features have the
    names of the data; values of paths are left out.
    """
    if not command:
        return {}
    words, environment = parted(command)
    found = {name: value for name, value in environment.items() if "KEY" not in name.upper()}
    for place, word in enumerate(words):
        if not word.startswith("--"):
            continue
        name, equals, value = word[2:].partition("=")
        following = words[place + 1 : place + 2]
        if not equals:
            value = following[0] if following and not _OPTION.match(following[0]) else "on"
        if name.startswith("no-"):
            name, value = name[3:], "off"
        if name in _NOT_SETTINGS or "/" in value or "key" in name:
            continue
        if name == "enforce-eager":
            name, value = "graphs", "off" if value == "on" else "on"
        found[_FEATURES.get(name, name)] = value
    return found


_OPTION = re.compile(r"--?[A-Za-z]")
_NOT_SETTINGS = frozenset(
    {"host", "port", "model", "tiny", "log", "served-name", "served-model-name"}
)
_FEATURES = {
    "prefix-cache": "prefix_cache",
    "enable-prefix-caching": "prefix_cache",
    "enable-chunked-prefill": "chunked_prefill",
}


def _is_name(name: str) -> bool:
    return (
        name.isascii() and name[:1].isalnum() and name.replace("-", "").replace("_", "").isalnum()
    )


def certifier() -> tuple[Named, ...]:
    """Give what asks: never taken from what is asked, and of another process [CERT-19]."""
    found = {"lockstep": __version__, "python": platform.python_version()}
    for name in ("httpx", "httpcore", "anyio"):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    found["machine"] = f"{platform.system()} {platform.machine()}"
    return tuple(Named(name, value) for name, value in sorted(found.items()))
