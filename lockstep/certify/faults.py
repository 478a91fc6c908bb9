"""The certifier before the built-in server as it is, and under each fault of the mutation list.

Trials are run one at a time, since they share the machine's cores with what they time. Each leaves
a record and its certificate in a folder; what is there of the same sources is not made again.
"""

from __future__ import annotations

import hashlib
import json
import shlex
import shutil
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lockstep import spec
from lockstep.certificate import lcj
from lockstep.certificate.write import write_file
from lockstep.certify.cells import POSITIVE, PlannedCell
from lockstep.certify.config import Command, Config, digest_of
from lockstep.certify.issue import issue_certification
from lockstep.certify.results import Records
from lockstep.certify.run import observe
from lockstep.certify.signals import run_until_signal
from lockstep.certify.trials import FILE, Trial, bound_us, trials
from lockstep.certify.watch import EnoughSeen
from lockstep.claims.detection_shown import no_answer, reuses, shown
from lockstep.engine.sources import ENGINE
from lockstep.errors import LockstepError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from lockstep.certify.adapters.adapter import Adapter
    from lockstep.certify.observation import Round, Seen
    from lockstep.certify.probe import Found

REQUEST_SECONDS = 20
"""For a request under a fault: what hangs is to be seen as soon as that."""
COMMAND = "lockstep certify-faults"
FOLDER = "detection"
"""Of the certificates of trials, beside the one of all [DET-19]."""
_SOURCES = "sources_sha256"
_SILENT = "ENDPOINT_REFUSES"
"""Refusal of the certifier where a server that was ready answered none of its first requests; one
that never was ready shows no fault but, say, an operator that does not fit the sources."""

Tell = Callable[[int, Mapping[str, Any]], None]
Ended = tuple["Seen | str", int]
"""What `run_trial` gives."""


def served(options: str) -> str:
    """Give the command of a built-in server: of this environment, whatever the path has."""
    return launched(spec.load(FILE)["command"] + options)


def launched(command: str) -> str:
    """Give a declared command with the program of this environment in its beginning."""
    program = shutil.which("lockstep", path=Path(sys.executable).parent) or "lockstep"
    return command.replace("lockstep", shlex.quote(program), 1)


def config(trial: Trial) -> Config:
    """Give what the certifier is asked in a trial [DET-4]."""
    return Config(
        adapter="lockstep",
        launch=Command(launched(trial.command)),
        plan={"lifetimes": trial.lifetimes},
        timeout=REQUEST_SECONDS if trial.stops else None,
    )


class Quiet:
    """Watches a run to its end.

    Attributes:
        ended: when the observation was made that ended the run, by `time.monotonic`; else None.
    """

    def __init__(self) -> None:
        self.ended: float | None = None

    def say(self, text: str) -> None:
        """Pass over a line for people."""

    def planned(
        self, adapter: Adapter, plan: dict[str, Any], cells: Sequence[PlannedCell], found: Found
    ) -> None:
        """Pass over the plan."""

    def made(self, cell: int, one: Round) -> None:
        """Pass over a round."""


class FirstDifference(Quiet):
    """Watches a run, and has seen enough with the first observation, or in the end.

    Args:
        deadline: when no further round is to begin, by `time.monotonic`.
    """

    def __init__(self, deadline: float) -> None:
        super().__init__()
        self._deadline = deadline
        self._cells: Sequence[PlannedCell] = ()
        self._plan: Mapping[str, Any] = {}
        self._seen: dict[str, int] = {}

    def planned(
        self, adapter: Adapter, plan: dict[str, Any], cells: Sequence[PlannedCell], found: Found
    ) -> None:
        """Take the plan."""
        self._cells, self._plan = cells, plan

    def made(self, cell: int, one: Round) -> None:
        """Take a round.

        Raises:
            EnoughSeen: a request failed, or got another answer than one that is alike, or the
                cache was used where it is excluded; or it is too late.
        """
        now = time.monotonic()
        if self._shows(self._cells[cell], one):
            self.ended = now
            raise EnoughSeen
        if now > self._deadline:
            raise EnoughSeen

    def _shows(self, planned: PlannedCell, one: Round) -> bool:
        if planned.control in POSITIVE:
            return False
        if one.failures or reuses(planned, one, self._plan):
            return True
        for request, output in zip(planned.present(one.number), one.outputs, strict=True):
            alike = request.like(one.number)
            if output is None or alike is None:
                continue
            if self._seen.setdefault(repr((planned.case, alike)), output) != output:
                return True
        return False


