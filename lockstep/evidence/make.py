"""How the committed certificates are made, and which files a verifier is shown beside each."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lockstep.cores import cores
from lockstep.evidence.make_detection import detected
from lockstep.evidence.make_measurement import RECOMPUTED, recomputed, withdrawn
from lockstep.evidence.make_observation import caches
from lockstep.evidence.make_sampling import distances, experiments, sampled
from lockstep.evidence.making import COMMAND, EXPORT, Making

if TYPE_CHECKING:
    from lockstep.relations.observation import Observation
    from lockstep.relations.run import Plan


def hunt(set_name: str) -> Callable[[Making], bytes]:
    """Give what makes the certificate of a hunt of a set at the set's own geometry."""

    def make(making: Making) -> bytes:
        from lockstep.issue import issue_hunt
        from lockstep.layouts.sets import load_set

        layouts = load_set(set_name)
        return issue_hunt(
            layouts,
            layouts.geometry,
            [making.key],
            issued_at=making.issued_at,
            command=COMMAND,
            progress=making.progress,
        ).certificate

    return make


def lemmas(making: Making) -> bytes:
    """Build the lemmas, and make the certificate of what the kernel accepted."""
    from lockstep.issue import issue_lean
    from lockstep.lean.build import source_folder

    return issue_lean(
        [making.key],
        issued_at=making.issued_at,
        command=COMMAND,
        export=source_folder() / EXPORT,
        progress=making.progress,
    ).certificate


def proofs(making: Making) -> bytes:
    """Ask both solvers, write their scripts, and make the certificate of what they answered."""
    from lockstep.issue import issue_smt
    from lockstep.layouts.sets import load_set

    return issue_smt(
        load_set("engines"),
        [making.key],
        issued_at=making.issued_at,
        command=COMMAND,
        folder=making.draft,
        progress=making.progress,
    ).certificate


def relations(making: Making) -> bytes:
    """Run every relation at every block size on a tiny model, and the controls, and sign."""
    from lockstep.engine.tiny import TinyModel, make_tiny
    from lockstep.issue import issue_invariance
    from lockstep.relations.run import control_plans, plans

    recipe = TinyModel()
    with tempfile.TemporaryDirectory() as scratch:
        folder = make_tiny(Path(scratch, "tiny"), recipe)
        runs = _observed("running the relations", plans(folder, making.backend), making)
        controls = _observed("running the controls", control_plans(folder), making)
    return issue_invariance(
        recipe,
        [making.key],
        runs=runs,
        controls=controls,
        issued_at=making.issued_at,
        command=COMMAND,
        backend=making.backend,
    ).certificate


def fidelity(making: Making) -> bytes:
    """Compare a tiny model's logits with those of binary64 over the corpus, and sign."""
    from lockstep.engine.tiny import TinyModel
    from lockstep.issue import issue_fidelity

    return issue_fidelity(
        TinyModel(),
        [making.key],
        issued_at=making.issued_at,
        command=COMMAND,
        backend=making.backend,
        progress=making.progress,
    ).certificate


def execution(making: Making) -> bytes:
    """Run a workload that preempts, evicts and hits on a tiny model, and sign it in full."""
    from lockstep.engine.opening import open_model
    from lockstep.engine.tiny import TinyModel
    from lockstep.issue import issue_replay
    from lockstep.replay import demonstration
    from lockstep.replay.observe import observe_driven

    requests = demonstration.workload()
    making.progress("running one execution", 0, 1)
    seen = observe_driven(
        open_model(TinyModel(), making.backend),
        requests,
        demonstration.pool(requests),
        demonstration.adversarial(),
    )
    return issue_replay(seen, [making.key], issued_at=making.issued_at, command=COMMAND).certificate


def campaign(making: Making) -> bytes:
    """Fuzz schedules of a tiny model, all populations anew, and sign what the seeds showed."""
    from lockstep.engine.tiny import TinyModel
    from lockstep.fuzz.campaign import counted, run_campaign, subject_of
    from lockstep.fuzz.executors import processes
    from lockstep.fuzz.issue import issue_campaign
    from lockstep.fuzz.store import Store
    from lockstep.fuzz.worker import Subject, opened

    subject, wanted = Subject(backend=making.backend), counted()
    whole = sum(wanted.values())
    with tempfile.TemporaryDirectory() as scratch:
        stated = subject_of(opened(subject))
        jobs = making.jobs or cores()
        with Store(Path(scratch, "records"), stated) as store, processes(subject, jobs) as run:
            ran = run_campaign(
                store, run, wanted, lambda n, one: making.progress("fuzzing schedules", n, whole)
            )
    return issue_campaign(
        TinyModel(),
        [making.key],
        records=ran.records,
        issued_at=making.issued_at,
        command=COMMAND,
        backend=making.backend,
    ).certificate


