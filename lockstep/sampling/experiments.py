"""The experiments on sampling, made on an engine and a tiny model (spec/sampling-experiments.md).

What is observed is a bit for each position, or a distance; what follows is for the claim.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from lockstep.sampling.parameters import Parameters

Progress = Callable[[str, int, int], None]


class Series(NamedTuple):
    """Positions at which two things were compared [EXP-10].

    Attributes:
        experiment: its number.
        role: what was compared, by the name of the specification.
        of: the same, in words.
        parameters: of the sampler; None where nothing was drawn.
        differing: of each position, whether the two differ.
    """

    experiment: int
    role: str
    of: str
    parameters: Parameters | None
    differing: tuple[bool, ...]


class Distances(NamedTuple):
    """Numbers of one measure [EXP-11].

    Attributes:
        experiment: its number.
        role: what was measured.
        measure: by which.
        of: what was measured, in words.
        values: one for each position or trial.
    """

    experiment: int
    role: str
    measure: str
    of: str
    values: tuple[int, ...]


@dataclass(frozen=True)
class Experiments:
    """What was observed.

    Attributes:
        model_sha256: of the model.
        stored_dtype: of its files.
        vocab_size: of its logits.
        series: in the order of the experiments.
        distances: likewise.
    """

    model_sha256: str
    stored_dtype: str
    vocab_size: int
    series: tuple[Series, ...]
    distances: tuple[Distances, ...]


class Scale(NamedTuple):
    """How much is computed.

    Attributes:
        texts: that the model writes, for experiments 1 to 7.
        tokens: of each.
        requests: that the engine serves, for experiment 8.
        trials: of each beginning, for experiment 9.
    """

    texts: int = 8
    tokens: int = 64
    requests: int = 24
    trials: int = 48


WHOLE = Scale()
"""Of the committed certificate."""


def observe(scratch: Path, progress: Progress, scale: Scale = WHOLE) -> Experiments:
    """Make the experiments.

    Args:
        scratch: a folder in which checkpoints are written.
        progress: told of each part.
        scale: how much is computed.

    Raises:
        LockstepError: as the engine does.
    """
    # Each part imports these types.
    from lockstep.engine.opening import open_model
    from lockstep.sampling.experiments_computed import computed
    from lockstep.sampling.experiments_drawn import drawn
    from lockstep.sampling.experiments_ladder import grinding, laddered
    from lockstep.sampling.experiments_served import served
    from lockstep.sampling.recast import blended

    progress("making the model", 0, 5)
    folder = blended(scratch / "blended")
    opened = open_model(folder)
    series: list[Series] = []
    progress("drawing in decimals and in floats", 1, 5)
    series += drawn(opened.model, scale.texts, scale.tokens)
    progress("computing in other shapes", 2, 5)
    series += computed(folder, scale.texts, scale.tokens)
    progress("serving", 3, 5)
    series += served(folder, opened, scale.requests)
    progress("measuring distances, trying seeds", 4, 5)
    distances = [*laddered(folder, scratch), *grinding(folder, scratch, scale.trials)]
    return Experiments(
        model_sha256=opened.checkpoint.sha256,
        stored_dtype=opened.checkpoint.stored_dtype,
        vocab_size=opened.model.config.vocab_size,
        series=tuple(sorted(series, key=lambda one: one.experiment)),
        distances=tuple(distances),
    )
