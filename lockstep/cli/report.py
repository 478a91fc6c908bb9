"""`lockstep report`: certificates as one HTML file that opens anywhere."""

from __future__ import annotations

from pathlib import Path

import typer

PATHS = typer.Argument([Path("evidence")], help="Certificates, or folders of them.")
OUT = Path("results", "report.html")


def register(app: typer.Typer) -> None:
    """Add the command `report`."""

    @app.command()
    def report(
        paths: list[Path] = PATHS,
        trust: Path | None = typer.Option(None, help="Trust policy for the verification."),
        withdrawals: Path | None = typer.Option(None, help="Folder of withdrawals to heed."),
        out: Path = typer.Option(OUT, "--out", "-o", help="HTML file to write."),
    ) -> None:
        """Verify certificates and draw them as one HTML file, which needs no network.

        Of a certificate that is refused nothing is drawn but its code. The exit status speaks of
        the file: `lockstep-verify` says of certificates whether they pass.

        Example: lockstep report evidence --trust evidence/trust.json
        """
        from lockstep.certificate.write import write_file
        from lockstep.cli import say
        from lockstep.cli.options import require_output
        from lockstep.cli.tables import printable
        from lockstep.report import certificates
        from lockstep.report.page import build

        if out == OUT:
            out.parent.mkdir(exist_ok=True)
        require_output(out, "--out")
        judged = certificates.judged(certificates.found(paths), trust, withdrawals, out)
        write_file(out, build(judged))
        refused = [one for one in judged if not one.verified]
        many = "certificate" if len(judged) == 1 else "certificates"
        say(f"{out}: {len(judged)} {many}, {len(refused)} refused")
        for one in refused:
            say(f"  refused {printable(one.name)}: {one.result['code']}")
