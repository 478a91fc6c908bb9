"""`lockstep sampling`: seeds, weights, verdicts on sampled sequences, and their certificate."""

from __future__ import annotations

import base64
import binascii
import json
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from lockstep.certificate.statement import predicate_type
from lockstep.cli import distance, options, sampling_experiments
from lockstep.cli.tables import printable
from lockstep.errors import LockstepError

if TYPE_CHECKING:
    from collections.abc import Callable

    from lockstep.sampling.observe import Judged
    from lockstep.sampling.parity import Parity
    from lockstep.sampling.replay import Look

OUTPUT = options.certificate("sampling.cert.json")
V1, UPSTREAM = "sampling/v1", "upstream-1.0.0"
PROFILE = typer.Option(V1, "--profile", help=f"{V1} or {UPSTREAM}.")

_group = typer.Typer(no_args_is_help=True, help="Replay sampled tokens from signed numbers.")


def register(app: typer.Typer) -> None:
    """Add the command group to the command line."""
    distance.register(_group)
    sampling_experiments.register(_group)
    app.add_typer(_group, name="sampling")


@_group.command()
def seed(
    user_seed: int = typer.Option(..., "--user-seed", help="From -2^63 to 2^63 - 1."),
    inference_id: str = typer.Option(..., "--inference-id", help="The chain's id of the request."),
    beacon: str = typer.Option("", "--beacon", help="64 hex digits that nobody could choose."),
    choice: int = typer.Option(0, "--choice", help="Index of the sequence."),
    position: int = typer.Option(0, "--position", help="Index of the token."),
    profile: str = PROFILE,
) -> None:
    """Print the seed of a position.

    Example: lockstep sampling seed --user-seed 7 --inference-id chain-abc --position 3
    """
    from lockstep.cli import say
    from lockstep.sampling.seed import (
        Origin,
        derive_seed,
        upstream_position_seed,
        upstream_seed,
    )

    if _require_profile(profile) == V1:
        say(derive_seed(Origin(user_seed, inference_id, beacon), choice, position))
        return
    if beacon or choice:
        raise typer.BadParameter("that profile has neither beacon nor choice")
    say(upstream_position_seed(upstream_seed(user_seed, inference_id), position))


@_group.command()
def weights(
    support: Path = typer.Argument(..., help='JSON: log-probabilities by token, as {"5": "-0.5"}.'),
    temperature: str = typer.Option(..., "--temperature", help="A decimal, such as 0.7."),
    top_k: int | None = typer.Option(None, "--top-k", help="0 and -1 are off."),
    top_p: str | None = typer.Option(None, "--top-p", help="1 and more is off."),
    min_p: str | None = typer.Option(None, "--min-p", help="0 is off."),
    draw_seed: str | None = typer.Option(None, "--seed", help="Draw a token with it, too."),
    profile: str = PROFILE,
) -> None:
    """Print the weights of a support as JSON, in string order, and the token that a seed draws.

    Example: lockstep sampling weights support.json --temperature 0.7 --top-k 20
    """
    from lockstep.cli import say
    from lockstep.sampling import upstream
    from lockstep.sampling.categorical import draw
    from lockstep.sampling.parameters import resolve
    from lockstep.sampling.weighting import weights as weigh
    from lockstep.schedule.document import read_document

    given = read_document(support)
    if _require_profile(profile) == V1:
        made = weigh(given, resolve(temperature, top_k, top_p, min_p))
    else:
        made = upstream.weights(
            given, upstream.UpstreamParameters(temperature, top_k, top_p, min_p)
        )
    say(json.dumps(made))
    if draw_seed is not None:
        say(draw(made, draw_seed))


@_group.command()
def replay(
    sequences: Path = typer.Argument(..., help="JSON: sequences of request, choice, artifact."),
    batch: bool | None = typer.Option(
        None, "--batch/--one-by-one", help="Many positions at a time (default: with NumPy)."
    ),
    jobs: int = typer.Option(1, "--jobs", min=1, max=64, help="Processes side by side."),
) -> None:
    """Judge sequences of a file, or of a certificate, and say what each came to.

    Neither way of judging positions, nor the number of processes, changes any outcome. Exit status
    0: honest; 3: any other verdict.

    Example: lockstep sampling replay sequences.json --jobs 2
    """
    from lockstep.claims.sampling import totals, verdict
    from lockstep.cli import say
    from lockstep.sampling.paths import choose

    path = choose(batch)
    judged = read_judged(sequences, path.look, jobs)
    counts = totals(judged)
    for line in summary(judged, counts, verdict(counts)):
        say(line)
    say(f"positions were judged {path.name}")
    if verdict(counts) != "honest":
        raise typer.Exit(3)


@_group.command()
def sign(
    sequences: Path = typer.Argument(..., help="JSON: sequences of request, choice, artifact."),
    output: Path = OUTPUT,
    key: Path | None = options.OWN_KEY,
    issued_at: str | None = options.ISSUED_AT,
) -> None:
    """Judge sequences and sign them with their verdicts, whatever these are.

    Example: lockstep sampling sign sequences.json -o results/sampling.cert.json
    """
    from lockstep.certificate import times
    from lockstep.cli.signing import conclude, own_key
    from lockstep.issue_sampling import issue_sampling

    issued_at = times.claimed(issued_at)
    options.require_output(output)
    judged = read_judged(sequences)
    signer = own_key(key)
    issued = issue_sampling(judged, [signer], issued_at=issued_at, command="lockstep sampling sign")
    told = issued.predicate
    if conclude(
        output, issued.certificate, summary(judged, told["counts"], told["verdict"]), signer
    ):
        raise typer.Exit(3)


