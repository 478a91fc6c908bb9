"""What is seen of a server that is measured: arms, samples and their windows (spec/probe.md).

Times are in microseconds. None is what was not reported: never a zero in its place.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from lockstep.certify.observation import Launch, Setting


@dataclass(frozen=True)
class Counter:
    """Readings of a metric around a sample [PROBE-4].

    Attributes:
        question: what it answers, of `questions` of the data.
        metric: name; None where the server has none for it.
        before: reading before the first request.
        after: reading after the last answer.
    """

    question: str
    metric: str | None
    before: int | None
    after: int | None


@dataclass(frozen=True)
class Window:
    """What surrounds a sample [PROBE-4].

    Attributes:
        counters: one for each question, in the order of the data.
        monotonic_us: elapsed by a clock that is never set.
        clock_us: elapsed by the time of day.
    """

    counters: tuple[Counter, ...]
    monotonic_us: int
    clock_us: int


@dataclass(frozen=True)
class Request:
    """What became of one request [PROBE-5]; times since the window began.

    Attributes:
        prompt_tokens: as planned; None where the prompt is a text.
        told_tokens: of the prompt, as the server counts.
        max_new: tokens asked for.
        generated: tokens of the answer.
        cached: prompt tokens from a cache.
        start_us: when it was sent.
        first_us: when its first token came.
        end_us: when it had ended, however.
        arrivals_us: when each part that brought tokens came; empty where that is not kept.
        failure: of `failures` of certification.json.
        body: place in the run's bodies.
    """

    prompt_tokens: int | None
    told_tokens: int | None
    max_new: int
    generated: int | None
    cached: int | None
    start_us: int
    first_us: int | None
    end_us: int
    arrivals_us: tuple[int, ...]
    failure: str | None
    body: int


@dataclass(frozen=True)
class Sample:
    """Requests that were measured together, once.

    Attributes:
        name: from which its prompts follow [PROBE-1].
        arm: name of the arm that was asked.
        block: of the run.
        place: within the run, from 0.
        process: of the server; None for one that was there already.
        warm_ups: rounds before it that were not timed.
        begin_us: when its window began, since the run did.
        requests: by place.
        window: around them.
    """

    name: str
    arm: str
    block: int
    place: int
    process: int | None
    warm_ups: int
    begin_us: int
    requests: tuple[Request, ...]
    window: Window


@dataclass(frozen=True)
class Pin:
    """A field of a server's identity beside its own recorded constant [PROBE-9]."""

    name: str
    recorded: str | None
    observed: str | None
    source: str


@dataclass(frozen=True)
class Body:
    """What was sent besides the prompt [PROBE-12].

    Attributes:
        route: path of the call.
        fields: names and values as texts, ascending by name.
    """

    route: str
    fields: tuple[tuple[str, str], ...]

    def document(self) -> dict[str, Any]:
        """Give the LCJ form."""
        fields = [{"name": name, "value": value} for name, value in self.fields]
        return {"route": self.route, "fields": fields}


@dataclass(frozen=True)
class Printed:
    """The size of a KV pool in the server's words, and where they stand [PROBE-11]."""

    printed: str
    source: str


@dataclass(frozen=True)
class Arm:
    """A server that is measured.

    Attributes:
        name: no other arm of the run has it.
        role: of `roles` of throughput.json.
        adapter: name.
        launch: how it was started; None where it was there already.
        pins: one for each name of the data, in that order.
        server_settings: ascending by name.
        kv_pool: as the server prints it; None where it does not.
        requested: settings of a request that were asked for, by name [PROBE-13].
    """

    name: str
    role: str
    adapter: str
    launch: Launch | None
    pins: tuple[Pin, ...]
    server_settings: tuple[Setting, ...]
    kv_pool: Printed | None
    requested: Mapping[str, str]


@dataclass(frozen=True)
class Workload:
    """Of which prompts of token ids samples are made [CERT-1].

    Attributes:
        low: of units.
        span: of units.
        seed: of units and of the order.
        prompts: units of each request's prompt.
        max_new: tokens of each answer.
    """

    low: int
    span: int
    seed: int
    prompts: tuple[int, ...]
    max_new: int

    def document(self) -> dict[str, Any]:
        """Give the LCJ form."""
        return {**asdict(self), "prompts": list(self.prompts)}


@dataclass(frozen=True)
class Seen:
    """A run over arms.

    Attributes:
        workload: of every sample.
        blocks: number.
        arms: in the order in which they were named.
        bodies: that were sent, in the order of first use.
        samples: in the order in which they were taken.
    """

    workload: Workload
    blocks: int
    arms: tuple[Arm, ...]
    bodies: tuple[Body, ...]
    samples: tuple[Sample, ...]
