"""Faults of the pool of blocks: counts, tables, and who gets or loses which block."""

from lockstep.mutation.operator import Edit, Operator

_BLOCKS = "lockstep.engine.blocks"
_LEDGER = "lockstep.engine.ledger"
_MACHINE = "lockstep.lifecycle.machine"

UNCHECKED = (
    Edit(
        "        state, pool = self.state, self.pool\n"
        "        entries = tuple(block for block, _ in self.index.entries())\n",
        "        return\n"
        "        state, pool = self.state, self.pool\n"
        "        entries = tuple(block for block, _ in self.index.entries())\n",
        _LEDGER,
    ),
    Edit(
        "        alone = self.references[block] == 1 and not self.cached[block]\n"
        "        if not alone or self.written[block] != offset:\n",
        "        if False:\n",
        _BLOCKS,
    ),
    Edit(
        "        if self.written[block] != self.size:\n",
        "        if False:\n",
        _BLOCKS,
    ),
    Edit(
        "    if not holds:\n"
        '        raise LockstepError("LEDGER_MISMATCH", f"block {block}", expected, got)\n',
        "    return\n",
        _BLOCKS,
    ),
)
"""The assertions of ledger and pool, off: an engine without them goes on with the fault."""

_UNASSERTED = "The engine's own assertions are off, as in an engine that has none."

