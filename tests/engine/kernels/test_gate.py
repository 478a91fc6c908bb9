"""The static gate: the sources pass, and every rule can fail."""

from __future__ import annotations

import subprocess
import sys

import pytest

from lockstep.engine.kernels import gate

KERNEL = """
@kernel()
def one_kernel(x: tl.tensor, rows: tl.tensor, TILE: tl.constexpr) -> None:
    i = tl.arange(0, TILE)
    {}
"""

LAUNCHER = """
def one(x, w):
    rows, depth = x.shape
    {}
"""

CASES = [
    ("atomic", KERNEL.format("tl.atomic_add(x + i, 1.0)"), "tl.atomic_add"),
    ("atomic", KERNEL.format("add = tl.atomic_max"), "tl.atomic_max"),
    ("atomic", "from triton.language import atomic_add\n", "atomic_add"),
    ("tuning", "@triton.autotune(configs=[], key=[])\n@triton.jit\ndef f(x): pass\n", "autotune"),
    ("tuning", "@triton.heuristics({})\n@triton.jit\ndef f(x): pass\n", "heuristics"),
    ("tuning", "from triton import autotune\n", "autotune"),
    ("torch", "def f(x):\n    return torch.sum(x)\n", "torch.sum"),
    ("torch", "def f(x):\n    return x.mean(dim=-1)\n", "x.mean"),
    ("torch", "def f(x):\n    return (x * x).sum(-1)\n", "<expression>.sum"),
    ("torch", "def f(x, w):\n    return torch.matmul(x, w)\n", "torch.matmul"),
    ("torch", "def f(x, w):\n    return F.linear(x, w)\n", "F.linear"),
    ("torch", "def f(x):\n    return torch.softmax(x, -1)\n", "torch.softmax"),
    ("torch", "def f(x, w):\n    return x @ w\n", "@"),
    ("torch", "def f(x, w):\n    x @= w\n", "@"),
    ("order", KERNEL.format("s = tl.sum(x, axis=0)"), "tl.sum"),
    ("order", KERNEL.format("s = x.sum(0)"), "x.sum"),
    ("order", KERNEL.format("s = tl.cumsum(x, 0)"), "tl.cumsum"),
    ("order", KERNEL.format("s = tl.reduce(x, 0, plus)"), "tl.reduce"),
    (
        "order",
        KERNEL.format("s = tl.associative_scan(x.to(tl.float32), 0, tl.standard._sum_combine)"),
        "tl.associative_scan",
    ),
    ("tile", KERNEL.format("j = tl.arange(0, rows)"), "rows"),
    ("tile", KERNEL.format("z = tl.full((TILE, rows), 0.0, tl.float32)"), "rows"),
    ("tile", KERNEL.format("j = tl.arange(0, tl.load(x))"), "tl.load"),
    ("tile", LAUNCHER.format("launch(f, (1,), x, TILE=rows)"), "TILE=rows"),
    (
        "tile",
        LAUNCHER.format("t = 16 if rows < 16 else 64\n    launch(f, (1,), x, TILE=t)"),
        "TILE=t",
    ),
    (
        "tile",
        LAUNCHER.format(
            "t = 16\n    if len(x) > 8:\n        t = 64\n    launch(f, (1,), x, TILE=t)"
        ),
        "TILE=t",
    ),
    ("tile", LAUNCHER.format("launch(f, (1,), x, TILE=power(x.shape[0]))"), "TILE=power"),
    ("tile", LAUNCHER.format("n = x.max().item()\n    launch(f, (1,), x, TILE=n)"), "TILE=n"),
    ("tile", LAUNCHER.format("launch(f, (1,), x, **options)"), "**=options"),
    ("precision", KERNEL.format("s = tl.dot(x, x)"), "tl.dot(x, x)"),
    ("precision", KERNEL.format("s = tl.dot(x, x, input_precision='tf32')"), "tl.dot"),
    ("precision", KERNEL.format("s = tl.dot(x, x, allow_tf32=True)"), "tl.dot"),
    ("approximate", KERNEL.format("y = tl.exp(x)"), "tl.exp"),
    ("approximate", KERNEL.format("y = tl.math.rsqrt(x)"), "tl.math.rsqrt"),
    ("approximate", KERNEL.format("y = x / rows"), "/"),
    ("approximate", KERNEL.format("y = tl.fma(x, x, x)"), "tl.fma"),
    ("launch", LAUNCHER.format("one_kernel[(rows,)](x, TILE=16, num_warps=rows)"), "one_kernel"),
]


def test_the_sources_pass() -> None:
    paths = gate.sources()
    assert {path.name for path in paths} >= {"matmul.py", "attention.py", "triton.py", "launch.py"}
    assert gate.check(paths) == []


@pytest.mark.parametrize(("rule", "source", "what"), CASES)
def test_a_rule_can_fail(rule: str, source: str, what: str) -> None:
    found = gate.check_source(source, "kernels/one.py")
    assert {item.rule for item in found} == {rule}
    assert any(what in item.what for item in found)


def test_every_rule_has_a_case() -> None:
    assert {rule for rule, _, _ in CASES} == set(gate.RULES)


@pytest.mark.parametrize(
    "source",
    [
        KERNEL.format("m = tl.reduce(x, 1, tl.standard._elementwise_max)"),
        KERNEL.format("s = tl.dot(x, x, s, input_precision='ieee')"),
        KERNEL.format("HALF: tl.constexpr = TILE // 2\n    j = tl.arange(0, HALF)"),
        KERNEL.format("y = tl.div_rn(x, tl.sqrt_rn(x))"),
        LAUNCHER.format("launch(f, (ceiling(rows, 16),), x, rows, TILE=min(1024, power(depth)))"),
    ],
)
def test_what_is_allowed_passes(source: str) -> None:
    assert gate.check_source(source, "kernels/one.py") == []


def test_a_defect_planted_into_a_kernel_is_caught() -> None:
    """Each line is one that somebody might write; the file passes without it."""
    path = next(path for path in gate.sources() if path.name == "matmul.py")
    text = path.read_text("utf-8")
    for old, new, rule in (
        ("ROWS=ROWS,", "ROWS=16 if rows > 1 else 1,", "tile"),
        (
            'total = tl.dot(a, b, total, input_precision="ieee")',
            "total = tl.dot(a, b, total)",
            "precision",
        ),
        ("    return y\n", "    return x @ w.T\n", "torch"),
        ("    tl.store(\n", "    tl.atomic_add(\n", "atomic"),
    ):
        assert text.count(old) == 1
        assert {item.rule for item in gate.check_source(text.replace(old, new), str(path))} == {
            rule
        }


def test_the_gate_needs_neither_torch_nor_triton() -> None:
    code = (
        "import sys; from lockstep.engine.kernels import gate;"
        "assert gate.check(gate.sources()) == [];"
        "assert not {'torch', 'triton', 'numpy'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
