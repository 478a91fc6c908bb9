"""Adapters over what real servers answered: `recorded/`, written by `tools/peers/record.py`.

A recording has the bodies that were sent; an adapter that asks for something else by now fails,
so that no recording stands for a request that nobody makes any more.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lockstep.certify import numbers
from lockstep.certify.adapters.adapter import Adapter, Description
from lockstep.certify.adapters.catalogue import ADAPTERS
from lockstep.certify.ask import Answer, Ask
from lockstep.certify.client import StatusError
from lockstep.certify.witness import total

FOLDER = Path(__file__).parent / "recorded"
UNSTEADY = {"llamacpp"}
"""They gave the same request, asked twice with nothing beside it, other numbers."""
PEERS = sorted(path.stem for path in FOLDER.glob("*.json"))


class Pages:
    """A client to the pages that a server had."""

    def __init__(self, pages: dict[str, str | None]) -> None:
        self._pages = pages

    async def text(self, path: str, polled: bool = False) -> str:
        text = self._pages.get(path)
        if text is None:
            raise StatusError(404, "")
        return text

    async def document(self, path: str) -> Any:
        return numbers.parse(await self.text(path))


def recorded(peer: str) -> tuple[dict[str, Any], Adapter]:
    found = json.loads((FOLDER / f"{peer}.json").read_bytes())
    return found, ADAPTERS[found["adapter"]](found["model"])


def ask_of(document: dict[str, Any]) -> Ask:
    prompt = document["prompt"]
    return Ask(**{**document, "prompt": prompt if isinstance(prompt, str) else tuple(prompt)})


def answer(adapter: Adapter, exchange: dict[str, Any]) -> tuple[Answer, int]:
    """Give the answer, and how many pieces of it brought a token."""
    reading, brought = adapter.reading(ask_of(exchange["ask"])), 0
    for line in exchange["lines"]:
        text = line.removeprefix("data:").strip()
        if text != "[DONE]":
            brought += reading.take(numbers.parse(text))
    return reading.answer(), brought


def described(peer: str) -> Description:
    found, adapter = recorded(peer)
    return asyncio.run(adapter.describe(Pages(found["pages"])))  # type: ignore[arg-type]


def test_every_peer_that_was_run_is_recorded() -> None:
    assert PEERS
    evidence = Path(__file__).parents[2] / "evidence"
    certified = {
        path.name.split(".")[0].removeprefix("certification-").split("-")[0]
        for path in evidence.glob("certification-*.cert.json")
    }
    assert certified - {"builtin", "faults"} <= set(PEERS)


@pytest.mark.parametrize("peer", PEERS)
def test_what_was_recorded_is_what_is_asked_and_its_answers_are_whole(peer: str) -> None:
    found, adapter = recorded(peer)
    for exchange in found["exchanges"]:
        ask = ask_of(exchange["ask"])
        assert adapter.call(ask) == (exchange["path"], exchange["body"])
        assert exchange["status"] == 200
        told, brought = answer(adapter, exchange)
        assert brought >= (ask.max_new if ask.stream and not ask.echo else 1)
        assert told.output.finish == "length"
        assert told.prompt_tokens == 6
        if told.output.tokens is not None:
            assert len(told.output.tokens) == ask.max_new
            assert told.output.logprobs is not None
            assert len(told.output.logprobs) == ask.max_new
            assert None not in told.output.logprobs


@pytest.mark.parametrize("peer", PEERS)
def test_streamed_and_whole_answers_are_one_output(peer: str) -> None:
    found, adapter = recorded(peer)
    streamed, whole = (answer(adapter, one)[0].output for one in found["exchanges"][:2])
    if peer in UNSTEADY:
        assert streamed.logprobs != whole.logprobs
        assert streamed.top is not None and whole.top is not None
        assert [len(one) for one in streamed.top] == [len(one) for one in whole.top]
        streamed = replace(streamed, logprobs=whole.logprobs, top=whole.top)
    assert streamed == whole


def test_vllm_tells_ids_numbers_as_written_the_prompts_scores_and_a_gauge() -> None:
    found, adapter = recorded("vllm")
    told = answer(adapter, found["exchanges"][0])[0].output
    assert told.tokens == (58, 198, 99)
    assert told.logprobs is not None and told.top is not None
    assert told.logprobs[0] == "-1.4809366464614868"
    assert told.top[0][0].token == "id:58"
    assert [len(entry) for entry in told.top] == [2, 2, 2]
    scored = answer(adapter, found["exchanges"][3])[0].output
    assert scored.prompt_logprobs is not None
    assert scored.prompt_logprobs[0] is None
    assert len(scored.prompt_logprobs) == 6
    assert scored.tokens == (58,)
    assert total(found["pages"]["/metrics"], adapter.running) == 0


def test_vllm_tells_its_version_its_context_and_the_constants_of_its_cache() -> None:
    told = described("vllm")
    assert (told.version, told.model, told.context) == ("0.32.0", "tiny", 2048)
    assert told.block_size == 128
    assert ("prefix_cache", "on") in [(one.name, one.value) for one in told.settings]


def test_transformers_tells_texts_alone_and_draws_for_nobody() -> None:
    found, adapter = recorded("transformers")
    greedy, _, drawn, _ = (answer(adapter, one)[0].output for one in found["exchanges"])
    assert greedy.tokens is None
    assert greedy.logprobs is None
    assert greedy.text_sha256 is not None
    # The first request was greedy, and so are all that follow, whatever they ask for.
    assert drawn == greedy
    assert "seed" not in adapter.declared
    assert described("transformers").model == "./tiny-words"
