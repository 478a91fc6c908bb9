"""What a user asks of the certifier: lockstep.toml, and options over it."""

from __future__ import annotations

import hashlib
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from lockstep import spec
from lockstep.certificate import lcj
from lockstep.certify.adapters.adapter import Overrides
from lockstep.certify.adapters.catalogue import ADAPTERS
from lockstep.certify.config_table import Table
from lockstep.certify.requests import FILE
from lockstep.errors import LockstepError

FILE_BYTES = 1 << 20
"""A configuration takes some kilobytes."""
PROBE_SECONDS = 60.0
"""For each request as long as nothing is known of the server's speed."""
READY_SECONDS = 300
"""For a launched server until it answers, by default; large weights take minutes to load."""


@dataclass(frozen=True)
class Command:
    """A server to start.

    Attributes:
        text: the command; `{port}` stands for a port that is free.
        environment: variables that are set for it; not part of any output.
        ready_seconds: until it must answer.
        interpreter: Python that is asked for versions; None for the one that the command runs.
    """

    text: str
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    ready_seconds: int = READY_SECONDS
    interpreter: str | None = None


@dataclass(frozen=True)
class Config:
    """What is asked.

    Attributes:
        endpoint: URL; None where `launch` says `{port}`.
        controlled: whether the user states that the endpoint is theirs.
        model: None for the only one that is served.
        adapter: of `ADAPTERS`; None to find out.
        key_variable: the one environment variable that is read for a key.
        headers: for each call.
        ca: file of certificate authorities.
        timeout: seconds for each request; None for what follows from the first answers.
        launch: None where the server is there already.
        positive: of the positive control; None for none but the built-in server's own.
        overrides: over what the adapter knows.
        recorded: constants of identity fields.
        requested: settings that the server was asked for, besides those of its command.
        distributions: asked of its interpreter besides the adapter's.
        plan: parameters of the plan that are chosen; all others follow from data and server.
        budget: seconds; None for no bound.
        prompts: file of the user's own prompts.
        score: command that scores their answers.
    """

    endpoint: str | None = None
    controlled: bool = False
    model: str | None = None
    adapter: str | None = None
    key_variable: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    ca: Path | None = None
    timeout: float | None = None
    launch: Command | None = None
    positive: Command | None = None
    overrides: Overrides = field(default_factory=Overrides)
    recorded: Mapping[str, str] = field(default_factory=dict)
    requested: Mapping[str, str] = field(default_factory=dict)
    distributions: tuple[str, ...] = ()
    plan: Mapping[str, Any] = field(default_factory=dict)
    budget: int | None = None
    prompts: Path | None = None
    score: str | None = None


def read_config(path: Path) -> Config:
    """Read the table `certify` of a file.

    Raises:
        LockstepError: FILE_UNREADABLE; USAGE, at the key.
    """
    try:
        data = path.read_bytes()
        if len(data) > FILE_BYTES:
            raise LockstepError("LIMIT_SIZE", str(path), f"{FILE_BYTES} bytes", len(data))
        document = tomllib.loads(data.decode("utf-8"))
    except OSError as fault:
        raise LockstepError("FILE_UNREADABLE", str(path), "a file", fault.strerror) from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as fault:
        raise LockstepError("FILE_UNREADABLE", str(path), "TOML in UTF-8", str(fault)) from None
    whole = Table(document, f"{path.name}:")
    table = whole.table("certify")
    whole.close()
    config = _config(table)
    table.close()
    return config


def _config(table: Table) -> Config:
    ca, timeout = table.text("ca"), table.integer("timeout", 1, 3600)
    prompts = table.text("prompts")
    return Config(
        endpoint=table.text("endpoint"),
        controlled=table.flag("i_control_this_endpoint"),
        model=table.text("model"),
        adapter=table.text("adapter", tuple(ADAPTERS)),
        key_variable=table.text("api_key_env"),
        headers=table.named("headers"),
        ca=None if ca is None else Path(ca),
        timeout=None if timeout is None else float(timeout),
        launch=_command(table.table("launch")),
        positive=_command(table.table("positive")),
        overrides=_overrides(table),
        recorded=_recorded(table),
        requested=table.named("requested"),
        distributions=table.texts("distributions"),
        plan=_plan(table.table("plan")),
        budget=duration(table.text("budget"), "budget"),
        prompts=None if prompts is None else Path(prompts),
        score=table.text("score"),
    )


