"""`lockstep fidelity` and `lockstep golden`: logits beside binary64, and beside earlier ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer


def register(app: typer.Typer) -> None:
    """Add the commands `fidelity` and `golden`."""
    app.command("fidelity")(fidelity)
    app.command("golden")(golden)


def fidelity(
    model: Path | None = typer.Option(
        None, "--model", help="A model's folder (default: a tiny one, made here)."
    ),
    backend: str = typer.Option("host", help="host, triton, fast, fast_torch or padded_tiles."),
    dtype: str | None = typer.Option(None, help="float32 or float16 (default: the backend's)."),
    output: Path = typer.Option(
        Path("fidelity.cert.json"), "--output", "-o", help="Certificate to write."
    ),
    key: Path | None = typer.Option(None, help="Signing key (default: one made for this run)."),
    issued_at: str | None = typer.Option(None, help="YYYY-MM-DDTHH:MM:SSZ (default: now)."),
) -> None:
    """Compare logits with those of binary64 over a corpus, and sign what was measured.

    A measure out of its bound (spec/fidelity.json) is refused, and nothing is written.

    Example: lockstep fidelity -o results/fidelity.cert.json
    """
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from lockstep.certificate import keys, times
    from lockstep.certificate.write import write_file
    from lockstep.cli import say
    from lockstep.cli.hunt import progress, verified_with
    from lockstep.engine.tiny import TinyModel
    from lockstep.issue import issue_fidelity

    issued_at = times.claimed(issued_at)
    if not output.parent.is_dir():
        raise typer.BadParameter(f"{output.parent} is no folder", param_hint="--output")
    signer = keys.load_key(key) if key else Ed25519PrivateKey.generate()
    issued = issue_fidelity(
        model or TinyModel(),
        [signer],
        issued_at=issued_at,
        command=f"lockstep fidelity --backend {backend}" + (f" --dtype {dtype}" if dtype else ""),
        backend=backend,
        dtype=dtype,
        progress=progress(),
    )
    write_file(output, issued.certificate)
    say(f"wrote {output}, {len(issued.certificate):,} bytes")
    for line in summary(issued.predicate):
        say(line)
    result = verified_with(output, signer, None, output.parent)
    say(f"lockstep-verify, under a policy that trusts this key alone: {result['code']}")
    if result["exit"]:
        say(f"  at {result['pointer'] or 'the document'}; lockstep-verify says more")
        raise typer.Exit(3)


def summary(predicate: dict[str, Any]) -> list[str]:
    """Give the lines that sum up a run of F1 for people."""
    counts = predicate["counts"]
    measures = [
        f"  {measure['name']:18} {measure['value']:>18,} ({measure['limit']} {measure['bound']:,})"
        for measure in predicate["measures"]
    ]
    return [
        f"{counts['logit_rows']} positions of {counts['prompts']} prompts, of which "
        f"{counts['logit_rows_past_split']} past the first split of attention; "
        f"{counts['top_agreements']} top tokens agree, {counts['near_ties']} near ties",
        *measures,
    ]


def golden(
    backend: str = typer.Option("host", help="host, or another; each has its own binding."),
    baseline: Path = typer.Option(
        Path("evidence/golden.json"), "--baseline", help="Golden digests to compare with."
    ),
    new_claim: bool = typer.Option(
        False,
        "--new-claim",
        help="Write the baseline anew instead: a new claim, that these bytes are right.",
    ),
) -> None:
    """Compare raw logit bytes of the corpus with golden digests made under the same binding.

    Exit status 0: all that is comparable is equal; 3: something differs, or nothing is comparable.

    Example: lockstep golden
    """
    from lockstep.cli import say
    from lockstep.cli.hunt import progress
    from lockstep.engine.opening import open_model
    from lockstep.errors import LockstepError
    from lockstep.fidelity import golden as digests

    held = () if new_claim else digests.read_baseline(baseline)
    tell = progress()
    here = [
        digests.golden(open_model(recipe, backend, dtype), progress=tell)
        for recipe, dtype in digests.SUBJECTS
    ]
    if new_claim:
        digests.write_baseline(baseline, here)
        say(f"wrote {baseline}: a new claim, for {sum(len(e.prompts) for e in here)} digests")
        return
    mine = {entry.binding["backend"] for entry in here}
    found = digests.compare([e for e in held if e.binding["backend"] in mine], here)
    say(f"equal: {found.equal} golden digests; NOT_COMPARABLE: {found.not_comparable}")
    for reason in found.reasons:
        say(f"  another binding: {reason}")
    if not found.equal:
        what = found.reasons[0] if found.reasons else f"no digests of backend {backend}"
        raise LockstepError("NOT_COMPARABLE", str(baseline), "an equal binding", what)
