"""What the sources of the Triton kernels and their backend must not hold, read from their syntax.

Needs neither torch nor Triton, and runs nothing of what it reads. It looks at names: whoever
renames `tl`, or hides a call behind a table, is not caught. It guards against accidents.
"""

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

RULES = {
    "atomic": "no atomic operation: the order of arrival would choose the order of a sum",
    "tuning": "no autotune and no heuristics: which code runs would follow measurements",
    "torch": "no reduction or matrix product of torch, NumPy or `@`: their order is not ours",
    "order": "no reduction in a kernel whose order the compiler chooses: `fold` states one",
    "tile": "tiles are constants: nothing that follows the batch or the data is a tile's size",
    "precision": "each dot says input_precision='ieee': the default may round binary32",
    "approximate": "no approximate function: `/`, tl.exp and the like differ between devices",
    "launch": "kernels are started by `launch` alone, whose options are fixed",
}
"""The rules by name, each with its reason."""

_TUNING = {"autotune", "heuristics", "Config", "Autotuner", "Heuristics"}
_TORCH = {
    *("sum", "nansum", "mean", "nanmean", "prod", "cumsum", "cumprod", "norm", "var", "std"),
    *("matmul", "mm", "bmm", "addmm", "baddbmm", "mv", "dot", "inner", "einsum", "tensordot"),
    *("linear", "conv1d", "softmax", "log_softmax", "logsumexp", "layer_norm", "rms_norm"),
    *("scaled_dot_product_attention", "multinomial", "scatter_add", "scatter_add_"),
    *("index_add", "index_add_", "scatter_reduce", "bincount", "median", "quantile"),
}
_ORDER = {"sum", "xor_sum", "cumsum", "cumprod", "softmax", "argmax", "argmin", "topk", "sort"}
_APPROXIMATE = {
    *("exp", "exp2", "log", "log2", "sin", "cos", "tanh", "erf", "sqrt", "rsqrt", "sigmoid"),
    *("softmax", "fma", "fdiv", "div_full", "inline_asm_elementwise"),
}
_SIZED = {"arange": (0, 1), "full": (0,), "zeros": (0,), "reshape": (1,), "broadcast_to": (1,)}
"""Functions of `tl` and the arguments of theirs that are sizes."""

_KERNEL_MODULES = ("tl", "tl.math", "libdevice", "triton.language")


class Violation(NamedTuple):
    """A place that a rule forbids."""

    path: str
    line: int
    rule: str
    what: str


def sources() -> list[Path]:
    """Give the files that the gate is for: the kernels and their backend."""
    folder = Path(__file__).resolve().parent
    return [*sorted(folder.glob("*.py")), folder.parent / "backends" / "triton.py"]


def check(paths: Sequence[Path]) -> list[Violation]:
    """Give all violations in the files, in their order."""
    return [found for path in paths for found in check_source(path.read_text("utf-8"), str(path))]


def check_source(text: str, path: str) -> list[Violation]:
    """Give the violations in one source, by line."""
    tree = ast.parse(text, path)
    found = {
        Violation(path, line, rule, what)
        for function, node in _with_function(tree)
        for rule, line, what in _check_node(node, function)
    }
    own_launch = path.replace("\\", "/").endswith("kernels/launch.py")
    return sorted(item for item in found if not (own_launch and item.rule == "launch"))


def _with_function(tree: ast.AST) -> Iterator[tuple[ast.FunctionDef | None, ast.AST]]:
    """Give each node with the outermost function that it is in."""

    def walk(
        node: ast.AST, function: ast.FunctionDef | None
    ) -> Iterator[tuple[ast.FunctionDef | None, ast.AST]]:
        for child in ast.iter_child_nodes(node):
            inner = function
            if function is None and isinstance(child, ast.FunctionDef):
                inner = child
            yield inner, child
            yield from walk(child, inner)

    yield from walk(tree, None)


def _check_node(node: ast.AST, function: ast.FunctionDef | None) -> Iterator[tuple[str, int, str]]:
    """Give rule, line and place of what one node violates."""
    line = getattr(node, "lineno", 0)
    name = _name(node)
    last = name.rpartition(".")[2]
    if last.startswith("atomic_"):
        yield "atomic", line, name
    if last in _TUNING:
        yield "tuning", line, name
    if isinstance(node, ast.ImportFrom):
        for alias in node.names:
            yield from _check_node(ast.Name(alias.name, lineno=line), function)
    if isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.MatMult):
        yield "torch", line, "@"
    in_kernel = function is not None and _is_kernel(function)
    if in_kernel and isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.Div):
        yield "approximate", line, "/"
    if isinstance(node, ast.Call):
        yield from _check_call(node, name, function if in_kernel else None)
        if function is not None and last == "launch":
            yield from _check_constants(node, function)


