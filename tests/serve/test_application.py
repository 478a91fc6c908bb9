"""The server as a client sees it: answers, streams, scores, refusals, what it says of itself."""

from __future__ import annotations

import json
import signal
import socket
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from lockstep.errors import LockstepError
from lockstep.limits import SERVED_BODY_BYTES
from lockstep.serve.policy import Driving

MODEL = "lockstep-tiny"
GREEDY = {"temperature": 0, "ignore_eos": True}
SCORED = {**GREEDY, "logprobs": 2, "return_token_ids": True}


def events(server: Any, path: str = "/v1/completions", **fields: Any) -> list[Any]:
    """Give the documents of a stream, and the word at its end."""
    body = {"model": MODEL, "stream": True, **fields}
    with server.http.stream("POST", path, json=body) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        lines = [line for line in answer.iter_lines() if line]
    assert all(line.startswith("data: ") for line in lines)
    words = [line.removeprefix("data: ") for line in lines]
    return [json.loads(word) if word != "[DONE]" else word for word in words]


def joined(lists: Iterable[list[Any]]) -> list[Any]:
    return [entry for one in lists for entry in one]


def wait_for(condition: Any, seconds: float = 10) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_completion_has_text_usage_and_what_was_settled(server: Any) -> None:
    answer = server.complete("Hello", temperature=0, ignore_eos=True, max_tokens=3)
    assert answer["object"] == "text_completion"
    assert answer["system_fingerprint"].endswith("-invariant")
    assert (answer["lockstep"]["mode"], answer["lockstep"]["fault"]) == ("invariant", None)
    [choice] = answer["choices"]
    assert (choice["index"], choice["finish_reason"], choice["logprobs"]) == (0, "length", None)
    usage = answer["usage"]
    assert (usage["prompt_tokens"], usage["completion_tokens"], usage["total_tokens"]) == (5, 3, 8)
    [told] = answer["lockstep"]["choices"]
    assert 0 <= told["seed"] < 1 << 53


def test_a_drawn_seed_that_is_told_gives_the_answer_again(server: Any) -> None:
    first = server.complete("a seed", max_tokens=12, return_token_ids=True)
    seed = first["lockstep"]["choices"][0]["seed"]
    again = server.complete("a seed", max_tokens=12, return_token_ids=True, seed=seed)
    assert again["choices"][0]["token_ids"] == first["choices"][0]["token_ids"]


def test_choices_of_a_prompt_draw_by_themselves_and_repeat(server: Any) -> None:
    asked = {"n": 3, "seed": 9, "max_tokens": 8, "return_token_ids": True}
    tokens = [c["token_ids"] for c in server.complete("choices", **asked)["choices"]]
    assert len({tuple(one) for one in tokens}) == 3
    assert tokens == [c["token_ids"] for c in server.complete("choices", **asked)["choices"]]
    both = server.complete(["other", "choices"], **asked)["choices"]
    assert [c["index"] for c in both] == list(range(6))
    assert [c["token_ids"] for c in both[3:]] == tokens


def test_prompts_as_text_and_as_ids_are_one(server: Any) -> None:
    text = server.complete("same", **SCORED)["choices"][0]
    ids = server.complete(list(b"same"), **SCORED)["choices"][0]
    assert text == ids
    assert text["prompt_token_ids"] == list(b"same")


def test_a_second_prompt_is_cached_and_a_salt_parts_it(server: Any) -> None:
    prompt = [7] * 40
    first = server.complete(prompt, **GREEDY, cache_salt="one")
    again = server.complete(prompt, **GREEDY, cache_salt="one")
    other = server.complete(prompt, **GREEDY, cache_salt="two")
    cached = [
        answer["usage"]["prompt_tokens_details"]["cached_tokens"]
        for answer in (first, again, other)
    ]
    assert cached == [0, 32, 0]
    assert first["choices"] == again["choices"] == other["choices"]


def test_a_reset_empties_the_cache(server: Any) -> None:
    server.complete([8] * 40, **GREEDY)
    assert server.http.post("/reset_prefix_cache").json()["reset"] is True
    after = server.complete([8] * 40, **GREEDY)
    assert after["usage"]["prompt_tokens_details"]["cached_tokens"] == 0
    # The blocks are released by the step after the one that answered.
    wait_for(lambda: server.metric("lockstep_kv_blocks_cached") == 2)


