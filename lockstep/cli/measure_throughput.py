"""`lockstep measure throughput`: what one server costs against another, as ratios."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from lockstep.cli.options import ISSUED_AT, OWN_KEY, certificate, require_output

if TYPE_CHECKING:
    from lockstep.claims.throughput import Criterion
    from lockstep.measure.observation import Seen, Workload
    from lockstep.measure.server import Server, Wanted

OUTPUT = certificate("throughput.cert.json")
_CRITERION = re.compile(
    r"(?P<a>[a-z][a-z0-9-]*)/(?P<b>[a-z][a-z0-9-]*) (?P<kills>below|above) "
    r"(?P<threshold>[0-9]{1,4}(\.[0-9]{1,6})?)"
)
_PIN = re.compile(r"(?P<arm>[a-z][a-z0-9-]*)\.(?P<name>[a-z_]+)=(?P<value>.+)")


def register(group: typer.Typer) -> None:
    """Add the command `throughput`."""
    group.command("throughput", no_args_is_help=True)(throughput)


def throughput(
    invariant: str | None = typer.Option(
        None, help="Command of the invariant server (default: the built-in one)."
    ),
    fast: str | None = typer.Option(
        None, help="Command of the same one without the constraint (default: the built-in one)."
    ),
    peer: str | None = typer.Option(None, help="Command of another server to compare with."),
    peer_endpoint: str | None = typer.Option(None, help="URL of another server that is there."),
    controlled: bool = typer.Option(
        False, "--i-control-this-endpoint", help="State that the server at the URL is yours."
    ),
    criterion: list[str] = typer.Option(
        [],
        metavar="<str>",
        help="As 'peer/invariant below 0.15': the ratio of walls that ends an endeavour; may be "
        "repeated.",
    ),
    pin: list[str] = typer.Option(
        [],
        metavar="<str>",
        help="As 'fast.runtime_version=0.1.0': a recorded constant of an arm's identity; may be "
        "repeated.",
    ),
    prompts: str | None = typer.Option(None, help="Tokens of each prompt, with commas."),
    max_new: int | None = typer.Option(None, min=1, max=65536, help="Tokens of each answer."),
    blocks: int | None = typer.Option(
        None, min=1, max=1024, help="Samples of each arm (default: 9; below 6 is no interval)."
    ),
    seed: int = typer.Option(1, min=0, max=(1 << 53) - 1, help="Of prompts and of the order."),
    plan_only: bool = typer.Option(False, "--plan", help="Print the plan and stop."),
    output: Path = OUTPUT,
    key: Path | None = OWN_KEY,
    issued_at: str | None = ISSUED_AT,
) -> None:
    """Compare how long the same work takes on two or three servers, by pairs of samples.

    A sample has a server of its own, started for it and warmed up, where there is a command; arms
    take turns in an order that the seed shuffles. One with foreign work, a counter that went back
    or a step of the clock in its window is refused, and kept as a receipt. Without any option
    nothing is run; --plan tells what the built-in servers, or those that are named, are to do.

    Example: lockstep measure throughput --criterion "invariant/fast above 1.15"
    """
    from lockstep.certificate.times import claimed
    from lockstep.cli.certify_result import require_library
    from lockstep.cli.signing import conclude, own_key
    from lockstep.measure import builtin
    from lockstep.measure.issue import issue_throughput
    from lockstep.measure.server import Server

    require_library()
    require_output(output)
    signer, issued = own_key(key), claimed(issued_at)
    arms = [builtin.wanted("invariant"), builtin.wanted("fast")]
    arms[0] = _started(arms[0], invariant)
    arms[1] = _started(arms[1], fast)
    comparisons = [*builtin.COMPARISONS]
    if peer is not None or peer_endpoint is not None:
        arms.append(_peer(peer, peer_endpoint, controlled))
        comparisons.append(("peer", "invariant"))
    criteria = _criteria(criterion, comparisons, [arm.name for arm in arms])
    work = replace(
        builtin.WORKLOAD,
        seed=seed,
        prompts=builtin.WORKLOAD.prompts if prompts is None else lengths_of(prompts, "--prompts"),
        max_new=max_new or builtin.WORKLOAD.max_new,
    )
    arms, blocks = pinned(arms, pin), blocks or builtin.BLOCKS
    servers = [Server(arm) for arm in arms]
    for line in plan(arms, work, blocks, comparisons):
        typer.echo(line if plan_only else f"lockstep: {line}", err=not plan_only)
    if plan_only:
        return
    seen = _observed(servers, work, blocks)
    made = issue_throughput(
        seen,
        comparisons,
        criteria,
        [signer],
        issued_at=issued,
        command="lockstep measure throughput",
    )
    status = conclude(output, made.certificate, summary(made.predicate), signer)
    if status:
        raise typer.Exit(status)


def plan(
    arms: Sequence[Wanted], work: Workload, blocks: int, comparisons: Sequence[tuple[str, str]]
) -> Iterator[str]:
    """Give the lines that say what a run is going to do."""
    yield (
        f"plan: {blocks * len(arms)} samples, {blocks} of each of {len(arms)} arms, in turns that "
        f"seed {work.seed} shuffles"
    )
    lengths = ", ".join(map(str, work.prompts))
    yield (
        f"  a sample: prompts of {lengths} tokens at once, {work.max_new} tokens of answer to "
        "each, the same work before it as a warm-up"
    )
    for arm in arms:
        if arm.launch is None:
            yield f"  {arm.name}: the server at {arm.endpoint}"
        else:
            yield f"  {arm.name}: started anew for each sample: {arm.launch.text}"
    yield "  compared: " + ", ".join(f"{a} to {b}" for a, b in comparisons)


def _observed(servers: Sequence[Server], work: Workload, blocks: int) -> Seen:
    from lockstep.certify.signals import run_until_signal
    from lockstep.cli.progress import bar
    from lockstep.measure.throughput import observe

    with bar("samples", blocks * len(servers)) as told:
        seen = observe(servers, work, blocks, lambda done, whole, arm: told(done))
        return run_until_signal(seen)


def _started(arm: Wanted, command: str | None) -> Wanted:
    from lockstep.certify.config import Command

    return arm if command is None else replace(arm, launch=Command(command), adapter=None)


def _peer(command: str | None, endpoint: str | None, controlled: bool) -> Wanted:
    from lockstep.certify.config import Command
    from lockstep.measure.load import REQUESTED
    from lockstep.measure.server import Wanted

    launch = None if command is None else Command(command)
    return Wanted("peer", "peer", launch, endpoint, controlled, requested=REQUESTED)


def lengths_of(text: str, option: str) -> tuple[int, ...]:
    """Read lengths of prompts.

    Raises:
        LockstepError: USAGE.
    """
    from lockstep.errors import LockstepError

    parts = text.split(",")
    if not all(part.isascii() and part.isdecimal() and 0 < int(part) <= 1 << 24 for part in parts):
        raise LockstepError("USAGE", option, "lengths as 48,96,640", text)
    return tuple(map(int, parts))


def _criteria(
    texts: Sequence[str], comparisons: list[tuple[str, str]], arms: Sequence[str]
) -> list[Criterion]:
    """Read criteria; a pair that is not compared yet is compared as well."""
    from lockstep.claims.throughput import Criterion
    from lockstep.errors import LockstepError

    found = []
    for text in texts:
        match = _CRITERION.fullmatch(text)
        pair = ("", "") if match is None else (match["a"], match["b"])
        if match is None or not set(pair) <= set(arms) or pair[0] == pair[1]:
            wanted, hint = "as 'peer/invariant below 0.15'", f"Arms are {', '.join(arms)}."
            raise LockstepError("USAGE", "--criterion", wanted, text, hint)
        if pair not in comparisons:
            comparisons.append(pair)
        millionths = int(Decimal(match["threshold"]) * 1_000_000)
        found.append(Criterion(comparisons.index(pair), millionths, match["kills"]))
    return found


def pinned(arms: Sequence[Wanted], texts: Sequence[str]) -> list[Wanted]:
    """Give arms with the recorded constants that options state.

    Raises:
        LockstepError: USAGE, no such arm or field.
    """
    from lockstep import spec
    from lockstep.errors import LockstepError

    recorded: dict[str, dict[str, str]] = {arm.name: {} for arm in arms}
    names = spec.load("probe.json")["pins"]
    for text in texts:
        match = _PIN.fullmatch(text)
        if match is None or match["arm"] not in recorded or match["name"] not in names:
            hint = f"Arms are {', '.join(recorded)}; fields are {', '.join(names)}."
            raise LockstepError("USAGE", "--pin", "as fast.runtime_version=0.1.0", text, hint)
        recorded[match["arm"]][match["name"]] = match["value"]
    return [replace(arm, recorded=recorded[arm.name]) for arm in arms]


def summary(predicate: Mapping[str, Any]) -> list[str]:
    """Give the lines that sum up a run over arms for people; ratios alone, no times."""
    counts = predicate["counts"]
    lines = [
        f"verdict: {predicate['verdict']}; {counts['samples']} samples of {counts['arms']} arms, "
        f"{counts['samples_refused']} refused"
    ]
    lines += [ratio(one) for one in predicate["comparisons"]]
    for one in predicate["criteria"]:
        compared = predicate["comparisons"][one["comparison"]]
        bar = f"{one['threshold_ppm'] / 1e6:g}"
        told = {
            "not_separable": f"not separable from {bar} at {compared['pairs']} pairs",
            "below": f"below {bar}",
            "above": f"above {bar}",
        }[one["outcome"]]
        killed = ": the criterion is met" if one["killed"] else ""
        lines.append(f"criterion {compared['a']}/{compared['b']}: {told}{killed}")
    return lines


def ratio(one: Mapping[str, Any]) -> str:
    """Say a comparison in a line: its ratio with the interval, and what is flagged."""
    what = f"{one['a']} to {one['b']}: {one['verdict']}"
    if one["median"] is None:
        what += f", no interval over {one['pairs']} pairs"
    else:
        low, median, high = (f"{one[end]['ppm'] / 1e6:.3f}" for end in ("low", "median", "high"))
        what += f", ratio {median}, {low} to {high} at {one['coverage_ppm'] / 1e4:.1f} %"
    return what + (f"; flagged: {', '.join(one['flags'])}" if one["flags"] else "")