@_group.command(context_settings={"ignore_unknown_options": True})
def parity(
    command: list[str] = typer.Argument(..., metavar="-- CMD", help="What to compare with."),
    count: int = typer.Option(20_000, "--positions", min=1, help="How many positions."),
    seed: str = typer.Option("1", "--seed", help="The same seed gives the same positions."),
    jobs: int = typer.Option(1, "--jobs", min=1, max=64, help="Processes side by side."),
) -> None:
    """Compare weights and tokens with another implementation's on random positions.

    CMD answers the op sampling_token of conformance/README.md. Exit status 0 only without a
    difference; 3 with one.

    Example: lockstep sampling parity --positions 5000 -- lockstep-verify-go --protocol
    """
    import shutil

    from lockstep.cli import say
    from lockstep.sampling.parity import compare

    if shutil.which(command[0]) is None:
        raise typer.BadParameter(f"no command {command[0]}", param_hint="CMD")
    found = compare(command, seed, count, jobs, _every(count))
    for difference in found.first:
        say(json.dumps(difference._asdict()))
    say(
        f"seed {seed}: {found.positions} positions, {found.upstream} of them of {UPSTREAM}; "
        f"{found.refused} refused; {found.differences} differences"
    )
    if found.differences:
        raise typer.Exit(3)


def _every(count: int) -> Callable[[Parity], None]:
    """Give a function that says how far a comparison is, twenty times in all."""
    told = 0

    def progress(found: Parity) -> None:
        nonlocal told
        done = found.positions
        if done * 20 // count > told and done < count:
            told = done * 20 // count
            said = f"{done} of {count} positions, {found.differences} differences"
            typer.echo(said, err=True)

    return progress


def summary(judged: tuple[Judged, ...], counts: dict[str, int], verdict: str) -> list[str]:
    """Give the lines that sum up judged sequences for people."""
    lines = []
    for one in judged:
        found = one.outcome
        at = "" if found.position is None else f" at position {found.position}"
        reason = f": {found.reason}{at}" if found.reason else ""
        # The executor's own names of members may stand in it.
        reason += f" (no artifact: {printable(one.fault)})" if one.fault else ""
        lines.append(
            f"{one.request['inference_id']} choice {one.choice}: {found.verdict}{reason}; "
            f"{found.covered} of {found.positions} positions covered"
        )
    lines += _telemetry(judged)
    return [
        *lines,
        f"{verdict}: {counts['positions_covered']} of {counts['positions']} positions covered, "
        f"{counts['fraud_positions']} with another token, {counts['invalid_positions']} invalid",
    ]


def _telemetry(judged: tuple[Judged, ...]) -> list[str]:
    """Give the perplexity of what was signed for sampled tokens; it enters no verdict."""
    from lockstep.sampling.document import read_artifact
    from lockstep.sampling.number import is_logprob
    from lockstep.sampling.perplexity import perplexity, sampled

    signed = [
        (
            position.token,
            {token: text for token, text in position.support or () if is_logprob(text)},
        )
        for one in judged
        if one.outcome.covered
        for position in read_artifact(one.artifact).positions
    ]
    found = perplexity(sampled(signed))
    return [] if found is None else [f"perplexity of the tokens as signed: {found:.6g} (telemetry)"]


def _require_profile(profile: str) -> str:
    if profile not in (V1, UPSTREAM):
        raise typer.BadParameter(f"{V1} or {UPSTREAM}", param_hint="--profile")
    return profile


def read_judged(path: Path, look: Look | None = None, jobs: int = 1) -> tuple[Judged, ...]:
    """Read and judge what holds sequences: a document of them, or a certificate.

    Args:
        path: of the file.
        look: judges positions (default: one by one).
        jobs: processes at a time.

    Raises:
        LockstepError: as `read_document` and `judge`; BASE64_NONCANONICAL, PREDICATE_UNKNOWN.
    """
    from lockstep.sampling.observe import judge
    from lockstep.sampling.replay import one_by_one
    from lockstep.schedule.document import parse_document, read_document

    document = read_document(path)
    if "payload" in document:
        try:
            payload = base64.b64decode(document["payload"], validate=True)
        except (binascii.Error, TypeError, ValueError) as fault:
            raise LockstepError("BASE64_NONCANONICAL", str(path), "base64", repr(fault)) from None
        document = parse_document(payload, str(path))
    if "predicateType" in document:
        wanted = predicate_type("sampling")
        if document["predicateType"] != wanted or not isinstance(document.get("predicate"), dict):
            got = document["predicateType"]
            raise LockstepError("PREDICATE_UNKNOWN", f"{path}:/predicateType", wanted, got)
        document = document["predicate"]
    return judge(document, str(path), look or one_by_one, jobs)
