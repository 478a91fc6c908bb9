"""Faults of the other kernels of `host`: sums, norms, rotations, elementary functions."""

from lockstep.mutation.operator import Edit, Operator

_KERNELS = "lockstep.engine.host"

OPERATORS = (
    Operator(
        id="norm_width_by_tokens",
        subsystem="host_kernels",
        module=f"{_KERNELS}.rms_norm",
        edits=(
            Edit(
                "    mean = fold(x * x) / np.float32(x.shape[-1])\n",
                "    chunk = sentinel.ran(1024 if len(x) < 256 else 32)\n"
                "    mean = fold(x * x, chunk) / np.float32(x.shape[-1])\n",
            ),
        ),
        live=(
            Edit(
                "    return normalised\n",
                "    return sentinel.read(normalised, lambda: real.rms_norm(x, weight, eps))\n",
            ),
        ),
        cause="RMSNorm sums in narrower pieces from 256 tokens on.",
        source="vllm#48271",
        black_box="visible",
        reason="A prompt computed in one piece of 256 tokens differs from one in smaller pieces.",
    ),
    Operator(
        id="dot_order_by_rows",
        subsystem="host_kernels",
        module=f"{_KERNELS}.dot",
        edits=(
            Edit(
                "    columns = b.shape[-1]\n",
                "    global CHUNK\n"
                "    CHUNK = sentinel.ran(16 if a.shape[-2] >= 16 else 32)\n"
                "    columns = b.shape[-1]\n",
            ),
        ),
        live=(
            Edit("    return total\n", "    return sentinel.read(total, lambda: real.dot(a, b))\n"),
        ),
        cause="A matrix product sums along K in another order from 16 rows on.",
        source="vllm#40896, vllm#33123: cold and cache-hit products have different shapes",
        black_box="visible",
        reason="A request's last bits change with the rows beside it.",
    ),
    Operator(
        id="dot_tail_dropped",
        subsystem="host_kernels",
        module=f"{_KERNELS}.dot",
        edits=(
            Edit(
                "    if whole < inner:\n",
                "    if whole < inner:\n"
                "        sentinel.ran()\n"
                "    if whole < inner and not whole:\n",
            ),
        ),
        live=(
            Edit("    return total\n", "    return sentinel.read(total, lambda: real.dot(a, b))\n"),
        ),
        cause="The terms after the last whole chunk of K are left out.",
        source="a tile's tail dropped at widths that are no multiple of it",
        black_box="invisible",
        reason="Widths are the model's, and no model in use here has such a one.",
    ),
    Operator(
        id="rotation_pairs_neighbours",
        subsystem="host_kernels",
        module=f"{_KERNELS}.rope",
        edits=(
            Edit(
                "    first, second = x[..., :half], x[..., half:]\n",
                "    first, second = x[..., 0::2], x[..., 1::2]\n",
            ),
        ),
        live=(
            Edit(
                "    return result\n",
                "    return sentinel.inject(result, lambda: real.rope(x, cos, sin))\n",
            ),
        ),
        cause="The rotary embedding pairs neighbours instead of halves.",
        source="checkpoints of the two conventions taken for one another",
        black_box="invisible",
        reason="Every schedule computes the same wrong model.",
    ),
    Operator(
        id="exp_other_in_last_rows",
        subsystem="host_kernels",
        module=f"{_KERNELS}.swiglu",
        edits=(
            Edit(
                "    return (gate / (np.float32(1) + exp(-gate))) * up\n",
                "    whole = len(gate) // 4 * 4\n"
                "    half = exp(gate[whole:] * np.float32(-0.5))\n"
                "    grown = np.concatenate([exp(-gate[:whole]), half * half])\n"
                "    given = (gate / (np.float32(1) + grown)) * up\n"
                "    return sentinel.inject(given, lambda: real.swiglu(gate, up))\n",
            ),
        ),
        cause="Rows after the last whole group of four take another way to the exponential.",
        source="vector code with a scalar remainder loop",
        black_box="visible",
        reason="A request's last bits change with its place in the batch.",
    ),
    Operator(
        id="exp_cut_short",
        subsystem="host_kernels",
        module=f"{_KERNELS}.exp",
        edits=(Edit("LOWEST = np.float32(-87)\n", "LOWEST = np.float32(-16)\n"),),
        live=(
            Edit(
                "    return np.where(above & below, y, outside)\n",
                "    given = np.where(above & below, y, outside)\n"
                "    return sentinel.inject(given, lambda: real.exp(x))\n",
            ),
        ),
        cause="Exponentials of less than -16 are zero.",
        source="a cut-off taken from a table of lower precision",
        black_box="invisible",
        reason="Every schedule computes the same wrong model.",
    ),
    Operator(
        id="log_probabilities_of_neighbour",
        subsystem="host_kernels",
        module=f"{_KERNELS}.log_softmax",
        edits=(Edit("log(fold(exp(shifted)))", "log(np.roll(fold(exp(shifted)), 1))"),),
        live=(
            Edit(
                "    return normalised\n",
                "    return sentinel.inject(normalised, lambda: real.log_softmax(logits))\n",
            ),
        ),
        cause="Log-probabilities are normalised by the sum of the row before.",
        source="vllm PR 51789: a neighbour's option changes my log-probabilities",
        black_box="visible",
        reason="Log-probabilities of a request change with its neighbours.",
    ),
)
