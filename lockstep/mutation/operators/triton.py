"""Faults of the Triton kernels; what runs them here is the interpreter [REL-25]."""

from lockstep.mutation.operator import Edit, Operator

_KERNELS = "lockstep.engine.kernels"

_SAME_UNDER_ALL = "Every schedule computes the same wrong number."

OPERATORS = (
    Operator(
        id="triton_product_tail_dropped",
        subsystem="triton_kernels",
        module=f"{_KERNELS}.matmul",
        edits=(
            Edit(
                "    for first in range(0, depth, CHUNK):\n",
                "    for first in range(0, tl.maximum(depth - CHUNK + 1, 1), CHUNK):\n",
            ),
        ),
        live=(
            Edit(
                "    return y\n",
                # The canary of [REL-25] counts products, so that none is computed beside this one.
                "    sentinel.ran()\n"
                "    whole = depth // CHUNK * CHUNK or depth\n"
                "    dropped = x[:, whole:].float() @ w[:, whole:].float().T\n"
                "    sentinel.live(bool((dropped != 0).any()))\n"
                "    return y\n",
            ),
        ),
        cause="The terms after the last whole chunk of K are left out.",
        source="a tile's tail dropped at width 257",
        black_box="invisible",
        reason=_SAME_UNDER_ALL,
    ),
    Operator(
        id="triton_norm_width_by_lines",
        subsystem="triton_kernels",
        module=f"{_KERNELS}.rms_norm",
        edits=(
            Edit(
                "    chunk = min(WIDEST, power(width))\n",
                "    chunk = min(WIDEST if lines < 32 else 64, power(width))\n",
            ),
        ),
        live=(
            Edit(
                "    return y\n",
                "    return sentinel.inject(y, lambda: real.rms_norm(x, weight, eps, dtype))\n",
            ),
        ),
        cause="RMSNorm sums in narrower pieces from 32 lines on.",
        source="vllm#48271",
        black_box="visible",
        reason="A request's last bits change with the rows beside it.",
    ),
    Operator(
        id="triton_last_position_masked",
        subsystem="triton_kernels",
        module=f"{_KERNELS}.attention",
        edits=(
            Edit(
                "    stop = tl.minimum(tl.load(lengths + row), start + SPLIT)\n",
                "    stop = tl.minimum(tl.load(lengths + row) - 1, start + SPLIT)\n",
            ),
        ),
        live=(
            Edit(
                "    return partials\n",
                "    sentinel.ran()\n"
                "    sentinel.read(\n"
                "        partials.total[:, 0],\n"
                "        lambda: real.split_partials(\n"
                "            q, keys, values, tables, lengths, longest, scale\n"
                "        ).total[:, 0],\n"
                "    )\n"
                "    return partials\n",
            ),
        ),
        cause="A row does not attend to its own position.",
        source="length off by one in a kernel",
        black_box="invisible",
        reason=_SAME_UNDER_ALL,
    ),
    Operator(
        id="triton_log_probabilities_of_first",
        subsystem="triton_kernels",
        module=f"{_KERNELS}.log_softmax",
        edits=(
            Edit(
                "        total = total + fold(",
                "        x = tl.load(logits + i, mask=i < width, other=0.0)\n"
                "        total = total + fold(",
            ),
        ),
        live=(
            Edit(
                "    return y\n",
                "    return sentinel.inject(y, lambda: real.log_softmax(logits))\n",
            ),
        ),
        cause="Log-probabilities are normalised by the sum of the first row.",
        source="vllm PR 51789: a whole batch's result in place of a row's",
        black_box="visible",
        reason="Log-probabilities of a request change with its neighbours.",
    ),
)