@pytest.mark.parametrize("chat", [False, True])
def test_a_stream_says_what_the_whole_answer_says(server: Any, chat: bool) -> None:
    path = "/v1/chat/completions" if chat else "/v1/completions"
    asked: dict[str, Any] = {"max_tokens": 9, "seed": 4, "n": 2, "return_token_ids": True}
    asked |= (
        {"messages": [{"role": "user", "content": "hi"}], "logprobs": True, "top_logprobs": 1}
        if chat
        else {"prompt": "hi", "logprobs": 1}
    )
    whole = server.post(path, **asked).json()
    *pieces, usage, done = events(server, path, **asked, stream_options={"include_usage": True})
    assert done == "[DONE]"
    assert usage["choices"] == []
    for name in ("prompt_tokens", "completion_tokens", "total_tokens"):
        assert usage["usage"][name] == whole["usage"][name]
    for index, choice in enumerate(whole["choices"]):
        own = [p["choices"][0] for p in pieces if p["choices"][0]["index"] == index]
        assert joined(p["token_ids"] for p in own) == choice["token_ids"]
        assert [p["finish_reason"] for p in own][-1] == choice["finish_reason"]
        if chat:
            assert own[0]["delta"]["role"] == "assistant"
            said = "".join(p["delta"]["content"] for p in own)
            assert said == choice["message"]["content"]
            assert joined(p["logprobs"]["content"] for p in own) == choice["logprobs"]["content"]
        else:
            assert "".join(p["text"] for p in own) == choice["text"]
            for name in choice["logprobs"]:
                assert joined(p["logprobs"][name] for p in own) == choice["logprobs"][name]


def test_an_echo_scores_its_own_output_as_it_was_decoded(server: Any) -> None:
    decoded = server.complete([3, 1, 4, 1, 5], max_tokens=20, **SCORED)["choices"][0]
    prompt = decoded["prompt_token_ids"] + decoded["token_ids"]
    asked = {"max_tokens": 0, "echo": True, "logprobs": 2, "return_token_ids": True}
    scored = server.complete(prompt, **asked)
    echoed = scored["choices"][0]
    assert scored["usage"]["completion_tokens"] == 0
    assert echoed["logprobs"]["token_logprobs"][0] is None
    for name in ("tokens", "token_logprobs", "top_logprobs"):
        assert echoed["logprobs"][name][5:] == decoded["logprobs"][name]
    assert len(echoed["logprobs"]["tokens"]) == len(prompt)
    assert echoed["finish_reason"] == "length"
    *pieces, _ = events(server, prompt=prompt, **asked)
    assert [p["choices"][0]["logprobs"] for p in pieces] == [echoed["logprobs"]]
    assert pieces[0]["choices"][0]["text"] == echoed["text"]


def test_prompt_logprobs_do_not_depend_on_the_cache(server: Any) -> None:
    asked = {"prompt_logprobs": 1, **GREEDY}
    cold = server.complete([9] * 50, **asked)["choices"][0]["prompt_logprobs"]
    warm = server.complete([9] * 50, **asked)["choices"][0]["prompt_logprobs"]
    assert cold == warm
    assert cold[0] is None
    assert all("9" in position for position in cold[1:])
    chat = server.post(
        "/v1/chat/completions", messages=[{"role": "user", "content": "x"}], max_tokens=1,
        prompt_logprobs=0, return_token_ids=True,
    ).json()  # fmt: skip
    assert len(chat["prompt_logprobs"]) == len(chat["prompt_token_ids"]) == 18


def test_stop_strings_and_stop_tokens_end_a_choice(server: Any) -> None:
    asked = {"seed": 11, "max_tokens": 40, "ignore_eos": True, "return_token_ids": True}
    whole = server.complete("stops", **asked)["choices"][0]
    letter = next(c for c in whole["text"][3:] if c.isascii())
    cut = server.complete("stops", **asked, stop=letter)["choices"][0]
    assert (cut["finish_reason"], cut["stop_reason"]) == ("stop", letter)
    assert cut["text"] == whole["text"][: whole["text"].index(letter)]
    token = whole["token_ids"][6]
    ended = server.complete("stops", **asked, stop_token_ids=[token])["choices"][0]
    place = whole["token_ids"].index(token)
    assert ended["token_ids"] == whole["token_ids"][: place + 1]
    assert ended["stop_reason"] == token