def _check_call(
    node: ast.Call, name: str, kernel: ast.FunctionDef | None
) -> Iterator[tuple[str, int, str]]:
    """Check a call, within a kernel or outside."""
    line = node.lineno
    owner, _, last = name.rpartition(".")
    if isinstance(node.func, ast.Subscript):
        yield "launch", line, ast.unparse(node.func)
    # A bare name is a function of ours: kernels' launchers have the names of what they compute.
    if owner and owner not in _KERNEL_MODULES and last in _TORCH and kernel is None:
        yield "torch", line, name
    if owner in _KERNEL_MODULES and kernel is None and last in _ORDER:
        yield "order", line, name
    if kernel is None:
        return
    if owner and (last in _ORDER or (last in {"max", "min"} and owner not in _KERNEL_MODULES)):
        yield "order", line, name
    if owner and last in {"reduce", "associative_scan"} and not _order_is_free(node, last):
        yield "order", line, name
    if owner and last in _APPROXIMATE:
        yield "approximate", line, name
    if last in {"dot", "dot_scaled"} and owner:
        stated = [ast.unparse(k.value) for k in node.keywords if k.arg == "input_precision"]
        others = any(k.arg == "allow_tf32" for k in node.keywords)
        if last != "dot" or stated != ["'ieee'"] or others:
            yield "precision", line, ast.unparse(node)
    constant = _constants_of(kernel)
    for place in _SIZED.get(last, ()):
        if owner in _KERNEL_MODULES and place < len(node.args):
            for bad in _not_constant(node.args[place], constant):
                yield "tile", line, bad


def _check_constants(node: ast.Call, function: ast.FunctionDef) -> Iterator[tuple[str, int, str]]:
    """Check what a launcher compiles a kernel for."""
    following = _following_the_batch(function)
    for keyword in node.keywords:
        if keyword.arg is None or _follows(keyword.value, following):
            yield "tile", node.lineno, f"{keyword.arg or '**'}={ast.unparse(keyword.value)}"


def _is_kernel(function: ast.FunctionDef) -> bool:
    """Tell whether Triton compiles the function."""
    names = {
        _name(item.func if isinstance(item, ast.Call) else item) for item in function.decorator_list
    }
    return bool(names & {"kernel", "device", "triton.jit", "jit"})


def _order_is_free(node: ast.Call, last: str) -> bool:
    """Tell whether a reduction gives the same bits in any order: a maximum."""
    text = [ast.unparse(argument) for argument in [*node.args, *(k.value for k in node.keywords)]]
    return last == "reduce" and "tl.standard._elementwise_max" in text


def _constants_of(kernel: ast.FunctionDef) -> set[str]:
    """Give the names of a kernel that are known when it is compiled."""
    annotated = [
        (item.arg, item.annotation)
        for item in [*kernel.args.posonlyargs, *kernel.args.args, *kernel.args.kwonlyargs]
    ]
    annotated += [
        (item.target.id, item.annotation)
        for item in ast.walk(kernel)
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
    ]
    return {
        name for name, kind in annotated if kind is not None and "constexpr" in ast.unparse(kind)
    }


def _not_constant(node: ast.expr, constants: set[str]) -> Iterator[str]:
    """Give the names in a size that are not constants; a tensor's `shape` in a kernel is one."""
    if isinstance(node, ast.Attribute) and node.attr == "shape":
        return
    if isinstance(node, ast.Name) and node.id not in constants:
        yield node.id
    if isinstance(node, ast.Call):
        yield ast.unparse(node)
        return
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            yield from _not_constant(child, constants)


def _following_the_batch(function: ast.FunctionDef) -> set[str]:
    """Give the names in a launcher that hold something of the batch: rows, or what data say.

    The first extent of any shape is one, what `len`, `numel`, `item` and a tensor's extrema give,
    and what is computed from such.
    """
    following: set[str] = set()
    while True:
        before = len(following)
        for node in ast.walk(function):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    following |= _bound(target, node.value, following)
            elif isinstance(node, ast.AugAssign | ast.AnnAssign | ast.NamedExpr) and node.value:
                following |= _bound(node.target, node.value, following)
            elif isinstance(node, ast.If) and _follows(node.test, following):
                # What a branch assigns follows what chose the branch.
                for inner in ast.walk(node):
                    if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                        following.add(inner.id)
        if len(following) == before:
            return following


def _bound(target: ast.expr, value: ast.expr, following: set[str]) -> set[str]:
    """Give the names of a target that follow the batch through its value."""
    if isinstance(target, ast.Tuple) and ast.unparse(value).endswith(".shape"):
        first = target.elts[0]
        return {first.id} if isinstance(first, ast.Name) else set()
    if not _follows(value, following):
        return set()
    return {item.id for item in ast.walk(target) if isinstance(item, ast.Name)}


def _follows(node: ast.expr, following: set[str]) -> bool:
    """Tell whether an expression holds something of the batch."""
    for item in ast.walk(node):
        if isinstance(item, ast.Name) and item.id in following:
            return True
        if isinstance(item, ast.Call):
            owner, _, last = _name(item).rpartition(".")
            # The built-in `max` and `min` only choose among their arguments, which are walked too.
            if last in {"len", "numel", "item"} or (owner and last in {"max", "min", "size"}):
                return True
        if isinstance(item, ast.Subscript) and ast.unparse(item).endswith(".shape[0]"):
            return True
    return False


def _name(node: ast.AST) -> str:
    """Give a dotted name, of what is called where it is a call; else nothing."""
    if isinstance(node, ast.Call):
        return _name(node.func)
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        owner = _name(node.value)
        # A method of an expression has an owner too, though no name.
        return f"{owner or '<expression>'}.{node.attr}"
    return ""
