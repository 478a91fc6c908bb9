"""`lockstep sampling experiments` and `rollout`: what was found, and what blocks acting on it."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import typer

from lockstep.cli import options

OUTPUT = options.certificate("sampling-experiments.cert.json")
BLOCKED = 3
"""Exit status where a condition does not hold."""


def register(group: typer.Typer) -> None:
    """Add the commands to `lockstep sampling`."""
    group.command()(experiments)
    group.command()(rollout)


def experiments(
    texts: int = typer.Option(8, "--texts", min=1, max=64, help="Texts of experiments 1 to 7."),
    length: int = typer.Option(64, "--length", min=1, max=256, help="Tokens of each."),
    requests: int = typer.Option(24, "--requests", min=4, max=64, help="Served in experiment 8."),
    trials: int = typer.Option(48, "--trials", min=1, max=1024, help="Of experiment 9."),
    output: Path = OUTPUT,
    key: Path | None = options.OWN_KEY,
    issued_at: str | None = options.ISSUED_AT,
) -> None:
    """Ask the nine questions about reproducible sampling of the engine, and sign what was seen.

    Example: lockstep sampling experiments -o results/sampling-experiments.cert.json
    """
    from lockstep.certificate import times
    from lockstep.cli.progress import bar
    from lockstep.cli.signing import conclude, own_key
    from lockstep.issue_sampling_experiments import issue_sampling_experiments
    from lockstep.sampling.experiments import Scale, observe

    issued_at = times.claimed(issued_at)
    options.require_output(output)
    signer = own_key(key)
    scale = Scale(texts, length, requests, trials)
    with tempfile.TemporaryDirectory() as scratch, bar("experiments", 5) as tell:
        seen = observe(Path(scratch), lambda what, done, whole: tell(done), scale)
    command = "lockstep sampling experiments"
    issued = issue_sampling_experiments(seen, [signer], issued_at=issued_at, command=command)
    if conclude(output, issued.certificate, summary(issued.predicate), signer):
        raise typer.Exit(BLOCKED)


def rollout(
    experiments: Path = typer.Option(
        ..., "--experiments", help="Certificate of kind sampling-experiments."
    ),
    calibration: Path = typer.Option(
        ..., "--calibration", help="Certificate of kind distance-calibration."
    ),
    trust: Path | None = typer.Option(
        None, "--trust", help="Policy that both must be signed under."
    ),
    positions: int | None = typer.Option(
        None, "--positions", min=1, help="Replayed positions that are demanded, if more."
    ),
    model_sha256: str | None = typer.Option(
        None, "--model-sha256", help="Digest of the model that is served, 64 hex digits."
    ),
) -> None:
    """Say whether verdicts on sampling may be acted on, and if not, what blocks.

    Nothing is opened by this command. Exit status 0: no condition blocks; 3: one does.

    Example: lockstep sampling rollout --experiments evidence/sampling-experiments.cert.json
    --calibration evidence/distance-calibration.cert.json --trust evidence/trust.json
    """
    from lockstep.claims import distance_calibration, sampling_experiments
    from lockstep.cli import say
    from lockstep.cli.verified import verified
    from lockstep.sampling.rollout import conditions, least

    seen, signed = verified(experiments, trust, sampling_experiments.PREDICATE_TYPE)
    held, also = verified(calibration, trust, distance_calibration.PREDICATE_TYPE)
    demanded = max(least(), positions or 0)
    found = conditions(seen, held, demanded, model_sha256)
    for one in found:
        say(f"{'blocks' if one.blocks else 'holds ':6}  {one.name}: {one.found}")
    if not (signed and also):
        say("blocks  signers: no policy was given, so nobody is trusted")
    blocking = sum(one.blocks for one in found) + (not (signed and also))
    if blocking:
        say(f"verdicts enforce nothing: {blocking} conditions block")
        raise typer.Exit(BLOCKED)
    say("no condition blocks: enforcement may be opened by whoever acts on verdicts")


def summary(predicate: dict[str, Any]) -> list[str]:
    """Give the lines that sum up experiments for people."""
    counts = predicate["counts"]
    return [
        *(
            f"experiment {one['experiment']}, {one['name']}: {one['outcome']}"
            for one in predicate["experiments"]
        ),
        f"replay: {counts['replay_differing']} of {counts['replay_positions']} positions differ",
        f"{predicate['verdict']}: {counts['shown']} of {counts['experiments']} shown",
    ]