def _command(table: Table) -> Command | None:
    text = table.text("command")
    command = Command(
        text or "",
        table.named("environment"),
        table.integer("ready_seconds", 1, 7200) or READY_SECONDS,
        table.text("interpreter"),
    )
    table.close()
    return command if text else None


def _overrides(table: Table) -> Overrides:
    known = spec.load(FILE)["capabilities"]
    given, metrics = table.table("requests"), table.table("metrics")
    found = Overrides(
        omit=given.texts("omit"),
        body=given.anything("body"),
        metrics=metrics.text("path"),
        running=metrics.texts("running"),
        cached=given.text("cached"),
        resets=table.texts("resets"),
        offers=table.texts("offers", known),
        lacks=table.texts("lacks", (*known, "salt")),
    )
    given.close()
    metrics.close()
    return found


def _recorded(table: Table) -> dict[str, str]:
    inner = table.table("recorded")
    names = spec.load(FILE)["identity"]
    found = {name: value for name in names if (value := inner.text(name)) is not None}
    inner.close()
    return found


def _plan(table: Table) -> dict[str, Any]:
    data = spec.load(FILE)
    axes = {axis["name"]: axis["values"] for axis in data["axes"]}
    cases = [case["name"] for case in data["cases"]]
    found: dict[str, Any] = {
        "form": table.text("form", ("tokens", "text")),
        "observable": table.text("observable", data["observables"]),
        "design": table.text("design", data["designs"]),
        "cases": table.texts("cases", cases),
        "positive_cases": table.texts("positive_cases", cases),
        "varying_widths": table.integers("varying_widths", 0, 256),
        **{name: table.texts(name, values) for name, values in axes.items()},
    }
    for name, (least, most) in PLAN_INTEGERS.items():
        found[name] = table.integer(name, least, most)
    table.close()
    return {name: value for name, value in found.items() if value not in (None, ())}


PLAN_INTEGERS = {
    "low": (0, 1 << 24),
    "span": (2, 1 << 24),
    "seed": (0, (1 << 53) - 1),
    "block_size": (2, 4096),
    "chunk": (2, 16384),
    "context": (1, 1 << 24),
    "max_new": (1, 1024),
    "top": (0, 20),
    "fixed_width": (1, 256),
    "lifetimes": (1, 256),
    "repeats": (2, 256),
    "priming": (0, 16),
}
"""Parameters of a plan that are integers, with their bounds by the schema."""


def duration(text: str | None, option: str) -> int | None:
    """Give the seconds of `90s`, `10m` or `1h`.

    Raises:
        LockstepError: USAGE.
    """
    if text is None:
        return None
    match = re.fullmatch(r"([1-9][0-9]{0,5})([smh])", text)
    if match is None:
        raise LockstepError("USAGE", option, "a time as 90s, 10m or 1h", text)
    return int(match[1]) * {"s": 1, "m": 60, "h": 3600}[match[2]]


def key_of(variable: str | None) -> str | None:
    """Give the key that one environment variable holds; no other is looked at.

    Raises:
        LockstepError: USAGE, it is not set or no header can hold it; the message has no part of it.
    """
    if variable is None:
        return None
    key = os.environ.get(variable, "")
    if not re.fullmatch(r"[!-~]{4,4096}", key):
        raise LockstepError(
            "USAGE", "--api-key-env", f"a key of printable ASCII in the variable {variable}", None
        )
    return key


def digest_of(config: Config) -> str:
    """Give the digest of what is asked, by which records are known; no secret is part of it."""
    told = asdict(config)
    for name in ("headers", "budget"):
        told.pop(name)
    text = lcj.encode(_plain(told))
    return hashlib.sha256(text).hexdigest()


def _plain(value: Any) -> Any:
    """Give a value of a configuration in LCJ: numbers and paths as texts."""
    if isinstance(value, dict):
        return {str(name): _plain(entry) for name, entry in value.items() if name != "environment"}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    return value if value is None or isinstance(value, bool | int | str) else str(value)
