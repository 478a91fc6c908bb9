"""`lockstep sampling distance`, `recompute`, `calibrate`: what was signed, beside a model."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from lockstep.cli import options

if TYPE_CHECKING:
    from lockstep.sampling.compare import Calibration, Distance
    from lockstep.sampling.observe import Judged

OUTPUT = options.certificate("distance-calibration.cert.json")
SEQUENCES = typer.Argument(
    ..., help="JSON: sequences of request, choice, artifact; or a certificate."
)
PROMPTS = typer.Option(None, "--prompts", help="JSON object: token ids by inference id.")


def register(group: typer.Typer) -> None:
    """Add the commands to the group `lockstep sampling`."""
    group.command()(distance)
    group.command()(recompute)
    group.command()(calibrate)


def distance(
    sequences: Path = SEQUENCES,
    against: Path | None = typer.Option(None, "--against", help="What `recompute` wrote."),
    model: Path | None = typer.Option(None, "--model", help="Recompute here: a model's folder."),
    prompts: Path | None = PROMPTS,
    backend: str = options.BACKEND,
    dtype: str | None = options.DTYPE,
    calibration: Path | None = typer.Option(
        None, "--calibration", help="Certificate that thresholds come from."
    ),
    trust: Path | None = typer.Option(None, "--trust", help="Trust policy for its signer."),
    enforce: bool = typer.Option(False, "--enforce", help="Fail unless all are within."),
) -> None:
    """Say for each sequence whether what was signed is within a calibrated distance of a model.

    Nothing is enforced by itself: exit status 0 whatever is found; with --enforce 3, unless replay
    calls every sequence honest and each is within.

    Example: lockstep sampling distance sequences.json --against recomputed.json
    --calibration evidence/distance-calibration.cert.json --trust evidence/trust.json
    """
    from lockstep.cli import say
    from lockstep.cli.sampling import read_judged
    from lockstep.sampling.compare import compare
    from lockstep.sampling.recomputed import read_recomputed
    from lockstep.schedule.document import read_document

    if (against is None) == (model is None):
        raise typer.BadParameter("one of --against and --model", param_hint="--against")
    judged = read_judged(sequences)
    calibrated, said = (
        (None, "none was given") if calibration is None else _read(calibration, trust)
    )
    if against is not None:
        document, source = read_document(against), str(against)
    else:
        document, source = _recomputed(judged, model, prompts, backend, dtype), ""
    recomputed = read_recomputed(document, source)
    found = [compare(one, recomputed, calibrated) for one in judged]
    say(f"calibration: {said}")
    for one, result in zip(judged, found, strict=True):
        for line in lines(one, result):
            say(line)
    passed = all(
        one.outcome.verdict == "honest" and result.verdict == "within"
        for one, result in zip(judged, found, strict=True)
    )
    say("nothing is enforced" if not enforce else f"enforced: {'passed' if passed else 'failed'}")
    if enforce and not passed:
        raise typer.Exit(3)


def recompute(
    sequences: Path = SEQUENCES,
    model: Path = typer.Option(..., "--model", help="The validator's copy of the model: a folder."),
    prompts: Path | None = PROMPTS,
    backend: str = options.BACKEND,
    dtype: str | None = options.DTYPE,
    output: Path = typer.Option(Path("recomputed.json"), "--output", "-o", help="File to write."),
) -> None:
    """Write what a model gives at the tokens of sequences, for `lockstep sampling distance`.

    Example: lockstep sampling recompute sequences.json --model qwen3 --prompts prompts.json
    """
    from lockstep.certificate.write import write_file
    from lockstep.cli import say
    from lockstep.cli.sampling import read_judged

    options.require_output(output)
    document = _recomputed(read_judged(sequences), model, prompts, backend, dtype)
    write_file(output, json.dumps(document, separators=(",", ":")).encode("ascii") + b"\n")
    say(f"wrote {output}: {len(document['sequences'])} sequences")


def calibrate(
    model: Path | None = options.MODEL,
    smaller: Path | None = typer.Option(
        None, "--smaller", help="A smaller model of the same vocabulary (default: half the layers)."
    ),
    other: Path | None = typer.Option(
        None, "--other", help="Another model of the same vocabulary (default: a tiny one)."
    ),
    accepts: int | None = typer.Option(
        None, "--accepts", min=1, help="Rungs that count as the model (default: the honest ones)."
    ),
    tokens: int = typer.Option(8, "--support", min=1, max=1024, help="Tokens of each support."),
    texts: int = typer.Option(8, "--texts", min=2, max=64, help="How many texts."),
    length: int = typer.Option(32, "--length", min=1, max=4096, help="Tokens of each text."),
    output: Path = OUTPUT,
    key: Path | None = options.OWN_KEY,
    issued_at: str | None = options.ISSUED_AT,
) -> None:
    """Compute a ladder of a model, from honest schedules to another model, and sign what it shows.

    A rung that the thresholds do not tell apart is a result, and is signed as such.

    Example: lockstep sampling calibrate -o results/distance-calibration.cert.json
    """
    from lockstep.certificate import times
    from lockstep.cli.progress import bar
    from lockstep.cli.signing import conclude, own_key
    from lockstep.issue_distance import issue_distance_calibration
    from lockstep.sampling import ladder
    from lockstep.sampling.recast import blended

    issued_at = times.claimed(issued_at)
    options.require_output(output)
    signer = own_key(key)
    rungs = ladder.rungs_of(with_other=model is None or other is not None)
    computing = bar("computing the rungs", len(rungs) + 1)
    with tempfile.TemporaryDirectory() as scratch, computing as tell:
        seen = ladder.observe(
            model or blended(Path(scratch, "tiny")),
            Path(scratch),
            lambda what, done, whole: tell(done),
            smaller=smaller,
            other=other,
            rungs=rungs,
            support_tokens=tokens,
            texts=texts,
            tokens=length,
        )
    issued = issue_distance_calibration(
        seen,
        ladder.HONEST if accepts is None else accepts,
        [signer],
        issued_at=issued_at,
        command="lockstep sampling calibrate",
    )
    if conclude(output, issued.certificate, summary(issued.predicate), signer):
        raise typer.Exit(3)


def lines(judged: Judged, found: Distance) -> list[str]:
    """Give the lines that tell of a sequence's distance, beside what replay said."""
    from lockstep import spec
    from lockstep.cli.payload_distance import gate_name, nats

    request = judged.request["inference_id"]
    reason = f": {found.reason}" if found.reason else ""
    told = [
        f"{request} choice {judged.choice}: replay {judged.outcome.verdict}, distance "
        f"{found.verdict}{reason}; {found.positions} positions measured"
    ]
    gates = spec.load("distance-calibration.json")["gates"]
    for place, statistic in enumerate(found.statistics):
        gate = gates[place]
        name = gate["measure"]
        most = found.thresholds[place] if found.thresholds else None
        beside = "" if most is None else f", at most {nats(name, most)}"
        above = " (beyond)" if most is not None and statistic > most else ""
        told.append(f"  {gate_name(gate)}: {nats(name, statistic)} nat{beside}{above}")
    return told


