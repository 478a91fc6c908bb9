"""A scripted endpoint in OpenAI's form: honest, but for what a behaviour does otherwise.

It computes nothing: an answer follows from a digest of the prompt. It counts hits of a prefix cache
and has a gauge of running requests under vLLM's names, so that the certifier can witness both.
"""

from __future__ import annotations

import hashlib
import json
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

from lockstep.certify.probe import PROBED
from lockstep.certify.requests import text_of

MODEL = "fake"
BLOCK = 16
_PROBED = (PROBED, tuple(text_of(PROBED).encode()))
_PAUSE = 0.03
"""Between answers that come one after the other: a client under load sees them apart."""
_PATIENCE = 2.0
"""The longest that an answer waits for the gauge to be read."""
VOCABULARY = 256
CONTEXT = 4096


@dataclass(frozen=True)
class Asked:
    """One call.

    Attributes:
        body: as it came.
        prompt: token ids; the bytes of a text.
        seen: how often this prompt had been asked for before, whatever else the call says.
        index: of the call, over all.
        beside: the most calls that were answered together while this one was.
    """

    body: dict[str, Any]
    prompt: tuple[int, ...]
    seen: int
    index: int
    beside: int = 1

    @property
    def echo(self) -> bool:
        """Whether the prompt is to be scored."""
        return bool(self.body.get("echo"))


@dataclass(frozen=True)
class Said:
    """What is answered.

    Attributes:
        tokens: ids.
        logprobs: texts of numbers; None for no log-probabilities at all.
        tops: for each token, ids with texts of numbers.
        prompt_logprobs: for echo.
        text: None for the tokens' own.
        cached: None where it is not reported.
        finish: the reason.
        choices: how many times the same choice is given.
        model: the name that is answered.
    """

    tokens: tuple[int, ...]
    logprobs: tuple[str | None, ...] | None
    tops: tuple[dict[int, str], ...] | None
    prompt_logprobs: tuple[str | None, ...] = ()
    text: str | None = None
    cached: int | None = 0
    finish: str | None = "length"
    choices: int = 1
    model: str = MODEL


def logprob(context: tuple[int, ...], token: int) -> str:
    """Give the made-up log-probability of a token behind others."""
    digest = hashlib.sha256(b"logprob" + bytes(context) + bytes([token])).digest()
    return f"-{digest[0] % 7}.{int.from_bytes(digest[1:5], 'big') % 10**6:06d}1"


def honest(asked: Asked) -> Said:
    """Give the answer to a call, which depends on nothing but the call."""
    body = asked.body
    key = [body.get("temperature"), body.get("seed"), body.get("top_k"), body.get("top_p")]
    told = json.dumps(key if body.get("temperature") else 0).encode()
    tokens: list[int] = []
    for _ in range(body["max_tokens"]):
        known = bytes([*asked.prompt, *tokens])
        tokens.append(1 + hashlib.sha256(told + known).digest()[0] % (VOCABULARY - 1))
    scores, tops = [], []
    for place, token in enumerate(tokens):
        context = (*asked.prompt, *tokens[:place])
        scores.append(logprob(context, token))
        others = [(token + step) % VOCABULARY for step in range(1, body.get("logprobs") or 0)]
        tops.append({one: logprob(context, one) for one in (token, *others)})
    wanted = body.get("logprobs") is not None
    prompt = tuple(
        logprob(asked.prompt[:place], token) if place else None
        for place, token in enumerate(asked.prompt)
    )
    return Said(
        tuple(tokens),
        tuple(scores) if wanted else None,
        tuple(tops) if wanted else None,
        prompt if asked.echo else (),
    )


class Behaviour:
    """An honest server; those of `pathologies` do one thing otherwise.

    Attributes:
        seconds: that an answer takes behind its first token.
        one_by_one: whether calls are answered one after the other.
        watched: whether an answer beside others waits until the gauge has been read, so that a
            machine under load does not decide whether the certifier sees a batch.
    """

    seconds: ClassVar[float] = 0.015
    one_by_one: ClassVar[bool] = False
    watched: ClassVar[bool] = True

    def said(self, asked: Asked, answer: Said) -> Said:
        """Give what is answered in the place of the honest answer."""
        return answer

    def events(self, asked: Asked, events: list[bytes]) -> Iterator[bytes | None]:
        """Give the parts of a stream that are sent; None resets the connection."""
        yield from events

    def status(self, asked: Asked) -> int:
        """Give the status of an answer."""
        return 200

    def hangs(self, asked: Asked) -> bool:
        """Whether the answer never ends."""
        return False

    def gauge(self, running: int, polls: int) -> int | None:
        """Give the reading of the gauge; None for metrics without it."""
        return running

    def counters(self, counted: dict[str, int], polls: int) -> dict[str, int | None]:
        """Give counters by name beside what the server counted; None for one that is not there."""
        return {}

    def served(self) -> str:
        """Give the name of the model that is listed."""
        return MODEL


