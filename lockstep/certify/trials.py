"""The trials of the certifier: servers without fault, and with each one [DET-1] to [DET-4]."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from lockstep import spec

FILE = "detection.json"
MUTATIONS = "mutation.json"
CASES = "certification.json"


@dataclass(frozen=True)
class Trial:
    """A server to certify.

    Attributes:
        name: of the trial, and of its files.
        operator: the fault; None for the engine as it is.
        edits_sha256: of the operator, in hex [MUT-2].
        mode: `invariant` or `fast`.
        server: name of how it is started.
        lifetimes: to sample.
        expected: `caught`, `clean`, `quiet` or `any`.
        command: that starts it, `{port}` in place of a port.
        runs: whether the backend at hand has what the fault is in.
    """

    name: str
    operator: str | None
    edits_sha256: str | None
    mode: str
    server: str
    lifetimes: int
    expected: str
    command: str
    runs: bool = True

    @property
    def stops(self) -> bool:
        """Whether the first failure or difference ends it [DET-5]."""
        return self.expected in ("caught", "any")

    def document(self) -> dict[str, Any]:
        """Give the members of the predicate that are declared."""
        names = ("name", "operator", "edits_sha256", "mode", "server", "lifetimes", "expected")
        return {**{name: getattr(self, name) for name in names}, "command": self.command}


def trials() -> Iterator[Trial]:
    """Give all trials in their order: controls, then each operator [DET-1] [DET-2]."""
    data = spec.load(FILE)
    servers = {one["name"]: one for one in data["servers"]}
    for one in data["controls"]:
        server = servers[one["server"]]
        mode = " --mode fast" if one["mode"] == "fast" else ""
        yield Trial(
            one["name"],
            None,
            None,
            one["mode"],
            one["server"],
            one["lifetimes"],
            one["expected"],
            data["command"] + server["options"] + mode,
        )
    for one in spec.load(MUTATIONS)["operators"]:
        expected = {"visible": "caught", "invisible": "clean"}[one["black_box"]]
        server = servers[_server(one, data)]
        yield Trial(
            one["id"],
            one["id"],
            one["edits_sha256"],
            "invariant",
            server["name"],
            1,
            expected,
            f"{data['command']}{server['options']} --fault {one['id']}",
            one["subsystem"] not in data["other_backend"],
        )


def _server(operator: Mapping[str, Any], data: Mapping[str, Any]) -> str:
    if operator["black_box"] == "invisible":
        return "roomy"
    for one in data["placed"]:
        if one["operator"] == operator["id"]:
            return str(one["server"])
    return "crowded" if operator["subsystem"] in data["crowded_subsystems"] else "roomy"


def servers() -> list[str]:
    """Give the names of servers, in their order."""
    return [one["name"] for one in spec.load(FILE)["servers"]]


def bound_us() -> int:
    """Give the microseconds within which a visible fault must be caught."""
    return int(spec.load(FILE)["bound_us"])
