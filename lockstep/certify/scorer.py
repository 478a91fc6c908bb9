"""The user's scoring command: JSON lines in, one score a line out."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath

from lockstep.errors import LockstepError
from lockstep.limits import SCORER_SECONDS

Scored = tuple[int, str, str | None, tuple[int, ...] | None]
"""An item's place, its line, the answer's text and its tokens, where they are reported."""

_SCORE = re.compile(r"[ -~]{0,64}")
_SHOWN = 200


@dataclass(frozen=True)
class Scores:
    """What a scorer said.

    Attributes:
        scores: one for each answer; None where it gave none.
        fault: why there are none; empty where there are.
    """

    scores: tuple[str | None, ...]
    fault: str = ""


@dataclass(frozen=True)
class Scorer:
    """A command that scores answers.

    It gets a line for each answer on standard input, `{"index", "item", "answer", "tokens"}`, and
    writes a line for each on standard output: the score, at most 64 printable ASCII characters, or
    nothing for none. Scores are compared as texts.

    Attributes:
        words: of the command line; no shell reads it.
    """

    words: tuple[str, ...]

    @property
    def name(self) -> str:
        """The command without paths, as a certificate has it."""
        told = " ".join(PurePath(word).name if "/" in word else word for word in self.words)
        return "".join(sign if " " <= sign <= "~" else "?" for sign in told)[:_SHOWN]

    async def score(self, answers: Sequence[Scored]) -> Scores:
        """Score answers. A scorer that fails gives none, and the reason; it is not asked again."""
        none = (None,) * len(answers)
        if not answers:
            return Scores(none)
        data = "".join(_line(*one) for one in answers).encode("utf-8", "replace")
        try:
            process = await asyncio.create_subprocess_exec(
                *self.words,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
        except OSError as fault:
            return Scores(none, f"{self.name} does not start: {fault.strerror}")
        try:
            async with asyncio.timeout(SCORER_SECONDS):
                out, complaint = await process.communicate(data)
        except TimeoutError:
            return Scores(none, f"{self.name} did not end within {SCORER_SECONDS} s")
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        if process.returncode != 0:
            last = complaint.decode("utf-8", "replace").strip().splitlines()[-1:]
            shown = "".join(sign if " " <= sign <= "~" else "?" for sign in "".join(last))
            return Scores(none, f"{self.name} ended by {process.returncode}: {shown[:_SHOWN]}")
        return self._read(out, none)

    def _read(self, out: bytes, none: tuple[None, ...]) -> Scores:
        told = out.decode("utf-8", "replace").removesuffix("\n").split("\n")
        if len(told) != len(none):
            fault = f"{self.name} wrote {len(told)} lines for {len(none)} answers"
            return Scores(none, fault)
        scores = [line.strip() for line in told]
        for number, score in enumerate(scores, start=1):
            if not _SCORE.fullmatch(score):
                fault = f"{self.name}, line {number}: not at most 64 printable ASCII characters"
                return Scores(none, fault)
        return Scores(tuple(score or None for score in scores))


def scorer(command: str) -> Scorer:
    """Read a command line.

    Raises:
        LockstepError: USAGE, it names no program that can be run.
    """
    try:
        words = shlex.split(command)
    except ValueError as fault:
        raise LockstepError("USAGE", "--score", "a command line", str(fault)) from None
    if not words or shutil.which(words[0]) is None:
        raise LockstepError("USAGE", "--score", "a program that can be run", command[:_SHOWN])
    return Scorer(tuple(words))


def _line(at: int, item: str, text: str | None, tokens: tuple[int, ...] | None) -> str:
    """Give a line of input; the item stands in it as the user wrote it, numbers and all."""
    answer = json.dumps(text)
    listed = json.dumps(None if tokens is None else list(tokens))
    return f'{{"index": {at}, "item": {item}, "answer": {answer}, "tokens": {listed}}}\n'
