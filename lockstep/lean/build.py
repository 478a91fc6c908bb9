"""Building the lemmas: each module in the order of imports, and nothing left over from before.

Rules of order, each of which a stale or half-made object file would otherwise slip through:
1. Objects that are to be built anew, and all that rest on them, are deleted before the first
   module is built, so that what a failed build leaves is what it has checked.
2. A module is built only after its imports; nothing is begun after a failure.
3. A module is built if Lean's exit status is 0 and by nothing else. Warnings, of which `sorry`
   is one, are errors.
4. An object is kept from an earlier build only if the digests of its source, of the toolchain, of
   its options, of itself and of every import's object are those of its record. Times are not
   looked at.
"""

import hashlib
import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lockstep import limits
from lockstep.certificate.write import write_file
from lockstep.errors import LockstepError
from lockstep.lean import object_records, source_text, toolchain
from lockstep.lean.object_records import OPTIONS, Built, Workspace, digest, made_from

ACCEPTED = "neither error nor warning"


@dataclass(frozen=True)
class Module:
    """A module to be built.

    Attributes:
        name: such as Lockstep.Arith.
        source: its path.
        size: of the source, in bytes.
        sha256: of the source, as it was when its imports were read.
        imports: the modules that its header names.
    """

    name: str
    source: Path
    size: int
    sha256: str
    imports: tuple[str, ...]


def source_folder() -> Path:
    """Give the folder of the lemmas' sources."""
    return toolchain.root() / "lean"


def standard_output() -> Path:
    """Give the folder that Lake builds into, and this builder unless told otherwise."""
    return toolchain.root() / ".lake" / "build" / "lib" / "lean"


def closure(source: Path, wanted: Iterable[str] = ()) -> list[Module]:
    """Give the wanted modules, all if none is named, and what they import, imports first.

    Raises:
        LockstepError: LEAN_BUILD_FAILED, an import has no source here, or imports form a circle.
    """
    paths = source_text.modules(source)
    ordered: dict[str, Module] = {}

    def visit(name: str, importers: tuple[str, ...]) -> None:
        if name in ordered:
            return
        by = importers[-1] if importers else name
        if name in importers:
            raise LockstepError(
                "LEAN_BUILD_FAILED", by, "imports without a circle", f"import {name}"
            )
        if name not in paths:
            raise LockstepError(
                "LEAN_BUILD_FAILED",
                by,
                f"a module below {source}",
                f"import {name}",
                "Import only modules of Lockstep, spelt as their paths are.",
            )
        data = paths[name].read_bytes()
        imports = source_text.header(data.decode("utf-8")).imports
        for imported in imports:
            visit(imported, (*importers, name))
        sha256 = hashlib.sha256(data).hexdigest()
        ordered[name] = Module(name, paths[name], len(data), sha256, imports)

    for name in wanted or paths:
        visit(name, ())
    return list(ordered.values())


def build(
    wanted: Iterable[str] = (),
    *,
    source: Path | None = None,
    output: Path | None = None,
    incremental: bool = False,
    jobs: int = limits.LEAN_PROCESSES,
    tell: Callable[[Built], None] = lambda built: None,
) -> list[Built]:
    """Build modules with what they import, and give them in the order of imports.

    Args:
        wanted: names of modules; none for all.
        source: the folder of sources, normally the checkout's `lean/`.
        output: the folder for objects, normally Lake's.
        incremental: keep objects whose record still holds.
        jobs: Lean processes side by side.
        tell: called with each module as it is done.

    Raises:
        LockstepError: LEAN_TOOLCHAIN, no Lean; LEAN_BUILD_FAILED, with what Lean said.
    """
    source = (source or source_folder()).resolve()
    output = (output or standard_output()).resolve()
    wanted = list(wanted)
    modules = closure(source, wanted)
    workspace = Workspace(toolchain.find(), source, output)
    if workspace.lean.lake and output == standard_output():
        return _lake(workspace, modules, wanted, incremental)
    kept = object_records.kept(workspace) if incremental else {}
    object_records.delete(output, kept)
    for module in modules:
        if module.name in kept:
            tell(kept[module.name])
    done = _in_order(workspace, modules, kept, jobs, tell)
    return [done[module.name] for module in modules]


def _in_order(
    workspace: Workspace,
    modules: list[Module],
    kept: Mapping[str, Built],
    jobs: int,
    tell: Callable[[Built], None],
) -> dict[str, Built]:
    """Build what is not kept, several at once where imports allow it [rule 2]."""
    done = dict(kept)
    # What takes long, of which size is a fair sign, is not left to the end.
    waiting = sorted((m for m in modules if m.name not in done), key=lambda m: -m.size)
    running: dict[Future[Built], Module] = {}
    with ThreadPoolExecutor(max_workers=jobs) as pool:
        while waiting or running:
            for module in [m for m in waiting if all(name in done for name in m.imports)]:
                if len(running) == jobs:
                    break
                waiting.remove(module)
                running[pool.submit(_compile, workspace, module, done.copy())] = module
            ended, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in sorted(ended, key=lambda f: running[f].name):
                # A failure leaves here; the pool waits for what runs and begins nothing more.
                built = future.result()
                del running[future]
                done[built.name] = built
                tell(built)
    return done


def _compile(workspace: Workspace, module: Module, done: Mapping[str, Built]) -> Built:
    """Build one module [rule 3]."""
    target = workspace.object(module.name)
    part = target.with_suffix(".part")
    target.parent.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    # Lean derives the module's name, and from it the names of instances, from root and path.
    place = (f"--root={workspace.source}", "-o", part, module.source)
    command = [*workspace.lean.lean, *OPTIONS, *place]
    status, said = _run(command, {"LEAN_PATH": str(workspace.output)})
    if status != 0:
        part.unlink(missing_ok=True)
        said = said.replace(f"{workspace.source}/", "") or f"exit status {status}"
        raise LockstepError("LEAN_BUILD_FAILED", module.name, ACCEPTED, f"\n{said}\n")
    os.replace(part, target)
    imports = {name: done[name].sha256 for name in module.imports}
    record = made_from(workspace, module.name, imports)
    if record["source"] != module.sha256:
        target.unlink()
        hint = "The source changed while it was being built; build again."
        raise LockstepError("LEAN_BUILD_FAILED", module.name, hint=hint)
    write_file(workspace.record(module.name), json.dumps(record, sort_keys=True).encode())
    return Built(module.name, time.monotonic() - began, record["object"])


def _lake(
    workspace: Workspace, modules: list[Module], wanted: list[str], incremental: bool
) -> list[Built]:
    """Let Lake build, by its own order and record; from nothing unless incremental."""
    if not incremental:
        shutil.rmtree(workspace.output, ignore_errors=True)
    targets = [f"+{name}" for name in wanted]
    status, said = _run([workspace.lean.lake, "build", *targets], {})
    if status != 0:
        raise LockstepError("LEAN_BUILD_FAILED", "lake build", ACCEPTED, f"\n{said}\n")
    return [Built(module.name, None, digest(workspace.object(module.name))) for module in modules]


def _run(command: list[Any], variables: dict[str, str]) -> tuple[int, str]:
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            cwd=toolchain.root(),
            env={**os.environ, **variables},
            timeout=limits.LEAN_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return 1, f"It took longer than {limits.LEAN_SECONDS} s."
    return done.returncode, (done.stdout + done.stderr).strip()
