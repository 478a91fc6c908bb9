"""A choice of an answer as it comes: updates of its ticket in, pieces of text and scores out."""

from __future__ import annotations

from dataclasses import dataclass, field

from lockstep.serve.call import Call
from lockstep.serve.text import Growing, Texts
from lockstep.serve.ticket import Scored, Ticket, Update

PromptScores = tuple[Scored | None, ...]


@dataclass(frozen=True)
class Piece:
    """What an update adds to a choice.

    Attributes:
        text: settled by it, perhaps empty.
        tokens: ids of what was emitted.
        scored: their log-probabilities, where asked for.
        prompt: those of the prompt, with the first piece, where asked for.
        reason: `stop` or `length` where the choice has ended.
        offset: characters of the texts of the tokens before these, an echoed prompt's among them.
    """

    text: str
    tokens: tuple[int, ...] = ()
    scored: tuple[Scored, ...] = ()
    prompt: PromptScores | None = None
    reason: str | None = None
    offset: int = 0


@dataclass(eq=False)
class Choice:
    """A choice of a call.

    Attributes:
        index: among the choices of the call.
        prompt: number of its prompt.
        ticket: its request in the engine.
        stopped_by: the stop string or token that ended it, None for another end.
    """

    index: int
    prompt: int
    ticket: Ticket
    call: Call
    texts: Texts
    stopped_by: str | int | None = None
    tokens: list[int] = field(default_factory=list)
    scored: list[Scored] = field(default_factory=list)
    prompt_scores: PromptScores | None = None
    reason: str | None = None

    def __post_init__(self) -> None:
        self._growing = Growing(self.texts, self.call.stops)
        self._offset = self._length(self.prompt_tokens) if self.call.echo else 0

    @property
    def text(self) -> str:
        """What it says so far, without its prompt."""
        return self._growing.text

    @property
    def prompt_tokens(self) -> tuple[int, ...]:
        """The ids of its prompt."""
        return self.call.prompts[self.prompt]

    def take(self, update: Update) -> Piece:
        """Add an update; none follows one after which there is a reason."""
        self.prompt_scores = update.prompt or self.prompt_scores
        if self.call.max_new[self.prompt] == 0:
            # The engine emits at least one token; nobody asked for it.
            self.reason = "length"
            return Piece("", prompt=update.prompt, reason=self.reason)
        added: str = ""
        tokens: tuple[int, ...] = ()
        scored: tuple[Scored, ...] = ()
        if update.token is not None:
            tokens = (update.token,)
            scored = () if update.scored is None else (update.scored,)
            added = self._emitted(update.token, update.reason == "eos")
        if self.reason is None and update.reason is not None:
            self.reason = "stop" if update.reason == "eos" else "length"
        if self.reason is not None:
            added += self._growing.end()
        self.tokens += tokens
        self.scored += scored
        before, self._offset = self._offset, self._offset + self._length(tokens)
        return Piece(added, tokens, scored, update.prompt, self.reason, before)

    def _length(self, tokens: tuple[int, ...]) -> int:
        """Give the characters of tokens, each by itself, where anybody asks for offsets."""
        if self.call.chat or self.call.top is None:
            return 0
        return sum(len(self.texts.decode((token,))) for token in tokens)

    def _emitted(self, token: int, is_end: bool) -> str:
        """Give what a token settles; one that ends the choice is no part of its text."""
        if token in self.call.stop_tokens:
            self.reason, self.stopped_by = "stop", token
            return ""
        if is_end:
            return ""
        added = self._growing.add(token)
        if self._growing.stopped is not None:
            self.reason, self.stopped_by = "stop", self._growing.stopped
        return added
