"""`lockstep run`: a model, a workload, and a schedule or a policy that makes one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from lockstep.cli import options

if TYPE_CHECKING:
    from lockstep.engine.execute import Execution
    from lockstep.engine.model import Model
    from lockstep.engine.run import Run
    from lockstep.engine.tokenizer import Tokenizer
    from lockstep.lifecycle import Pool
    from lockstep.sampling.record import Recorder, Served
    from lockstep.schedule.policy import Policy
    from lockstep.schedule.schedule import Action, Schedule
    from lockstep.schedule.workload import Workload

    Steps = Iterator[tuple[Action, ...]]

SHOWN_TOKENS = 24
"""Tokens of a request that are printed; run.json has them all."""


def register(app: typer.Typer) -> None:
    """Add the command `run`."""
    app.command("run")(run)


def run(
    model: Path = typer.Option(..., "--model", help="A model's folder."),
    workload: Path = options.WORKLOAD,
    schedule: Path | None = options.SCHEDULE,
    policy: str | None = options.POLICY,
    seed: int | None = options.SEED,
    block_size: int | None = options.BLOCK_SIZE,
    blocks: int | None = typer.Option(
        None, min=1, max=1 << 20, help="Blocks of the pool, with a policy (default: all fit)."
    ),
    backend: str = options.BACKEND,
    dtype: str | None = options.DTYPE,
    out: Path | None = typer.Option(
        None, "--out", help="Folder for workload, schedule, trajectory and run, as JSON."
    ),
    unfinished: bool = typer.Option(
        False, "--unfinished", help="Admit a schedule that ends before its requests do."
    ),
    sampling: Path | None = typer.Option(
        None, "--sampling", help="File for what was drawn, and from which numbers."
    ),
    shadow_float: bool = typer.Option(
        False, "--shadow-float", help="Count where weights of floats would have drawn otherwise."
    ),
) -> None:
    """Run a workload, under a schedule or under a policy whose schedule is recorded.

    The same model, workload and schedule give the same trajectory on the same backend. What
    --sampling writes, `lockstep sampling replay` judges and `lockstep sampling sign` certifies.

    Example: lockstep run --model tiny --workload workload.json --policy swarm --seed 7 --out run
    """
    from lockstep.cli.schedule import choose_policy
    from lockstep.engine.opening import open_model
    from lockstep.engine.record import write_run
    from lockstep.sampling.record import model_of
    from lockstep.schedule.schedule import (
        Schedule,
        read_schedule,
        require_complete,
        require_requests,
    )
    from lockstep.schedule.workload import read_workload

    if out is not None:
        options.require_folder(out, "--out")
    if sampling is not None:
        options.require_output(sampling, "--sampling")
    requests = read_workload(workload)
    recorder = _recorder(shadow_float) if sampling is not None or shadow_float else None
    if schedule is not None:
        options.refuse_beside_schedule(
            {
                "--policy": policy,
                "--seed": seed,
                "--block-size": block_size,
                "--blocks": blocks,
            }
        )
        given = read_schedule(schedule)
        require_requests(given, requests, str(schedule))
        if not unfinished:
            # Told before anything is computed; a legal schedule with all finishes is complete.
            require_complete(given, requests, str(schedule))
        opened = open_model(model, backend, dtype)
        execution = _execution(opened.model, requests, given.pool, str(workload), recorder)
        steps, total = _scheduled(execution, given, str(schedule)), len(given.steps)
    else:
        if unfinished:
            raise typer.BadParameter("a policy finishes every request", param_hint="--unfinished")
        chosen = choose_policy(policy or "continuous", seed)
        pool = _pool(requests, block_size or 16, blocks)
        opened = open_model(model, backend, dtype)
        execution = _execution(opened.model, requests, pool, str(workload), recorder)
        steps = _driven(execution, chosen)
        total = sum(request.max_new for request in requests.requests)
    done = _advance(execution, steps, total, schedule is not None, out)
    made = Schedule(execution.ledger.state.pool, done)
    if out is not None:
        write_run(out, requests, made, execution)
    if recorder is not None:
        _tell_draws(recorder, model_of(model, opened), sampling)
    _tell(execution, made, _tokenizer(model, execution), out)


def _pool(workload: Workload, block_size: int, blocks: int | None) -> Pool:
    from lockstep.lifecycle import Pool
    from lockstep.schedule.workloads import pool_for

    return pool_for(workload, block_size) if blocks is None else Pool(blocks, block_size)


def _recorder(shadowed: bool) -> Recorder:
    from lockstep.sampling.record import Recorder

    return Recorder(shadowed)


def _tell_draws(recorder: Recorder, served: Served, path: Path | None) -> None:
    """Write the sequences that were drawn, and tell where floats would have drawn otherwise."""
    from lockstep.certificate import lcj
    from lockstep.certificate.write import write_file
    from lockstep.cli import say

    if path is not None:
        document = recorder.document(served)
        write_file(path, lcj.encode(document))
        say(f"wrote {len(document['sequences'])} sequences to {path}")
    if recorder.shadowed:
        positions, differing = recorder.shadows
        told = ", ".join(f"{name} {count}" for name, count in differing.items())
        say(f"of {positions} tokens that were drawn, floats would have drawn others: {told}")


def _execution(
    model: Model, workload: Workload, pool: Pool, source: str, observer: Recorder | None
) -> Execution:
    """Make ready to run; what the model cannot take is refused at its place in the file."""
    from lockstep.engine.execute import Execution
    from lockstep.schedule.workload import require_model

    require_model(workload, model.config.vocab_size, model.config.max_position_embeddings, source)
    return Execution(model, workload, pool, observer)


def _scheduled(execution: Execution, schedule: Schedule, source: str) -> Steps:
    """Take the steps of a schedule one by one; refusals name its file."""
    from lockstep.schedule.document import located

    for actions in schedule.steps:
        with located(source):
            for action in actions:
                execution.act(action)
        execution.end_step()
        yield actions


def _driven(execution: Execution, policy: Policy) -> Steps:
    """Take steps as a policy gives them, until every request is finished."""
    from lockstep.schedule.policy import take_step

    while execution.unfinished:
        actions = take_step(policy, execution.view, execution.act)
        execution.end_step()
        yield actions


def _advance(
    execution: Execution, steps: Steps, total: int, by_step: bool, out: Path | None
) -> tuple[tuple[Action, ...], ...]:
    """Take all steps, showing how far they are; Ctrl-C leaves the ones that were taken."""
    from lockstep.cli.progress import bar

    done: list[tuple[Action, ...]] = []
    try:
        with bar("steps" if by_step else "tokens", total) as tell:
            for actions in steps:
                done.append(actions)
                emitted = sum(request.outputs for request in execution.ledger.state.requests)
                tell(len(done) if by_step else emitted)
    except KeyboardInterrupt:
        _keep(execution.ledger.state.pool, tuple(done), out)
        raise
    return tuple(done)


def _keep(pool: Pool, steps: tuple[tuple[Action, ...], ...], out: Path | None) -> None:
    """Write the steps of an interrupted run, or say that none are kept."""
    import sys

    from lockstep.engine.record import PARTIAL
    from lockstep.schedule.schedule import Schedule, write_schedule

    taken = f"lockstep: {len(steps)} steps were taken"
    if out is None or not steps:
        print(f"{taken}; nothing is kept of them", file=sys.stderr)
        return
    out.mkdir(parents=True, exist_ok=True)
    write_schedule(out / PARTIAL, Schedule(pool, steps))
    print(
        f"{taken}; {out / PARTIAL} has them, and --schedule with --unfinished takes them again",
        file=sys.stderr,
    )


def _tokenizer(folder: Path, execution: Execution) -> Tokenizer | None:
    """Give the model's tokenizer where there is one and its library."""
    from lockstep.cli import say
    from lockstep.engine import tokenizer
    from lockstep.errors import LockstepError

    if not (folder / tokenizer.TOKENIZER).exists():
        return None
    try:
        return tokenizer.Tokenizer(folder, execution.model.config.vocab_size)
    except LockstepError as fault:
        if fault.code != "LIBRARY_MISSING":
            raise
        say("no text is shown: the library tokenizers is not installed")
        return None


