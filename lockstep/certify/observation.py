"""What a run of the certifier saw of an endpoint, as its certificate states it [CERT-9].

Nothing here judges. A field that the server does not report is None, never zero or empty.
`document` gives the LCJ form of a record, `parse_*` reads it back from a file of this package.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from lockstep.certify.identity import Adapter, Identity, Launch, Named, Setting, Subject

__all__ = [
    "Adapter",
    "CellSeen",
    "Failure",
    "Identity",
    "Launch",
    "Named",
    "Output",
    "PromptsSeen",
    "Round",
    "Seen",
    "Setting",
    "Subject",
    "Top",
    "parse_output",
    "parse_round",
]


@dataclass(frozen=True)
class Top:
    """One of the likeliest tokens at a position.

    Attributes:
        token: `id:N` where ids are reported, else `utf8:` and the hex of its text.
        logprob: as the server wrote the number.
    """

    token: str
    logprob: str


@dataclass(frozen=True)
class Output:
    """One distinct answer; a certificate lists each once.

    Attributes:
        tokens: ids, None where they are not reported.
        token_texts: hex of the UTF-8 text of each token, where no ids are reported.
        text_sha256: of the whole text in UTF-8.
        finish: as reported, `length` or `stop`, or another word of the server.
        logprobs: of each token, as the server wrote the number; None within the list where it
            gave null.
        top: at each position, in the order reported.
        prompt_logprobs: of each token of the prompt, where they were asked for.
    """

    tokens: tuple[int, ...] | None = None
    token_texts: tuple[str, ...] | None = None
    text_sha256: str | None = None
    finish: str | None = None
    logprobs: tuple[str | None, ...] | None = None
    top: tuple[tuple[Top, ...], ...] | None = None
    prompt_logprobs: tuple[str | None, ...] | None = None

    def document(self) -> dict[str, Any]:
        """Give the LCJ form."""
        return {
            "tokens": _listed(self.tokens),
            "token_texts": _listed(self.token_texts),
            "text_sha256": self.text_sha256,
            "finish": self.finish,
            "logprobs": _listed(self.logprobs),
            "top": None if self.top is None else [[asdict(one) for one in at] for at in self.top],
            "prompt_logprobs": _listed(self.prompt_logprobs),
        }


@dataclass(frozen=True)
class Failure:
    """A request that got no answer.

    Attributes:
        request: its place in the round.
        kind: `timeout` (no end in time), `http` (a status that is no 2xx), `dropped` (the answer
            broke off), `refused` (no connection).
        status: of HTTP, where there was one.
        detail: printable ASCII, at most 200 characters, without any key.
    """

    request: int
    kind: str
    status: int | None = None
    detail: str = ""


@dataclass(frozen=True)
class Round:
    """One submission of a cell's requests. Lists are in the order of the cell's requests.

    Attributes:
        lifetime: of the server, from 0.
        number: of the round within the lifetime, from 0, priming rounds first.
        outputs: place in the table of outputs; None where there is no whole answer.
        start_us: when each request was sent, in microseconds since the round began.
        first_us: when its first token came; None where it was not streamed or never came.
        end_us: when its answer, failure or cancellation ended it.
        cached: tokens of the prompt from the cache; None as a whole where none reports it.
        prompt_tokens: length of the prompt as the server counts it; as `cached`.
        peak_running: the largest reading of the gauge while the round ran; None without a gauge.
        polls: readings of the gauge.
        failures: ascending by request.
        scores: of the user's scorer, in rounds of the user's own prompts.
    """

    lifetime: int
    number: int
    outputs: tuple[int | None, ...]
    start_us: tuple[int, ...]
    first_us: tuple[int | None, ...]
    end_us: tuple[int, ...]
    cached: tuple[int | None, ...] | None = None
    prompt_tokens: tuple[int | None, ...] | None = None
    peak_running: int | None = None
    polls: int = 0
    failures: tuple[Failure, ...] = ()
    scores: tuple[str | None, ...] | None = None

    def document(self) -> dict[str, Any]:
        """Give the LCJ form of a round of a cell; scores stand in those of prompts alone."""
        told = {
            "lifetime": self.lifetime,
            "number": self.number,
            "outputs": list(self.outputs),
            "start_us": list(self.start_us),
            "first_us": list(self.first_us),
            "end_us": list(self.end_us),
            "cached": _listed(self.cached),
            "prompt_tokens": _listed(self.prompt_tokens),
            "peak_running": self.peak_running,
            "polls": self.polls,
            "failures": [asdict(one) for one in self.failures],
        }
        return told if self.scores is None else {**told, "scores": list(self.scores)}


@dataclass(frozen=True)
class CellSeen:
    """The rounds of one planned cell.

    Attributes:
        rounds: ascending by lifetime, then number.
        reason: why rounds of the plan are lacking, of `reasons` of the data; else empty.
    """

    rounds: tuple[Round, ...] = ()
    reason: str = ""


@dataclass(frozen=True)
class PromptsSeen:
    """The user's own prompts under each of their conditions [CERT-24].

    Attributes:
        items: of the file.
        items_sha256: of its bytes.
        scorer: the command, without paths; None without one.
        conditions: the rounds of each, in their order; requests are the items, then fillers.
    """

    items: int
    items_sha256: str
    scorer: str | None
    conditions: tuple[CellSeen, ...]


@dataclass(frozen=True)
class Seen:
    """Everything that a run saw; `lockstep.claims.certification` folds it.

    Attributes:
        plan: the parameters of the plan [CERT-3].
        cells: one for each cell of the plan, in its order [CERT-4].
        outputs: distinct, in the order of first use: cells, rounds, requests; then prompts.
    """

    plan: Mapping[str, Any]
    adapter: Adapter
    subject: Subject
    certifier: tuple[Named, ...]
    settings: tuple[Setting, ...]
    outputs: tuple[Output, ...]
    cells: tuple[CellSeen, ...]
    prompts: PromptsSeen | None = None


def parse_output(document: Mapping[str, Any]) -> Output:
    """Read an output back.

    Raises:
        KeyError, TypeError: the document is not of this form.
    """
    top = document["top"]
    return Output(
        _given(document["tokens"]),
        _given(document["token_texts"]),
        document["text_sha256"],
        document["finish"],
        _given(document["logprobs"]),
        None if top is None else tuple(tuple(Top(**one) for one in at) for at in top),
        _given(document["prompt_logprobs"]),
    )


def parse_round(document: Mapping[str, Any]) -> Round:
    """Read a round back.

    Raises:
        KeyError, TypeError: the document is not of this form.
    """
    return Round(
        document["lifetime"],
        document["number"],
        tuple(document["outputs"]),
        tuple(document["start_us"]),
        tuple(document["first_us"]),
        tuple(document["end_us"]),
        _given(document["cached"]),
        _given(document["prompt_tokens"]),
        document["peak_running"],
        document["polls"],
        tuple(Failure(**one) for one in document["failures"]),
        _given(document.get("scores")),
    )


def _listed(values: Sequence[Any] | None) -> list[Any] | None:
    return None if values is None else list(values)


def _given(values: Sequence[Any] | None) -> tuple[Any, ...] | None:
    return None if values is None else tuple(values)