def test_an_end_of_sequence_ends_a_choice_unless_ignored(start: Any) -> None:
    # The seed was looked for: with it the model's own end of sequence is drawn.
    with start() as server:
        for seed in range(60):
            asked = {"seed": seed, "max_tokens": 24, "temperature": 2, "return_token_ids": True}
            choice = server.complete("ends", **asked)["choices"][0]
            if choice["finish_reason"] == "stop":
                break
        assert choice["token_ids"][-1] == 0
        went_on = server.complete("ends", **asked, ignore_eos=True)["choices"][0]
        assert went_on["finish_reason"] == "length"
        assert went_on["token_ids"][: len(choice["token_ids"])] == choice["token_ids"]


def asked_of(number: int) -> dict[str, Any]:
    """Give one of many calls, some drawn, their prompts of all lengths around a block."""
    drawn: dict[str, Any] = {"temperature": 0.9, "top_p": 0.95, "top_k": 40, "seed": number}
    return {
        "prompt": [(number * 7 + place) % 255 + 1 for place in range(1 + number * 5 % 50)],
        "max_tokens": 8,
        **SCORED,
        **(drawn if number % 2 else {}),
    }


def outputs_of(server: Any, together: bool, others: int = 7) -> tuple[list[Any], int]:
    """Give the choices of 8 calls, one after the other or among others, and the widest batch."""
    calls = [asked_of(number) for number in range(1 + others)]
    if together:
        with ThreadPoolExecutor(len(calls)) as threads:
            answers = list(threads.map(lambda call: server.complete(**call), calls))
    else:
        answers = [server.complete(**call) for call in calls[:8]]
    width = max(a["lockstep"]["choices"][0]["batch_requests_max"] for a in answers)
    return [answer["choices"] for answer in answers[:8]], width


@pytest.mark.parametrize(("policy", "others"), [("continuous", 63), ("adversarial", 23)])
def test_a_call_alone_and_among_others_is_answered_alike(
    start: Any, policy: str, others: int
) -> None:
    with start(driving=Driving(policy, max_batch=64)) as server:
        alone, width = outputs_of(server, together=False)
        assert width == 1
        server.http.post("/reset_prefix_cache")
        among, width = outputs_of(server, together=True, others=others)
        assert width > 8
        assert among == alone
        if policy == "adversarial":
            assert server.metric("lockstep_preemptions_total") > 0


def test_in_mode_fast_company_shows(start: Any) -> None:
    with start(mode="fast") as server:
        assert server.http.get("/version").json()["batch_invariant"] is False
        alone, _ = outputs_of(server, together=False)
        server.http.post("/reset_prefix_cache")
        among, width = outputs_of(server, together=True, others=23)
        assert width > 8
        # Every CPU shows it: the mode cuts sums by the number of rows, and float32 is not
        # associative. Tokens differ where two of them are nearly as probable.
        assert among != alone


REFUSALS: list[tuple[dict[str, Any], int, str, str | None]] = [
    ({"prompt": "a", "max_tokens": 5000}, 422, "SEQUENCE_TOO_LONG", "prompt"),
    ({"prompt": [300]}, 422, "TOKEN_OUT_OF_RANGE", "prompt"),
    ({"prompt": "a", "model": "gpt"}, 404, "MODEL_UNKNOWN", "model"),
    ({"prompt": "a", "temprature": 1}, 400, "UNKNOWN_FIELD", "temprature"),
    ({"prompt": "a", "min_tokens": 2}, 400, "FIELD_UNSUPPORTED", "min_tokens"),
    ({"prompt": ""}, 400, "EMPTY_PROMPT", "prompt"),
]


@pytest.mark.parametrize(("fields", "status", "code", "param"), REFUSALS)
def test_refusals_have_statuses_and_openais_form(
    server: Any, fields: dict[str, Any], status: int, code: str, param: str | None
) -> None:
    answer = server.post(**fields)
    assert answer.status_code == status
    error = answer.json()["error"]
    assert (error["code"], error["param"]) == (code, param)
    assert error["message"]
    assert error["type"]


