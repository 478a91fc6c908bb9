"""`lockstep workload` and `lockstep schedule`: make them, look at them, check them."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from lockstep import limits

if TYPE_CHECKING:
    from lockstep.engine.sampling import Sampling
    from lockstep.schedule.policy import Policy
    from lockstep.schedule.simulate import Simulation

OUTPUT = typer.Option(..., "--output", "-o", help="Where to.")
SEED = typer.Option(0, min=0, max=(1 << 53) - 1, help="Of all that is drawn.")
WORKLOAD = typer.Argument(help="A workload's file.")


def register(app: typer.Typer) -> None:
    """Add the groups `workload` and `schedule`."""
    workload = typer.Typer(no_args_is_help=True, help="Workloads: the requests of a run.")
    workload.command("make")(make_workload)
    workload.command("text")(text_workload)
    workload.command("show")(show_workload)
    app.add_typer(workload, name="workload")
    schedule = typer.Typer(no_args_is_help=True, help="Schedules: what happens in each step.")
    schedule.command("make")(make_schedule)
    schedule.command("check")(check_schedule)
    app.add_typer(schedule, name="schedule")


def make_workload(
    output: Path = OUTPUT,
    kind: str = typer.Option("edges", help="edges, prefixes or splits."),
    requests: int = typer.Option(8, min=1, max=limits.WORKLOAD_REQUESTS, help="How many."),
    vocab_size: int = typer.Option(
        256, min=2, max=limits.MODEL_DIMENSION, help="Token ids lie below it."
    ),
    block_size: int = typer.Option(
        16, min=1, max=limits.BLOCK_SLOTS, help="Prompts end around the edges of such blocks."
    ),
    max_new: int = typer.Option(
        12, min=1, max=limits.PROMPT_TOKENS, help="The most tokens that a request may emit."
    ),
    arrivals: int = typer.Option(
        4, min=1, max=limits.SCHEDULE_STEPS, help="Requests arrive in the steps before this one."
    ),
    greedy: bool = typer.Option(False, "--greedy", help="No request draws its tokens."),
    seed: int = SEED,
) -> None:
    """Make a workload from a seed.

    Example: lockstep workload make --kind prefixes --seed 3 -o workload.json
    """
    from lockstep.schedule import workloads
    from lockstep.schedule.workload import write_workload

    if kind not in workloads.KINDS:
        expected = f"one of {', '.join(workloads.KINDS)}"
        raise typer.BadParameter(f"{expected}, not {kind}", param_hint="--kind")
    shape = workloads.Shape(
        kind,
        requests,
        vocab_size,
        block_size,
        max_new,
        arrivals,
        not greedy,
    )
    workload = workloads.make_workload(shape, seed)
    write_workload(output, workload)
    _say_written(output, workload.sha256)


def text_workload(
    texts: list[str] = typer.Argument(metavar="TEXT", help="A prompt each."),
    model: Path = typer.Option(..., "--model", help="A model's folder, with its tokenizer.json."),
    output: Path = OUTPUT,
    max_new: int = typer.Option(
        16, min=1, max=limits.PROMPT_TOKENS, help="Tokens that each may emit."
    ),
    temperature: str = typer.Option("0", help="A decimal; 0 takes the largest logit."),
    seed: int = SEED,
) -> None:
    """Make a workload of texts, in a model's tokens; all arrive at once.

    Example: lockstep workload text --model tiny -o workload.json "Once upon a time"
    """
    from lockstep.engine.checkpoint import read_config
    from lockstep.engine.sampling import Sampling
    from lockstep.engine.tokenizer import Tokenizer
    from lockstep.errors import LockstepError
    from lockstep.schedule.workload import Request, Workload, require_model, write_workload

    config, _ = read_config(model)
    tokenizer = Tokenizer(model, config.vocab_size)
    try:
        sampling = Sampling(temperature=temperature, seed=seed)
    except LockstepError as fault:
        raise LockstepError("USAGE", "--temperature", fault.expected, fault.got) from None
    workload = Workload(
        tuple(
            Request(f"r{number}", tokenizer.encode(text), max_new, sampling=sampling)
            for number, text in enumerate(texts)
        )
    )
    require_model(workload, config.vocab_size, config.max_position_embeddings)
    write_workload(output, workload)
    _say_written(output, workload.sha256)


def show_workload(file: Path = WORKLOAD) -> None:
    """List a workload's requests and give its digest.

    Example: lockstep workload show workload.json
    """
    from lockstep.cli import say
    from lockstep.cli.tables import Table, show_table
    from lockstep.schedule.workload import read_workload

    workload = read_workload(file)
    columns = ("request", "prompt", "max_new", "arrival", "salt", "eos", "sampling")
    rows = [
        (
            request.id,
            str(len(request.prompt)),
            str(request.max_new),
            str(request.arrival),
            request.salt or "-",
            "ignored" if request.ignore_eos else "heeded",
            _sampling(request.sampling),
        )
        for request in workload.requests
    ]
    show_table(Table(f"{len(rows)} requests", columns, tuple(rows)))
    say(f"workload {workload.sha256}")


def _sampling(sampling: "Sampling") -> str:
    if sampling.greedy:
        return "greedy"
    return ", ".join(f"{name} {value}" for name, value in sampling.document().items())


def make_schedule(
    workload: Path = WORKLOAD,
    output: Path = OUTPUT,
    policy: str = typer.Option("continuous", help="canonical, continuous, adversarial or swarm."),
    block_size: int = typer.Option(16, min=1, max=4096, help="Token slots of a block."),
    blocks: int | None = typer.Option(
        None, min=1, max=1 << 20, help="Blocks of the pool (default: room for all requests)."
    ),
    seed: int | None = typer.Option(None, min=0, help="Of the policy swarm."),
) -> None:
    """Let a policy make a schedule without a model: no request ends before its max_new.

    `lockstep run --policy` makes one with a model, which may end requests earlier.

    Example: lockstep schedule make workload.json --policy swarm --seed 7 -o schedule.json
    """
    from lockstep.cli import say
    from lockstep.lifecycle import Pool
    from lockstep.schedule.schedule import write_schedule
    from lockstep.schedule.simulate import simulate
    from lockstep.schedule.workload import read_workload
    from lockstep.schedule.workloads import pool_for

    chosen = choose_policy(policy, seed)
    requests = read_workload(workload)
    pool = Pool(blocks, block_size) if blocks else pool_for(requests, block_size)
    made = simulate(requests, pool, chosen)
    write_schedule(output, made.schedule)
    for line in summary(made.run):
        say(line)
    _say_written(output, made.schedule.sha256)


def check_schedule(
    workload: Path = WORKLOAD,
    schedule: Path = typer.Argument(help="A schedule's file."),
    unfinished: bool = typer.Option(
        False, "--unfinished", help="Admit one that ends before its requests do."
    ),
) -> None:
    """Hold a schedule against the lifecycle's rules for a workload, without a model.

    A finish before max_new counts as an end of sequence where the request heeds one.

    Example: lockstep schedule check workload.json schedule.json
    """
    from lockstep.cli import say
    from lockstep.schedule.schedule import read_schedule
    from lockstep.schedule.simulate import check
    from lockstep.schedule.workload import read_workload

    requests, steps = read_workload(workload), read_schedule(schedule)
    run = check(requests, steps, partial=unfinished, source=str(schedule))
    for line in summary(run):
        say(line)
    say(f"workload {requests.sha256}")
    say(f"schedule {steps.sha256}")
    say("legal" if not run.unfinished else f"legal; unfinished: {', '.join(run.unfinished)}")


def choose_policy(name: str, seed: int | None) -> "Policy":
    """Make a policy from the command line.

    Raises:
        LockstepError: USAGE, no policy of this name, or a seed for one that draws nothing.
    """
    from lockstep.errors import LockstepError
    from lockstep.schedule.policies import POLICIES, policy

    if name not in POLICIES:
        hint = "`lockstep schedule make --help` lists them."
        raise LockstepError("USAGE", "--policy", f"one of {', '.join(POLICIES)}", name, hint)
    made = policy(name, seed or 0)
    if seed is not None and name != "swarm":
        raise LockstepError(
            "USAGE", "--seed", "the policy swarm", name, "Leave --seed out: it draws nothing."
        )
    return made


def summary(run: "Simulation") -> list[str]:
    """Give the lines that sum up a simulated run for people."""
    from lockstep.lifecycle import relation

    events = run.counts
    told = ", ".join(f"{count} {event}" for event, count in events.items())
    grams = [
        f"{len(run.n_grams(n))} of {len(relation().n_grams(n))} legal {n}-grams" for n in (2, 3)
    ]
    return [f"{run.step} steps: {told}", f"the requests show {' and '.join(grams)}"]


def _say_written(path: Path, sha256: str) -> None:
    from lockstep.cli import say

    say(f"wrote {path}, {path.stat().st_size:,} bytes, {sha256}")
