"""A request gets another answer beside 1 other(s) than alone.

Needs Python 3.11, httpx and the server. Usage: python THIS [URL]
Exit status: 1, two answers to one request differ; 0, none did; 2, the server failed.
"""

import asyncio
import json
import os
import sys
import uuid
from typing import Any

import httpx

DATA = r'''{
 "about": "A request gets another answer beside 1 other(s) than alone.\n\nNeeds Python 3.11, httpx and the server. Usage: python THIS [URL]\nExit status: 1, two answers to one request differ; 0, none did; 2, the server failed.",
 "url": "http://127.0.0.1:8000",
 "key": null,
 "request": 0,
 "scope": "alone",
 "resets": [],
 "turns": 100,
 "cells": [
  {
   "name": "alone",
   "starts": [ "start" ],
   "reset": false,
   "salt": false,
   "rounds": [
    {
     "waves": [
      [ 0 ]
     ],
     "bodies": [
      {
       "path": "/completion",
       "json": {
        "prompt": [ 10 ],
        "n_predict": 1,
        "temperature": 0,
        "top_p": 1,
        "min_p": 0,
        "typical_p": 1,
        "repeat_penalty": 1,
        "frequency_penalty": 0,
        "presence_penalty": 0,
        "dry_multiplier": 0,
        "xtc_probability": 0,
        "mirostat": 0,
        "return_tokens": true,
        "cache_prompt": false,
        "stream": true,
        "top_k": 0,
        "ignore_eos": true,
        "n_probs": 1,
        "post_sampling_probs": false
       }
      }
     ],
     "rescores": [ null ],
     "compared": [ true ],
     "leaves": [ false ]
    }
   ]
  },
  {
   "name": "beside",
   "starts": [ "start" ],
   "reset": false,
   "salt": false,
   "rounds": [
    {
     "waves": [
      [ 0, 1 ]
     ],
     "bodies": [
      {
       "path": "/completion",
       "json": {
        "prompt": [ 10 ],
        "n_predict": 1,
        "temperature": 0,
        "top_p": 1,
        "min_p": 0,
        "typical_p": 1,
        "repeat_penalty": 1,
        "frequency_penalty": 0,
        "presence_penalty": 0,
        "dry_multiplier": 0,
        "xtc_probability": 0,
        "mirostat": 0,
        "return_tokens": true,
        "cache_prompt": false,
        "stream": true,
        "top_k": 0,
        "ignore_eos": true,
        "n_probs": 1,
        "post_sampling_probs": false
       }
      },
      {
       "path": "/completion",
       "json": {
        "prompt": [ 188 ],
        "n_predict": 1,
        "temperature": 0,
        "top_p": 1,
        "min_p": 0,
        "typical_p": 1,
        "repeat_penalty": 1,
        "frequency_penalty": 0,
        "presence_penalty": 0,
        "dry_multiplier": 0,
        "xtc_probability": 0,
        "mirostat": 0,
        "return_tokens": true,
        "cache_prompt": false,
        "stream": true,
        "top_k": 0,
        "ignore_eos": true,
        "n_probs": 1,
        "post_sampling_probs": false
       }
      }
     ],
     "rescores": [ null, null ],
     "compared": [ true, false ],
     "leaves": [ false, false ]
    }
   ]
  }
 ]
}'''
SENT = json.loads(DATA)
KEPT = {
    "text", "content", "finish_reason", "token_ids", "tokens", "output_ids", "token_logprobs",
    "top_logprobs", "logprobs", "prompt_logprobs", "output_token_logprobs", "output_top_logprobs",
    "input_token_logprobs", "completion_probabilities",
}  # fmt: skip
IDS = ("token_ids", "output_ids", "tokens")


def collect(value: Any, found: dict[str, Any]) -> None:
    """Gather the members that matter, those of a stream's pieces one behind the other."""
    if isinstance(value, list):
        for one in value:
            collect(one, found)
    elif isinstance(value, dict):
        for name, inner in value.items():
            if name not in KEPT or (isinstance(inner, dict) and name == "logprobs"):
                collect(inner, found)
            elif isinstance(inner, str):
                found[name] = found.get(name, "") + inner
            elif inner is not None:
                found.setdefault(name, []).extend(inner if isinstance(inner, list) else [inner])


def read(text: str | bytes) -> Any:
    """Read JSON, numbers as the texts that they are."""
    return json.loads(text, parse_float=str, parse_int=str, parse_constant=str)