@pytest.mark.parametrize(
    ("method", "path", "data", "status", "code"),
    [
        ("POST", "/v1/completions", b"{", 400, "MALFORMED_JSON"),
        ("POST", "/v1/completions", b"x" * (SERVED_BODY_BYTES + 1), 413, "LIMIT_SIZE"),
        ("POST", "/v1/embeddings", b"{}", 404, "ROUTE_UNKNOWN"),
        ("GET", "/v1/completions", b"", 405, "ROUTE_UNKNOWN"),
        ("GET", "/v1/models/gpt", b"", 404, "MODEL_UNKNOWN"),
    ],
)
def test_what_is_no_call_is_refused(
    server: Any, method: str, path: str, data: bytes, status: int, code: str
) -> None:
    answer = server.http.request(method, path, content=data)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)


def test_a_request_that_no_pool_holds_is_refused(start: Any) -> None:
    from lockstep.lifecycle import Pool

    with start(pool=Pool(2, 32)) as server:
        answer = server.post(prompt=[1] * 61, max_tokens=4)
        assert (answer.status_code, answer.json()["error"]["code"]) == (422, "REQUEST_NEVER_FITS")
        assert server.complete([1] * 60, max_tokens=4)["usage"]["completion_tokens"] >= 1


def test_a_key_opens_everything_but_health(start: Any) -> None:
    with start(key="secret") as server:
        assert server.http.get("/health").status_code == 200
        for path in ("/v1/models", "/version", "/metrics"):
            refused = server.http.get(path)
            assert (refused.status_code, refused.json()["error"]["code"]) == (401, "KEY_REFUSED")
            assert "secret" not in refused.text
        wrong = {"Authorization": "Bearer secres"}
        assert server.http.get("/v1/models", headers=wrong).status_code == 401
        right = {"Authorization": "Bearer secret"}
        assert server.http.get("/v1/models", headers=right).status_code == 200


def test_more_that_wait_than_may_are_told_so(start: Any) -> None:
    with start(max_waiting=2, driving=Driving(max_batch=1)) as server:
        refused = server.post(prompt=["a", "b", "c"])
        assert (refused.status_code, refused.json()["error"]["code"]) == (429, "QUEUE_FULL")
        assert len(server.complete(["a", "b"])["choices"]) == 2


def test_a_client_that_goes_is_not_heard_and_its_blocks_come_back(start: Any) -> None:
    with start(driving=Driving(max_batch=1)) as server:
        bodies = [
            {"model": MODEL, "prompt": "gone", "max_tokens": 200, "ignore_eos": True, "stream": s}
            for s in (True, False, False)
        ]
        sockets = [_call(server.url, body) for body in bodies]
        wait_for(lambda: server.metric("lockstep_requests_waiting") == 2)
        assert server.metric("lockstep_kv_blocks_used") > 0
        for opened in sockets:
            opened.close()
        wait_for(lambda: server.metric("lockstep_requests_waiting") == 0)
        wait_for(lambda: server.metric("lockstep_kv_blocks_used") == 0)
        # The two that waited were forgotten, the third ran on: none of them was answered.
        assert server.metric('lockstep_requests_total{outcome="dropped"}') == 3
        assert server.metric("lockstep_generated_tokens_total") == 200
        assert server.complete("still here")["choices"]


def _call(url: str, body: dict[str, Any]) -> socket.socket:
    """Send a call and do not wait for its answer."""
    host, port = url.removeprefix("http://").split(":")
    opened = socket.create_connection((host, int(port)))
    data = json.dumps(body).encode()
    head = f"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {len(data)}\r\n\r\n"
    opened.sendall(head.encode() + data)
    return opened


def test_an_engine_that_has_ended_is_told(start: Any, tmp_path: Path) -> None:
    with start(record=tmp_path / "kept") as server:
        server.complete("a")
        (tmp_path / "kept" / "execution-000001").write_text("in the way")
        for answer in (
            server.http.post("/reset_prefix_cache"),
            server.http.get("/health"),
            server.post(prompt="a"),
        ):
            assert answer.status_code == 503
            assert answer.json()["error"]["code"] == "SERVER_STOPPING"


