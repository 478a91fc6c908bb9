"""Faults of packing: positions, lengths, and which rows yield logits."""

from lockstep.mutation.operator import Edit, Operator

_BATCH = "lockstep.engine.batch"
_LEDGER = "lockstep.engine.ledger"
_LENGTHS = "        lengths=(positions + 1).astype(np.int32),\n"

OPERATORS = (
    Operator(
        id="length_off_by_one",
        subsystem="batch",
        module=_BATCH,
        edits=(
            Edit(
                _LENGTHS,
                "        lengths=sentinel.inject(\n"
                "            np.maximum(positions, 1).astype(np.int32),\n"
                "            (positions + 1).astype(np.int32),\n"
                "        ),\n",
            ),
        ),
        cause="A packed row does not attend to its own position.",
        source="seed 000, faults of the served path that no single-request path shares",
        black_box="invisible",
        reason="Every schedule packs its rows alike.",
    ),
    Operator(
        id="length_stale_in_decode",
        subsystem="batch",
        module=_BATCH,
        edits=(
            Edit(
                _LENGTHS,
                "        lengths=sentinel.inject(\n"
                "            _stale(positions, counts), (positions + 1).astype(np.int32)\n"
                "        ),\n",
            ),
            Edit(
                "def pack(",
                "def _stale(positions, counts):\n"
                "    single = np.repeat(counts, counts) == 1\n"
                "    return np.maximum(positions + 1 - single, 1).astype(np.int32)\n"
                "\n"
                "\n"
                "def pack(",
            ),
        ),
        cause="A row by itself has the length that its request had a step before.",
        source="sequence lengths advanced after the forward of a decode",
        black_box="visible",
        reason="A token that is decoded differs from the same one computed again.",
    ),
    Operator(
        id="mask_open_at_chunk_start",
        subsystem="batch",
        module=_BATCH,
        edits=(
            Edit(
                _LENGTHS,
                "        lengths=sentinel.inject(\n"
                "            _opened(positions, counts), (positions + 1).astype(np.int32)\n"
                "        ),\n",
            ),
            Edit(
                "def pack(",
                "def _opened(positions, counts):\n"
                "    first = np.cumsum([0, *counts])[:-1]\n"
                "    lengths = (positions + 1).astype(np.int32)\n"
                "    lengths[first] += np.array(counts) > 1\n"
                "    return lengths\n"
                "\n"
                "\n"
                "def pack(",
            ),
        ),
        cause="The first row of a chunk sees the position after its own.",
        source="causal mask of a chunk off by one",
        black_box="visible",
        reason="Logits change with where a prefill is cut.",
    ),
    Operator(
        id="positions_restart_in_chunk",
        subsystem="batch",
        module=_BATCH,
        edits=(
            Edit(
                " = np.arange(item.first, item.first + count)\n",
                " = sentinel.inject(\n"
                "            np.arange(count), np.arange(item.first, item.first + count)\n"
                "        )\n",
            ),
        ),
        cause="Positions of a chunk begin at zero.",
        source="chunked prefill: position ids of the chunk, not of the sequence",
        black_box="visible",
        reason="Logits change with where a prefill is cut, and decodes attend to nothing.",
    ),
    Operator(
        id="logits_of_row_before",
        subsystem="batch",
        module=_BATCH,
        edits=(
            Edit(
                "    last = np.cumsum(counts, dtype=np.int64) - 1\n",
                "    last = np.cumsum(counts, dtype=np.int64) - 1\n"
                "    last = sentinel.inject(last - (np.array(counts) > 1), last)\n",
            ),
        ),
        cause="A chunk's logits are those of its last row but one.",
        source="sglang PR 26510: after a retract during prefill, log-probabilities shift by one",
        black_box="visible",
        reason="The first token changes with where a prefill is cut.",
    ),
    Operator(
        id="table_not_filled_for_cached",
        subsystem="batch",
        module=_LEDGER,
        edits=(
            Edit(
                "            self.pool.share(step.blocks)\n",
                "            self.pool.share(step.blocks)\n"
                "            self._sequences[step.request].granted = len(step.blocks)\n",
            ),
            Edit(
                "            self.pool.release(before.table)\n",
                "            self.pool.release(before.table)\n"
                "            self._sequences[step.request].granted = 0\n",
            ),
            Edit(
                "        self._open.work.append(Work(step.request, before.computed, tokens, table,",
                "        granted = getattr(sequence, 'granted', 0)\n"
                "        filled = sentinel.inject((0,) * granted + table[granted:], table)\n"
                "        self._open.work.append(Work(step.request, before.computed, tokens, filled,",
            ),
        ),
        cause="The packed table of a request has no entries for the blocks that a hit granted.",
        source="vllm#42019: a buffer is not filled for cached positions",
        black_box="visible",
        reason="A request that hits attends to block 0 instead of its prefix.",
    ),
)
