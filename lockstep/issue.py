"""Each claim from what is observed to the bytes of its certificate: run, fold, falsify, sign."""

import platform
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lockstep import __version__
from lockstep.certificate.envelope import sign_statement
from lockstep.certificate.statement import (
    hunt_subjects,
    lean_subjects,
    model_subjects,
    replay_subjects,
    smt_subjects,
    statement,
)
from lockstep.errors import LockstepError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from lockstep.engine.tiny import TinyModel
    from lockstep.hunt import Progress
    from lockstep.layouts.geometry import Geometry
    from lockstep.layouts.sets import LayoutSet
    from lockstep.relations.observation import Observation
    from lockstep.replay.observe import ReplaySeen


@dataclass(frozen=True)
class Issued:
    """A certificate's bytes beside the predicate that they carry."""

    certificate: bytes
    predicate: dict[str, Any]


def producer(command: str) -> dict[str, str]:
    """Describe what ran; a certificate carries it as the signer's word."""
    return {
        "name": "lockstep",
        "version": __version__,
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "command": command,
    }


def array_producer(command: str) -> dict[str, str]:
    """Describe what ran where NumPy did the work."""
    import numpy

    return {**producer(command), "numpy": numpy.__version__}


def issue_hunt(
    layouts: "LayoutSet",
    geometry: "Geometry",
    keys: Sequence["Ed25519PrivateKey"],
    *,
    issued_at: str,
    command: str,
    progress: "Progress" = lambda what, done, whole: None,
) -> Issued:
    """Hunt a set at a geometry, run every falsification against the draft, and sign.

    Args:
        layouts: what is hunted, in which groups.
        geometry: at which.
        keys: of the signers.
        issued_at: the time that the certificate claims, as TIME-1 writes it.
        command: the command line, without paths.
        progress: told of each step.

    Raises:
        LockstepError: an X-code where an anchor does not exist at the geometry; H6 or H14 where
            the hunt found no exact or no refused row; H9 where a falsification did not get its
            registered code.
    """
    from lockstep.claims.hunt import predicate
    from lockstep.falsify.registry import placeholders
    from lockstep.falsify.run import run
    from lockstep.hunt import hunt

    found = hunt(layouts, geometry, progress=progress)

    def fold(falsifications: list[dict[str, str]]) -> dict[str, Any]:
        return predicate(
            found,
            issued_at=issued_at,
            producer=array_producer(command),
            falsifications=falsifications,
        )

    draft = fold(placeholders())
    progress("running the registered falsifications against the draft", 0, 1)
    results = run(draft, hunt_subjects(draft), issued_at)
    failed = [entry for entry in results if entry["actual"] != entry["expected"]]
    if failed:
        raise LockstepError(
            "H9_GUARD_FAILED_OPEN",
            f"/falsifications: {failed[0]['name']}",
            failed[0]["expected"],
            failed[0]["actual"],
            f"{len(failed)} falsifications failed; nothing was signed.",
        )
    final = fold(results)
    return Issued(sign_statement(statement("hunt", hunt_subjects(final), final), keys), final)


def issue_lean(
    keys: Sequence["Ed25519PrivateKey"],
    *,
    issued_at: str,
    command: str,
    export: Path | None = None,
    progress: "Progress" = lambda what, done, whole: None,
) -> Issued:
    """Build the lemmas of this checkout, compare them with the registry, and sign.

    Args:
        keys: of the signers.
        issued_at: the time that the certificate claims, as TIME-1 writes it.
        command: the command line, without paths.
        export: where to write the export, below `lean/`; none is written without it.
        progress: told of each step.

    Raises:
        LockstepError: what `lockstep.lean.observe.observe` raises; H3_PROOF_MISSING and
            LEMMA_STATEMENT_MISMATCH where the registry of the specification is not that of the
            sources.
    """
    from lockstep.claims.lean import predicate
    from lockstep.lean import check
    from lockstep.lean.build import source_folder, standard_output
    from lockstep.lean.observe import observe

    seen = observe(source_folder(), standard_output(), export=export, progress=progress)
    folded = predicate(seen, issued_at=issued_at, producer=producer(command))
    registry = check.registered()
    check.require_modules(seen.modules, registry)
    check.require_registered(folded["theorems"], registry)
    return Issued(sign_statement(statement("lean", lean_subjects(folded), folded), keys), folded)


