"""Packing: rows in the order of actions, each with its own table, slot and length."""

from __future__ import annotations

import numpy as np

from lockstep.engine.batch import pack
from lockstep.engine.events import Work


def test_rows_are_packed_in_order() -> None:
    chunk = Work(number=3, first=5, tokens=(50, 51, 52, 53), table=(7, 2, 9), emits=False)
    decode = Work(number=1, first=4, tokens=(40,), table=(8, 0), emits=True)
    prefill = Work(number=0, first=0, tokens=(60, 61), table=(5,), emits=True)
    batch = pack((chunk, decode, prefill), 4)
    assert len(batch) == 7
    assert batch.tokens.tolist() == [50, 51, 52, 53, 40, 60, 61]
    assert batch.positions.tolist() == [5, 6, 7, 8, 4, 0, 1]
    assert batch.lengths.tolist() == [6, 7, 8, 9, 5, 1, 2]
    # Position 5 is slot 1 of the second block, 2; position 8 is slot 0 of the third, 9.
    assert batch.slots.tolist() == [9, 10, 11, 36, 0, 20, 21]
    assert batch.tables.tolist() == [[7, 2, 9]] * 4 + [[8, 0, 0]] + [[5, 0, 0]] * 2
    assert batch.output_rows.tolist() == [4, 6]
    assert batch.tables.dtype == batch.lengths.dtype == np.int32


def test_chunks_alone_have_no_output_rows() -> None:
    batch = pack((Work(0, 0, (1, 2), (0,), False),), 2)
    assert batch.output_rows.tolist() == [] and batch.output_rows.dtype == np.int64
