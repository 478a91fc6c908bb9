"""What this machine can check, and what it cannot: each tool that a check needs, looked for.

Nothing here installs, builds or computes. What is imported for a look is imported by a process of
its own, so that a library that is broken makes one finding and no fault.
"""

from __future__ import annotations

import importlib.metadata
import json
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lockstep.cores import cores
from lockstep.errors import LockstepError
from lockstep.limits import DOCTOR_SECONDS

PYTHON = (3, 11)
"""The first version of Python that the packages run on."""
_SLOW = "ask again when less runs here"

TORCH = """
import json, torch
there = torch.cuda.is_available()
names = [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())] if there else []
print(json.dumps({"devices": names}))
"""
NUMPY = """
import json
from lockstep.engine.backends.machine import describe
print(json.dumps(describe()))
"""
LEAN = """
import json
from lockstep.errors import LockstepError
from lockstep.lean.toolchain import find
try:
    lean = find()
    print(json.dumps({"found": f"Lean {lean.version}, from {lean.builder}"}))
except LockstepError as fault:
    print(json.dumps({"absent": f"{fault.got}, where {fault.expected} is wanted"}))
"""


@dataclass(frozen=True)
class Finding:
    """One tool.

    Attributes:
        name: what it is called.
        ready: whether checks that need it can run here.
        found: what is here, with versions; why it cannot be used where it cannot.
        purpose: what it is for.
        remedy: what to do where it is not ready; empty where it is.
    """

    name: str
    ready: bool
    found: str
    purpose: str
    remedy: str = ""

    def document(self) -> dict[str, Any]:
        """Give the finding as a JSON value."""
        return asdict(self)


def examine() -> list[Finding]:
    """Look for each tool, in the order in which a person comes to need them."""
    looks: tuple[Callable[[], list[Finding]], ...] = (
        _python, _verifier, _numpy, _certifier, _conversion, _plot, _engine_files, _server, _torch,
        _transformers, _lean, _solvers, _go, _weights,
    )  # fmt: skip
    return [finding for look in looks for finding in look()]


def version_of(distribution: str) -> str | None:
    """Give the version of an installed distribution; None where there is none."""
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def told(code: str) -> dict[str, Any]:
    """Run a piece of Python by itself and give the JSON object that it prints.

    Raises:
        LockstepError: LIBRARY_MISSING, it failed, printed something else or, with a hint, took too
            long.
    """
    try:
        done = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            timeout=DOCTOR_SECONDS,
            check=False,
        )
        found = json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        raise LockstepError(
            "LIBRARY_MISSING", "", "a library that can be imported",
            f"no answer in {DOCTOR_SECONDS} s: this machine may be busy", _SLOW,
        ) from None  # fmt: skip
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise LockstepError(
            "LIBRARY_MISSING", "", "a library that can be imported", "one that fails"
        )
    return found


def _installed(
    name: str, distribution: str, purpose: str, extra: str, more: str = ""
) -> list[Finding]:
    version = version_of(distribution)
    if version is None:
        return [Finding(name, False, "not installed", purpose, _pip(extra))]
    return [Finding(name, True, f"{version}{more}", purpose)]


def _pip(extra: str) -> str:
    return f"`make setup-test`, or `pip install '.[{extra}]'` in a checkout"


def _python() -> list[Finding]:
    version, least = platform.python_version(), ".".join(map(str, PYTHON))
    purpose, ready = "everything", sys.version_info >= PYTHON
    found = f"{version} on {platform.system()} {platform.machine()}, {cores()} cores"
    return [Finding("Python", ready, found, purpose, "" if ready else f"Python {least} or later")]


def _verifier() -> list[Finding]:
    purpose = "signing, and `lockstep-verify`, which needs nothing else"
    return _installed("cryptography", "cryptography", purpose, "hunt")


def _numpy() -> list[Finding]:
    purpose = "`lockstep hunt`; the engine's backends host, fast and float64"
    (finding,) = _installed("NumPy", "numpy", purpose, "hunt")
    if not finding.ready:
        return [finding]
    try:
        seen = told(NUMPY)
    except LockstepError as fault:
        remedy = fault.hint or _pip("hunt")
        return [Finding("NumPy", False, f"{finding.found}, {fault.got}", purpose, remedy)]
    found = (
        f"{seen['numpy']}, {seen['blas']} with its {seen['blas_kernel']} kernels (the backend host "
        "does not use them, the controls do)"
    )
    if seen["subnormals"] == "kept":
        return [Finding("NumPy", True, found, purpose)]
    remedy = "something set this process to flush subnormal numbers; start without it"
    return [Finding("NumPy", False, f"{found}; subnormals {seen['subnormals']}", purpose, remedy)]


