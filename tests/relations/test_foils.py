"""Each relation is broken by a planted defect of the kind that it is there to find."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lockstep.engine import execute, ledger, prefix_cache, sampler
from lockstep.engine.backends.host import HostBackend
from lockstep.lifecycle import Machine

from .conftest import Observe

Plant = Callable[[pytest.MonkeyPatch], None]


def nudged(rows: Any) -> Any:
    """Values that differ in their last bit."""
    return np.nextafter(rows, np.float32(np.inf), dtype=rows.dtype)


def tall_product(patch: pytest.MonkeyPatch) -> None:
    """A matrix product of 31 rows is rounded otherwise."""
    product = HostBackend.logits

    def planted(self: HostBackend, x: Any, w: Any) -> Any:
        y = product(self, x, w)
        return nudged(y) if len(x) == 31 else y

    patch.setattr(HostBackend, "logits", planted)


def blind_chunk_end(patch: pytest.MonkeyPatch) -> None:
    """The last row of a chunk does not see itself."""
    pack = execute.pack

    def planted(work: Sequence[Any], block_size: int) -> Any:
        batch = pack(work, block_size)
        ends = np.cumsum([len(item.tokens) for item in work]) - 1
        for item, end in zip(work, ends, strict=True):
            if not item.emits and batch.lengths[end] > 1:
                batch.lengths[end] -= 1
        return batch

    patch.setattr(execute, "pack", planted)


def draws_restart(patch: pytest.MonkeyPatch) -> None:
    """After a recomputation a request draws as if its output had just begun."""
    drawings = execute.Execution._drawings

    def planted(self: Any, work: Sequence[Any]) -> Any:
        emitting = [item for item in work if item.emits]
        return [
            drawing._replace(position=0) if len(item.tokens) > 1 else drawing
            for item, drawing in zip(emitting, drawings(self, work), strict=True)
        ]

    patch.setattr(execute.Execution, "_drawings", planted)


def hit_of_everything(patch: pytest.MonkeyPatch) -> None:
    """A lookup may grant all tokens: wrong where they are exactly some blocks."""

    def planted(self: Any, number: int) -> tuple[int, ...]:
        sequence = self._sequences[number]
        places = range(len(sequence.tokens) // self.pool.size)
        found: tuple[int, ...] = self.index.longest_run(
            sequence.chain.of(sequence.tokens, place) for place in places
        )
        return found

    patch.setattr(ledger.Ledger, "prefix", planted)


def saltless(patch: pytest.MonkeyPatch) -> None:
    """The prefix hash leaves the salt out."""
    root = ledger.root
    patch.setattr(ledger, "root", lambda model, size, salt: root(model, size, ""))


def unchained(patch: pytest.MonkeyPatch) -> None:
    """A block's hash stands for its own tokens, and not for what is before it."""
    link = prefix_cache.link
    patch.setattr(prefix_cache, "link", lambda previous, tokens: link(b"", tokens))


def short_hash(patch: pytest.MonkeyPatch) -> None:
    """A block's hash leaves its last token out."""
    link = prefix_cache.link
    patch.setattr(prefix_cache, "link", lambda previous, tokens: link(previous, tokens[:-1]))


def stale_blocks(patch: pytest.MonkeyPatch) -> None:
    """What a block held before stays where it is taken again."""
    write = HostBackend.write

    def planted(self: HostBackend, cache: Any, rows: Any, slots: Any) -> None:
        held = cache.reshape(-1, *cache.shape[2:])[slots]
        fresh = np.isnan(held).any(axis=(1, 2))
        write(self, cache, rows[fresh], slots[fresh])

    patch.setattr(HostBackend, "write", planted)


def last_row(patch: pytest.MonkeyPatch) -> None:
    """The last row of a batch is rounded otherwise."""
    norm = HostBackend.rms_norm

    def planted(self: HostBackend, x: Any, weight: Any, eps: float) -> Any:
        y = norm(self, x, weight, eps)
        y[-1] = nudged(y[-1])
        return y

    patch.setattr(HostBackend, "rms_norm", planted)


def running_generator(patch: pytest.MonkeyPatch) -> None:
    """A generator goes on from one execution to the next."""
    seed, drawn = sampler.seed, itertools.count()

    def planted(drawing: Any) -> str:
        return seed(drawing._replace(position=next(drawn)))

    patch.setattr(sampler, "seed", planted)


def shared_generator(patch: pytest.MonkeyPatch) -> None:
    """The rows of a batch draw from one generator, in turn."""
    drawings = execute.Execution._drawings

    def planted(self: Any, work: Sequence[Any]) -> Any:
        made = drawings(self, work)
        return [one._replace(position=one.position + row) for row, one in enumerate(made)]

    patch.setattr(execute.Execution, "_drawings", planted)


def decoded_keys(patch: pytest.MonkeyPatch) -> None:
    """A kernel for few rows writes keys and values that are rounded otherwise."""
    write = HostBackend.write

    def planted(self: HostBackend, cache: Any, rows: Any, slots: Any) -> None:
        write(self, cache, nudged(rows) if len(slots) <= 2 else rows, slots)

    patch.setattr(HostBackend, "write", planted)


