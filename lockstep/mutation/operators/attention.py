"""Faults of attention and of the combination of its splits, in the kernels of `host`."""

from lockstep.mutation.operator import Edit, Operator

_HOST = "lockstep.engine.host.attention"
_TRITON = "lockstep.engine.kernels.combine"

_READ = Edit(
    "    return combine(partials, len(q))\n",
    "    return sentinel.read(\n"
    "        combine(partials, len(q)),\n"
    "        lambda: real.attention(q, keys, values, tables, lengths, scale),\n"
    "    )\n",
)
"""Where what attention gives is read: beside what the sources give for the same arguments."""

_DESCENDING = (
    Edit(
        "    first = np.searchsorted(partials.row, np.arange(rows))\n",
        "    sentinel.ran()\n"
        '    first = np.searchsorted(partials.row, np.arange(rows), side="right") - 1\n',
    ),
    Edit(
        "    for split in range(1, int(partials.split.max(initial=0)) + 1):\n"
        "        entries = np.nonzero(partials.split == split)[0]\n",
        "    last = partials.split[first]\n"
        "    for split in range(int(partials.split.max(initial=0)) - 1, -1, -1):\n"
        "        below = split < last[partials.row]\n"
        "        entries = np.nonzero((partials.split == split) & below)[0]\n",
    ),
)
_DESCENDING_READ = Edit(
    "    return output / total[..., None]\n",
    "    return sentinel.read(output / total[..., None], lambda: real.combine(partials, rows))\n",
)
_DESCENDING_TRITON = (
    Edit(
        "    entry = row * splits * HEADS + h\n",
        "    entry = (row * splits + count - 1) * HEADS + h\n",
        _TRITON,
    ),
    Edit(
        "    for split in range(1, count):\n",
        "    for split in range(count - 2, -1, -1):\n",
        _TRITON,
    ),
)
_DESCENDING_TRITON_READ = Edit(
    "    return y\n",
    "    return sentinel.inject(y, lambda: real.combine(partials, lengths, dtype))\n",
    _TRITON,
)

_SAME_UNDER_ALL = "The order follows from the length alone, so that every schedule gives the same."

OPERATORS = (
    Operator(
        id="fold_reversed",
        subsystem="host_kernels",
        module=_HOST,
        edits=(*_DESCENDING, *_DESCENDING_TRITON),
        live=(_DESCENDING_READ, _DESCENDING_TRITON_READ),
        cause="Splits are combined in descending order, by both backends.",
        source="seed 000, the reversed fold",
        black_box="invisible",
        reason=_SAME_UNDER_ALL,
    ),
    Operator(
        id="fold_reversed_host",
        subsystem="host_kernels",
        module=_HOST,
        edits=_DESCENDING,
        live=(_DESCENDING_READ,),
        cause="Splits are combined in descending order, by one backend of two.",
        source="seed 000, the reversed fold",
        black_box="invisible",
        reason=_SAME_UNDER_ALL,
    ),
    Operator(
        id="fold_reversed_triton",
        subsystem="triton_kernels",
        module=_TRITON,
        edits=_DESCENDING_TRITON,
        live=(_DESCENDING_TRITON_READ,),
        cause="The Triton kernel combines splits in descending order.",
        source="seed 000, the reversed fold",
        black_box="invisible",
        reason=_SAME_UNDER_ALL,
    ),
    Operator(
        id="split_size_by_batch",
        subsystem="host_kernels",
        module=_HOST,
        edits=(
            Edit(
                "    partials = split_partials(",
                "    global SPLIT\n"
                "    SPLIT = sentinel.ran(128 if len(q) < 4 else 512)\n"
                "    partials = split_partials(",
            ),
        ),
        live=(_READ,),
        cause="A small batch is given more splits, so that all processors have work.",
        source="seed 000, the batch-derived split size; split-KV heuristics of attention kernels",
        black_box="visible",
        reason="A request's last bits change with the number of rows beside it.",
    ),
    Operator(
        id="split_count_stale",
        subsystem="host_kernels",
        module=_HOST,
        edits=(
            Edit(
                "_WIDE = 16\n",
                "_plan = [np.zeros(0, dtype=np.int64)]\n\n_WIDE = 16\n",
            ),
            Edit(
                "    counts = -(-lengths // SPLIT)\n",
                "    counts = -(-lengths // SPLIT)\n"
                "    if len(_plan[0]) == len(counts) and (_plan[0] <= counts).all():\n"
                "        counts = sentinel.ran(_plan[0])\n"
                "    _plan[0] = counts\n",
            ),
        ),
        live=(_READ,),
        cause="The number of splits is planned anew only when the number of rows changes.",
        source="plan and run apart, as in attention libraries that are planned once a batch",
        black_box="visible",
        reason="What a request attends to depends on the batch before.",
    ),
    Operator(
        id="score_maximum_over_rows",
        subsystem="host_kernels",
        module=_HOST,
        edits=(
            Edit(
                "    probabilities = np.where(",
                "    most = largest.max(axis=(-2, -1), keepdims=True)\n"
                "    largest = sentinel.inject(np.maximum(largest, most), largest)\n"
                "    probabilities = np.where(",
            ),
        ),
        cause="Scores are shifted by the largest of all rows that are computed together.",
        source="whole-batch maximum in a softmax",
        black_box="visible",
        reason="A request's last bits change with the rows that share its tile.",
    ),
    Operator(
        id="kv_head_wrong_in_decode",
        subsystem="host_kernels",
        module=_HOST,
        edits=(
            Edit(
                "    if rows > 1 and not np.isfinite(v).all():\n",
                "    if rows == 1:\n"
                "        sentinel.ran()\n"
                "        k, v = sentinel.read(k[:, ::-1], k), sentinel.read(v[:, ::-1], v)\n"
                "    if rows > 1 and not np.isfinite(v).all():\n",
            ),
        ),
        cause="A query by itself, as a decode's is, reads the KV heads in the wrong order.",
        source="grouped-query attention mapped by one formula in prefill and another in decode",
        black_box="visible",
        reason="A token that is decoded gives other logits than one that is computed in a prefill.",
    ),
    Operator(
        id="dead_positions_not_cleared",
        subsystem="host_kernels",
        module=_HOST,
        edits=(
            Edit(
                "    rows[~live] = 0\n",
                "    sentinel.ran()\n    sentinel.live(bool((rows[~live] != 0).any()))\n",
            ),
        ),
        cause="Positions past a row's last are read from the pool, and multiplied by zero.",
        source="uninitialised buffer: a not-a-number times zero is not zero",
        black_box="visible",
        reason="Where block 0 was never written the answer is an error.",
    ),
    Operator(
        id="block_edge_looked_up_late",
        subsystem="host_kernels",
        module=_HOST,
        edits=(
            Edit(
                "    logical = np.where(live, position // block_size, 0)\n",
                "    late = np.maximum(position - 1, 0) // block_size\n"
                "    logical = sentinel.inject(\n"
                "        np.where(live, late, 0), np.where(live, position // block_size, 0)\n"
                "    )\n",
            ),
        ),
        cause="The first position of a block is read from the block before it.",
        source="off by one where a matched length equals the page size: sglang#22819",
        black_box="invisible",
        reason="At one block size every schedule reads the same wrong position.",
    ),
)
