"""`lockstep demo`: the main job from end to end, as `make run` shows it."""

import shutil
from pathlib import Path

import typer

from lockstep.cli.options import require_folder

SAME = {
    "rows": "rows",
    "exact_byte": "exact_byte",
    "exact_token": "exact_token",
    "not_exact": "not_exact",
    "refused": "refused",
    "unproven": "unproven",
    "positions_checked": "destination_positions_checked",
    "source_positions_checked": "source_positions_checked",
    "distinct_positions": "distinct_positions",
}
"""Counts of the hunt that must equal counts of the published document, by their names there."""


def register(app: typer.Typer) -> None:
    """Add the command `demo`."""

    @app.command()
    def demo(
        folder: Path = typer.Option(Path("results/demo"), help="Where the results go."),
    ) -> None:
        """Hunt, sign and verify, re-derive a document that others published, certify a server.

        The key is made for this run. Example: lockstep demo
        """
        from lockstep.certificate import keys, lcj, times
        from lockstep.certificate.verifier import verify
        from lockstep.certificate.write import write_file
        from lockstep.cli import demo_certify, say
        from lockstep.cli.hunt import now, progress, summary
        from lockstep.cli.keys import YEARS
        from lockstep.issue import issue_hunt
        from lockstep.layouts.declaration import layouts_root
        from lockstep.layouts.sets import load_set

        require_folder(folder, "--folder")
        folder.mkdir(parents=True, exist_ok=True)
        # Of what lies here, only what an earlier run of this command made is replaced.
        shutil.rmtree(folder / "state", ignore_errors=True)
        (folder / "key.pem").unlink(missing_ok=True)
        key = keys.new_key_file(folder / "key.pem")
        trust = folder / "trust.json"
        policy = keys.sole_policy(key.public_key(), "demo", "demo", times.period(YEARS))
        write_file(trust, lcj.encode(policy))
        certificate = folder / "exact-transformations.cert.json"

        say("1. Hunt: which declared KV-cache layouts convert into each other without loss?")
        layouts = load_set("seed-004")
        issued = issue_hunt(
            layouts,
            layouts.geometry,
            [key],
            issued_at=now(),
            command="lockstep demo",
            progress=progress(),
        )
        write_file(certificate, issued.certificate)
        for line in summary(issued.predicate):
            say(f"   {line}")

        say()
        say("2. Verify: a separate program re-derives all of it from the certificate.")
        options = ["--trust", str(trust), "--state", str(folder / "state")]
        result = verify([certificate], *options, "--evidence", str(layouts_root())).results[0]
        ledger = result["ledger"] or {}
        say(f"   lockstep-verify {certificate}: {result['code']}, exit {result['exit']}")
        say(
            f"   fields: {ledger.get('derived')} derived, {ledger.get('witnessed')} bound by "
            f"digest, {ledger.get('attested')} on the signer's word"
        )

        say()
        say("3. Re-derive a published document that this project did not make.")
        document = published_document()
        other = verify([document], "--unsigned").results[0]
        say(f"   lockstep-verify --unsigned {document.name}: {other['code']}, exit {other['exit']}")
        for line in other["lines"] or []:
            say(f"   {line}")

        say()
        say("4. Compare the two: they speak of one geometry and the same declarations.")
        apart = [
            f"{ours} {result['counts'].get(ours)} here, {other['counts'].get(theirs)} there"
            for ours, theirs in SAME.items()
            if result["counts"].get(ours) != other["counts"].get(theirs)
        ]
        for line in apart or [f"{len(SAME)} counts are equal: {', '.join(SAME)}"]:
            say(f"   {line}")

        say()
        say("5. Certify a server: the same request, alone and beside others, gets the same answer.")
        wrong = demo_certify.certify(folder, key, options, now())
        for line in wrong:
            say(f"   {line}")

        say()
        if result["exit"] != 0 or other["exit"] != 5 or apart or wrong:
            say("Something is off: exits 0 and 5 and equal counts were due; see above.")
            raise typer.Exit(3)
        say(f"Done. The certificates and their throwaway key are in {folder}.")
        say("Next:")
        say(f"   lockstep show {certificate} --trust {trust}")
        say(f"   lockstep-verify --trust {trust} {certificate}")
        say(f"   lockstep show {folder / 'certification-fault.cert.json'} --trust {trust}")
        say("   lockstep keys init && lockstep hunt --set engines -o engines.cert.json")


def published_document() -> Path:
    """Give the path of the published document's extract in this checkout.

    Raises:
        LockstepError: USAGE, this is not a checkout.
    """
    from lockstep import spec
    from lockstep.errors import LockstepError

    found = sorted((spec.root().parent / "conformance" / "published").glob("*.json"))
    if not found:
        raise LockstepError(
            "USAGE",
            "conformance/published",
            "a checkout of the repository",
            "an installed package",
            "Clone the repository; the published document is not part of the package.",
        )
    return found[0]
