"""`lockstep evidence`: make the committed certificates anew."""

import json
import tempfile
from pathlib import Path
from typing import Any

import typer

SETS = {
    "exact-transformations.cert.json": "seed-004",
    "engine-layouts.cert.json": "engines",
}
"""Which set each committed hunt certificate is of."""
OWN_KEY = "evidence"
"""Name of the key that `make evidence` makes; other keys of the policy are kept."""
YEARS = 10
"""How long that key and its policy hold: committed files are verified long after."""


def register(app: typer.Typer) -> None:
    """Add the command `evidence`."""

    @app.command()
    def evidence(
        folder: Path = typer.Option(Path("evidence"), help="Where the certificates go."),
        readme: Path = typer.Option(Path("README.md"), help="Where the figures are published."),
        check: bool = typer.Option(
            False, "--check", help="Only compare README, index and certificates; exit 3 if apart."
        ),
        table: bool = typer.Option(False, "--table", help="Only print the README's table."),
    ) -> None:
        """Make the committed certificates with a key made now and thrown away.

        Nothing in the folder changes unless every new certificate verifies.

        Example: lockstep evidence
        """
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        from lockstep.certificate import lcj
        from lockstep.certificate.write import write_file
        from lockstep.cli import say
        from lockstep.cli.hunt import now, progress
        from lockstep.errors import LockstepError
        from lockstep.evidence.index import build_index, markdown
        from lockstep.issue import issue_hunt
        from lockstep.layouts.sets import load_set

        if table:
            say(markdown(json.loads((folder / "index.json").read_bytes())))
            return
        if check:
            _compare(folder, readme)
            return
        if not folder.is_dir():
            hint = "Run it at the top of a checkout, or name a folder with --folder."
            raise LockstepError("USAGE", str(folder), "a folder", "none", hint)
        key = Ed25519PrivateKey.generate()
        with tempfile.TemporaryDirectory() as place:
            draft = Path(place)
            for name, set_name in SETS.items():
                say(f"hunting the set {set_name}")
                layouts = load_set(set_name)
                issued = issue_hunt(
                    layouts,
                    layouts.geometry,
                    [key],
                    issued_at=now(),
                    command="lockstep evidence",
                    progress=progress(),
                )
                write_file(draft / name, issued.certificate)
            foreign = [path for path in folder.glob("*.cert.json") if path.name not in SETS]
            for path in foreign:
                write_file(draft / path.name, path.read_bytes())
            write_file(draft / "trust.json", lcj.encode(_policy(folder / "trust.json", key)))
            index = lcj.encode(build_index(draft, folder / "index.json"))
            write_file(draft / "index.json", index + b"\n")
            _verify_all(draft)
            for path in sorted(draft.iterdir()):
                if path.is_file():
                    write_file(folder / path.name, path.read_bytes())
                    say(f"wrote {folder / path.name}")
        say("`lockstep evidence --table` prints the README's table, --check compares it.")


def _compare(folder: Path, readme: Path) -> None:
    """Verify every certificate of the folder and compare the README's figures with them."""
    from lockstep.cli import say
    from lockstep.evidence.index import faults

    found = faults(folder, readme.read_text("utf-8"))
    for fault in found:
        say(fault)
    if found:
        raise typer.Exit(3)
    _verify_all(folder)
    say("README, index and certificates agree, and every certificate verifies.")


def _policy(old: Path, key: Any) -> dict[str, Any]:
    """Give the new policy: the new key in the place of the one before, the rest kept."""
    from lockstep.certificate import keys, times

    policy = keys.sole_policy(key.public_key(), OWN_KEY, "lockstep", times.period(YEARS))
    if old.is_file():
        before = json.loads(old.read_bytes())
        kinds = {rule["predicateType"] for rule in policy["rules"]}
        policy["version"] = before["version"] + 1
        policy["keys"] += [entry for entry in before["keys"] if entry["name"] != OWN_KEY]
        policy["rules"] += [r for r in before["rules"] if r["predicateType"] not in kinds]
        policy["floors"] = before["floors"]
    return policy


def _verify_all(folder: Path) -> None:
    from lockstep.certificate.verifier import verify
    from lockstep.errors import LockstepError
    from lockstep.layouts.declaration import layouts_root

    files = sorted(folder.glob("*.cert.json"))
    # What the user remembers of this policy is no matter of a draft.
    with tempfile.TemporaryDirectory() as state:
        options = ["--trust", str(folder / "trust.json"), "--state", state]
        results = verify(files, *options, "--evidence", str(layouts_root())).results
    for result in results:
        if result["exit"] != 0:
            raise LockstepError(
                result["code"],
                f"{Path(result['file']).name}: {result['pointer']}",
                result["expected"],
                result["got"],
                "Nothing was written.",
            )
