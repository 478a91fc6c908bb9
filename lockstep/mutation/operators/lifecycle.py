"""Faults of the lifecycle: what is refused, what is admitted, what a preemption leaves."""

from lockstep.mutation.operator import Edit, Operator

_MACHINE = "lockstep.lifecycle.machine"
_GUARDS = "lockstep.lifecycle.guards"
_STATE = "lockstep.lifecycle.state"
_SCHEDULE = "lockstep.schedule.schedule"
_COMPUTE = "lockstep.schedule.policies.compute"
_LEDGER = "lockstep.engine.ledger"

OPERATORS = (
    Operator(
        id="never_fitting_accepted",
        subsystem="lifecycle",
        module=_MACHINE,
        edits=(
            Edit(
                'if need > blocks and "never_fitting_accepted" not in self.weakened:',
                "sentinel.ran()\n        sentinel.live(need > blocks)\n        if False:",
            ),
            Edit("        if need > pool.blocks:\n", "        if False:\n", _SCHEDULE),
        ),
        cause="A request that can never fit the pool is queued instead of refused.",
        source="seed 000, the oversized-request wedge; vllm#39734",
        black_box="invisible",
        reason="Only what should have been refused waits for ever; every answer that comes is right.",
    ),
    Operator(
        id="admission_ignores_reservation",
        subsystem="lifecycle",
        module=_COMPUTE,
        edits=(
            Edit(
                "    return head if state.requests[head].need(state.pool) <= state.slack else None\n",
                "    need, room = state.requests[head].need(state.pool), len(state.free)\n"
                "    fits = need <= room + len(state.evictable)\n"
                "    sentinel.inject(fits, need <= state.slack)\n"
                "    return head if fits else None\n",
            ),
            Edit(
                '    if "unreserved_admission" not in weakened:\n',
                "    if False:\n",
                _GUARDS,
            ),
        ),
        cause="Admission looks at the blocks that are free now, not at what others have reserved.",
        source="issue 5; spec/lifecycle.json, weakening unreserved_admission",
        black_box="visible",
        reason="Requests that run out of blocks end in an error, or never.",
    ),
    Operator(
        id="evictable_not_counted",
        subsystem="lifecycle",
        module=_STATE,
        edits=(
            Edit(
                "        return len(self.free) + len(self.evictable) - owed\n",
                "        room = len(self.free) + len(self.evictable)\n"
                "        return sentinel.inject(len(self.free) - owed, room - owed)\n",
            ),
        ),
        cause="Admission counts free blocks alone, so that what eviction could serve is not.",
        source="seed 000, row 3 of its table",
        black_box="visible",
        reason="A request waits for ever although the pool is idle.",
    ),
    Operator(
        id="head_of_queue_skipped",
        subsystem="lifecycle",
        module=_COMPUTE,
        edits=(
            Edit(
                "    head = state.queue[0]\n"
                "    return head if state.requests[head].need(state.pool) <= state.slack else None\n",
                "    needs = [(n, state.requests[n].need(state.pool)) for n in state.queue]\n"
                "    fitting = [n for n, need in needs if need <= state.slack]\n"
                "    head = state.queue[0] if needs[0][1] <= state.slack else None\n"
                "    return sentinel.inject(fitting[0] if fitting else None, head)\n",
            ),
            Edit(
                '    yield Clause(state.queue[:1] == (step.request,), "the head of the queue", '
                "list(state.queue))\n",
                "",
                _GUARDS,
            ),
            Edit(
                "return replace(state, queue=state.queue[1:])",
                "return replace(state, queue=tuple(n for n in state.queue if n != step.request))",
                _MACHINE,
            ),
        ),
        cause="A request that does not fit yet is overtaken by smaller ones, as long as they come.",
        source="issue 5, starvation; [LIFE-10]",
        black_box="invisible",
        reason="Only the wait grows; every token and log-probability is right.",
    ),
    Operator(
        id="preempted_goes_to_tail",
        subsystem="lifecycle",
        module=_MACHINE,
        edits=(
            Edit(
                "            state = replace(state, queue=(step.request, *state.queue))\n",
                "            tail, head = (*state.queue, step.request), (step.request, *state.queue)\n"
                "            state = replace(state, queue=sentinel.inject(tail, head))\n",
            ),
        ),
        cause="A preempted request goes behind all that wait, instead of before them.",
        source="facts on the lifecycle: vLLM puts it at the head; [LIFE-17]",
        black_box="invisible",
        reason="Only the wait grows; every token and log-probability is right.",
    ),
    Operator(
        id="cursor_shifted_after_preemption",
        subsystem="lifecycle",
        module=_MACHINE,
        edits=(
            Edit(
                '        if step.event in ("admit", "resume"):\n'
                "            return replace(state, queue=state.queue[1:])\n",
                '        if step.event == "resume":\n'
                "            sentinel.ran()\n"
                "            state = state.with_request(\n"
                "                step.request, replace(before, state=after, computed=1)\n"
                "            )\n"
                '        if step.event in ("admit", "resume"):\n'
                "            return replace(state, queue=state.queue[1:])\n",
            ),
        ),
        live=(
            Edit(
                "        request, sequence = self.state.requests[step.request], "
                "self._sequences[step.request]\n",
                "        request, sequence = self.state.requests[step.request], "
                "self._sequences[step.request]\n"
                "        sentinel.live(request.state == 'ADMITTED' and request.computed == 1)\n",
                _LEDGER,
            ),
        ),
        cause="A resumed request begins to recompute at position 1: position 0 is never written.",
        source="seed 000, recompute off by one, injected where the value survives; row 10",
        black_box="visible",
        reason="Its tokens and log-probabilities change where it was preempted.",
    ),
    Operator(
        id="resume_drops_outputs",
        subsystem="lifecycle",
        module=_MACHINE,
        edits=(
            Edit(
                "        state = state.with_request(step.request, replace(request, computed=0, table=()))\n",
                "        left = 0 if preempted else request.outputs\n"
                "        state = state.with_request(\n"
                "            step.request, replace(request, computed=0, outputs=left, table=())\n"
                "        )\n",
            ),
            Edit(
                '        elif step.event in ("preempt_rc", "finish"):\n',
                '        elif step.event in ("preempt_rc", "finish"):\n'
                '            if step.event == "preempt_rc":\n'
                "                dropped = self._sequences[step.request]\n"
                "                sentinel.ran()\n"
                "                sentinel.keep((id(self), step.request), len(dropped.tokens))\n"
                "                del dropped.tokens[len(dropped.request.prompt) :]\n",
                _LEDGER,
            ),
        ),
        live=(
            Edit(
                "        end = _computed_after(step, before)\n",
                "        end = _computed_after(step, before)\n"
                "        had = sentinel.kept((id(self), step.request), 0)\n"
                "        sentinel.live(len(sequence.tokens) < had)\n",
                _LEDGER,
            ),
        ),
        cause="Preemption forgets the tokens that were emitted; they are emitted once more.",
        source="issue 5; [LIFE-17]",
        black_box="visible",
        reason="A stream repeats tokens, or log-probabilities outnumber them.",
    ),
    Operator(
        id="finish_frees_nothing",
        subsystem="lifecycle",
        module=_MACHINE,
        edits=(
            Edit(
                "        state = state.with_request(step.request, replace(request, computed=0, table=()))\n"
                "        return state.with_references(counts)\n",
                "        state = state.with_request(step.request, replace(request, computed=0, table=()))\n"
                "        sentinel.ran()\n"
                "        return state.with_references(counts if preempted else {})\n",
            ),
            Edit(
                "            self.pool.release(before.table)\n",
                '            if step.event == "preempt_rc":\n'
                "                self.pool.release(before.table)\n",
                _LEDGER,
            ),
        ),
        live=(
            Edit(
                "        entries = tuple(block for block, _ in self.index.entries())\n",
                "        entries = tuple(block for block, _ in self.index.entries())\n"
                "        sentinel.live(\n"
                "            sum(state.references) > sum(len(r.table) for r in state.requests)\n"
                "        )\n",
                _LEDGER,
            ),
        ),
        cause="A finished request's blocks are never given back.",
        source="issue 5, finish not freeing; [LIFE-17]",
        black_box="visible",
        reason="After some requests none is admitted any more.",
    ),
    Operator(
        id="end_of_sequence_ignored",
        subsystem="lifecycle",
        module=_LEDGER,
        edits=(
            Edit(
                "            sequence.stopped = token in self._eos and not sequence.request.ignore_eos\n",
                "            stops = token in self._eos and not sequence.request.ignore_eos\n"
                "            sequence.stopped = sentinel.inject(False, stops)\n",
            ),
        ),
        cause="An end of sequence does not end its request.",
        source="issue 5, eos ignored; [SCHED-15]",
        black_box="invisible",
        reason="Every schedule goes on behind the end; who does not know the end sees no difference.",
    ),
    Operator(
        id="ignore_eos_not_heeded",
        subsystem="lifecycle",
        module=_LEDGER,
        edits=(
            Edit(
                "            sequence.stopped = token in self._eos and not sequence.request.ignore_eos\n",
                "            stops = token in self._eos and not sequence.request.ignore_eos\n"
                "            sequence.stopped = sentinel.inject(token in self._eos, stops)\n",
            ),
        ),
        cause="A request that asked to go on behind an end of sequence is ended by it.",
        source="seed 000, EOS finishing among its relations; [SCHED-15]",
        black_box="invisible",
        reason="Every schedule ends the output there; who compares answers sees no difference.",
    ),
    Operator(
        id="neighbours_stop_tokens",
        subsystem="lifecycle",
        module=_LEDGER,
        edits=(
            Edit(
                "            sequence.stopped = token in self._eos and not sequence.request.ignore_eos\n",
                "            own = sequence.request.ignore_eos\n"
                "            all_ = all(self._sequences[n].request.ignore_eos for n in emitting)\n"
                "            sentinel.inject(token in self._eos and not all_,"
                " token in self._eos and not own)\n"
                "            sequence.stopped = token in self._eos and not all_\n",
            ),
        ),
        cause="One request of the batch that heeds ends of sequence makes all of them heed theirs.",
        source="vllm#51226 and PR 51789: an option of a row taken for the whole batch",
        black_box="visible",
        reason="An output ends early beside certain neighbours.",
    ),
)
