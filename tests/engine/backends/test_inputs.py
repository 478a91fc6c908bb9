"""What a backend refuses before it computes or writes anything, each guard tripped."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lockstep.engine.backend import Backend
from lockstep.engine.backends import open_backend
from lockstep.errors import LockstepError


def ones(*shape: int) -> Any:
    return np.ones(shape, dtype=np.float32)


def indices(*values: int) -> Any:
    return np.array(values, dtype=np.int32)


def attend(
    backend: Backend,
    q: tuple[int, ...] = (2, 4, 8),
    caches: tuple[tuple[int, ...], tuple[int, ...]] = ((3, 16, 2, 8), (3, 16, 2, 8)),
    tables: Any = ((0, 1), (2, 0)),
    lengths: Any = (20, 16),
) -> Any:
    keys, values = (backend.array(ones(*shape)) for shape in caches)
    table = np.array(tables, dtype=np.int32)
    return backend.attention(backend.array(ones(*q)), keys, values, table, np.array(lengths), 0.3)


REFUSED: dict[str, tuple[str, Callable[[Backend], Any]]] = {
    "a token outside the vocabulary": ("/tokens", lambda b: b.embed(ones(4, 2), indices(0, 4))),
    "a negative token": ("/tokens", lambda b: b.embed(ones(4, 2), indices(-1))),
    "tokens that are no integers": ("/tokens", lambda b: b.embed(ones(4, 2), ones(1))),
    "a table that is no matrix": ("/table", lambda b: b.embed(ones(4), indices(0))),
    "depths that differ": ("/matmul", lambda b: b.matmul(ones(2, 3), b.weight(ones(5, 4)))),
    "logits of depths that differ": (
        "/matmul",
        lambda b: b.logits(ones(2, 3), b.weight(ones(5, 4))),
    ),
    "a product of a stack": ("/matmul", lambda b: b.matmul(ones(1, 2, 3), b.weight(ones(5, 3)))),
    "a product without depth": ("/matmul", lambda b: b.matmul(ones(1, 0), b.weight(ones(5, 0)))),
    "a norm's weight of another width": (
        "/rms_norm",
        lambda b: b.rms_norm(ones(2, 3), ones(4), 1e-6),
    ),
    "an odd head": ("/rope", lambda b: b.rope(ones(2, 1, 3), ones(2, 1), ones(2, 1))),
    "tables of other rows": ("/rope", lambda b: b.rope(ones(2, 1, 4), ones(3, 2), ones(3, 2))),
    "a gate of another shape": ("/swiglu", lambda b: b.swiglu(ones(2, 3), ones(1, 3))),
    "a sum of other shapes": ("/add", lambda b: b.add(ones(2, 3), ones(3))),
    "q of other heads": ("/attention", lambda b: attend(b, q=(2, 3, 8))),
    "q of another width": ("/attention", lambda b: attend(b, q=(2, 4, 6))),
    "values unlike keys": (
        "/attention",
        lambda b: attend(b, caches=((3, 16, 2, 8), (3, 8, 2, 8))),
    ),
    "tables of other rows than q": ("/attention", lambda b: attend(b, tables=((0, 1),))),
    "lengths of other rows than q": ("/attention", lambda b: attend(b, lengths=(20,))),
    "a row without a position": ("/lengths", lambda b: attend(b, lengths=(20, 0))),
    "a length past the table": ("/lengths", lambda b: attend(b, lengths=(33, 16))),
    "lengths that are no integers": ("/lengths", lambda b: attend(b, lengths=(20.0, 16.0))),
    "a block outside the pool": ("/tables", lambda b: attend(b, tables=((0, 3), (2, 0)))),
    "a negative block": ("/tables", lambda b: attend(b, tables=((-1, 1), (2, 0)))),
    "logits that are no matrix": ("/logits", lambda b: b.log_softmax(ones(3))),
    "logits without a vocabulary": ("/logits", lambda b: b.log_softmax(ones(3, 0))),
}


@pytest.mark.parametrize("name", ["host", "fast", "padded_tiles", "float64"])
@pytest.mark.parametrize("what", REFUSED)
def test_is_refused(name: str, what: str) -> None:
    pointer, call = REFUSED[what]
    with pytest.raises(LockstepError) as caught:
        call(open_backend(name))
    assert (caught.value.code, caught.value.pointer) == ("KERNEL_INPUT", pointer)


@pytest.mark.parametrize("name", ["host", "fast", "padded_tiles", "float64"])
@pytest.mark.parametrize(
    ("rows", "slots", "pointer"),
    [
        ((2, 2, 4), (5, 5), "/slots"),
        ((2, 2, 4), (5, 48), "/slots"),
        ((2, 2, 4), (5, -1), "/slots"),
        ((3, 2, 4), (5, 6), "/rows"),
        ((2, 1, 4), (5, 6), "/rows"),
    ],
)
def test_a_refused_write_changes_nothing(
    name: str, rows: tuple[int, ...], slots: tuple[int, ...], pointer: str
) -> None:
    backend = open_backend(name)
    cache = backend.new_cache(3, 16, 2, 4)
    with pytest.raises(LockstepError) as caught:
        backend.write(cache, backend.array(ones(*rows)), indices(*slots))
    assert (caught.value.code, caught.value.pointer) == ("KERNEL_INPUT", pointer)
    assert np.isnan(backend.numpy(cache)).all()


@pytest.mark.parametrize("name", ["host", "fast", "padded_tiles", "float64"])
def test_a_write_touches_its_slots_alone(name: str) -> None:
    backend = open_backend(name)
    cache = backend.new_cache(3, 16, 2, 4)
    backend.write(cache, backend.array(ones(2, 2, 4)), indices(17, 40))
    written = np.argwhere(~np.isnan(backend.numpy(cache)).any(axis=(2, 3)))
    assert written.tolist() == [[1, 1], [2, 8]]


def test_what_a_table_holds_past_a_row_is_not_looked_at() -> None:
    backend = open_backend("host")
    whole = attend(backend, lengths=(10, 16))
    other = attend(backend, tables=((0, -7), (2, 99)), lengths=(10, 16))
    assert whole.tobytes() == other.tobytes()
