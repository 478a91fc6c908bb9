"""What an adapter is: the words of one kind of server for what all of them are asked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from lockstep import spec
from lockstep.certify.requests import FILE

if TYPE_CHECKING:
    from lockstep.certify.ask import Answer, Ask
    from lockstep.certify.client import Client


class ServerError(Exception):
    """The server told an error inside of an answer that it had begun.

    Attributes:
        text: what it said.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


class Reading(Protocol):
    """Takes the documents of one answer, one after the other."""

    def take(self, document: Any) -> bool:
        """Take a document, and give whether it has brought a token.

        Raises:
            ServerError: it tells an error.
            ValueError: it cannot be read.
        """

    def answer(self) -> Answer:
        """Give what came.

        Raises:
            ValueError: the answer has not ended.
        """


@dataclass(frozen=True)
class Resolved:
    """A setting as the server tells it: its name, its value, and where it was read."""

    name: str
    value: str
    source: str


@dataclass(frozen=True)
class Description:
    """What a server says of itself; None where it does not.

    Attributes:
        version: of what runs.
        version_source: where that was read.
        model: that it serves.
        model_source: where that was read.
        context: the most tokens of a prompt and its answer.
        block_size: tokens of a block of the cache.
        chunk: tokens that a step computes at most.
        settings: what it resolved settings to.
    """

    version: str | None = None
    version_source: str = ""
    model: str | None = None
    model_source: str = ""
    context: int | None = None
    block_size: int | None = None
    chunk: int | None = None
    settings: tuple[Resolved, ...] = ()


class Adapter:
    """One kind of server.

    Attributes:
        name: of `adapters` of certification.json.
        declared: capabilities that this kind can have; a run finds out which are there.
        form: of prompts, `tokens` or `text`.
        metrics: path of the metrics; None where there are none.
        salts: whether a request may name a salt that parts the prefix cache.
        resets: paths to POST to, one after the other, to empty the prefix cache.
        distributions: what the interpreter of such a server is asked the versions of.
        startup: what lines of its start-up output that say what it is have in them.
        startup_version: finds its version in such a line, as the group `version`.
    """

    name: ClassVar[str]
    declared: ClassVar[tuple[str, ...]] = ()
    form: ClassVar[str] = "tokens"
    metrics: ClassVar[str | None] = None
    salts: ClassVar[bool] = False
    resets: ClassVar[tuple[str, ...]] = ()
    distributions: ClassVar[tuple[str, ...]] = ()
    startup: ClassVar[re.Pattern[str]] = re.compile(r"(?i)\bversion\b")
    startup_version: ClassVar[re.Pattern[str]] = re.compile(
        r"(?i)\bversion[ :=v]+(?P<version>[0-9][0-9A-Za-z.+_-]*)"
    )

    def __init__(self, model: str) -> None:
        self.model = model

    @property
    def running(self) -> tuple[str, ...]:
        """Names of the gauge of running requests, any of which may be there."""
        return tuple(_declared(self.name)["running"])

    @property
    def cached(self) -> str | None:
        """Where cached tokens stand in an answer, as a path."""
        path: str | None = _declared(self.name)["cached"]
        return path

    def call(self, ask: Ask) -> tuple[str, dict[str, Any]]:
        """Give the path and the body that ask for it."""
        raise NotImplementedError

    def reading(self, ask: Ask) -> Reading:
        """Give what reads the answer."""
        raise NotImplementedError

    async def describe(self, client: Client) -> Description:
        """Read what the server says of itself; what it does not say is None.

        Raises:
            httpx.HTTPError: the server is not there.
        """
        raise NotImplementedError

    def resolved_by(self, lines: tuple[str, ...]) -> tuple[Resolved, ...]:
        """Give settings that start-up lines tell."""
        return ()


@dataclass(frozen=True)
class Overrides:
    """What a user states of a server, over what its adapter knows.

    Attributes:
        omit: fields of bodies that are not sent.
        body: fields of bodies that are sent besides, or with another value.
        metrics: path of the metrics.
        running: names of the gauge.
        cached: path of cached tokens in an answer.
        resets: paths that empty the cache.
        offers: capabilities that are there although the adapter knows none.
        lacks: capabilities not to be used.
        gauge: whether a gauge is polled; false where it turned out that there is none.
    """

    omit: tuple[str, ...] = ()
    body: Mapping[str, Any] = field(default_factory=dict)
    metrics: str | None = None
    running: tuple[str, ...] = ()
    cached: str | None = None
    resets: tuple[str, ...] = ()
    offers: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    gauge: bool = True


def _declared(name: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = next(
        one for one in spec.load(FILE)["adapters"] if one["name"] == name
    )
    return found
