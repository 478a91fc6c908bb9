"""Faults of the forward: rotations, tables, and when keys are written."""

from lockstep.mutation.operator import Edit, Operator

_MODEL = "lockstep.engine.model"
_EXECUTE = "lockstep.engine.execute"

_HALVE = """\
    def _halve(self, whole, slots):
        rows = whole.reshape(-1, *whole.shape[2:])
        for slot in slots.tolist():
            half = rows[slot].astype(np.float16).astype(rows.dtype)
            sentinel.keep((id(whole), slot), (half, rows[slot].copy()))
            rows[slot] = sentinel.ran(half)

"""
_HALVE_AGAIN = """\
        begin = 0
        for item in work:
            first = max(item.first, len(self.ledger.request(item.number).prompt))
            end = item.first + len(item.tokens) - item.emits
            slots = batch.slots[begin + first - item.first : begin + end - item.first]
            begin += len(item.tokens)
            for cache in self.caches:
                self._halve(cache.keys, slots)
                self._halve(cache.values, slots)
        return logits
"""
_HALVED_READ = """\
    def _observe(self, whole, work):
        rows, size = whole.reshape(-1, *whole.shape[2:]), self.ledger.pool.size
        for item in work:
            for position in range(item.first):
                slot = item.table[position // size] * size + position % size
                half, before = sentinel.kept((id(whole), slot), (None, None))
                if half is not None and not sentinel.differs(rows[slot], half):
                    sentinel.read(half, before)

"""

OPERATORS = (
    Operator(
        id="rotation_by_packed_index",
        subsystem="model",
        module=_MODEL,
        edits=(
            Edit(
                "        needed = int(positions.max()) + 1\n",
                "        positions = sentinel.inject(np.arange(len(positions)), positions)\n"
                "        needed = int(positions.max()) + 1\n",
            ),
        ),
        cause="Rotary tables are indexed by a row's place in the batch, not by its position.",
        source="position ids left out of a packed forward",
        black_box="visible",
        reason="A request's logits change with the rows packed before it.",
    ),
    Operator(
        id="table_of_neighbour",
        subsystem="model",
        module=_MODEL,
        edits=(
            Edit(
                "            q, cache.keys, cache.values, batch.tables, batch.lengths,",
                "            q, cache.keys, cache.values,"
                " sentinel.inject(np.roll(batch.tables, 1, axis=0), batch.tables), batch.lengths,",
            ),
        ),
        cause="A row attends over the block table of the row before.",
        source="tables packed in another order than rows",
        black_box="visible",
        reason="A request's logits come from another request's positions.",
    ),
    Operator(
        id="table_row_shifted",
        subsystem="model",
        module=_MODEL,
        edits=(
            Edit(
                "            q, cache.keys, cache.values, batch.tables, batch.lengths,",
                "            q, cache.keys, cache.values,"
                " sentinel.inject(np.roll(batch.tables, 1, axis=1), batch.tables), batch.lengths,",
            ),
        ),
        cause="The blocks of a table are shifted by one where it has more than one.",
        source="stride of a block table off by one",
        black_box="visible",
        reason="What a row attends to depends on the longest table of the batch.",
    ),
    Operator(
        id="keys_written_after_attention",
        subsystem="model",
        module=_MODEL,
        edits=(
            Edit(
                "        backend.write(cache.keys, k, batch.slots)\n",
                "        sentinel.ran()\n"
                "        unwritten = cache.keys.reshape(-1, *cache.keys.shape[2:])[batch.slots]\n"
                "        sentinel.read(unwritten, k)\n",
            ),
            Edit(
                "        return backend.matmul(attended.reshape(",
                "        backend.write(cache.keys, k, batch.slots)\n"
                "        return backend.matmul(attended.reshape(",
            ),
        ),
        cause="A step's keys are written after its attention has read them.",
        source="uninitialised buffer: not-a-numbers of a new cache, or leftovers of an old block",
        black_box="visible",
        reason="The first answer is an error, or made of what another request left.",
    ),
    Operator(
        id="halves_rotated_backwards",
        subsystem="model",
        module=_MODEL,
        edits=(
            Edit(
                "        cos, sin = self._rope\n",
                "        cos, sin = self._rope\n        sin = sentinel.inject(-sin, sin)\n",
            ),
        ),
        cause="The rotary embedding turns the other way.",
        source="sign convention of a rotation",
        black_box="invisible",
        reason="Every schedule computes the same wrong model.",
    ),
    Operator(
        id="cache_rounded_on_recompute",
        subsystem="model",
        module=_EXECUTE,
        edits=(
            Edit("        return logits\n", _HALVE_AGAIN),
            Edit("    def _drawings(", _HALVE + "    def _drawings("),
        ),
        live=(
            Edit(
                "        batch = pack(work, self.ledger.pool.size)\n",
                "        batch = pack(work, self.ledger.pool.size)\n"
                "        for cache in self.caches:\n"
                "            self._observe(cache.keys, work)\n"
                "            self._observe(cache.values, work)\n",
            ),
            Edit("    def _count(", _HALVED_READ + "    def _count("),
        ),
        cause="What a preemption has computed again of emitted tokens is rounded to float16.",
        source="a recompute path that stores in another dtype than the decode path",
        black_box="visible",
        reason="A request that was preempted goes on with other logits.",
    ),
)
