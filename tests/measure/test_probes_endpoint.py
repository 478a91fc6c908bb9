"""Probes against an endpoint with scripted counters: what is wrong is refused, and kept."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from typing import Any, ClassVar

import pytest

from lockstep.certify.adapters.adapter import Description
from lockstep.cli.measure_probes import chosen, versions
from lockstep.measure.load import REQUESTED
from lockstep.measure.observation import Seen, Workload
from lockstep.measure.probe_claim import measurement_document
from lockstep.measure.probes import Design, Entry, Probed, Probing
from lockstep.measure.server import Server, Wanted
from lockstep.measure.throughput import observe
from lockstep.measure.window import refusal
from tests.certify.fake_endpoint import Asked, Behaviour, FakeEndpoint
from tests.certify.pathologies import TakesTexts
from tests.refusals import refused

pytest.importorskip("httpx")


class Counting(Behaviour):
    """An honest server: its counters are its own requests'."""

    seconds = 0.002
    watched = False

    def counters(self, counted: dict[str, int], polls: int) -> dict[str, int | None]:
        return dict(counted)


class Foreign(Counting):
    """Somebody else's prompt of 4,096 tokens comes with each reading."""

    def counters(self, counted: dict[str, int], polls: int) -> dict[str, int | None]:
        return {**counted, "prompt_tokens": counted["prompt_tokens"] + 4096 * polls}


class Backwards(Counting):
    """A gauge that was taken for a counter."""

    def counters(self, counted: dict[str, int], polls: int) -> dict[str, int | None]:
        return {**counted, "prompt_tokens": max(1, 9000 - counted["prompt_tokens"])}


class Restarting(Counting):
    """All counters begin anew every few readings."""

    def counters(self, counted: dict[str, int], polls: int) -> dict[str, int | None]:
        return {name: max(1, 90_000 - value) for name, value in counted.items()}


class Silent(Counting):
    """The counter is there when the server is asked what it has, and then no more."""

    shown: ClassVar[int] = 1

    def counters(self, counted: dict[str, int], polls: int) -> dict[str, int | None]:
        return {**counted, "prompt_tokens": counted["prompt_tokens"] if polls <= 4 else None}


class Short(Counting):
    """Answers end at an end of sequence that it was told to ignore."""

    def said(self, asked: Asked, answer: Any) -> Any:
        from dataclasses import replace

        if asked.body["max_tokens"] == 4 or len(answer.tokens) < 2:
            return answer
        return replace(answer, tokens=answer.tokens[:-1], logprobs=None, tops=None, finish="stop")


class Caching(Counting):
    """Each prompt is answered from a cache."""

    def said(self, asked: Asked, answer: Any) -> Any:
        from dataclasses import replace

        return replace(answer, cached=16)


class Down(Counting):
    """Requests fail."""

    def status(self, asked: Asked) -> int:
        return 200 if asked.index < 10 else 500


def wanted(url: str, name: str = "server-0", role: str = "subject") -> Wanted:
    return Wanted(name, role, None, url, True, "vllm", requested=REQUESTED)


def probed(behaviour: Behaviour) -> tuple[Probed, dict[str, dict[str, str | None]]]:
    async def run(server: Server) -> Probed:
        probing = Probing([server], Design("tokens", 10, 246, 1, 1))
        await probing.detect()
        entries = chosen((24,), 6)
        await probing.measure(entries)
        return probing.seen(entries)

    with FakeEndpoint(behaviour) as fake:
        server = Server(wanted(fake.url))
        return asyncio.run(run(server)), versions([server])


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lockstep.measure.counters.SETTLE_SECONDS", 0.05)
    monkeypatch.setattr("lockstep.measure.counters.PAUSE_SECONDS", 0.005)


def test_an_honest_server() -> None:
    seen, told = probed(Counting())
    assert [refusal(one) for one in seen.samples] == [None] * 3
    assert seen.detections == (), "no metric of this server counts steps"
    document = measurement_document(seen, told)
    assert document["arms"][0]["budget_tokens"] is None
    assert {one["law"] for one in document["fits"]} <= {"linear"}


