"""The kernels against spec/kernels.md written out once more, number by number, with scalars."""

from __future__ import annotations

import math
from types import ModuleType

import numpy as np
import pytest

from lockstep.engine.host import exp as exp_module
from lockstep.engine.host.attention import attention
from lockstep.engine.host.dot import CHUNK, dot
from lockstep.engine.host.exp import exp
from lockstep.engine.host.fold import fold
from lockstep.engine.host.log import log
from lockstep.engine.host.log_softmax import log_softmax
from lockstep.engine.host.matmul import matmul, pack
from lockstep.engine.host.rms_norm import rms_norm
from lockstep.engine.host.rope import rope
from lockstep.engine.host.swiglu import swiglu

F = np.float32


def hexadecimal(*texts: str) -> list[np.float32]:
    return [F(float.fromhex(text)) for text in texts]


def same(one, other) -> bool:
    one, other = np.asarray(one, dtype=F), np.asarray(other, dtype=F)
    return one.shape == other.shape and np.array_equal(one.view(np.uint32), other.view(np.uint32))


def by_dot(a, b) -> np.float32:
    """[KERN-4]"""
    total = F(0)
    for first in range(0, len(a), 32):
        chunk = F(0)
        for x, y in zip(a[first : first + 32], b[first : first + 32], strict=True):
            chunk = chunk + x * y
        total = total + chunk
    return total


def by_fold(values, width: int) -> np.float32:
    """[KERN-5]"""
    total = F(0)
    for first in range(0, len(values), width):
        chunk = [*values[first : first + width]]
        chunk += [F(0)] * (width - len(chunk))
        while len(chunk) > 1:
            half = len(chunk) // 2
            chunk = [chunk[i] + chunk[i + half] for i in range(half)]
        total = total + chunk[0]
    return total


def by_exp(x: np.float32) -> np.float32:
    """[KERN-6]"""
    if x != x:
        return x
    if x < F(-87):
        return F(0)
    if x > F(88):
        return F(np.inf)
    log2_e, high, low = hexadecimal("0x1.715476p+0", "0x1.63p-1", "-0x1.bd0106p-13")
    n = np.floor(x * log2_e + F(0.5))
    r = (x - n * high) - n * low
    p, *rest = hexadecimal(
        "0x1.a0d2cep-13",
        "0x1.6e879cp-10",
        "0x1.11121p-7",
        "0x1.555382p-5",
        "0x1.555554p-3",
        "0x1p-1",
    )
    for c in rest:
        p = p * r + c
    y = (p * (r * r) + r) + F(1)
    return y * F(2.0 ** int(n))


def by_log(x: np.float32) -> np.float32:
    """[KERN-7]"""
    fraction, e = math.frexp(float(x))
    f = F(fraction)
    if f < hexadecimal("0x1.6a09e6p-1")[0]:
        e, z = e - 1, (f + f) - F(1)
    else:
        z = f - F(1)
    q = z * z
    p, *rest = hexadecimal(
        "0x1.204376p-4",
        "-0x1.d7a37p-4",
        "0x1.de4a34p-4",
        "-0x1.fcba9ep-4",
        "0x1.23d37ep-3",
        "-0x1.555cap-3",
        "0x1.999d58p-3",
        "-0x1.fffff8p-3",
        "0x1.555554p-2",
    )
    for c in rest:
        p = p * z + c
    high, low = hexadecimal("0x1.63p-1", "-0x1.bd0106p-13")
    y = (p * z) * q
    y = y + F(e) * low
    y = y - F(0.5) * q
    return (z + y) + F(e) * high


def by_attention(q, keys, values, scale, halve: bool) -> list[np.float32]:
    """[KERN-14] to [KERN-17] for one head: q [D], keys and values [n, D]."""
    state = None
    for first in range(0, len(keys), 512):
        k, v = keys[first : first + 512], values[first : first + 512]
        scores = [by_dot(q, row) * scale for row in k]
        m = max(scores)
        p = [by_exp(score - m) for score in scores] + [F(0)] * (512 - len(k))
        total = by_fold(p, 64)
        if halve:
            p = [F(np.float16(x)) for x in p]
        padded = [*v] + [np.zeros_like(q)] * (512 - len(k))
        o = [by_dot(p, [row[d] for row in padded]) for d in range(len(q))]
        if state is None:
            state = m, total, o
            continue
        greater = max(state[0], m)
        a, b = by_exp(state[0] - greater), by_exp(m - greater)
        output = [x * a + y * b for x, y in zip(state[2], o, strict=True)]
        state = greater, state[1] * a + total * b, output
    assert state is not None
    return [x / state[1] for x in state[2]]


@pytest.mark.parametrize("depth", [1, 31, 32, 33, 64, 77, 2100])
@pytest.mark.parametrize("rows", [1, 3])
def test_dot(samples: ModuleType, depth: int, rows: int) -> None:
    x, w = samples.reals((rows, depth), 1), samples.reals((5, depth), 2)
    expected = [[by_dot(a, b) for b in w] for a in x]
    assert same(matmul(x, pack(w)), expected)


