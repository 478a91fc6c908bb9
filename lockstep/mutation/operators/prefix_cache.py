"""Faults of the prefix index: what names a block's content, when it is offered, what is granted."""

from lockstep.mutation.operator import Edit, Operator
from lockstep.mutation.operators.allocator import UNCHECKED

_INDEX = "lockstep.engine.prefix_cache"
_LEDGER = "lockstep.engine.ledger"
_GUARDS = "lockstep.lifecycle.guards"
_BLOCKS = "lockstep.engine.blocks"

OPERATORS = (
    Operator(
        id="hash_without_salt",
        subsystem="prefix_cache",
        module=_INDEX,
        edits=(
            Edit(
                'salt.encode("utf-8"))',
                'sentinel.inject("", salt).encode("utf-8"))',
            ),
        ),
        cause="The salt of a request does not enter the hashes of its blocks.",
        source="vllm#44701, #30931",
        black_box="visible",
        reason="A hit, in time or in the count of cached tokens, tells what another tenant holds.",
    ),
    Operator(
        id="hash_without_parent",
        subsystem="prefix_cache",
        module=_INDEX,
        edits=(
            Edit(
                "            previous = self._hashes[-1] if place else self._start\n",
                "            own = self._hashes[-1] if place else self._start\n"
                "            previous = sentinel.inject(self._start, own)\n",
            ),
        ),
        cause="A block's hash is of its own tokens, without those before it.",
        source="issue 5, hash key without parent; vllm#44701",
        black_box="visible",
        reason="A request is granted blocks of another prefix.",
    ),
    Operator(
        id="hash_without_model",
        subsystem="prefix_cache",
        module=_INDEX,
        edits=(
            Edit(
                'framed("lockstep/prefix-root/1", model, ',
                'framed("lockstep/prefix-root/1", sentinel.inject(bytes(32), model), ',
            ),
        ),
        cause="Hashes do not say whose keys and values a block holds: that of which model.",
        source="vllm#44701, adapters share blocks",
        black_box="invisible",
        reason="One process serves one model; sharing begins where an index outlives it.",
    ),
    Operator(
        id="hash_of_half_the_block",
        subsystem="prefix_cache",
        module=_INDEX,
        edits=(
            Edit(
                "            whole = tokens[place * self._size : (place + 1) * self._size]\n",
                "            whole = tokens[place * self._size : (place + 1) * self._size]\n"
                "            whole = sentinel.inject(whole[: max(1, self._size - 1)], whole)\n",
            ),
        ),
        cause="The last token of a block does not enter its hash.",
        source="issue 5, hash keys; sglang#22819, an edge off by one",
        black_box="visible",
        reason="A request is granted a block whose last token is another.",
    ),
    Operator(
        id="matched_length_equal_to_block",
        subsystem="prefix_cache",
        module=_LEDGER,
        edits=(
            Edit(
                "            self.pool.share(step.blocks)\n",
                "            self.pool.share(step.blocks)\n"
                "            matched = len(step.blocks) * self.pool.size\n"
                "            self._sequences[step.request].__dict__['matched'] = matched\n",
            ),
            Edit(
                "        tokens = tuple(sequence.tokens[before.computed : end])\n",
                "        own = tuple(sequence.tokens[before.computed : end])\n"
                "        one = sequence.__dict__.pop('matched', 0) == self.pool.size\n"
                "        early = tuple(sequence.tokens[before.computed - one : end - one])\n"
                "        tokens = sentinel.inject(early, own)\n",
            ),
        ),
        cause="After a match of exactly one block, the computation goes on one token too early.",
        source="sglang#22819",
        black_box="visible",
        reason="Such a request's tokens and log-probabilities change; others beside it are right.",
    ),
    Operator(
        id="hit_covers_whole_prompt",
        subsystem="prefix_cache",
        module=_LEDGER,
        edits=(
            Edit(
                "        places = range((len(sequence.tokens) - 1) // self.pool.size)\n",
                "        wanted = (len(sequence.tokens) - 1) // self.pool.size\n"
                "        every = len(sequence.tokens) // self.pool.size\n"
                "        places = range(sentinel.inject(every, wanted))\n",
            ),
        ),
        cause="A hit may cover all known tokens, so that none is left to compute logits from.",
        source="seed 000, cache hit covering the full prompt; [LIFE-11]",
        black_box="visible",
        reason="The request is refused, or answered without logits of its own.",
    ),
    Operator(
        id="block_visible_before_written",
        subsystem="prefix_cache",
        module=_LEDGER,
        edits=(
            Edit(
                "        whole = min(computed // self.pool.size, len(table))\n",
                "        own = min(computed // self.pool.size, len(table))\n"
                "        early = min(request.known // self.pool.size, len(table))\n"
                "        whole = sentinel.inject(early, own)\n",
            ),
            Edit(
                'complete = len(table) if "early_publishing" in weakened else '
                "computed // state.pool.block_size",
                "complete = len(table)",
                _GUARDS,
            ),
            *UNCHECKED,
        ),
        cause="Blocks are offered when they are scheduled, before all their tokens are computed. "
        "The engine's own assertions are off, as in an engine that has none.",
        source="vllm PR 41400",
        black_box="visible",
        reason="Who hits such a block attends to slots that are not written yet.",
    ),
    Operator(
        id="partial_block_published",
        subsystem="prefix_cache",
        module=_LEDGER,
        edits=(
            Edit(
                "        whole = min(computed // self.pool.size, len(table))\n",
                "        own = min(computed // self.pool.size, len(table))\n"
                "        begun = min(-(-computed // self.pool.size), len(table))\n"
                "        whole = sentinel.inject(begun, own)\n",
            ),
        ),
        cause="The last block is offered although it is not full.",
        source="issue 5, partial block published; [ENG-7]",
        black_box="visible",
        reason="Who hits it takes over keys and values that were never computed.",
    ),
    Operator(
        id="evicted_block_still_offered",
        subsystem="prefix_cache",
        module=_LEDGER,
        edits=(
            Edit(
                "                self.index.withdraw(block)\n",
                "                sentinel.ran()\n"
                "                self.__dict__.setdefault('stale', set()).add(\n"
                "                    (block, self.index.__dict__['_hashes'].get(block))\n"
                "                )\n",
            ),
            Edit(
                "        if digest in self._blocks or block in self._hashes:\n",
                "        if False:\n",
                _INDEX,
            ),
            Edit(
                '    yield _each(step.blocks, offered, "cached")\n',
                "",
                _GUARDS,
            ),
            *UNCHECKED,
        ),
        live=(
            Edit(
                "            self.index.offer(block, digest)\n",
                "            self.index.offer(block, digest)\n"
                "            self.__dict__.get('stale', set()).discard((block, digest))\n",
            ),
            Edit(
                "        return self.index.longest_run("
                "sequence.chain.of(sequence.tokens, p) for p in places)\n",
                "        run = self.index.longest_run("
                "sequence.chain.of(sequence.tokens, p) for p in places)\n"
                "        stale = self.__dict__.get('stale', ())\n"
                "        hashes = [sequence.chain.of(sequence.tokens, p) for p in range(len(run))]\n"
                "        sentinel.live(any(pair in stale for pair in zip(run, hashes)))\n"
                "        return run\n",
            ),
        ),
        cause="An evicted block stays in the prefix index. "
        "The engine's own assertions are off, as in an engine that has none.",
        source="issue 5; sglang#23392",
        black_box="visible",
        reason="Who hits it takes over another request's keys and values.",
    ),
    Operator(
        id="published_twice",
        subsystem="prefix_cache",
        module=_LEDGER,
        edits=(
            Edit(
                "                if digest not in self.index and not self._open.publishes(digest):\n",
                "                fresh = digest not in self.index\n"
                "                sentinel.inject(fresh, fresh and not self._open.publishes(digest))\n"
                "                if fresh:\n",
            ),
        ),
        cause="Two requests of one step offer the same content.",
        source="[ENG-7]",
        black_box="visible",
        reason="The index loses one of the blocks, which is never evicted.",
    ),
)