def first_token_goes_on(patch: pytest.MonkeyPatch) -> None:
    """An end of sequence is looked for from the second token on."""
    complete = ledger.Ledger.complete

    def planted(self: Any, emitted: Sequence[int]) -> None:
        complete(self, emitted)
        for request, sequence in zip(self.state.requests, self._sequences, strict=True):
            sequence.stopped = sequence.stopped and request.outputs > 1

    patch.setattr(ledger.Ledger, "complete", planted)


def served_window(patch: pytest.MonkeyPatch) -> None:
    """The served path attends to 24 positions at most: the same in every schedule."""
    pack = execute.pack

    def planted(work: Sequence[Any], block_size: int) -> Any:
        batch = pack(work, block_size)
        return replace(batch, lengths=np.minimum(batch.lengths, 24))

    patch.setattr(execute, "pack", planted)


def wide_blocks(patch: pytest.MonkeyPatch) -> None:
    """Attention over blocks of 32 and more scales otherwise."""
    attention = HostBackend.attention

    def planted(self: HostBackend, q: Any, keys: Any, *rest: Any) -> Any:
        return attention(self, nudged(q) if keys.shape[1] >= 32 else q, keys, *rest)

    patch.setattr(HostBackend, "attention", planted)


def never_refuses(patch: pytest.MonkeyPatch) -> None:
    """Submission takes what no pool can hold."""
    weakened = Machine(weakened=frozenset({"never_fitting_accepted"}))
    patch.setattr(ledger, "Machine", lambda: weakened)
    patch.setattr(execute, "require_fit", lambda workload, pool: None)


def last_come_first_served(patch: pytest.MonkeyPatch) -> None:
    """New requests overtake those that wait."""
    submit = Machine.submit

    def planted(self: Machine, state: Any, prompt: int, max_new: int) -> Any:
        after = submit(self, state, prompt, max_new)
        return replace(after, queue=(after.queue[-1], *after.queue[:-1]))

    patch.setattr(Machine, "submit", planted)


FOILS: list[tuple[str, Plant, str]] = [
    ("MR1", tall_product, "logits"),
    ("MR2", blind_chunk_end, "logits"),
    ("MR3", draws_restart, "tokens"),
    ("MR4", hit_of_everything, "refusal"),
    ("MR4", saltless, "prefix"),
    ("MR4", unchained, "logits"),
    ("MR4", short_hash, "logits"),
    ("MR4b", stale_blocks, "logits"),
    ("MR5", last_row, "logits"),
    ("MR6", running_generator, "emitted"),
    ("MR7", shared_generator, "tokens"),
    ("MR8", decoded_keys, "keys"),
    ("EOS", first_token_goes_on, "ending"),
    ("PATH-EQ", served_window, "logits"),
    ("BLOCK-SIZE", wide_blocks, "logits"),
    ("NEVER-FITS", never_refuses, "refusal"),
    ("NO-STARVATION", last_come_first_served, "order"),
]


@pytest.mark.parametrize(
    ("name", "plant", "part"), FOILS, ids=[f"{name}-{plant.__name__}" for name, plant, _ in FOILS]
)
def test_a_planted_defect_breaks_it(
    observe_once: Observe, monkeypatch: pytest.MonkeyPatch, name: str, plant: Plant, part: str
) -> None:
    plant(monkeypatch)
    observed = observe_once(name, stop=True)
    assert observed.outcome == "violated"
    first = observed.first_difference
    assert first is not None
    assert first.part == part
    assert first.execution
    assert first.expected != first.got
    if part in ("logits", "tokens", "keys", "order", "prefix"):
        assert first.request
    assert (first.layer is not None) == (part == "keys")


@pytest.mark.parametrize(
    ("plant", "blind"),
    [
        (served_window, ["MR5", "MR7", "EOS"]),
        (wide_blocks, ["MR5", "MR7", "PATH-EQ"]),
        (running_generator, ["PATH-EQ"]),
        (last_come_first_served, ["MR5", "EOS"]),
        (saltless, ["MR5", "EOS"]),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_relation_that_is_about_something_else_is_blind_to_it(
    observe_once: Observe, monkeypatch: pytest.MonkeyPatch, plant: Plant, blind: list[str]
) -> None:
    plant(monkeypatch)
    assert {name: observe_once(name).outcome for name in blind} == dict.fromkeys(blind, "holds")


def test_hashes_that_follow_the_hash_seed_break_replay_across_processes(
    observe_once: Observe, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    plant = tmp_path / "sitecustomize.py"
    plant.write_text(
        "from lockstep.engine import sampler\n"
        "seed = sampler.seed\n"
        "def planted(drawing):\n"
        "    return seed(drawing._replace(position=hash(drawing.name) % 2**31))\n"
        "sampler.seed = planted\n",
        "utf-8",
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    observed = observe_once("MR6-PROCESS", stop=True)
    assert observed.outcome == "violated"
    assert observed.first_difference is not None
    assert observed.first_difference.part == "emitted"
    assert observed.first_difference.execution.startswith("process with PYTHONHASHSEED=")


def test_an_engine_that_stumbles_is_a_difference(
    observe_once: Observe, monkeypatch: pytest.MonkeyPatch
) -> None:
    def planted(*_: Any) -> None:
        raise IndexError("list index out of range")

    monkeypatch.setattr(execute, "pack", planted)
    observed = observe_once("MR5")
    assert observed.outcome == "violated"
    assert observed.first_difference is not None
    assert observed.first_difference.part == "fault"
    assert observed.first_difference.got == "IndexError: list index out of range"
