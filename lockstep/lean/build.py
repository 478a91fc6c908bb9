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
from collections.abc import Callable, Container, Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lockstep import limits
from lockstep.certificate.write import write_file
from lockstep.errors import LockstepError
from lockstep.lean import source_text, toolchain
from lockstep.lean.toolchain import Toolchain

OPTIONS = ("-j1", "-DwarningAsError=true", "-DautoImplicit=false")
"""As in lakefile.lean, but for the threads. Without the last, Lean would read a name that it does
not know as a variable, and so prove another statement than the one that is read."""
OBJECT_SUFFIXES = (".olean", ".ilean", ".built.json", ".part")
ACCEPTED = "neither error nor warning"


@dataclass(frozen=True)
class Module:
    """A module to be built.

    Attributes:
        name: such as Lockstep.Arith.
        source: its path.
        imports: the modules that its header names.
    """

    name: str
    source: Path
    imports: tuple[str, ...]


@dataclass(frozen=True)
class Built:
    """A module that was built or kept.

    Attributes:
        name: the module.
        seconds: how long Lean took, none if the object was kept.
        sha256: the object's digest.
    """

    name: str
    seconds: float | None
    sha256: str


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
        header = source_text.header(paths[name].read_text("utf-8"))
        for imported in header.imports:
            visit(imported, (*importers, name))
        ordered[name] = Module(name, paths[name], header.imports)

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
    workspace = _Workspace(toolchain.find(), source, output)
    if workspace.lean.lake and output == standard_output():
        return _lake(workspace, modules, wanted, incremental)
    kept = _kept(workspace) if incremental else {}
    _delete_objects(output, kept)
    for module in modules:
        if module.name in kept:
            tell(kept[module.name])
    done = _in_order(workspace, modules, kept, jobs, tell)
    return [done[module.name] for module in modules]


@dataclass(frozen=True)
class _Workspace:
    lean: Toolchain
    source: Path
    output: Path

    def object(self, name: str) -> Path:
        return self.output.joinpath(*name.split(".")).with_suffix(".olean")

    def record(self, name: str) -> Path:
        return self.object(name).with_suffix(".built.json")

    def text(self, name: str) -> Path:
        return self.source.joinpath(*name.split(".")).with_suffix(".lean")


def _kept(workspace: _Workspace) -> dict[str, Built]:
    """Give the objects whose record holds, by module [rule 4]."""
    held: dict[str, Built | None] = {}

    def holds(name: str) -> Built | None:
        if name not in held:
            # A record that leads back to itself holds nothing.
            held[name] = None
            try:
                record = json.loads(workspace.record(name).read_bytes())
                imports = record["imports"]
                now = _record(
                    workspace, name, {other: _digest(workspace.object(other)) for other in imports}
                )
            except (OSError, ValueError, KeyError, TypeError):
                return None
            if record == now and all(holds(other) for other in imports):
                held[name] = Built(name, None, now["object"])
        return held[name]

    found = (path.relative_to(workspace.output) for path in workspace.output.rglob("*.olean"))
    names = sorted(".".join(path.with_suffix("").parts) for path in found)
    return {name: built for name in names if (built := holds(name))}


def _record(workspace: _Workspace, name: str, imports: dict[str, str]) -> dict[str, Any]:
    return {
        "imports": imports,
        "object": _digest(workspace.object(name)),
        "options": list(OPTIONS),
        "source": _digest(workspace.text(name)),
        "toolchain": workspace.lean.library_sha256,
    }


def _delete_objects(output: Path, kept: Container[str]) -> None:
    """Delete all that a builder left below the folder, but for what is kept [rule 1]."""
    for path in sorted(output.rglob("*")):
        relative = path.relative_to(output)
        suffix = next((s for s in OBJECT_SUFFIXES if path.name.endswith(s)), None)
        if suffix is None or not path.is_file():
            continue
        name = ".".join((*relative.parent.parts, path.name.removesuffix(suffix)))
        if name not in kept:
            path.unlink()


def _in_order(
    workspace: _Workspace,
    modules: list[Module],
    kept: Mapping[str, Built],
    jobs: int,
    tell: Callable[[Built], None],
) -> dict[str, Built]:
    """Build what is not kept, several at once where imports allow it [rule 2]."""
    done = dict(kept)
    waiting = [module for module in modules if module.name not in done]
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


def _compile(workspace: _Workspace, module: Module, done: Mapping[str, Built]) -> Built:
    """Build one module [rule 3]."""
    target = workspace.object(module.name)
    part = target.with_suffix(".part")
    target.parent.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    source = _digest(module.source)
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
    record = _record(workspace, module.name, imports)
    if record["source"] != source:
        target.unlink()
        hint = "The source changed while it was being built; build again."
        raise LockstepError("LEAN_BUILD_FAILED", module.name, hint=hint)
    write_file(workspace.record(module.name), json.dumps(record, sort_keys=True).encode())
    return Built(module.name, time.monotonic() - began, record["object"])


def _lake(
    workspace: _Workspace, modules: list[Module], wanted: list[str], incremental: bool
) -> list[Built]:
    """Let Lake build, by its own order and record; from nothing unless incremental."""
    if not incremental:
        shutil.rmtree(workspace.output, ignore_errors=True)
    targets = [f"+{name}" for name in wanted]
    status, said = _run([workspace.lean.lake, "build", *targets], {})
    if status != 0:
        raise LockstepError("LEAN_BUILD_FAILED", "lake build", ACCEPTED, f"\n{said}\n")
    return [Built(module.name, None, _digest(workspace.object(module.name))) for module in modules]


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


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
