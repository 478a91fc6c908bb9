"""Compilation of the kernels ahead of time, for architectures that need not be here.

`python -m lockstep.engine.kernels.ahead sm_80 [KERNEL…]` prints, as one JSON object, what the
code of each kernel consists of. Run it without TRITON_INTERPRET.
"""

import json
import re
import sys
from typing import Any, NamedTuple

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from lockstep.engine.backend import SPLIT
from lockstep.engine.kernels import attention, matmul, rope, swiglu
from lockstep.engine.kernels.combine import combine_kernel
from lockstep.engine.kernels.launch import LINES, OPTIONS, WIDEST, interpreted, levels
from lockstep.engine.kernels.log_softmax import log_softmax_kernel
from lockstep.engine.kernels.rms_norm import rms_norm_kernel
from lockstep.errors import LockstepError

ARCHITECTURES = ("sm_80", "sm_89", "sm_90")
"""Those that the tests compile for: A100, L4 and 4090, H100 and H200."""

_WARP = 32

_FLOOR = "cvt.rmi.ftz.f32.f32"


class Case(NamedTuple):
    """A kernel with types and constants of a model like Qwen3-0.6B."""

    function: Any
    types: str
    """Of the arguments that are no constants, in order."""

    constants: dict[str, int]


class Code(NamedTuple):
    """What the PTX of a kernel consists of."""

    instructions: int
    """Instructions in all."""

    fused: int
    """Fused multiply-adds of binary32 on the plain cores."""

    tensor: int
    """Instructions of tensor cores that take binary16."""

    tensor_tf32: int
    """Those that would round binary32 to 19 bits."""

    approximate: int
    """Approximate functions and divisions, and operations that flush subnormal numbers.

    `cvt.rmi.ftz.f32.f32` is left out: it is how a floor is lowered, and the one floor, in `exp`,
    is of a multiple of 2^-25, which is never subnormal.
    """

    atomic: int
    """Atomic operations and reductions in memory."""

    bytes: int
    """Of the machine code that was assembled from it."""


def cases() -> dict[str, Case]:
    """Give the kernels by name, those with dots in both compute dtypes."""
    tiles = {"ROWS": matmul.ROWS, "COLUMNS": matmul.COLUMNS, "CHUNK": matmul.CHUNK}
    heads = {"HEADS": 16, "HEAD_DIM": 128}
    splits = {
        **heads,
        "KV_HEADS": 8,
        "PADDED": attention.LEAST,
        "WIDTH": 128,
        "SPLIT": SPLIT,
        "TILE": attention.TILE,
        "CHUNK": attention.CHUNK,
        "LEVELS": levels(attention.TILE),
    }
    fold = {"CHUNK": WIDEST, "LEVELS": levels(WIDEST)}
    split = "{0} {0} {0} *i32 *i32 *fp32 *fp32 *fp32 i32 i32 i32 fp32"
    norm = "{0} {0} {0} i32 i32 fp32"
    result: dict[str, Case] = {}
    for name, kind in (("float32", "*fp32"), ("float16", "*fp16")):
        result |= {
            f"matmul {name}": Case(
                matmul.matmul_kernel, f"{kind} {kind} {kind} i32 i32 i32", tiles
            ),
            f"attention {name}": Case(attention.split_kernel, split.format(kind), splits),
            f"rms_norm {name}": Case(rms_norm_kernel, norm.format(kind), {"LINES": LINES, **fold}),
        }
    combined = {**heads, "PADDED": 16, "WIDTH": 128, "SPLIT": SPLIT}
    rotated = {"HEADS": 16, "HALF": 64, "LINES": rope.LINES, "WIDTH": 64}
    return result | {
        "combine": Case(combine_kernel, "*fp32 *fp32 *fp32 *i32 *fp16 i32", combined),
        "rope": Case(rope.rope_kernel, "*fp16 *fp32 *fp32 *fp16 i32", rotated),
        "swiglu": Case(
            swiglu.swiglu_kernel, "*fp16 *fp16 *fp16 i32", {"ELEMENTS": swiglu.ELEMENTS}
        ),
        "log_softmax": Case(log_softmax_kernel, "*fp32 *fp32 i32", fold),
    }


def compile_for(case: Case, architecture: str) -> tuple[str, bytes]:
    """Give the PTX of a kernel and the machine code assembled from it.

    Raises:
        LockstepError: USAGE where the kernels were imported to be interpreted.
    """
    if interpreted(case.function):
        raise LockstepError("USAGE", "TRITON_INTERPRET", "not set", "set")
    types = iter(case.types.split())
    signature = {
        name: "constexpr" if name in case.constants else next(types)
        for name in case.function.arg_names
    }
    source = ASTSource(fn=case.function, signature=signature, constexprs=case.constants)
    capability = int(architecture.removeprefix("sm_"))
    target = GPUTarget("cuda", capability, _WARP)
    compiled = triton.compile(source, target=target, options=OPTIONS)
    return compiled.asm["ptx"], compiled.asm["cubin"]


def inspect_code(ptx: str, machine_code: bytes = b"") -> Code:
    """Count what matters for the bits in a kernel's PTX."""
    operations = re.findall(r"^\s*(?:@!?%p\d+\s+)?([a-z]\w*(?:\.[\w:]+)*)\s", ptx, re.MULTILINE)
    tensor = [name for name in operations if re.match(r"(mma|wgmma|tcgen05\.mma)\b", name)]
    return Code(
        instructions=len(operations),
        fused=sum(name.startswith("fma.") and "f32" in name for name in operations),
        tensor=sum("f16" in name for name in tensor),
        tensor_tf32=sum("tf32" in name for name in tensor),
        approximate=sum(
            name != _FLOOR and bool(re.search(r"\.(approx|full|ftz)\b", name))
            for name in operations
        ),
        atomic=sum(bool(re.match(r"(atom|red|multimem)\b", name)) for name in operations),
        bytes=len(machine_code),
    )


def main(arguments: list[str]) -> None:
    """Compile for an architecture the kernels named, or all, and print what they consist of."""
    architecture, *names = arguments
    chosen = {name: case for name, case in cases().items() if not names or name in names}
    report = {
        name: inspect_code(*compile_for(case, architecture))._asdict()
        for name, case in chosen.items()
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main(sys.argv[1:])
