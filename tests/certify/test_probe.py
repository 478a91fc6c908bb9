"""What is learnt of a server before the plan: a failure is no refusal of a form."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from lockstep.certify.adapters.adapter import Overrides
from lockstep.certify.adapters.catalogue import ADAPTERS
from lockstep.certify.client import Client, Endpoint
from lockstep.certify.dialogue import Dialogue
from lockstep.certify.probe import Found, probe
from tests.certify import pathologies as does
from tests.certify.fake_endpoint import MODEL, Asked, Behaviour, FakeEndpoint
from tests.refusals import refused


@pytest.fixture(autouse=True)
def unwatched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody polls the gauge here, so that no answer waits for it."""
    monkeypatch.setattr(Behaviour, "watched", False)


def learnt(url: str, adapter: str = "vllm", **plan: Any) -> tuple[Found, Dialogue]:
    """Probe a server; gives what was found, and the dialogue with it."""

    async def run() -> tuple[Found, Dialogue]:
        async with Client(Endpoint(url)) as client:
            dialogue = Dialogue(client, ADAPTERS[adapter](MODEL), Overrides(), 10.0)
            return await probe(dialogue, plan), dialogue

    return asyncio.run(run())


class NoTopK(Behaviour):
    """A field that is none of OpenAI's is refused."""

    def status(self, asked: Asked) -> int:
        """Refuse it."""
        return 422 if "top_k" in asked.body else 200


class EchoFails(Behaviour):
    """A prompt is not scored."""

    def __init__(self, status: int) -> None:
        self._status = status

    def status(self, asked: Asked) -> int:
        """Fail at it."""
        return self._status if asked.echo else 200


@pytest.mark.parametrize(("status", "offered"), [(400, False), (500, True)])
def test_what_fails_is_offered_still_so_that_rounds_count_it(status: int, offered: bool) -> None:
    with FakeEndpoint(EchoFails(status)) as fake:
        assert ("echo" in learnt(fake.url)[0].offers) is offered


def test_an_honest_server_is_asked_by_token_ids() -> None:
    with FakeEndpoint() as fake:
        found, _ = learnt(fake.url)
    assert found.form == "tokens"
    assert "token_prompts" in found.offers


@pytest.mark.parametrize("status", [400, 415, 422, 501])
def test_a_form_that_is_refused_gives_way_to_the_next(status: int) -> None:
    with FakeEndpoint(does.TakesTexts(status)) as fake:
        found, _ = learnt(fake.url)
    assert found.form == "text"
    assert "token_prompts" not in found.offers


def test_a_field_that_is_refused_is_left_out() -> None:
    with FakeEndpoint(NoTopK()) as fake:
        found, dialogue = learnt(fake.url, "openai")
    assert (found.form, dialogue.overrides.omit) == ("tokens", ("top_k",))


@pytest.mark.parametrize(
    "behaviour",
    [*(does.FailsAtFirst(status) for status in (401, 404, 429, 500, 503)), does.BreaksOffAtFirst()],
    ids=["401", "404", "429", "500", "503", "breaks-off"],
)
@pytest.mark.parametrize("adapter", ["vllm", "openai"])
def test_a_failure_is_told_and_not_taken_for_a_refusal_of_the_form(
    behaviour: Behaviour, adapter: str
) -> None:
    """A server that fails once would otherwise be certified by texts, its failure uncounted."""
    with FakeEndpoint(behaviour) as fake:
        fault = refused("ENDPOINT_REFUSES", lambda: learnt(fake.url, adapter))
        assert fake.state.calls == 1
    assert str(fault.got).startswith(("http ", "dropped "))
    assert fault.hint is not None and "no other was tried" in fault.hint


def test_a_form_that_the_user_names_is_the_only_one() -> None:
    with FakeEndpoint(does.TakesTexts(500)) as fake:
        assert learnt(fake.url, form="text")[0].form == "text"
    with FakeEndpoint(does.TakesTexts(400)) as fake:
        fault = refused("ENDPOINT_REFUSES", lambda: learnt(fake.url, form="tokens"))
    assert str(fault.got).startswith("http 400")
    assert fault.hint is None