def _certifier() -> list[Finding]:
    return _installed("httpx", "httpx", "`lockstep certify` and `lockstep measure`", "certify")


def _conversion() -> list[Finding]:
    purpose = "`lockstep layouts convert` at its fastest; without it NumPy converts"
    return _installed("numba", "numba", purpose, "convert")


def _plot() -> list[Finding]:
    return _installed("matplotlib", "matplotlib", "`lockstep measure show --plot`", "plot")


def _engine_files() -> list[Finding]:
    weights = "reading any model's weights"
    texts = "prompts from text: `lockstep workload text`, `lockstep serve`"
    return [
        *_installed("safetensors", "safetensors", weights, "engine"),
        *_installed("tokenizers", "tokenizers", texts, "engine"),
    ]


def _server() -> list[Finding]:
    return [
        finding
        for name in ("starlette", "uvicorn", "prometheus-client")
        for finding in _installed(name, name, "`lockstep serve`", "serve")
    ]


def _torch() -> list[Finding]:
    """Look for torch, for Triton, and for a GPU that they reach."""
    purpose = "the backends fast_torch and triton"
    torch, triton = version_of("torch"), version_of("triton")
    interpreter = "the kernels on a CPU (TRITON_INTERPRET=1), KERNEL-EQ, compiling ahead of time"
    gpu = "the kernels on a GPU; `make gpu-evidence`; shares of bandwidth in `make bench-engine`"
    devices: list[str] = []
    fault_text, later = "", None
    if torch is not None:
        try:
            devices = told(TORCH)["devices"]
        except LockstepError as fault:
            fault_text, later = f", {fault.got}", fault.hint
    usable = torch is not None and not fault_text
    both = usable and triton is not None
    here = f"torch {torch}" if torch else "no torch"
    return [
        Finding("torch", usable, (torch or "not installed") + fault_text, purpose,
                "" if usable else later or _pip("engine")),
        Finding("Triton's interpreter", both,
                f"triton {triton}" if triton else "not installed", interpreter,
                "" if both else (triton and later) or f"{_pip('engine')} (Linux)"),
        Finding("GPU", both and bool(devices),
                ", ".join(devices) or f"none that {here} reaches", gpu,
                "" if both and devices else "run there, with a torch built for its driver"),
    ]  # fmt: skip


def _transformers() -> list[Finding]:
    purpose = "tests that compare logits with Qwen3ForCausalLM"
    return _installed("transformers", "transformers", purpose, "dev")


def _lean() -> list[Finding]:
    purpose = "`make lean`: the lemmas, checked by Lean's kernel"
    try:
        seen = told(LEAN)
    except LockstepError as fault:
        seen = {"absent": str(fault.got), "remedy": fault.hint}
    if "found" in seen:
        return [Finding("Lean", True, seen["found"], purpose)]
    remedy = "`make lean` installs the pinned wheel (Linux on x86-64); elsewhere elan's `lake`"
    return [Finding("Lean", False, seen["absent"], purpose, seen.get("remedy") or remedy)]


def _solvers() -> list[Finding]:
    """Look for the solvers as libraries; as programs they serve the verifier."""
    purpose = "`make smt`: both solvers have to answer"
    findings = []
    for name, distribution in (("z3", "z3-solver"), ("cvc5", "cvc5")):
        program = shutil.which(name)
        more = ", and on the path for `lockstep-verify --solve`" if program else ""
        findings += _installed(name, distribution, purpose, "proofs", more)
    return findings


def _go() -> list[Finding]:
    purpose = "the second verifier, conformance/go, and its tests"
    beside = Path(sys.executable).parent / "go"
    go = str(beside) if beside.exists() else shutil.which("go")
    if go is None:
        return [Finding("Go", False, "not on the path", purpose, _pip("dev"))]
    try:
        done = subprocess.run(
            [go, "version"], capture_output=True, text=True, timeout=DOCTOR_SECONDS, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return [Finding("Go", False, "there, and does not run", purpose, _pip("dev"))]
    return [Finding("Go", True, done.stdout.removeprefix("go version ").strip(), purpose)]


def _weights() -> list[Finding]:
    """Say what no look can find: nothing here fetches weights."""
    purpose = "relations, fidelity and replay on a published model; the evidence is on a tiny one"
    remedy = "name a folder with --model; `lockstep model show FOLDER` reads it whole"
    return [Finding("published weights", False, "not looked for", purpose, remedy)]