OPERATORS = (
    Operator(
        id="refcount_leak",
        subsystem="allocator",
        module=_BLOCKS,
        edits=(
            Edit(
                "            self.references[block] -= 1\n",
                "            shared = self.references[block] > 1\n"
                "            self.references[block] -= sentinel.inject(0 if shared else 1, 1)\n",
            ),
        ),
        cause="A block that two requests hold is not released by the first one that ends.",
        source="issue 5, refcount leak",
        black_box="visible",
        reason="The pool shrinks until nothing is admitted.",
    ),
    Operator(
        id="shared_block_freed_by_first_release",
        subsystem="allocator",
        module=_MACHINE,
        edits=(
            Edit(
                '        shared = "shared_release" in self.weakened\n',
                "        sentinel.ran()\n"
                "        sentinel.live(any(state.references[b] > 1 for b in request.table))\n"
                "        shared = True\n",
            ),
            Edit(
                "            self.references[block] -= 1\n",
                "            self.references[block] = 0\n",
                _BLOCKS,
            ),
            *UNCHECKED,
        ),
        cause="The first of two holders that ends gives their block away under the other. "
        + _UNASSERTED,
        source="spec/lifecycle.json, weakening shared_release; sglang#23392",
        black_box="visible",
        reason="The other holder's tokens and log-probabilities change.",
    ),
    Operator(
        id="stale_block_table",
        subsystem="allocator",
        module=_LEDGER,
        edits=(
            Edit(
                "        self._open.work.append("
                "Work(step.request, before.computed, tokens, table, emits))\n",
                "        stale = sequence.__dict__.setdefault('uploaded', table)\n"
                "        if len(stale) < len(table):\n"
                "            sequence.__dict__['uploaded'] = stale = table\n"
                "        used = sentinel.inject(stale[: len(table)], table)\n"
                "        self._open.work.append("
                "Work(step.request, before.computed, tokens, used, emits))\n",
            ),
            *UNCHECKED,
        ),
        cause="A resumed request goes on with the block table that it had before its preemption, "
        "as long as that is long enough. " + _UNASSERTED,
        source="issue 5, stale block table",
        black_box="visible",
        reason="It reads and writes blocks that are another request's by then.",
    ),
    Operator(
        id="freed_block_given_while_in_flight",
        subsystem="allocator",
        module=_LEDGER,
        edits=(
            Edit(
                "            blocks = self.pool.lowest_free("
                "taken(self.state, draft, self.machine.weakened))\n"
                "        if not self.pool.are_free(blocks):\n"
                "            return draft  # which the machine refuses\n",
                "            count = taken(self.state, draft, self.machine.weakened)\n"
                "            own = self.pool.lowest_free(count)\n"
                "            early = tuple(sorted(self._free_at_begin)[:count])\n"
                "            blocks = sentinel.inject(early if len(early) == count else own, own)\n",
            ),
            Edit(
                "        self._open = _OpenStep()\n\n    @property\n    def work",
                "        self._open = _OpenStep()\n"
                "        self._free_at_begin = set(self.pool.free)\n\n"
                "    @property\n    def work",
            ),
            Edit(
                "        self.check()\n        self.step += 1\n",
                "        self._free_at_begin = set(self.pool.free)\n        self.step += 1\n",
            ),
            Edit(
                "            self._free.remove(block)\n",
                "            self._free.discard(block)\n",
                _BLOCKS,
            ),
            Edit(
                '    if step.blocks:\n        yield _each(step.blocks, state.free, "free")\n',
                "",
                "lockstep.lifecycle.guards",
            ),
            *UNCHECKED,
        ),
        cause="Blocks are given as they were free when the step began: to two requests of one step. "
        + _UNASSERTED,
        source="vllm PR 45357",
        black_box="visible",
        reason="Two requests write one block.",
    ),
    Operator(
        id="referenced_block_evicted",
        subsystem="allocator",
        module=_BLOCKS,
        edits=(
            Edit(
                "        return tuple(self._evictable)\n",
                "        held = [b for b, n in enumerate(self.references) if n and self.cached[b]]\n"
                "        return sentinel.inject((*held, *self._evictable), tuple(self._evictable))\n",
            ),
        ),
        cause="Eviction takes cached blocks that requests still hold.",
        source="issue 5, evict of a referenced block; [LIFE-16]",
        black_box="visible",
        reason="The holder's prefix is overwritten under it.",
    ),
    Operator(
        id="latest_released_evicted_first",
        subsystem="allocator",
        module=_LEDGER,
        edits=(
            Edit(
                "blocks or self.pool.evictable[:1])",
                "blocks or sentinel.inject(self.pool.evictable[-1:], self.pool.evictable[:1]))",
            ),
        ),
        cause="The block that was released last is evicted first.",
        source="issue 5, LRU inverted; [SCHED-14]",
        black_box="invisible",
        reason="Hits become fewer; every token and log-probability is right.",
    ),
    Operator(
        id="prefix_released_from_its_beginning",
        subsystem="allocator",
        module=_BLOCKS,
        edits=(
            Edit(
                "        for block in reversed(table):\n",
                "        order = sentinel.inject(tuple(table), tuple(reversed(table)))\n"
                "        for block in order:\n",
            ),
        ),
        cause="A prefix's beginning is evicted before its end, which is of no use without it.",
        source="[ENG-5]",
        black_box="invisible",
        reason="Hits become fewer; every token and log-probability is right.",
    ),
    Operator(
        id="highest_free_block_first",
        subsystem="allocator",
        module=_BLOCKS,
        edits=(
            Edit(
                "        return tuple(nsmallest(count, self._free)) if count > 0 else ()\n",
                "        lowest = tuple(nsmallest(count, self._free)) if count > 0 else ()\n"
                "        highest = sorted(self._free)[-count:] if count > 0 else []\n"
                "        return sentinel.inject(tuple(highest), lowest)\n",
            ),
        ),
        cause="Free blocks are given by the highest numbers instead of the lowest.",
        source="[SCHED-14]",
        black_box="invisible",
        reason="Which block holds a token changes no bit of what is computed.",
    ),
    Operator(
        id="slot_past_block_edge",
        subsystem="allocator",
        module="lockstep.engine.batch",
        edits=(
            Edit(
                "    blocks = np.take_along_axis(tables, "
                "positions[:, None] // block_size, axis=1)[:, 0]\n",
                "    own = np.take_along_axis(tables, "
                "positions[:, None] // block_size, axis=1)[:, 0]\n"
                "    past = np.minimum((positions[:, None] + 1) // block_size, width - 1)\n"
                "    late = np.take_along_axis(tables, past, axis=1)[:, 0]\n"
                "    blocks = sentinel.inject(late, own)\n",
            ),
        ),
        cause="The last slot of a block is looked for in the block after it.",
        source="sglang#22819: an edge of a block off by one",
        black_box="visible",
        reason="Attention reads slots that were not written.",
    ),
)