@dataclass
class State:
    """What a server remembers; guarded by the lock."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    turn: threading.Lock = field(default_factory=threading.Lock)
    running: int = 0
    beside: dict[int, int] = field(default_factory=dict)
    calls: int = 0
    polls: int = 0
    prompt_tokens: int = 0
    generated_tokens: int = 0
    read: threading.Condition = field(default_factory=threading.Condition)
    prompts: Counter[tuple[int, ...]] = field(default_factory=Counter)
    cache: set[tuple[str, tuple[int, ...]]] = field(default_factory=set)

    def enter(self, body: dict[str, Any]) -> Asked:
        """Count a call in."""
        told = body["prompt"]
        prompt = tuple(told.encode() if isinstance(told, str) else told)
        with self.lock:
            asked = Asked(body, prompt, self.prompts[prompt], self.calls)
            self.prompts[prompt] += 1
            self.calls += 1
            self.prompt_tokens += len(prompt)
            self.generated_tokens += body["max_tokens"]
            self.running += 1
            self.beside[asked.index] = self.running
            for index in self.beside:
                self.beside[index] = max(self.beside[index], self.running)
        return asked

    def leave(self, asked: Asked) -> None:
        """Count a call out, once: before its client can know that it is over and send another."""
        with self.lock:
            if self.beside.pop(asked.index, None) is not None:
                self.running -= 1

    def beside_of(self, asked: Asked) -> int:
        """Give the most calls that were answered together while this one was."""
        with self.lock:
            return self.beside[asked.index]

    def hit(self, asked: Asked) -> int:
        """Look the prompt's whole blocks up, enter them, and give how many tokens were there."""
        salt, prompt = str(asked.body.get("cache_salt")), asked.prompt
        ends = range(BLOCK, len(prompt), BLOCK)
        with self.lock:
            found = 0
            while found + BLOCK < len(prompt) and (salt, prompt[: found + BLOCK]) in self.cache:
                found += BLOCK
            self.cache |= {(salt, prompt[:end]) for end in ends}
        return 0 if asked.echo else found