BAD = [
    pytest.param(Foreign(), "foreign_work", id="foreign"),
    pytest.param(Restarting(), "counter_reset", id="restarting"),
    pytest.param(Silent(), "missing_reading", id="silent"),
    pytest.param(Backwards(), "metric_backwards", id="backwards", marks=pytest.mark.slow),
    pytest.param(Short(), "foreign_work", id="short", marks=pytest.mark.slow),
    pytest.param(Caching(), "cached_prompt", id="caching", marks=pytest.mark.slow),
    pytest.param(Down(), "request_failed", id="down", marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("behaviour", "reason"), BAD)
def test_what_is_wrong_is_a_named_refusal_and_never_a_zero(
    behaviour: Behaviour, reason: str
) -> None:
    seen, told = probed(behaviour)
    reasons = [refusal(one) for one in seen.samples]
    assert reason in reasons
    assert set(reasons) <= {reason, None, "foreign_work"}
    if None not in reasons:
        fault = refused(str(reasons[0]).upper(), lambda: measurement_document(seen, told))
        assert fault.exit == 3
        return
    document = measurement_document(seen, told)
    kept = {one["id"]: one["refusal"] for one in document["records"]}
    used = {name for one in document["direct"] for name in one["records"]}
    assert len(kept) == len(seen.samples)
    assert not used & {name for name, why in kept.items() if why is not None}


def test_a_step_of_the_clock_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    real, calls = time.time_ns, iter(range(10_000))
    monkeypatch.setattr("time.time_ns", lambda: real() + next(calls) * 500_000_000)
    seen, told = probed(Counting())
    assert {refusal(one) for one in seen.samples} == {"clock_step"}
    refused("CLOCK_STEP", lambda: measurement_document(seen, told))


def test_bodies_are_read_from_what_went_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """An adapter that drops a field between the request and the wire is seen."""
    from lockstep.certify.adapters.vllm import VLLM

    real = VLLM.call

    def dropping(self: VLLM, ask: Any) -> Any:
        path, body = real(self, ask)
        del body["ignore_eos"]
        return path, body

    monkeypatch.setattr(VLLM, "call", dropping)
    seen, told = probed(Counting())
    found = measurement_document(seen, told)["probes"]["settings"][0]["entries"]
    entry = next(one for one in found if one["name"] == "ignore_eos")
    assert (entry["requested"], entry["resolved"], entry["cause"]) == ("on", None, "dropped")


@pytest.mark.slow
def test_a_peer_that_is_there_already_is_compared_and_flagged() -> None:
    from lockstep.claims.throughput import predicate

    async def run(servers: list[Server]) -> Seen:
        return await observe(servers, Workload(10, 246, 1, (24,), 4), 2)

    with FakeEndpoint(Counting()) as one, FakeEndpoint(Counting()) as other:
        servers = [Server(wanted(one.url, "invariant", "invariant")),
                   Server(wanted(other.url, "peer", "peer"))]  # fmt: skip
        seen = asyncio.run(run(servers))
    found = predicate(
        seen, [("peer", "invariant")], [], issued_at="2026-01-01T00:00:00Z", producer={}
    )
    (compared,) = found["comparisons"]
    assert "shared" in compared["flags"]
    assert (compared["pairs"], found["counts"]["samples_refused"]) == (2, 0)


def test_texts_are_no_common_work() -> None:
    """A server that takes texts alone cannot be held to a number of tokens."""
    from lockstep.measure import throughput

    class Known:
        class found:
            form = "text"

    server = Server(wanted("http://127.0.0.1:1"))
    server.known = Known()  # type: ignore[assignment]
    refused("NOT_COMPARABLE", lambda: throughput._require_tokens(server))


def test_a_server_that_is_to_be_asked_by_texts_is_never_asked_by_ids(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def run(server: Server) -> None:
        async with server.opened():
            pass

    monkeypatch.setattr(Behaviour, "watched", False)
    with FakeEndpoint(TakesTexts(500)) as fake:
        server = Server(replace(wanted(fake.url), form="text"))
        asyncio.run(run(server))
    assert server.known is not None
    assert server.known.found.form == "text"


def test_a_server_that_is_another_one_later_is_refused() -> None:
    """Samples of two versions under one arm's name would be compared as one server's."""

    class Known:
        class found:
            description = Description(version="1")

        class adapter:
            said: ClassVar[str] = "1"

            @classmethod
            async def describe(cls, client: object) -> Description:
                return Description(version=cls.said)

    server, known = Server(wanted("http://127.0.0.1:1")), Known()

    def ask() -> None:
        asyncio.run(server._require_same(None, known))  # type: ignore[arg-type]

    ask()
    Known.adapter.said = "2"
    refused("NOT_COMPARABLE", ask)


def test_samples_of_one_name_are_not_taken() -> None:
    servers = [
        Server(Wanted(name, "subject", endpoint="http://127.0.0.1:1", controlled=True))
        for name in ("a", "a-b")
    ]
    entries = [Entry(name, "prefill", (8,), (1,)) for name in ("c", "b-c")]
    probing = Probing(servers, Design("tokens", 10, 246, 1, 1))
    refused("USAGE", lambda: asyncio.run(probing.measure(entries)))
