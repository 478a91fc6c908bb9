"""What endpoints have been seen to do wrong, each as one behaviour of the fake endpoint."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from tests.certify.fake_endpoint import Asked, Behaviour, Said


def other_token(said: Said, place: int = 1) -> Said:
    """Give an answer with another token at a place, its log-probabilities as they are."""
    tokens = list(said.tokens)
    tokens[place] = tokens[place] % 255 + 1
    return replace(said, tokens=tuple(tokens))


def other_digit(said: Said, place: int = 1) -> Said:
    """Give an answer whose log-probability at a place has another last digit."""
    if said.logprobs is None:
        return said
    values = list(said.logprobs)
    values[place] = f"{values[place]}"[:-1] + "7"
    return replace(said, logprobs=tuple(values))


def of_plan(asked: Asked) -> bool:
    """Whether a call is one of the plan, and none by which a server is looked at before."""
    return len(asked.prompt) >= 16


class FirstRunOnly(Behaviour):
    """A prompt's first answer differs from all later ones."""

    def said(self, asked: Asked, answer: Said) -> Said:
        """Alter the first."""
        return other_token(answer) if asked.seen == 0 else answer


class OneInThree(Behaviour):
    """Every third call is answered otherwise."""

    def said(self, asked: Asked, answer: Said) -> Said:
        """Alter a third."""
        return other_token(answer) if asked.index % 3 == 2 else answer


class NeighbourDependent(Behaviour):
    """An answer depends on whether another call is answered at the same time."""

    def said(self, asked: Asked, answer: Said) -> Said:
        """Alter what is not alone."""
        return other_digit(answer) if asked.beside > 1 else answer


class LogprobsOnly(Behaviour):
    """Tokens stay, the last digit of a log-probability drifts now and then."""

    def said(self, asked: Asked, answer: Said) -> Said:
        """Alter a fifth."""
        return other_digit(answer) if asked.index % 5 == 3 else answer


class OneLogprobShort(Behaviour):
    """N tokens with N-1 log-probabilities."""

    def said(self, asked: Asked, answer: Said) -> Said:
        """Drop the last."""
        if answer.logprobs is None or answer.tops is None:
            return answer
        return replace(answer, logprobs=answer.logprobs[:-1], tops=answer.tops[:-1])


class NoLogprobs(Behaviour):
    """Log-probabilities are not reported."""

    def said(self, asked: Asked, answer: Said) -> Said:
        """Drop all."""
        return replace(answer, logprobs=None, tops=None)


class LogprobsNowAndThen(Behaviour):
    """Log-probabilities are reported at first, and later are not."""

    def said(self, asked: Asked, answer: Said) -> Said:
        """Drop them when a prompt comes for the third time."""
        return answer if asked.seen < 2 else replace(answer, logprobs=None, tops=None)


class NotANumber(Behaviour):
    """A log-probability is NaN."""

    def said(self, asked: Asked, answer: Said) -> Said:
        """Put one in."""
        if answer.logprobs is None:
            return answer
        return replace(answer, logprobs=("NaN", *answer.logprobs[1:]))


class Hangs(Behaviour):
    """Now and then an answer never ends."""

    def hangs(self, asked: Asked) -> bool:
        """Hang once in the first rounds."""
        return of_plan(asked) and asked.index % 32 == 12


class Slow(Behaviour):
    """An answer takes long, within the certifier's patience."""

    seconds: ClassVar[float] = 0.06


class Drops(Behaviour):
    """Connections are reset in the middle of an answer, now and then."""

    def events(self, asked: Asked, events: list[bytes]) -> Iterator[bytes | None]:
        """Reset every fifth."""
        broken = of_plan(asked) and asked.index % 5 == 4
        for place, event in enumerate(events):
            yield None if broken and place == 1 else event


class Truncates(Behaviour):
    """A stream ends early, without any error."""

    def events(self, asked: Asked, events: list[bytes]) -> Iterator[bytes | None]:
        """Give the first token alone."""
        yield from events[:1] if of_plan(asked) else events


class Fails(Behaviour):
    """Every fourth call gets status 500."""

    def status(self, asked: Asked) -> int:
        """Fail a fourth."""
        return 500 if of_plan(asked) and asked.index % 4 == 3 else 200


class FailsAlways(Behaviour):
    """Every call gets status 500."""

    def status(self, asked: Asked) -> int:
        """Fail."""
        return 500


class FailsAtFirst(Behaviour):
    """The very first call gets a status that says nothing of its form."""

    def __init__(self, status: int = 500) -> None:
        self._status = status

    def status(self, asked: Asked) -> int:
        """Fail once."""
        return self._status if asked.index == 0 else 200


class BreaksOffAtFirst(Behaviour):
    """The very first answer breaks off."""

    def events(self, asked: Asked, events: list[bytes]) -> Iterator[bytes | None]:
        """Give the first token alone, once."""
        yield from events if asked.index else events[:1]