def summary(predicate: dict[str, Any]) -> list[str]:
    """Give the lines that sum up a calibration for people."""
    chosen = predicate["placements"][predicate["accepts"] - 1]
    from lockstep.cli.payload_distance import nats

    told = [
        f"{rung['name']}: {outcome}; median mae {nats('mae', rung['quantiles'][0][1])} nat"
        for rung, outcome in zip(predicate["rungs"], chosen["outcomes"], strict=True)
    ]
    counts = predicate["counts"]
    return [
        *told,
        f"{predicate['verdict']}: {counts['held']} of {counts['accepted']} accepted rungs held, "
        f"{counts['separated']} of {counts['rungs'] - counts['accepted']} others separated",
    ]


def _recomputed(
    judged: tuple[Judged, ...],
    model: Path | None,
    prompts: Path | None,
    backend: str,
    dtype: str | None,
) -> dict[str, Any]:
    from lockstep.engine.opening import open_model
    from lockstep.sampling.recomputed import recompute as by_model
    from lockstep.schedule.document import read_document

    if model is None or prompts is None:
        raise typer.BadParameter(
            "needed to recompute: a request has no prompt", param_hint="--prompts"
        )
    opened = open_model(model, backend, dtype)
    return by_model(opened.model, opened.checkpoint.sha256, judged, read_document(prompts))


def _read(path: Path, trust: Path | None) -> tuple[Calibration, str]:
    """Read a calibration that the verifier derived anew, and say whose word it is.

    Raises:
        LockstepError: PREDICATE_UNKNOWN, or the code of the verifier's refusal.
    """
    from lockstep.claims.distance_calibration import PREDICATE_TYPE, digest
    from lockstep.cli.verified import verified
    from lockstep.sampling.compare import calibration_of

    predicate, known = verified(path, trust, PREDICATE_TYPE)
    sha256 = digest(predicate)
    signed = "signed by a trusted key" if known else "derived anew; its signer was not looked at"
    said = f"{sha256[:16]}…, {predicate['verdict']}, {signed}"
    return calibration_of(predicate, sha256), said