async def run_trial(trial: Trial, folder: Path) -> tuple[Seen | str, int]:
    """Certify a trial's server.

    Args:
        trial: which one.
        folder: keeps the rounds of a trial that is not ended early, so that it can go on.

    Returns:
        What was seen, or what was told where the server answered nothing; and the microseconds
        until the observation that ended it, else until its end.

    Raises:
        LockstepError: as `observe`; USAGE, the folder has rounds of another trial or of other
            sources.
    """
    began = time.monotonic()
    asked = config(trial)
    watch = FirstDifference(began + bound_us() / 1e6) if trial.stops else Quiet()
    path = None if trial.stops else folder / f"{trial.name}.rounds.jsonl"
    seen: Seen | str
    try:
        seen = await observe(asked, Records(path, _digest_of(trial, asked)), watch)
    except LockstepError as fault:
        if trial.operator is None or fault.code != _SILENT:
            raise
        seen = f"{fault.code}: {fault.got}"
    if path is not None:
        path.unlink(missing_ok=True)
    return seen, round(((watch.ended or time.monotonic()) - began) * 1e6)


def _digest_of(trial: Trial, asked: Config) -> str:
    """Give the digest by which rounds of a trial are known: what is asked, and what is served."""
    told = [digest_of(asked), trial.document(), _sources_sha256()]
    return hashlib.sha256(lcj.encode(told)).hexdigest()


def run_trials(
    folder: Path,
    key: Ed25519PrivateKey,
    issued_at: Callable[[], str],
    chosen: Sequence[str] = (),
    tell: Tell = lambda done, record: None,
) -> list[dict[str, Any]]:
    """Make the trials that a folder has no record of, and give the records of those chosen.

    Args:
        folder: of records (`NAME.json`) and certificates (`detection/NAME.cert.json`).
        key: that signs the certificates of trials.
        issued_at: gives the time that a certificate claims.
        chosen: names of trials; none for all that this backend runs.
        tell: called with the number of trials done, and each record as it is made or found.

    Raises:
        LockstepError: USAGE, no such trial; as `observe`.
    """
    every = [one for one in trials() if one.runs]
    unknown = sorted(set(chosen) - {one.name for one in every})
    if unknown:
        known = ", ".join(one.name for one in every)
        raise LockstepError("USAGE", "--only", f"names of {known}", unknown[0])
    (folder / FOLDER).mkdir(parents=True, exist_ok=True)
    records = []
    for trial in every:
        if chosen and trial.name not in chosen:
            continue
        path = folder / f"{trial.name}.json"
        record = read_record(path, trial)
        if record is None:
            seen, elapsed = run_until_signal(run_trial(trial, folder))
            record = recorded(trial, seen, elapsed, folder, key, issued_at())
            kept = {_SOURCES: _sources_sha256(), **record}
            write_file(path, json.dumps(kept, indent=1, sort_keys=True).encode() + b"\n")
        records.append(record)
        tell(len(records), record)
    return records


def read_record(path: Path, trial: Trial) -> dict[str, Any] | None:
    """Give the record of a trial; None where there is none of this very trial and these sources.

    Raises:
        LockstepError: MALFORMED_JSON.
    """
    if not path.exists():
        return None
    try:
        record: dict[str, Any] = json.loads(path.read_text("utf-8"))
        declared = record["declared"]
    except (ValueError, KeyError, TypeError):
        hint = "Delete the file: the trial is then made anew."
        raise LockstepError("MALFORMED_JSON", str(path), "a record", hint=hint) from None
    sources = record.pop(_SOURCES, None)
    return record if (declared, sources) == (trial.document(), _sources_sha256()) else None


def _sources_sha256() -> str:
    """Give the digest of the sources of what is served."""
    from lockstep.engine.backends.machine import sources_digest

    return sources_digest(*ENGINE, "lockstep.serve")


def recorded(
    trial: Trial,
    seen: Seen | str,
    elapsed_us: int,
    folder: Path,
    key: Ed25519PrivateKey,
    issued_at: str,
) -> dict[str, Any]:
    """Sign what a trial saw, and give its record for `lockstep.claims.detection`."""
    told = {
        "name": trial.name,
        "declared": trial.document(),
        "edits_sha256": trial.edits_sha256,
        "elapsed_us": elapsed_us,
    }
    if isinstance(seen, str):
        words = "".join(one if " " <= one <= "~" else " " for one in seen)[:400]
        return {**told, "certificate": None, "shown": no_answer(words)}
    issued = issue_certification(seen, [key], issued_at=issued_at, command=COMMAND)
    write_file(folder / FOLDER / f"{trial.name}.cert.json", issued.certificate)
    held = issued.predicate
    identity = held["subject"]["identity"]
    return {
        **told,
        "certificate": {
            "sha256": hashlib.sha256(issued.certificate).hexdigest(),
            "verdict": held["verdict"],
            "counts": held["counts"],
        },
        "shown": shown(seen),
        "plan": held["plan"],
        "server": [
            {"name": one["name"], "value": one["observed"]}
            for one in identity
            if one["observed"] is not None
        ],
    }
