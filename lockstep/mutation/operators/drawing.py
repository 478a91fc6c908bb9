"""Faults of drawing, in its numbers: weights, supports and streams of a batch's rows."""

from lockstep.mutation.operator import Edit, Operator

_PIPELINE = "lockstep.sampling.pipeline"
_SAMPLER = "lockstep.engine.sampler"

_CHOSEN = (
    "    chosen = [draw(weights, named) for weights, named in zip(weighed, seeds, strict=True)]\n"
)
_SEEDS = "    seeds = [seed(drawing) for drawing in drawings]\n"
_WEIGH = "    weighed = [weigh(row, drawing.sampling) for row, drawing in zip(rows, drawings, strict=True)]\n"

OPERATORS = (
    Operator(
        id="temperature_of_neighbour",
        subsystem="sampler",
        module=_SAMPLER,
        edits=(
            Edit(
                _WEIGH,
                "    ways = [drawing.sampling for drawing in drawings]\n"
                "    heated = [\n"
                "        Sampling(other.temperature, own.top_k, own.top_p, own.min_p, own.seed)\n"
                "        for own, other in zip(ways, ways[-1:] + ways[:-1], strict=True)\n"
                "    ]\n"
                "    weighed = [\n"
                "        weigh(row, sentinel.inject(way, own))\n"
                "        for row, way, own in zip(rows, heated, ways, strict=True)\n"
                "    ]\n",
            ),
        ),
        cause="A row's log-probabilities are divided by the temperature of the row before.",
        source="per-request parameters packed in another order than rows",
        black_box="visible",
        reason="A request's tokens change with its neighbours' parameters.",
    ),
    Operator(
        id="temperature_without_effect",
        subsystem="sampler",
        module=_PIPELINE,
        edits=(
            Edit(
                "    scaled = [arithmetic.divide(value, temperature) for value in values]\n",
                "    divisor = sentinel.inject(Decimal(1), temperature)\n"
                "    scaled = [arithmetic.divide(value, divisor) for value in values]\n",
            ),
        ),
        cause="Weights are those of temperature 1, whatever is asked.",
        source="a parameter that is read and not handed on",
        black_box="invisible",
        reason="Every schedule draws from the same weights.",
    ),
    Operator(
        id="float_weights_in_batches",
        subsystem="sampler",
        module=_SAMPLER,
        edits=(
            Edit(
                _WEIGH,
                _WEIGH + "    floats = [\n"
                "        _float_weights(row, kept, drawing.sampling)\n"
                "        for row, kept, drawing in zip(rows, weighed, drawings, strict=True)\n"
                "    ]\n"
                "    weighed = sentinel.inject(floats if len(floats) > 1 else weighed, weighed)\n",
            ),
            Edit(
                "def units(",
                "def _float_weights(\n"
                "    row: Integers, kept: Mapping[str, int], sampling: Sampling\n"
                ") -> dict[str, int]:\n"
                "    values = row[[int(token) for token in kept]] * np.float32(1e-12)\n"
                "    powers = np.exp(values / np.float32(sampling.temperature), dtype=np.float32)\n"
                "    shares = np.rint(powers / powers.sum() * np.float32(65536)).astype(np.int64)\n"
                "    return dict(zip(kept, shares.tolist(), strict=True))\n"
                "\n\n"
                "def units(",
            ),
        ),
        cause="From two rows on, weights are rounded from binary32, and sum to what they may.",
        source="gonka issue 1199, E1: a float executor beside a decimal validator",
        black_box="visible",
        reason="A draw is reduced by another sum: a request's tokens depend on its company.",
    ),
    Operator(
        id="numeric_order_in_batches",
        subsystem="sampler",
        module=_SAMPLER,
        edits=(
            Edit(
                _CHOSEN,
                "    numeric = [\n"
                "        {token.rjust(10, '0'): weight for token, weight in weights.items()}\n"
                "        for weights in weighed\n"
                "    ]\n"
                "    own = [draw(weights, named) for weights, named in zip(weighed, seeds, strict=True)]\n"
                "    other = [draw(weights, named) for weights, named in zip(numeric, seeds, strict=True)]\n"
                "    chosen = sentinel.inject(other if len(own) > 1 else own, own)\n",
            ),
        ),
        cause="From two rows on, tokens are scanned in the order of their numbers.",
        source="gonka issue 1199, 6.6: two orders of tokens",
        black_box="visible",
        reason="A request's tokens depend on its company.",
    ),
    Operator(
        id="seed_of_neighbour",
        subsystem="sampler",
        module=_SAMPLER,
        edits=(
            Edit(
                _SEEDS,
                "    own = [seed(drawing) for drawing in drawings]\n"
                "    seeds = sentinel.inject(own[-1:] + own[:-1], own)\n",
            ),
        ),
        cause="A row's token is drawn from the stream of the row before.",
        source="draws in the order of the batch: vllm#51226",
        black_box="visible",
        reason="A request's tokens change with its neighbours.",
    ),
    Operator(
        id="counter_of_batch",
        subsystem="sampler",
        module=_SAMPLER,
        edits=(
            Edit(
                _CHOSEN,
                "    chosen = [\n"
                "        draw(weights, named, sentinel.inject(row, 0))\n"
                "        for row, (weights, named) in enumerate(zip(weighed, seeds, strict=True))\n"
                "    ]\n",
            ),
        ),
        cause="A stream's counter is not set back between the rows of a batch.",
        source="one counter for a batch where each row has its own",
        black_box="visible",
        reason="A request's tokens depend on its row.",
    ),
    Operator(
        id="support_of_smallest_row",
        subsystem="sampler",
        module=_SAMPLER,
        edits=(
            Edit(
                _WEIGH,
                _WEIGH + "    least = min(map(len, weighed))\n"
                "    cut = [\n"
                "        {token: weights[token] for token in sorted(weights, key=weights.get)[-least:]}\n"
                "        for weights in weighed\n"
                "    ]\n"
                "    weighed = sentinel.inject(cut, weighed)\n",
            ),
        ),
        cause="All rows draw among as many tokens as the row that keeps the fewest.",
        source="whole-batch reduction where a row's is wanted",
        black_box="visible",
        reason="A request's tokens change with its neighbours' filters.",
    ),
    Operator(
        id="rows_of_greedy_drawn",
        subsystem="sampler",
        module=_SAMPLER,
        edits=(
            Edit(
                "        chosen = _draw(backend, logits[drawn],",
                "        rows = sentinel.inject(list(range(len(drawn))), drawn)\n"
                "        chosen = _draw(backend, logits[rows],",
            ),
        ),
        cause="Where greedy rows stand among the others, draws are made of the wrong rows' logits.",
        source="a batch of mixed sampling compacted on one side only",
        black_box="visible",
        reason="A request's tokens change with greedy neighbours.",
    ),
    Operator(
        id="top_p_without_effect",
        subsystem="sampler",
        module=_PIPELINE,
        edits=(
            Edit(
                "        if passed >= share:\n            break\n    return in_order(kept)\n",
                "        if passed >= share:\n            break\n"
                "    return in_order(sentinel.inject(list(given), kept))\n",
            ),
        ),
        cause="top_p keeps all tokens.",
        source="a filter whose result is dropped",
        black_box="invisible",
        reason="Every schedule draws from the same tokens.",
    ),
)