class FakeEndpoint:
    """A server of a behaviour at a port of its own; used as a context."""

    def __init__(self, behaviour: Behaviour | None = None) -> None:
        self.behaviour = behaviour or Behaviour()
        self.state = State()

    def __enter__(self) -> FakeEndpoint:
        """Serve."""
        handler = type("Handler", (_Handler,), {"endpoint": self})
        self._server = _Server(("127.0.0.1", 0), handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        """End."""
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 512

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of clients that left: some are to."""


class _Handler(BaseHTTPRequestHandler):
    endpoint: FakeEndpoint

    def log_message(self, format: str, *args: object) -> None:
        """Keep standard error clean."""

    def do_GET(self) -> None:
        """Answer models, version, health and metrics."""
        fake = self.endpoint
        if self.path == "/v1/models":
            entry = {"id": fake.behaviour.served(), "object": "model", "max_model_len": CONTEXT}
            self._send(json.dumps({"object": "list", "data": [entry]}).encode())
        elif self.path == "/version":
            self._send(b'{"version": "1.2.3"}')
        elif self.path == "/health":
            self._send(b"{}")
        elif self.path == "/metrics":
            with fake.state.lock:
                fake.state.polls += 1
                reading = fake.behaviour.gauge(fake.state.running, fake.state.polls)
                counted = {
                    "prompt_tokens": fake.state.prompt_tokens,
                    "generation_tokens": fake.state.generated_tokens,
                }
                counters = fake.behaviour.counters(counted, fake.state.polls)
            with fake.state.read:
                fake.state.read.notify_all()
            lines = ['vllm:cache_config_info{block_size="16",enable_prefix_caching="True"} 1.0']
            if reading is not None:
                lines.append(f'vllm:num_requests_running{{model_name="{MODEL}"}} {reading}.0')
                lines.append(f'vllm:num_requests_waiting{{model_name="{MODEL}"}} 0.0')
            lines += [
                f'vllm:{name}_total{{model_name="{MODEL}"}} {value}.0'
                for name, value in counters.items()
                if value is not None
            ]
            self._send("\n".join([*lines, ""]).encode(), kind="text/plain")
        else:
            self._send(b"{}", 404)

    def do_POST(self) -> None:
        """Answer completions and resets."""
        data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        fake = self.endpoint
        if self.path == "/reset_prefix_cache":
            with fake.state.lock:
                fake.state.cache.clear()
            self._send(b"{}")
            return
        asked = fake.state.enter(json.loads(data))
        try:
            if fake.behaviour.one_by_one:
                with fake.state.turn:
                    self._complete(asked)
                    self.wfile.flush()
                    self.connection.shutdown(socket.SHUT_WR)
                    time.sleep(_PAUSE)
            else:
                self._complete(asked)
        finally:
            fake.state.leave(asked)

    def _complete(self, asked: Asked) -> None:
        behaviour, state = self.endpoint.behaviour, self.endpoint.state
        cached = state.hit(asked)
        status = behaviour.status(asked)
        if status != 200:
            state.leave(asked)
            headers = {"Location": "/v1/elsewhere"} if status in (301, 302, 307) else {}
            self._send(b'{"error": {"message": "scripted"}}', status, headers=headers)
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        self.wfile.write(b": working\n\n")
        self.wfile.flush()
        if behaviour.hangs(asked):
            self._hang()
            return
        # The first token comes before it is known who is beside.
        answer = replace(honest(asked), cached=cached)
        first = behaviour.events(asked, _events(asked, behaviour.said(asked, answer)))
        if not self._part(next(first, None)):
            return
        time.sleep(behaviour.seconds)
        together = replace(asked, beside=state.beside_of(asked))
        # While the certifier probes, it reads no gauge.
        watched = behaviour.watched and asked.prompt not in _PROBED
        if together.beside > 1 and watched and not behaviour.one_by_one:
            before = state.polls
            with state.read:
                # A reading that was taken earlier, and is told only now, does not count this one.
                state.read.wait_for(lambda: state.polls > before, _PATIENCE)
            together = replace(asked, beside=state.beside_of(asked))
        _, *rest = behaviour.events(asked, _events(asked, behaviour.said(together, answer)))
        for place, part in enumerate(rest, start=1):
            if part is None or place == len(rest):
                state.leave(asked)
            if not self._part(part):
                return

    def _hang(self) -> None:
        """Wait until the client has gone."""
        self.connection.setblocking(True)
        while self.connection.recv(1024):
            pass

    def _part(self, part: bytes | None) -> bool:
        if part is None:
            linger = struct.pack("ii", 1, 0)
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            self.connection.close()
            return False
        self.wfile.write(part)
        self.wfile.flush()
        return True

    def _send(
        self,
        data: bytes,
        status: int = 200,
        kind: str = "application/json",
        headers: dict[str, str] | None = None,
    ) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)


def _events(asked: Asked, said: Said) -> list[bytes]:
    """Give an answer as events: its first token, the others, the usage, the end."""
    found = [
        _choice(asked, said, slice(0, 1), None, first=True),
        _choice(asked, said, slice(1, None), said.finish, first=False),
    ]
    usage: dict[str, Any] = {
        "prompt_tokens": len(asked.prompt),
        "completion_tokens": len(said.tokens),
        "total_tokens": len(asked.prompt) + len(said.tokens),
    }
    if said.cached is not None:
        usage["prompt_tokens_details"] = {"cached_tokens": said.cached}
    found.append(_event({"id": "c", "model": said.model, "choices": [], "usage": usage}))
    return [*found, b"data: [DONE]\n\n"]


def _choice(asked: Asked, said: Said, part: slice, finish: str | None, first: bool) -> bytes:
    tokens = said.tokens[part]
    text = "".join(chr(0x100 + token) for token in tokens)
    if said.text is not None:
        text = said.text if first else ""
    entry: dict[str, Any] = {"text": text, "finish_reason": finish, "token_ids": list(tokens)}
    if said.logprobs is not None and said.tops is not None:
        entry["logprobs"] = _scores(asked, said, part, first)
    choices = [{"index": index, **entry} for index in range(said.choices)]
    if said.choices < 2:
        return _event({"id": "c", "model": said.model, "choices": choices})
    return b"".join(_event({"id": "c", "model": said.model, "choices": [one]}) for one in choices)


def _scores(asked: Asked, said: Said, part: slice, first: bool) -> dict[str, Any]:
    assert said.logprobs is not None
    assert said.tops is not None
    tokens, values = list(said.tokens[part]), list(said.logprobs[part])
    tops: list[dict[int, str] | None] = list(said.tops[part])
    if first and asked.echo:
        tokens = [*asked.prompt, *tokens]
        values = [*said.prompt_logprobs, *values]
        tops = [*[None] * len(asked.prompt), *tops]
    return {
        "tokens": [f"token_id:{token}" for token in tokens],
        "token_logprobs": [_Written(value) for value in values],
        "top_logprobs": [
            None if one is None else {f"token_id:{at}": _Written(text) for at, text in one.items()}
            for one in tops
        ],
        "text_offset": [0] * len(tokens),
    }


class _Written:
    """A number to be written as this text; null for None."""

    def __init__(self, text: str | None) -> None:
        self.text = "null" if text is None else text


def _event(document: dict[str, Any]) -> bytes:
    marks: list[str] = []

    def mark(value: Any) -> str:
        marks.append(value.text)
        return f"\0{len(marks) - 1}\0"

    text = json.dumps(document, default=mark, ensure_ascii=False)
    for at, number in enumerate(marks):
        text = text.replace(f'"\\u0000{at}\\u0000"', number)
    return f"data: {text}\n\n".encode()
