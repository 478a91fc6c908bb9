"""What a backend refuses before it computes or writes anything: shapes, types and indices."""

from collections.abc import Sequence

import numpy as np

from lockstep.engine.backend import Integers
from lockstep.errors import LockstepError

Shape = Sequence[int]


def _require(holds: bool, pointer: str, expected: object, got: object) -> None:
    if not holds:
        raise LockstepError("KERNEL_INPUT", pointer, expected, got)


def check_dtype(dtype: str, allowed: Sequence[str]) -> None:
    """Refuse a compute dtype that the backend does not have.

    Raises:
        LockstepError: USAGE, since it was asked for by name.
    """
    if dtype not in allowed:
        hint = "Name one of these, or leave --dtype out."
        raise LockstepError("USAGE", "--dtype", " or ".join(allowed), dtype, hint)


def check_tokens(table: Shape, tokens: Integers) -> None:
    """Refuse token ids outside the embedding [V, D]."""
    _require(len(table) == 2, "/table", "[V, D]", list(table))
    _require(_within(tokens, table[0]), "/tokens", f"integers from 0 to {table[0] - 1}", tokens)


def check_matmul(x: Shape, weight: Shape) -> None:
    """Refuse operands that are not [M, K] and [N, K]."""
    fit = len(x) == len(weight) == 2 and x[1] == weight[1] >= 1
    _require(fit, "/matmul", "[M, K] and [N, K]", f"{list(x)} and {list(weight)}")


def check_rms_norm(x: Shape, weight: Shape) -> None:
    """Refuse a weight that is not [D] for x [..., D]."""
    fit = len(x) >= 2 and list(weight) == [x[-1]] and x[-1] >= 1
    _require(fit, "/rms_norm", "[..., D] and [D]", f"{list(x)} and {list(weight)}")


def check_rope(x: Shape, cos: Shape, sin: Shape) -> None:
    """Refuse tables that are not [M, D / 2] for x [M, H, D], D even."""
    fit = len(x) == 3 and x[2] % 2 == 0 and list(cos) == list(sin) == [x[0], x[2] // 2]
    got = f"{list(x)}, {list(cos)} and {list(sin)}"
    _require(fit, "/rope", "[M, H, D], [M, D / 2] and [M, D / 2]", got)


def check_same(x: Shape, y: Shape, pointer: str) -> None:
    """Refuse two operands of unequal shape."""
    _require(list(x) == list(y), pointer, "equal shapes", f"{list(x)} and {list(y)}")


def check_write(cache: Shape, rows: Shape, slots: Integers) -> None:
    """Refuse rows that are not [M, KV heads, D], and slots that repeat or lie outside."""
    count = cache[0] * cache[1]
    fit = list(rows) == [len(slots), *cache[2:]]
    _require(fit, "/rows", f"[{len(slots)}, {cache[2]}, {cache[3]}]", list(rows))
    _require(_within(slots, count), "/slots", f"integers from 0 to {count - 1}", slots)
    distinct = len(np.unique(slots))
    _require(distinct == len(slots), "/slots", "distinct slots", f"{distinct} of {len(slots)}")


def check_attention(
    q: Shape, keys: Shape, values: Shape, tables: Integers, lengths: Integers
) -> None:
    """Refuse shapes that do not fit, rows without a position, and blocks outside the pool."""
    _require(
        len(q) == 3
        and len(keys) == 4
        and list(keys) == list(values)
        and q[2] == keys[3]
        and q[1] % keys[2] == 0,
        "/attention",
        "[M, H, D] and caches [blocks, block_size, KV heads, D], KV heads dividing H",
        f"{list(q)}, {list(keys)} and {list(values)}",
    )
    fit = tables.ndim == 2 and lengths.ndim == 1 and len(tables) == len(lengths) == q[0]
    got = f"{list(tables.shape)} and {list(lengths.shape)}"
    _require(fit, "/attention", f"tables [{q[0]}, W] and lengths [{q[0]}]", got)
    _require(_integral(lengths), "/lengths", "integers", lengths.dtype)
    if not len(lengths):
        return
    reach = tables.shape[1] * keys[1]
    _require(
        bool(lengths.min() >= 1 and lengths.max() <= reach),
        "/lengths",
        f"1 to {reach}, what a table of {tables.shape[1]} blocks of {keys[1]} reaches",
        f"{lengths.min()} to {lengths.max()}",
    )
    used = np.arange(tables.shape[1]) * keys[1] < lengths[:, None]
    blocks = tables[used]
    _require(_within(blocks, keys[0]), "/tables", f"blocks from 0 to {keys[0] - 1}", blocks)


def check_logits(logits: Shape) -> None:
    """Refuse logits that are not [M, V]."""
    _require(len(logits) == 2 and logits[1] >= 1, "/logits", "[M, V]", list(logits))


def _integral(values: Integers) -> bool:
    return np.issubdtype(values.dtype, np.integer)


def _within(values: Integers, bound: int) -> bool:
    """Tell whether all are integers, at least 0 and below the bound."""
    if not _integral(values):
        return False
    return not values.size or bool(values.min() >= 0 and values.max() < bound)