def test_dot_is_not_some_other_order(samples: ModuleType) -> None:
    """The rule's order can be told from one chunk over all, from chunks of 64, and from BLAS."""
    x, w = samples.reals((8, 2048), 1), samples.reals((64, 2048), 2)
    own = matmul(x, pack(w))
    chunks = [x[:, i : i + 64] @ w[:, i : i + 64].T for i in range(0, 2048, 64)]
    wider = np.add.accumulate(np.stack(chunks))[-1]
    assert not same(own, wider)
    assert not same(own, x @ w.T)
    assert CHUNK == 32


def test_dot_never_gives_negative_zero() -> None:
    for a, b in ((-0.0, 1.0), (-1e-30, 1e-30), (0.0, -5.0)):
        product = dot(np.full((1, 40), a, dtype=F), np.full((40, 1), b, dtype=F))
        assert same(product, [[0.0]])


@pytest.mark.parametrize("count", [1, 2, 63, 64, 65, 1023, 1024, 1025, 3000])
@pytest.mark.parametrize("width", [64, 1024])
def test_fold(samples: ModuleType, count: int, width: int) -> None:
    values = np.abs(samples.reals((2, count), 3))
    assert same(fold(values, width), [by_fold(row, width) for row in values])


def test_exp(samples: ModuleType) -> None:
    line = np.concatenate([samples.reals((2000,), 4) * F(45), samples.reals((500,), 5)])
    edges = [0.0, -0.0, -87.0, np.nextafter(F(-87), F(-88)), 88.0, np.nextafter(F(88), F(89))]
    line = np.append(line, np.array([*edges, np.inf, -np.inf], dtype=F))
    assert same(exp(line), [by_exp(x) for x in line])
    assert np.isnan(exp(np.array([np.nan], dtype=F)))[0]


def test_exp_of_many_elements_is_that_of_each(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.linspace(-90, 90, 2 * 3 * 7, dtype=F).reshape(2, 3, 7).swapaxes(0, 2)
    x[0, 0, 0] = np.nan
    whole = exp(x)
    # Blocks that divide the elements, and ones that leave a rest.
    for together in (6, 8):
        monkeypatch.setattr(exp_module, "_TOGETHER", together)
        assert same(exp(x), whole)


def test_log(samples: ModuleType) -> None:
    line = np.abs(samples.reals((2000,), 6)) * F(70000) + F(1)
    line = np.append(line, np.array([1, 2, 1024, np.sqrt(2), 3.4e38], dtype=F))
    assert same(log(line), [by_log(x) for x in line])
    assert np.isnan(log(np.array([np.nan], dtype=F)))[0]


@pytest.mark.parametrize("width", [1, 16, 255, 2500])
def test_rms_norm(samples: ModuleType, width: int) -> None:
    x, w, eps = samples.reals((8, width), 7), samples.reals((width,), 8), 1e-6
    expected = []
    for row in x:
        s = by_fold([v * v for v in row], 1024)
        gain = F(1) / np.sqrt(s / F(width) + F(eps))
        expected.append([(v * gain) * u for v, u in zip(row, w, strict=True)])
    assert same(rms_norm(x, w, eps), expected)


def test_rope(samples: ModuleType) -> None:
    x = samples.reals((3, 2, 8), 9)
    cos, sin = samples.reals((3, 4), 10), samples.reals((3, 4), 11)
    expected = np.empty_like(x)
    for row, head, i in np.ndindex(3, 2, 4):
        a, b, c, s = x[row, head, i], x[row, head, i + 4], cos[row, i], sin[row, i]
        expected[row, head, i], expected[row, head, i + 4] = a * c - b * s, b * c + a * s
    assert same(rope(x, cos, sin), expected)


def test_swiglu(samples: ModuleType) -> None:
    gate, up = samples.reals((4, 33), 12) * F(20), samples.reals((4, 33), 13)
    pairs = zip(gate.ravel(), up.ravel(), strict=True)
    expected = [(g / (F(1) + by_exp(-g))) * u for g, u in pairs]
    assert same(swiglu(gate, up).ravel(), expected)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize(("heads", "kv_heads"), [(4, 2), (1, 1)])
def test_attention(samples: ModuleType, dtype: str, heads: int, kv_heads: int) -> None:
    backend = samples.open_backend("host", dtype)
    lengths = [1, 33, 512, 1100] if heads == 1 else [3, 530]
    keys, values, tables, counts = samples.paged(backend, lengths, 14, kv_heads, 8)
    q = samples.reals((len(lengths), heads, 8), 15, dtype).astype(F)
    scale = 1 / math.sqrt(8)
    own = attention(q, keys, values, tables, counts, scale)
    for row, count in enumerate(lengths):
        position = np.arange(count)
        slots = tables[row, position // 16] * 16 + position % 16
        for head in range(heads):
            kv = head // (heads // kv_heads)
            k = keys.reshape(-1, kv_heads, 8)[slots, kv].astype(F)
            v = values.reshape(-1, kv_heads, 8)[slots, kv].astype(F)
            expected = by_attention(q[row, head], k, v, F(scale), dtype == "float16")
            assert same(own[row, head], expected)


def test_log_softmax(samples: ModuleType) -> None:
    logits = samples.reals((2, 1300), 16) * F(10)
    expected = []
    for row in logits:
        m = max(row)
        normaliser = by_log(by_fold([by_exp(x - m) for x in row], 1024))
        expected.append([(x - m) - normaliser for x in row])
    assert same(log_softmax(logits), expected)
