"""Faults of what a draw is keyed by, and of whose parameters a row is sampled with."""

from lockstep.mutation.operator import Edit, Operator

_SAMPLER = "lockstep.engine.sampler"
_EXECUTE = "lockstep.engine.execute"

_SEEDS = "    seeds = [seed(drawing) for drawing in drawings]\n"
_DRAWING = (
    "            Drawing(*request.stream, self._outputs(item), request.sampling)\n"
    "            for item in work\n"
    "            if item.emits\n"
    "            for request in [self.ledger.request(item.number)]\n"
)
_WEIGH = "    weighed = [weigh(row, drawing.sampling) for row, drawing in zip(rows, drawings, strict=True)]\n"


def _keyed(id: str, new: str, cause: str, source: str, reason: str) -> Operator:
    """Give an operator by which draws of a step are keyed by something else."""
    return Operator(
        id=id,
        subsystem="sampling",
        module=_EXECUTE,
        edits=(
            Edit(
                _DRAWING,
                f"            Drawing({new})\n"
                "            for row, item in enumerate(work)\n"
                "            if item.emits\n"
                "            for request in [self.ledger.request(item.number)]\n",
            ),
        ),
        cause=cause,
        source=source,
        black_box="visible",
        reason=reason,
    )


OPERATORS = (
    _keyed(
        "draw_keyed_by_row",
        'sentinel.inject(f"row{row}", request.stream[0]), request.stream[1], '
        "self._outputs(item), request.sampling",
        "A draw is keyed by the request's row in the batch instead of the request.",
        "seed 000, RNG keying; issue 5",
        "A seeded request's tokens depend on what it is batched with.",
    ),
    _keyed(
        "draw_keyed_by_number",
        'sentinel.inject(f"slot{item.number}", request.stream[0]), request.stream[1], '
        "self._outputs(item), request.sampling",
        "A draw is keyed by the slot that the request got when it arrived.",
        "seed 000, RNG keying; issue 5",
        "A seeded request's tokens depend on how many came before it.",
    ),
    _keyed(
        "draw_keyed_by_step",
        "*request.stream, sentinel.inject(self.ledger.step, self._outputs(item)), request.sampling",
        "A draw is keyed by the engine's step instead of the token's position.",
        "seed 000, RNG keying; issue 5",
        "A seeded request's tokens depend on when it runs.",
    ),
    Operator(
        id="draw_counter_kept_over_preemption",
        subsystem="sampling",
        module=_EXECUTE,
        edits=(
            Edit(
                _DRAWING,
                "            Drawing(\n"
                "                *request.stream,\n"
                "                sentinel.inject(\n"
                "                    max(0, self._rows[item.number] - len(request.prompt)),\n"
                "                    self._outputs(item),\n"
                "                ),\n"
                "                request.sampling,\n"
                "            )\n"
                "            for item in work\n"
                "            if item.emits\n"
                "            for request in [self.ledger.request(item.number)]\n",
            ),
            Edit(
                "        drawings = self._drawings(work)\n",
                "        for item in work:\n"
                "            self._rows[item.number] = self._rows.get(item.number, 0) + "
                "len(item.tokens)\n"
                "        drawings = self._drawings(work)\n",
            ),
            Edit(
                "        self._counters = Counters()\n",
                "        self._counters = Counters()\n        self._rows: dict[int, int] = {}\n",
            ),
        ),
        cause="A draw is keyed by the rows that its request computed so far, recomputed ones too.",
        source="issue 5, preemption keeping the RNG counter; sglang PR 26510",
        black_box="visible",
        reason="A seeded request's tokens change where it was preempted, or hit the cache.",
    ),
    Operator(
        id="shared_generator",
        subsystem="sampling",
        module=_SAMPLER,
        edits=(
            Edit(
                _SEEDS,
                "    own = [seed(drawing) for drawing in drawings]\n"
                "    seeded = all(drawing.sampling.seed for drawing in drawings)\n"
                "    first = drawings[0]\n"
                "    shared = [\n"
                "        seed(first._replace(position=place))\n"
                "        for place, _ in enumerate(drawings, first.position)\n"
                "    ]\n"
                "    seeds = sentinel.inject(own if seeded else shared, own)\n",
            ),
        ),
        cause="All rows draw from one generator where any row of the batch is unseeded (seed 0).",
        source="vllm#51226",
        black_box="visible",
        reason="A seeded request is not repeatable beside an unseeded one.",
    ),
    Operator(
        id="generator_of_first_row",
        subsystem="sampling",
        module=_SAMPLER,
        edits=(
            Edit(
                _SEEDS,
                "    own = [seed(drawing) for drawing in drawings]\n"
                "    first = drawings[0]\n"
                "    shared = [\n"
                "        seed(first._replace(position=place))\n"
                "        for place, _ in enumerate(drawings, first.position)\n"
                "    ]\n"
                "    seeds = sentinel.inject(shared, own)\n",
            ),
        ),
        cause="All rows of a batch draw one after the other from the first row's generator.",
        source="vllm#51226, without its condition",
        black_box="visible",
        reason="A seeded request's tokens depend on what it is batched with.",
    ),
    Operator(
        id="draw_without_seed",
        subsystem="sampling",
        module=_SAMPLER,
        edits=(
            Edit(
                "    origin = Origin(own.seed, drawing.name, own.beacon)\n",
                "    origin = Origin(sentinel.inject(0, own.seed), drawing.name, own.beacon)\n",
            ),
        ),
        cause="The seed of a request does not enter its draws.",
        source="seed 000, RNG keying",
        black_box="invisible",
        reason="It is the same under every schedule; two seeds give the same tokens under each.",
    ),
    Operator(
        id="draw_without_position",
        subsystem="sampling",
        module=_SAMPLER,
        edits=(
            Edit(
                "    return derive_seed(origin, drawing.choice, drawing.position)\n",
                "    return derive_seed(origin, drawing.choice, sentinel.inject(0, drawing.position))\n",
            ),
        ),
        cause="All tokens of a request are drawn at one and the same point.",
        source="seed 000, RNG keying",
        black_box="invisible",
        reason="It is the same under every schedule; only the distribution is wrong.",
    ),
    Operator(
        id="neighbours_filters",
        subsystem="sampling",
        module=_SAMPLER,
        edits=(
            Edit(
                _WEIGH,
                "    weighed = [\n"
                "        weigh(row, sentinel.inject(_filtered(drawing, drawings), drawing.sampling))\n"
                "        for row, drawing in zip(rows, drawings, strict=True)\n"
                "    ]\n",
            ),
            Edit(
                "def units(",
                "def _filtered(drawing: Drawing, drawings: Sequence[Drawing]) -> Sampling:\n"
                "    own, first = drawing.sampling, drawings[0].sampling\n"
                "    return Sampling(own.temperature, first.top_k, first.top_p, first.min_p, own.seed)\n"
                "\n\n"
                "def units(",
            ),
        ),
        cause="top_k, top_p and min_p of the batch's first row are applied to all of its rows.",
        source="vllm PR 51789",
        black_box="visible",
        reason="A request's tokens depend on its neighbours' parameters.",
    ),
    Operator(
        id="top_k_of_whole_batch",
        subsystem="sampling",
        module=_SAMPLER,
        edits=(
            Edit(
                _WEIGH,
                "    weighed = [\n"
                "        weigh(row, sentinel.inject(_widest(drawing, drawings), drawing.sampling))\n"
                "        for row, drawing in zip(rows, drawings, strict=True)\n"
                "    ]\n",
            ),
            Edit(
                "def units(",
                "def _widest(drawing: Drawing, drawings: Sequence[Drawing]) -> Sampling:\n"
                "    own = drawing.sampling\n"
                "    top_k = max(other.sampling.top_k for other in drawings)\n"
                "    return Sampling(own.temperature, top_k, own.top_p, own.min_p, own.seed)\n"
                "\n\n"
                "def units(",
            ),
        ),
        cause="The largest top_k of a batch is applied to all of its rows.",
        source="vllm PR 51789; issue 5, top_k from the whole batch",
        black_box="visible",
        reason="A request's tokens depend on its neighbours' parameters.",
    ),
    Operator(
        id="drawn_tokens_scattered_from_row_0",
        subsystem="sampling",
        module=_SAMPLER,
        edits=(
            Edit(
                "        for row, token in zip(drawn, chosen, strict=True):\n",
                "        rows = sentinel.inject(list(range(len(drawn))), drawn)\n"
                "        for row, token in zip(rows, chosen, strict=True):\n",
            ),
        ),
        cause="Drawn tokens are put into the batch's first rows, whichever rows they belong to.",
        source="vllm PR 51789: a whole-batch result replaced",
        black_box="visible",
        reason="A greedy request beside one that draws gets the other's token.",
    ),
    Operator(
        id="greedy_row_drawn_beside_others",
        subsystem="sampling",
        module=_SAMPLER,
        edits=(
            Edit(
                "    drawn = [row for row, drawing in enumerate(drawings) "
                "if not drawing.sampling.greedy]\n"
                "    if drawn:\n",
                "    drawn = [row for row, drawing in enumerate(drawings) "
                "if not drawing.sampling.greedy]\n"
                "    hot = [d._replace(sampling=Sampling('1')) if d.sampling.greedy else d"
                " for d in drawings]\n"
                "    if drawn:\n"
                "        every = list(range(len(drawings)))\n"
                "        drawn, drawings = sentinel.inject(every, drawn), hot\n",
            ),
        ),
        cause="Where one row of a batch draws, its greedy rows are drawn too, at temperature 1.",
        source="vllm PR 51789: a path chosen for the whole batch",
        black_box="visible",
        reason="A greedy request is not repeatable beside one that draws.",
    ),
)
