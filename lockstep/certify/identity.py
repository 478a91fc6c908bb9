"""What a server is, and how it was spoken to, as its certificate states it [CERT-19, CERT-20]."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Named:
    """A name and a value, both printable ASCII; a certificate lists them by ascending name."""

    name: str
    value: str


@dataclass(frozen=True)
class Setting:
    """A setting of the server: what was asked for, and what it resolved to [CERT-20].

    Attributes:
        requested: None where nobody asked.
        resolved: as read back from the server; None where that cannot be read.
        source: where it was read (`startup line`, `/server_info`).
    """

    name: str
    requested: str | None
    resolved: str | None
    source: str


@dataclass(frozen=True)
class Identity:
    """One of the fields by which a server is known, beside its own recorded constant [CERT-19].

    Attributes:
        recorded: the constant of this field, from the user's configuration; None without one.
        observed: None where it was not read.
        source: where it was read.
    """

    name: str
    recorded: str | None
    observed: str | None
    source: str


@dataclass(frozen=True)
class Launch:
    """How the certifier started the server.

    Attributes:
        command: without paths of this machine and without keys.
        interpreter: of the server's own process, as it says itself; None where it has none.
        distributions: of that interpreter, name and version.
        startup: lines of its start-up output that say what it is.
    """

    command: str
    interpreter: str | None = None
    distributions: tuple[Named, ...] = ()
    startup: tuple[str, ...] = ()


@dataclass(frozen=True)
class Subject:
    """The server.

    Attributes:
        identity: one for each name of `identity` of the data, in that order.
        launch: None where the server was there already.
        positive: how the server of the positive control was started; None without one.
    """

    identity: tuple[Identity, ...]
    launch: Launch | None = None
    positive: Launch | None = None

    def document(self) -> dict[str, Any]:
        """Give the LCJ form."""
        return {
            "identity": [asdict(one) for one in self.identity],
            "launch": _launch(self.launch),
            "positive": _launch(self.positive),
        }


@dataclass(frozen=True)
class Adapter:
    """How the server was spoken to.

    Attributes:
        name: of `adapters` of the data.
        gauge: the metric that was polled; None without one.
        verified: whether a certificate of a real server of this kind is at hand.
    """

    name: str
    gauge: str | None
    verified: bool


def _launch(launch: Launch | None) -> dict[str, Any] | None:
    if launch is None:
        return None
    return {
        "command": launch.command,
        "interpreter": launch.interpreter,
        "distributions": [asdict(one) for one in launch.distributions],
        "startup": list(launch.startup),
    }