async def ask(client: httpx.AsyncClient, body: Any, begun: asyncio.Event, leaves: bool) -> Any:
    """Send one request, and give its answer."""
    found: dict[str, Any] = {}
    try:
        async with client.stream("POST", body["path"], json=body["json"]) as answer:
            if answer.status_code != 200:
                await answer.aread()
                raise httpx.HTTPError(f"status {answer.status_code}: {answer.text[:300]}")
            if not body["json"].get("stream"):
                collect(read(await answer.aread()), found)
                return found
            async for line in answer.aiter_lines():
                if line.startswith("data:") and line[5:].strip() != "[DONE]":
                    collect(read(line[5:]), found)
                    begun.set()
                    if leaves:
                        return None
            return found
    finally:
        begun.set()


async def submit(client: httpx.AsyncClient, cell: Any, sent: Any) -> dict[int, Any]:
    """Send a round of a cell, and give the answer at each place."""
    if cell["reset"]:
        for path in SENT["resets"]:
            (await client.post(path)).raise_for_status()
    salt, begun = uuid.uuid4().hex, asyncio.Event()
    answers: dict[int, Any] = {}
    tasks: list[asyncio.Task[None]] = []

    async def one(at: int, begun: asyncio.Event) -> None:
        body = json.loads(json.dumps(sent["bodies"][at]))
        if cell["salt"]:
            body["json"]["cache_salt"] = salt
        again = sent["rescores"][at]
        if again is not None:
            body["json"]["prompt"] = prompt_again(sent["bodies"][again], answers[again])
        answers[at] = await ask(client, body, begun, sent["leaves"][at])

    for start, places in zip(cell["starts"], sent["waves"], strict=True):
        if start == "end" and tasks:
            await asyncio.gather(*tasks)
        elif start == "first_token" and tasks:
            await begun.wait()
        if places:
            begun = asyncio.Event()
            # Bound now: the next wave has an event of its own.
            tasks = tasks + [asyncio.create_task(one(at, begun)) for at in places]
    await asyncio.gather(*tasks)
    return answers


def prompt_again(body: Any, answer: Any) -> Any:
    """Give a prompt with the output behind it."""
    prompt = body["json"]["prompt"]
    if isinstance(prompt, str):
        return prompt + answer["text"]
    return prompt + [int(one) for one in answer["token_ids"]]


def difference(a: Any, b: Any) -> str | None:
    """Say where two answers differ."""
    for name in [*IDS, *sorted({*a, *b})]:
        left, right = a.get(name), b.get(name)
        if left == right:
            continue
        if left is None or right is None or len(left) != len(right):
            return f"{name}: {left!r:.200} against {right!r:.200}"
        at = next(
            place for place, pair in enumerate(zip(left, right, strict=True)) if pair[0] != pair[1]
        )
        return f"{name}, position {at}: {left[at]!r:.80} against {right[at]!r:.80}"
    return None


def tail(answers: dict[int, Any], sent: Any, at: int) -> str | None:
    """Say where a rescored output has other log-probabilities than it had."""
    again = sent["rescores"][at]
    said = (answers[again] or {}).get("token_logprobs") or []
    scored = ((answers[at] or {}).get("token_logprobs") or [])[:-1]
    scored = scored[len(scored) - len(said) :]
    return difference({"token_logprobs": said}, {"token_logprobs": scored})


def first_difference(sent: Any, answers: Any, seen: dict[str, Any], where: str) -> str | None:
    """Compare a round's answers with all before, and say where the first one differs."""
    for at, body in enumerate(sent["bodies"]):
        if sent["rescores"][at] is not None:
            found = tail(answers, sent, at)
            if found:
                return f"request {at} in {where}, scored again: {found}"
        elif sent["compared"][at]:
            name = json.dumps(body, sort_keys=True)
            old, there = seen.setdefault(name, (answers[at], where))
            found = difference(old, answers[at])
            if found:
                return f"request {at} in {there}\nand the same in {where}:\n{found}"
    return None


async def main() -> int:
    """Send until something differs."""
    url = sys.argv[1] if len(sys.argv) > 1 else SENT["url"]
    key = os.environ.get(SENT["key"] or "", "")
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=0)
    seen: dict[str, Any] = {}
    async with httpx.AsyncClient(
        base_url=url, headers=headers, limits=limits, timeout=300, trust_env=False
    ) as client:
        for turn in range(SENT["turns"]):
            for cell in SENT["cells"]:
                for number, sent in enumerate(cell["rounds"]):
                    answers = await submit(client, cell, sent)
                    where = f"{cell['name']}, turn {turn}, round {number}"
                    told = first_difference(sent, answers, seen, where)
                    if told:
                        print(told)
                        return 1
    print("no difference; one that shows only after a restart needs a run of this before and after")
    return 0


if __name__ == "__main__":
    try:
        status = asyncio.run(main())
    except httpx.HTTPError as fault:
        print(f"the server failed: {type(fault).__name__}: {fault}")
        status = 2
    sys.exit(status)