def mutations(making: Making) -> bytes:
    """Look at every mutation of the engine with every observer, and sign what was seen."""
    from lockstep.mutation.campaign import run_campaign, sources_sha256
    from lockstep.mutation.issue import issue_mutation
    from lockstep.mutation.operators import operators

    whole = len(operators()) + 1
    with tempfile.TemporaryDirectory() as scratch:
        trials = run_campaign(
            making.records / "mutation" if making.records else Path(scratch),
            jobs=making.jobs,
            tell=lambda done, record: making.progress("mutating the engine", done, whole),
        )
    return issue_mutation(
        trials,
        [making.key],
        sources_sha256=sources_sha256(),
        issued_at=making.issued_at,
        command=COMMAND,
    ).certificate


def wedge(making: Making) -> bytes:
    """Find the oversized request under its mutation, reduce it, and sign it."""
    from lockstep.issue_finding import issue_finding
    from lockstep.minimize.wedge import found

    making.progress("reducing the oversized request", 0, 1)
    seen = found(making.backend)
    return issue_finding(
        seen, [making.key], issued_at=making.issued_at, command=COMMAND
    ).certificate


def certified(making: Making) -> bytes:
    """Certify the built-in server over every case of the plan, in two lifetimes, and sign."""
    from lockstep.certify.config import Command, Config
    from lockstep.certify.faults import Quiet, served
    from lockstep.certify.issue import issue_certification
    from lockstep.certify.results import Records
    from lockstep.certify.run import observe
    from lockstep.certify.signals import run_until_signal

    # Answers of 24 tokens: a burst of two small ones would be over before the gauge is read twice.
    plan = {
        "lifetimes": 2,
        "repeats": 3,
        "max_new": 24,
        "top": 2,
        "filler": ("none", "varying"),
    }
    config = Config(adapter="lockstep", launch=Command(served("")), plan=plan)
    making.progress("certifying the built-in server", 0, 1)
    seen = run_until_signal(observe(config, Records(None, ""), Quiet()))
    return issue_certification(
        seen, [making.key], issued_at=making.issued_at, command=COMMAND
    ).certificate


def compared(making: Making) -> bytes:
    """Measure what invariance costs the built-in server against its mode `fast`, and sign."""
    from lockstep.certify.signals import run_until_signal
    from lockstep.measure import builtin
    from lockstep.measure.issue import issue_throughput
    from lockstep.measure.server import Server
    from lockstep.measure.throughput import observe

    servers = [Server(builtin.wanted(mode)) for mode in ("invariant", "fast")]
    seen = run_until_signal(
        observe(
            servers,
            builtin.WORKLOAD,
            builtin.BLOCKS,
            lambda done, whole, arm: making.progress("measuring servers", done, whole),
        )
    )
    return issue_throughput(
        seen,
        builtin.COMPARISONS,
        builtin.CRITERIA,
        [making.key],
        issued_at=making.issued_at,
        command=COMMAND,
    ).certificate


def _observed(what: str, wanted: Sequence[Plan], making: Making) -> list[Observation]:
    """Make runs anew, whatever an earlier campaign has recorded."""
    from lockstep.relations.run import run_plans

    def tell(done: int, observation: Observation) -> None:
        making.progress(what, done, len(wanted))

    making.progress(what, 0, len(wanted))
    return run_plans(wanted, jobs=making.jobs, tell=tell)


MAKERS: dict[str, tuple[str, Callable[[Making], bytes]]] = {
    "exact-transformations.cert.json": ("hunting the set seed-004", hunt("seed-004")),
    "engine-layouts.cert.json": ("hunting the set engines", hunt("engines")),
    "lean.cert.json": ("checking the lemmas", lemmas),
    "smt.cert.json": ("asking the solvers", proofs),
    "invariance.cert.json": ("running the relations", relations),
    "fidelity.cert.json": ("comparing logits with binary64", fidelity),
    "replay.cert.json": ("running one execution", execution),
    "finding-wedge.cert.json": ("reducing the oversized request", wedge),
    "campaign.cert.json": ("fuzzing schedules", campaign),
    "mutation.cert.json": ("mutating the engine", mutations),
    "sampling.cert.json": ("sampling sequences", sampled),
    "distance-calibration.cert.json": ("calibrating distances", distances),
    "sampling-experiments.cert.json": ("experimenting on sampling", experiments),
    "certification-builtin.cert.json": ("certifying the built-in server", certified),
    "detection.cert.json": ("certifying the built-in server under faults", detected),
    "throughput.cert.json": ("measuring servers", compared),
    "layout-observation.cert.json": ("observing engines' caches", caches),
    RECOMPUTED: ("recomputing seed 001", recomputed),
    "withdrawals/seed-001.cert.json": ("withdrawing claims of seed 001", withdrawn),
}
"""What is said while a certificate is made, and what makes it, by its file's name."""


def sidecars(kind: str, folder: Path) -> Path:
    """Give the folder of files that a verifier is shown beside certificates of a kind.

    Args:
        kind: of the certificates.
        folder: of the certificates themselves.
    """
    if kind in ("hunt", "layout-observation"):
        from lockstep.layouts.declaration import layouts_root

        return layouts_root()
    if kind == "lean":
        from lockstep.lean.build import source_folder

        return source_folder()
    return folder