def _tell(
    execution: Execution, schedule: Schedule, tokenizer: Tokenizer | None, out: Path | None
) -> None:
    """Print what came of the requests, what the run exercised, and its digests."""
    from lockstep.cli import say
    from lockstep.cli.tables import printable

    result: Run = execution.run()
    for name, output in result.outputs.items():
        shown = " ".join(map(str, output.tokens[:SHOWN_TOKENS]))
        more = f" and {len(output.tokens) - SHOWN_TOKENS} more"
        more = more if len(output.tokens) > SHOWN_TOKENS else ""
        say(f"{name}: {len(output.tokens)} tokens, {output.reason}: {shown}{more}")
        if tokenizer is not None:
            say(f"    {printable(repr(tokenizer.decode(output.tokens)))}")
    backend, pool = execution.model.backend, schedule.pool
    counted = ", ".join(f"{name} {count}" for name, count in result.counters.items() if count)
    say(f"{len(schedule.steps)} steps over {pool.blocks} blocks of {pool.block_size} slots")
    say(f"counters: {counted}")
    say(f"backend {backend.name}, {backend.dtype}")
    say(f"workload   {execution.workload.sha256}")
    say(f"schedule   {schedule.sha256}")
    say(f"trajectory {result.trajectory.sha256}")
    if out is not None:
        say(f"wrote workload, schedule, trajectory and run to {out}")
