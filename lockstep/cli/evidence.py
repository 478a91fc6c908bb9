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


def register(app: typer.Typer) -> None:
    """Add the command `evidence`."""

    @app.command()
    def evidence(
        folder: Path = typer.Option(Path("evidence"), help="Where the certificates go."),
    ) -> None:
        """Make the committed certificates with a key made now and thrown away.

        Nothing in the folder changes unless every new certificate verifies.

        Example: lockstep evidence
        """
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        from lockstep.certificate import lcj
        from lockstep.certificate.write import write_file
        from lockstep.cli import say
        from lockstep.cli.demo import layouts_folder
        from lockstep.cli.hunt import now, progress
        from lockstep.evidence.index import build_index
        from lockstep.issue import issue_hunt
        from lockstep.layouts.sets import load_set

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
            write_file(draft / "index.json", lcj.encode(build_index(draft)) + b"\n")
            _verify_all(draft, layouts_folder())
            folder.mkdir(exist_ok=True)
            for path in sorted(draft.iterdir()):
                if path.is_file():
                    write_file(folder / path.name, path.read_bytes())
                    say(f"wrote {folder / path.name}")
        say("README's table of figures must agree: tests/test_evidence.py compares them.")


def _policy(old: Path, key: Any) -> dict[str, Any]:
    """Give the new policy: the new key, and the old policy's keys but the one it replaces."""
    from lockstep.certificate import keys
    from lockstep.certificate.statement import predicate_type
    from lockstep.cli.keys import period

    begin, end = period()
    signer = keys.Signer(OWN_KEY, "lockstep", keys.raw(key.public_key()), ("producer",), begin, end)
    version, kept = 1, []
    if old.is_file():
        before = json.loads(old.read_bytes())
        version = before["version"] + 1
        kept = [entry for entry in before["keys"] if entry["name"] != OWN_KEY]
    policy = keys.policy([signer], [predicate_type("hunt")], version=version, expires=end)
    policy["keys"] += kept
    return policy


def _verify_all(folder: Path, layouts: Path) -> None:
    from lockstep.certificate.verifier import verify
    from lockstep.errors import LockstepError

    files = sorted(folder.glob("*.cert.json"))
    options = ["--trust", str(folder / "trust.json"), "--state", str(folder / "state")]
    for result in verify(files, *options, "--evidence", str(layouts)).results:
        if result["exit"] != 0:
            raise LockstepError(
                result["code"],
                f"{Path(result['file']).name}: {result['pointer']}",
                result["expected"],
                result["got"],
                "The evidence was left as it was.",
            )
