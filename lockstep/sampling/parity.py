"""Another implementation of the sampler beside this one, position by position, bit for bit.

The other is a command that answers the op `sampling_token` of conformance/README.md, one request a
line. What is compared is the whole answer: the weights, the token, and whether there is one at all.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Any, NamedTuple

from lockstep.errors import LockstepError
from lockstep.sampling import upstream
from lockstep.sampling.categorical import draw
from lockstep.sampling.parameters import resolve
from lockstep.sampling.random_positions import UPSTREAM, Position, positions
from lockstep.sampling.seed import Origin, derive_seed, upstream_position_seed, upstream_seed
from lockstep.sampling.weighting import weights

BATCH = 2_000
"""Positions that one process of the other implementation is asked for."""
SHOWN = 10
"""Differences that are kept; all are counted."""
SECONDS = 300
"""How long one batch may take: a thousand times what it does."""


class Difference(NamedTuple):
    """A position on which two implementations differ; an outcome of None is a refusal."""

    position: Position
    here: dict[str, Any] | None
    there: dict[str, Any] | None


class Parity(NamedTuple):
    """What a comparison came to.

    Attributes:
        positions: positions compared.
        upstream: of these, those of profile upstream-1.0.0.
        refused: those that this implementation refuses.
        differences: those on which the two differ.
        first: the first few of them.
    """

    positions: int
    upstream: int
    refused: int
    differences: int
    first: tuple[Difference, ...]

    def __add__(self, other: object) -> Parity:
        """Sum two comparisons."""
        if not isinstance(other, Parity):
            return NotImplemented
        return Parity(
            self.positions + other.positions,
            self.upstream + other.upstream,
            self.refused + other.refused,
            self.differences + other.differences,
            (self.first + other.first)[:SHOWN],
        )


def compare(
    command: Sequence[str],
    seed: str,
    count: int,
    jobs: int = 1,
    progress: Callable[[Parity], None] = lambda found: None,
) -> Parity:
    """Compare so many random positions; neither jobs nor timing changes which they are.

    Args:
        command: what answers the protocol.
        seed: what the positions are drawn from.
        count: how many.
        jobs: processes at a time.
        progress: told what was found so far, after each batch.

    Raises:
        LockstepError: BAD_VALUE where the command dies, or does not answer each request.
    """
    batches = [
        (f"{seed}/{start // BATCH}", min(BATCH, count - start)) for start in range(0, count, BATCH)
    ]
    found = Parity(0, 0, 0, 0, ())
    if jobs == 1:
        for batch in batches:
            found = found + _batch(tuple(command), batch)
            progress(found)
        return found
    with ProcessPoolExecutor(jobs) as pool:
        for part in pool.map(partial(_batch, tuple(command)), batches):
            found = found + part
            progress(found)
    return found


def outcome(position: Position) -> dict[str, Any] | None:
    """Give what this implementation answers; None for a refusal.

    A token of None says that there are weights, but none that a token can be drawn by.
    """
    try:
        made, seed = _replayed(position)
    except LockstepError:
        return None
    try:
        token: str | None = draw(made, seed)
    except LockstepError:
        token = None
    return {"token": token, "weights": [list(pair) for pair in made.items()]}


def _replayed(position: Position) -> tuple[dict[str, int], str]:
    support = dict(position["support"])
    parameters = [position[name] for name in ("temperature", "top_k", "top_p", "min_p")]
    user_seed, name, at = (position[key] for key in ("user_seed", "inference_id", "position"))
    if position["profile"] == UPSTREAM:
        made = upstream.weights(support, upstream.UpstreamParameters(*parameters))
        return made, upstream_position_seed(upstream_seed(int(user_seed), name), at)
    made = weights(support, resolve(*parameters))
    origin = Origin(int(user_seed), name, position["beacon"])
    return made, derive_seed(origin, position["choice"], at)


def _batch(command: tuple[str, ...], batch: tuple[str, int]) -> Parity:
    asked = list(positions(*batch))
    answers = _answers(command, asked)
    refused, differing = 0, []
    for position, there in zip(asked, answers, strict=True):
        here = outcome(position)
        refused += here is None
        if here != there:
            differing.append(Difference(position, here, there))
    profiles = [position["profile"] for position in asked]
    return Parity(
        len(asked), profiles.count(UPSTREAM), refused, len(differing), tuple(differing[:SHOWN])
    )


def _answers(command: tuple[str, ...], asked: list[Position]) -> list[dict[str, Any] | None]:
    lines = "".join(
        json.dumps({"id": str(number), "area": "sampling", **position}) + "\n"
        for number, position in enumerate(asked)
    )
    done = subprocess.run(
        command, input=lines, stdout=subprocess.PIPE, text=True, timeout=SECONDS, check=False
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    if done.returncode or [answer["id"] for answer in answers] != list(map(str, range(len(asked)))):
        expected = f"{len(asked)} answers in order and exit status 0"
        raise LockstepError(
            "BAD_VALUE", "/command", expected, f"{len(answers)} answers, status {done.returncode}"
        )
    return [_told(answer) for answer in answers]


def _told(answer: dict[str, Any]) -> dict[str, Any] | None:
    """Give what an answer says; one that is neither of the two outcomes equals none of ours."""
    if answer["result"] == "ok":
        told: dict[str, Any] = answer["value"]
        return told
    if answer["result"] == "refused" and answer["code"] == "BAD_VALUE":
        return None
    return {"answer": answer}
