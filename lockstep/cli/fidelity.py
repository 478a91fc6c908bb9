"""`lockstep fidelity` and `lockstep golden`: logits beside binary64, and beside earlier ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from lockstep.cli import options

OUTPUT = options.certificate("fidelity.cert.json")


def register(app: typer.Typer) -> None:
    """Add the commands `fidelity` and `golden`."""
    app.command("fidelity")(fidelity)
    app.command("golden")(golden)


def fidelity(
    model: Path | None = options.MODEL,
    backend: str = options.BACKEND,
    dtype: str | None = options.DTYPE,
    output: Path = OUTPUT,
    key: Path | None = options.OWN_KEY,
    issued_at: str | None = options.ISSUED_AT,
) -> None:
    """Compare logits with those of binary64 over a corpus, and sign what was measured.

    A measure out of its bound (spec/fidelity.json) is refused, and nothing is written.

    Example: lockstep fidelity -o results/fidelity.cert.json
    """
    from lockstep.certificate import times
    from lockstep.cli.hunt import progress
    from lockstep.cli.signing import conclude, own_key
    from lockstep.engine.tiny import TinyModel
    from lockstep.issue import issue_fidelity

    issued_at = times.claimed(issued_at)
    options.require_output(output)
    signer = own_key(key)
    issued = issue_fidelity(
        model or TinyModel(),
        [signer],
        issued_at=issued_at,
        command=f"lockstep fidelity --backend {backend}" + (f" --dtype {dtype}" if dtype else ""),
        backend=backend,
        dtype=dtype,
        progress=progress(),
    )
    if conclude(output, issued.certificate, summary(issued.predicate), signer):
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
    backend: str = options.BACKEND,
    baseline: Path | None = typer.Option(
        None, "--baseline", help="Golden digests to compare with (default: this checkout's)."
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

    baseline = baseline or _committed()
    if new_claim:
        options.require_output(baseline, "--baseline")
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


def _committed() -> Path:
    """Give the checkout's baseline.

    Raises:
        LockstepError: USAGE, this is no checkout.
    """
    from lockstep import spec
    from lockstep.errors import LockstepError

    path = spec.root().parent / "evidence" / "golden.json"
    if spec.root().name != "spec" or not path.parent.is_dir():
        hint = "--baseline FILE names digests; with --new-claim they are made."
        raise LockstepError("USAGE", "--baseline", "a file, or a checkout", "neither", hint)
    return path
