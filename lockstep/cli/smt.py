"""`lockstep smt`: prove layouts at real sizes and the lifecycle with both solvers, and sign."""

from pathlib import Path
from typing import Any

import typer

from lockstep.cli.options import require_folder


def register(app: typer.Typer) -> None:
    """Add the command `smt`."""

    @app.command()
    def smt(
        name: str = typer.Option("engines", "--set", help="A set of layouts/sets, or a TOML file."),
        out: Path = typer.Option(
            Path("results/smt"), help="Folder of the certificate and its scripts."
        ),
        lifecycle: bool = typer.Option(True, help="Prove the lifecycle too."),
        key: Path | None = typer.Option(None, help="Signing key (default: one made for this run)."),
        issued_at: str | None = typer.Option(None, help="YYYY-MM-DDTHH:MM:SSZ (default: now)."),
        solve: bool = typer.Option(False, help="Let the verifier ask solvers on the PATH again."),
    ) -> None:
        """Prove the layouts of a set at the geometries of spec/smt.json, and the lifecycle.

        Both z3 and cvc5 must give the expected answer to every query. The certificate and the
        scripts, which any solver reads, are written and then verified.

        Example: lockstep smt --set engines
        """
        from lockstep.certificate import times
        from lockstep.cli.hunt import progress
        from lockstep.cli.signing import conclude, own_key
        from lockstep.issue import issue_smt
        from lockstep.layouts.sets import load_set

        issued_at = times.claimed(issued_at)
        layouts = load_set(name)
        signer = own_key(key)
        require_folder(out, "--out")
        out.mkdir(parents=True, exist_ok=True)
        options = "" if lifecycle else " --no-lifecycle"
        issued = issue_smt(
            layouts,
            [signer],
            issued_at=issued_at,
            command=f"lockstep smt --set {layouts.name}{options}",
            folder=out,
            lifecycle=lifecycle,
            progress=progress(),
        )
        asked = ["--solve"] if solve else []
        lines = summary(issued.predicate)
        if conclude(out / "smt.cert.json", issued.certificate, lines, signer, asked=asked):
            raise typer.Exit(3)


def summary(predicate: dict[str, Any]) -> list[str]:
    """Give the lines that sum up a run of proofs for people."""
    counts, coverage = predicate["counts"], predicate["coverage"]
    solvers = " and ".join(f"{entry['name']} {entry['version']}" for entry in predicate["solvers"])
    lines = [
        f"{counts['queries']} queries, each answered as expected by {solvers}",
        f"layouts: {coverage['layouts_proved']} of {counts['layouts']} at a geometry, "
        f"{coverage['layouts_proved_for_any_tokens']} for any token count; {counts['proofs']} "
        f"proofs, {counts['guards']} planted strides, each with a counterexample that was replayed",
        f"not applicable: {counts['not_applicable']} of {counts['combinations']} combinations",
        f"lifecycle: {counts['lifecycle_proofs']} proofs, {counts['lifecycle_traces']} traces",
    ]
    return lines if predicate["lifecycle"] is not None else [*lines[:3], "lifecycle: not made"]
