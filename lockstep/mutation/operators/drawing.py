"""Faults of drawing, in its numbers: weights, totals and points of a batch's rows."""

from lockstep.mutation.operator import Edit, Operator

_DRAW = "lockstep.engine.host.draw"
_SAMPLER = "lockstep.engine.sampler"

OPERATORS = (
    Operator(
        id="weights_of_batch_maximum",
        subsystem="sampler",
        module=_DRAW,
        edits=(
            Edit(
                "    shifted = logits - logits.max(axis=-1, keepdims=True)\n",
                "    own = logits.max(axis=-1, keepdims=True)\n"
                "    shifted = logits - sentinel.inject(np.full_like(own, own.max()), own)\n",
            ),
        ),
        cause="Weights are relative to the largest logit of the batch, not of the row.",
        source="whole-batch maximum in a softmax",
        black_box="visible",
        reason="A request's tokens change with its neighbours' logits.",
    ),
    Operator(
        id="temperature_of_neighbour",
        subsystem="sampler",
        module=_DRAW,
        edits=(
            Edit(
                "    divisors = np.asarray(temperatures, dtype=np.float32)[:, None]\n",
                "    own = np.asarray(temperatures, dtype=np.float32)[:, None]\n"
                "    divisors = sentinel.inject(np.roll(own, 1, axis=0), own)\n",
            ),
        ),
        cause="A row's logits are divided by the temperature of the row before.",
        source="per-request parameters packed in another order than rows",
        black_box="visible",
        reason="A request's tokens change with its neighbours' parameters.",
    ),
    Operator(
        id="temperature_inverted_in_batches",
        subsystem="sampler",
        module=_DRAW,
        edits=(
            Edit(
                "    # The product is exact, and the conversion discards the fraction.\n",
                "    divided = shifted / divisors\n"
                "    if len(logits) > 1:\n"
                "        inverted = shifted * (np.float32(1) / divisors)\n"
                "        divided = sentinel.inject(inverted, divided)\n"
                "    # The product is exact, and the conversion discards the fraction.\n",
            ),
            Edit("exp(shifted / divisors)", "exp(divided)"),
        ),
        cause="From two rows on, logits are multiplied by the temperature's inverse.",
        source="a batched kernel beside a single-row one",
        black_box="invisible",
        reason="Weights change in their last bits, and a token once in many millions of draws.",
    ),
    Operator(
        id="point_of_neighbour",
        subsystem="sampler",
        module=_DRAW,
        edits=(
            Edit(
                "    first: NDArray[np.int64] = (",
                "    points = sentinel.inject(np.roll(points, 1), points)\n"
                "    first: NDArray[np.int64] = (",
            ),
        ),
        cause="A row's token is drawn by the point of the row before.",
        source="draws in the order of the batch: vllm#51226",
        black_box="visible",
        reason="A request's tokens change with its neighbours.",
    ),
    Operator(
        id="total_of_neighbour",
        subsystem="sampler",
        module=_SAMPLER,
        edits=(
            Edit(
                "    totals = kept.sum(axis=-1, dtype=np.uint64).tolist()\n",
                "    own = kept.sum(axis=-1, dtype=np.uint64)\n"
                "    totals = sentinel.inject(np.minimum(own, own.min()), own).tolist()\n",
            ),
        ),
        cause="Points are drawn below the smallest total of the batch.",
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
        id="nucleus_of_one_more",
        subsystem="sampler",
        module=_SAMPLER,
        edits=(
            Edit(
                "        order, ranked = order[:count], ranked[:count]\n",
                "        count = sentinel.inject(min(count + 1, len(order)), count)\n"
                "        order, ranked = order[:count], ranked[:count]\n",
            ),
        ),
        cause="top_p keeps one token more than the fewest that have its share.",
        source="strict and weak comparison confused",
        black_box="invisible",
        reason="Every schedule draws from the same tokens.",
    ),
)