@pytest.mark.parametrize("stream", [False, True])
def test_what_runs_when_the_time_to_drain_is_over_is_told(start: Any, stream: bool) -> None:
    with start(drain_seconds=0) as server, ThreadPoolExecutor(1) as threads:
        asked = {"prompt": "a", "max_tokens": 4000, "ignore_eos": True, "stream": stream}
        calling = threads.submit(lambda: server.post(**asked))
        wait_for(lambda: server.metric("lockstep_generated_tokens_total") > 0)
        server.signal(signal.SIGTERM, None)
        answer = calling.result(10)
        assert answer.status_code == (200 if stream else 503)
        assert "SERVER_STOPPING" in answer.text
        assert "[DONE]" not in answer.text


def test_a_fault_of_the_engine_is_told_by_its_code(
    start: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*arguments: Any) -> Any:
        raise LockstepError("KERNEL_INPUT", "/planted")

    with start() as server:
        with monkeypatch.context() as patched:
            patched.setattr("lockstep.engine.model.Model.hidden", broken)
            answer = server.post(prompt="a", max_tokens=1)
            assert answer.status_code == 500
            assert answer.json()["error"]["code"] == "KERNEL_INPUT"
            [error] = events(server, prompt="a", max_tokens=1)
            assert error["error"]["code"] == "KERNEL_INPUT"
        assert server.complete("a")["choices"]
        assert server.metric("lockstep_execution_failures_total") == 2


def test_a_defect_of_a_handler_is_told_as_internal(
    start: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with start() as server:
        monkeypatch.setattr("lockstep.serve.documents.answer", lambda *arguments: 1 // 0)
        answer = server.post(prompt="a", max_tokens=1)
        assert (answer.status_code, answer.json()["error"]["code"]) == (500, "INTERNAL")


def test_metrics_have_own_names_and_vllms_where_asked(start: Any, server: Any) -> None:
    assert "vllm:" not in server.http.get("/metrics").text
    with start(compatible="vllm") as other:
        other.complete([5] * 40, **GREEDY)
        other.complete([5] * 40, **GREEDY)
        for name, value in (
            ("lockstep_steps_total", None),
            ("lockstep_cached_tokens_total", 32),
            ("lockstep_generated_tokens_total", 8),
            ("lockstep_requests_running", 0),
            ("lockstep_batch_requests_count", None),
            ('lockstep_requests_total{outcome="length"}', 2),
            ("vllm:num_requests_running", 0),
            ("vllm:prefix_cache_hits_total", 32),
            ("vllm:kv_cache_usage_perc", 0),
        ):
            found = other.metric(name)
            assert found == value if value is not None else found > 0, name


def test_the_server_says_what_it_is(server: Any) -> None:
    version = server.http.get("/version").json()
    assert (version["mode"], version["fault"], version["backend"]) == ("invariant", None, "host")
    assert version["batch_invariant"] is True
    assert len(version["kernels_sha256"]) == 64
    assert version["environment"]["binding_sha256"]
    assert version["pool"] == {"blocks": 256, "block_size": 16}
    assert version["turned_off"] == []
    [model] = server.http.get("/v1/models").json()["data"]
    assert (model["id"], model["max_model_len"]) == (MODEL, 4096)
    assert server.http.get(f"/v1/models/{MODEL}").json() == model


def test_a_client_library_is_served(server: Any) -> None:
    # What clients send that know nothing of this server.
    answer = httpx.post(
        f"{server.url}/v1/chat/completions",
        json={
            "model": MODEL,
            "messages": [{"role": "user", "content": "hi"}],
            "temperature": 0.7,
            "top_p": 1.0,
            "max_tokens": 3,
            "presence_penalty": 0.0,
            "frequency_penalty": 0.0,
            "logit_bias": None,
            "user": "me",
            "stream": False,
        },
    )
    assert answer.status_code == 200


def test_a_default_seed_is_that_of_calls_without_one(start: Any) -> None:
    with start(default_seed=7) as server:
        told = [server.complete("a seed", **seed) for seed in ({}, {"seed": 8})]
    assert [one["lockstep"]["choices"][0]["seed"] for one in told] == [7, 8]