def issue_smt(
    layouts: "LayoutSet",
    keys: Sequence["Ed25519PrivateKey"],
    *,
    issued_at: str,
    command: str,
    folder: Path | None = None,
    lifecycle: bool = True,
    progress: "Progress" = lambda what, done, whole: None,
) -> Issued:
    """Put the queries of a set's layouts and of the lifecycle to both solvers, and sign.

    Args:
        layouts: what is proved, at the geometries of spec/smt.json.
        keys: of the signers.
        issued_at: the time that the certificate claims, as TIME-1 writes it.
        command: the command line, without paths.
        folder: where the scripts go, below `smt/`; none are written without it.
        lifecycle: whether the lifecycle is proved too; without it the certificate says so.
        progress: told of each step.

    Raises:
        LockstepError: SOLVER_MISSING; QUERY_NOT_ANSWERED or COUNTEREXAMPLE_NOT_REPLAYED at the
            query's name.
    """
    from lockstep.certificate.write import write_file
    from lockstep.claims.smt import predicate, scripts
    from lockstep.proofs.run import prove
    from lockstep.proofs.solvers import solvers

    seen = prove(layouts, solvers(), lifecycle=lifecycle, progress=progress)
    folded = predicate(seen, issued_at=issued_at, producer=array_producer(command))
    issued = Issued(sign_statement(statement("smt", smt_subjects(folded), folded), keys), folded)
    for name, text in scripts(seen).items() if folder is not None else ():
        place = Path(folder or "", name)
        place.parent.mkdir(parents=True, exist_ok=True)
        write_file(place, text.encode("ascii"))
    return issued


def issue_fidelity(
    source: "Path | TinyModel",
    keys: Sequence["Ed25519PrivateKey"],
    *,
    issued_at: str,
    command: str,
    backend: str = "host",
    dtype: str | None = None,
    progress: "Progress" = lambda what, done, whole: None,
) -> Issued:
    """Measure a model's logits beside those of binary64 over the corpus, and sign.

    Args:
        source: the model's folder, or the recipe of a tiny one.
        keys: of the signers.
        issued_at: the time that the certificate claims, as TIME-1 writes it.
        command: the command line, without paths.
        backend: what is judged.
        dtype: compute dtype, None for the backend's own.
        progress: told of each prompt.

    Raises:
        LockstepError: FIDELITY_BOUND_EXCEEDED at the first measure out of its bound; as `observe`.
    """
    from lockstep.claims.fidelity import predicate
    from lockstep.fidelity.judge import require_bounds
    from lockstep.fidelity.observe import observe

    seen = observe(source, backend, dtype, progress)
    folded = predicate(seen, issued_at=issued_at, producer=array_producer(command))
    require_bounds(folded["measures"])
    subjects = model_subjects("fidelity", folded)
    return Issued(sign_statement(statement("fidelity", subjects, folded), keys), folded)


def issue_invariance(
    source: "Path | TinyModel",
    keys: Sequence["Ed25519PrivateKey"],
    *,
    runs: "Sequence[Observation]",
    controls: "Sequence[Observation]",
    issued_at: str,
    command: str,
    backend: str = "host",
    dtype: str | None = None,
) -> Issued:
    """Fold what runs of relations recorded, and sign; what was not run is said so.

    Args:
        source: the model's folder, or the recipe of a tiny one.
        keys: of the signers.
        runs: records of relations on this model and backend.
        controls: records of controls.
        issued_at: the time that the certificate claims, as TIME-1 writes it.
        command: the command line, without paths.
        backend: what the relations ran on.
        dtype: compute dtype, None for the backend's own.

    Raises:
        LockstepError: NOT_COMPARABLE, a record is of another model, backend or version of the
            sources; COUNTERS_CONTRADICT, a record that no run leaves; as `open_model`.
    """
    from lockstep.claims.invariance import predicate
    from lockstep.engine.backends import open_backend
    from lockstep.engine.opening import open_model

    opened = open_model(source, backend, dtype)
    others = {run.subject.backend for run in controls}
    folded = predicate(
        runs,
        controls,
        model=opened.statement(),
        model_digest=opened.model.digest.hex(),
        environment=opened.environment(),
        bindings={
            name: open_backend(name, opened.model.backend.dtype).binding()
            for name in sorted(others)
        },
        issued_at=issued_at,
        producer=array_producer(command),
    )
    subjects = model_subjects("invariance", folded)
    return Issued(sign_statement(statement("invariance", subjects, folded), keys), folded)


def issue_replay(
    seen: "ReplaySeen",
    keys: Sequence["Ed25519PrivateKey"],
    *,
    issued_at: str,
    command: str,
) -> Issued:
    """Sign an execution in full.

    Args:
        seen: the execution, every request of which is finished.
        keys: of the signers.
        issued_at: the time that the certificate claims, as TIME-1 writes it.
        command: the command line, without paths.
    """
    from lockstep.claims.replay import predicate

    folded = predicate(seen, issued_at=issued_at, producer=array_producer(command))
    subjects = replay_subjects(folded)
    return Issued(sign_statement(statement("replay", subjects, folded), keys), folded)