class TakesTexts(Behaviour):
    """Prompts of token ids are not taken, and said not to be."""

    def __init__(self, status: int = 400) -> None:
        self._status = status

    def status(self, asked: Asked) -> int:
        """Refuse what is no text."""
        return 200 if isinstance(asked.body["prompt"], str) else self._status


class Redirects(Behaviour):
    """Calls are sent elsewhere."""

    def status(self, asked: Asked) -> int:
        """Redirect."""
        return 307 if of_plan(asked) else 200


class GaugeLies(Behaviour):
    """The gauge says that several run, while calls are answered one after the other."""

    one_by_one: ClassVar[bool] = True

    def gauge(self, running: int, polls: int) -> int | None:
        """Say three where one at a time is answered."""
        return 3 if running else 0


class GaugeBoasts(Behaviour):
    """The gauge says that twenty run, whatever is asked."""

    one_by_one: ClassVar[bool] = True

    def gauge(self, running: int, polls: int) -> int | None:
        """Say twenty."""
        return 20 if running else 0


class GaugeFrozen(Behaviour):
    """The gauge says 0 for ever."""

    def gauge(self, running: int, polls: int) -> int | None:
        """Say nothing happens."""
        return 0


class MetricsReset(Behaviour):
    """The metrics lose the gauge in the middle of the run."""

    def gauge(self, running: int, polls: int) -> int | None:
        """Lose it."""
        return running if polls < 4 else None


class Canned(Behaviour):
    """One and the same answer, whatever is asked."""

    def said(self, asked: Asked, answer: Said) -> Said:
        """Give a constant."""
        count = len(answer.tokens)
        wanted = answer.logprobs is not None
        return replace(
            answer,
            tokens=(7,) * count,
            logprobs=("-0.5",) * count if wanted else None,
            tops=({7: "-0.5"},) * count if wanted else None,
            prompt_logprobs=(None, *["-0.5"] * (len(asked.prompt) - 1)) if asked.echo else (),
        )


class OtherText(Behaviour):
    """The text is not that of the tokens, alike in all answers: no one may retokenise it."""

    def said(self, asked: Asked, answer: Said) -> Said:
        """Give a text of another number of tokens."""
        return replace(answer, text="unrelated " * 9)


class TextMoves(Behaviour):
    """Ids stay, the text moves."""

    def said(self, asked: Asked, answer: Said) -> Said:
        """Give a text that counts calls."""
        return replace(answer, text=f"answer {asked.index // 5}")


class TwoChoices(Behaviour):
    """Two choices come where one was asked for."""

    def said(self, asked: Asked, answer: Said) -> Said:
        """Give the choice twice."""
        return replace(answer, choices=2 if of_plan(asked) else 1)


class NoChoice(Behaviour):
    """No choice comes."""

    def said(self, asked: Asked, answer: Said) -> Said:
        """Give none."""
        return replace(answer, choices=0 if of_plan(asked) else 1)


class NoCachedTokens(Behaviour):
    """Cached tokens are not reported."""

    def said(self, asked: Asked, answer: Said) -> Said:
        """Leave the field out."""
        return replace(answer, cached=None)


class ColdIsWarm(Behaviour):
    """Cached tokens are reported although the cache was to be cold."""

    def said(self, asked: Asked, answer: Said) -> Said:
        """Report whole blocks as hits, always."""
        return replace(answer, cached=(len(asked.prompt) - 1) // 16 * 16)


class OtherModel(Behaviour):
    """Another model is listed, and answers."""

    def served(self) -> str:
        """List another."""
        return "other"

    def said(self, asked: Asked, answer: Said) -> Said:
        """Answer as another."""
        return replace(answer, model="other")


class AnswersAsOther(Behaviour):
    """The model is listed, and now and then another one answers."""

    def said(self, asked: Asked, answer: Said) -> Said:
        """Answer as another."""
        return replace(answer, model="other") if asked.index % 5 == 4 else answer


class Huge(Behaviour):
    """A stream has a line that does not end."""

    def events(self, asked: Asked, events: list[bytes]) -> Iterator[bytes | None]:
        """Send one."""
        if not of_plan(asked):
            yield from events
            return
        yield events[0]
        for _ in range(8):
            yield b"x" * 65536


class NoUtf8(Behaviour):
    """An answer is not UTF-8."""

    def events(self, asked: Asked, events: list[bytes]) -> Iterator[bytes | None]:
        """Put a byte into the text that cannot stand there."""
        for event in events:
            yield event.replace(b'"text": "', b'"text": "\xff') if of_plan(asked) else event


class TooLong(Behaviour):
    """An answer has a token more than was asked for."""

    def said(self, asked: Asked, answer: Said) -> Said:
        """Add one."""
        if answer.logprobs is None or answer.tops is None:
            return replace(answer, tokens=(*answer.tokens, 9))
        return replace(
            answer,
            tokens=(*answer.tokens, 9),
            logprobs=(*answer.logprobs, "-1.0"),
            tops=(*answer.tops, {9: "-1.0"}),
        )
