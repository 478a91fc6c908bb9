"""A campaign: the trial of each operator and of the control, over processes, resumable [MUT-5].

Nothing of the engine is imported here: a trial's process mutates itself, and the baselines and the
model are made by processes that are not mutated.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from lockstep import spec
from lockstep.certificate.write import write_file
from lockstep.engine.sources import ENGINE
from lockstep.errors import LockstepError
from lockstep.limits import MUTATION_TRIAL_SECONDS
from lockstep.mutation import baselines, load
from lockstep.mutation.declaration import observers
from lockstep.mutation.operators import operators
from lockstep.mutation.trial import baselines as baseline_files

MODEL = "model"
"""The model's folder within the campaign's."""

RESULTS = "trials.jsonl"
"""The file of records, one a line, within the campaign's folder."""

SOURCES = (*ENGINE, "lockstep.fidelity", "lockstep.mutation", "lockstep.relations")
"""The packages and modules whose sources bear on what a trial observes.

Operators are not among them: a record is bound to its own one by the digest of its edits, and what
is said of an operator in words bears on no trial.
"""

Tell = Callable[[int, dict[str, Any]], None]


def sources_sha256() -> str:
    """Give the digest over the sources that a trial depends on, and over their data in the spec."""
    from lockstep.engine.backends.machine import sources_digest

    digest = hashlib.sha256(bytes.fromhex(sources_digest(*SOURCES)))
    for name in ("relations.json", "fidelity.json", "lifecycle.json", "sampling.json"):
        digest.update(hashlib.sha256(spec.read(name)).digest())
    return digest.hexdigest()


def run_campaign(
    folder: Path,
    wanted: Sequence[str] = (),
    chosen: Sequence[str] = (),
    jobs: int | None = None,
    tell: Tell = lambda done, record: None,
) -> list[dict[str, Any]]:
    """Make the trials that a folder has no record of; each is in it as soon as it is made.

    Args:
        folder: of model, baselines and records.
        wanted: operators; none for all. The control is always among them.
        chosen: observers; none for all.
        jobs: processes at once; None for one a core.
        tell: called with the number of trials done, and each record as it is made or found.

    Returns:
        The record of the control, then those of the operators in their order.

    Raises:
        LockstepError: MUTATION_UNKNOWN, BAD_VALUE; MUTATION_INSTALLED; MUTATION_BASELINE;
            MUTATION_TRIAL, a trial's process failed.
    """
    load.require_unmutated("mutation campaign")
    ids = [load.CONTROL.id, *(load.find(name).id for name in wanted or operators())]
    names = _observers(chosen)
    folder.mkdir(parents=True, exist_ok=True)
    sources = sources_sha256()
    results, lock = folder / RESULTS, threading.Lock()
    found, others = {}, []
    for record in read_records(results):
        if record["operator"] not in ids or _observed(record) != names:
            others.append(record)
        elif _fits(record, sources):
            found[record["operator"]] = record
    for done, record in enumerate(found.values(), 1):
        tell(done, record)

    missing = [name for name in ids if name not in found]
    model = _prepare(folder, names) if missing else folder / MODEL

    def make(name: str) -> dict[str, Any]:
        record = {**_trial(name, model, names), "sources_sha256": sources}
        with lock:
            found[name] = record
            _write(results, [*(found[one] for one in ids if one in found), *others])
            tell(len(found), record)
        return record

    with ThreadPoolExecutor(jobs or os.cpu_count() or 1) as pool:
        running = [pool.submit(make, name) for name in missing]
        try:
            for future in as_completed(running):
                future.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return [found[name] for name in ids]


def read_records(path: Path) -> list[dict[str, Any]]:
    """Give the records of a file, none where there is no file; a last line that is cut is none."""
    if not path.exists():
        return []
    whole, _, _ = path.read_text("utf-8").rpartition("\n")
    return [json.loads(line) for line in whole.splitlines()]


def _observers(chosen: Sequence[str]) -> list[str]:
    names = [observer.name for observer in observers()]
    for name in chosen:
        if name not in names:
            raise LockstepError("BAD_VALUE", "/observers", f"one of {', '.join(names)}", name)
    return [name for name in names if name in chosen] if chosen else names


def _prepare(folder: Path, names: Sequence[str]) -> Path:
    """Make the model and the baselines, anew for each campaign, and give the model's folder."""
    from lockstep.engine.tiny import make_tiny

    model = folder / MODEL
    if not model.exists():
        make_tiny(model)
    golden, trajectory = baseline_files(model)
    baselines.make(
        model,
        golden if "GOLDEN" in names else None,
        trajectory if "TRAJECTORY" in names else None,
    )
    return model


def _fits(record: dict[str, Any], sources: str) -> bool:
    """Whether a record is of these sources, and of the operator's edits."""
    edits = load.find(record["operator"]).sha256
    return bool(record["sources_sha256"] == sources and record["edits_sha256"] == edits)


def _observed(record: dict[str, Any]) -> list[str]:
    """Give the observers of a record."""
    return [cell["observer"] for cell in record["cells"]]


def _trial(name: str, model: Path, names: Sequence[str]) -> dict[str, Any]:
    """Make one trial in a process of its own."""
    command = [sys.executable, "-m", "lockstep.mutation.trial", name, str(model), *names]
    # One thread a process: the trials beside it need the cores.
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            env=environment,
            timeout=MUTATION_TRIAL_SECONDS,
        )
    except subprocess.TimeoutExpired:
        expected = f"an end within {MUTATION_TRIAL_SECONDS} s"
        raise LockstepError("MUTATION_TRIAL", f"operator {name}", expected, "none") from None
    if done.returncode:
        told = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
        raise LockstepError("MUTATION_TRIAL", f"operator {name}", "a record", told[-1])
    record: dict[str, Any] = json.loads(done.stdout)
    return record


def _write(path: Path, records: Sequence[dict[str, Any]]) -> None:
    lines = (json.dumps(record, sort_keys=True, ensure_ascii=True) + "\n" for record in records)
    write_file(path, "".join(lines).encode("ascii"))
