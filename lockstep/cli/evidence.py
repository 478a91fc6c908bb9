"""`lockstep evidence`: make the committed certificates anew."""

import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

import typer

OWN_KEY = "evidence"
"""How the names of the keys that this command makes begin; other keys of the policy are kept."""
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
        only: list[str] = typer.Option(
            [],
            metavar="<str>",
            help="Make this certificate alone, by its file's name; may be repeated.",
        ),
        records: Path | None = typer.Option(
            None, help="Where long campaigns keep their records, so that they can be taken up."
        ),
    ) -> None:
        """Make the committed certificates with a key made now and thrown away.

        Nothing in the folder changes unless every new certificate verifies. With --only the others
        stay as they are, with the keys that signed them.

        Examples: lockstep evidence; lockstep evidence --only replay.cert.json
        """
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        from lockstep.certificate import lcj
        from lockstep.certificate.write import write_file
        from lockstep.cli import say
        from lockstep.cli.hunt import now, progress
        from lockstep.errors import LockstepError
        from lockstep.evidence.index import build_index, markdown
        from lockstep.evidence.make import MAKERS
        from lockstep.evidence.making import Making

        if table:
            say(markdown(json.loads((folder / "index.json").read_bytes())))
            return
        if check:
            _compare(folder, readme)
            return
        if not folder.is_dir():
            hint = "Run it at the top of a checkout, or name a folder with --folder."
            raise LockstepError("USAGE", str(folder), "a folder", "none", hint)
        for name in only:
            if name not in MAKERS:
                raise LockstepError("USAGE", "--only", f"one of {', '.join(MAKERS)}", name)
        absent = [
            name for name in MAKERS
            if only and name not in only and not (folder / name).is_file()
        ]  # fmt: skip
        if absent:
            hint = "Name them with --only, too."
            raise LockstepError("USAGE", "--only", "all others in the folder", absent, hint)
        key = Ed25519PrivateKey.generate()
        with tempfile.TemporaryDirectory() as scratch:
            draft = Path(scratch, "draft")
            # Scripts and texts beside certificates are part of them, and are kept with them.
            if only:
                shutil.copytree(folder, draft)
            draft.mkdir(exist_ok=True)
            for name, (doing, make) in MAKERS.items():
                if only and name not in only:
                    continue
                say(doing)
                making = Making(key, now(), draft, progress(), records=records)
                write_file(draft / name, make(making))
            foreign = [path for path in folder.glob("*.cert.json") if path.name not in MAKERS]
            for path in foreign:
                write_file(draft / path.name, path.read_bytes())
            policy = _policy(folder / "trust.json", key, _signers(draft))
            write_file(draft / "trust.json", lcj.encode(policy))
            index = lcj.encode(build_index(draft, folder / "index.json"))
            write_file(draft / "index.json", index + b"\n")
            verify_all(draft)
            for path in sorted(path for path in draft.rglob("*") if path.is_file()):
                place = folder / path.relative_to(draft)
                place.parent.mkdir(parents=True, exist_ok=True)
                write_file(place, path.read_bytes())
                say(f"wrote {place}")
            for path in sorted(path for path in folder.rglob("*.smt2") if path.is_file()):
                if not (draft / path.relative_to(folder)).is_file():
                    path.unlink()
                    say(f"removed {path}")
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
    verify_all(folder)
    say("README, index and certificates agree, and every certificate verifies.")


def certificates(folder: Path) -> list[Path]:
    """List the certificates of a folder, and the withdrawals beside them."""
    return [*sorted(folder.glob("*.cert.json")), *sorted(folder.glob("withdrawals/*.cert.json"))]


def _signers(folder: Path) -> set[str]:
    """Give the ids of the keys that signed the certificates of a folder."""
    envelopes = [json.loads(path.read_bytes()) for path in certificates(folder)]
    return {one["keyid"] for envelope in envelopes for one in envelope["signatures"]}


def _policy(old: Path, key: Any, signers: set[str]) -> dict[str, Any]:
    """Give the new policy: the new key, those of this command that still signed, and all others."""
    from lockstep.certificate import keys, times

    name = _key_name(keys.key_id(key.public_key()))
    policy = keys.sole_policy(key.public_key(), name, "lockstep", times.period(YEARS))
    if old.is_file():
        before = json.loads(old.read_bytes())
        kinds = {rule["predicateType"] for rule in policy["rules"]}
        policy["version"] = before["version"] + 1
        for entry in before["keys"]:
            signer = keys.key_id_of(bytes.fromhex(entry["public"]))
            if entry["name"] not in (OWN_KEY, _key_name(signer)) or signer in signers:
                policy["keys"].append(entry)
        policy["rules"] += [r for r in before["rules"] if r["predicateType"] not in kinds]
        policy["floors"] = before["floors"]
    return policy


def _key_name(key_id: str) -> str:
    """Name a key of this command so that several stand in one policy."""
    return f"{OWN_KEY}-{key_id[:8]}"


def verify_all(folder: Path) -> None:
    """Verify every certificate of a folder under the policy in it, with its sidecars.

    Raises:
        LockstepError: the code of the first that is refused.
    """
    from lockstep.certificate.verifier import verify
    from lockstep.errors import LockstepError
    from lockstep.evidence.index import kind_of
    from lockstep.evidence.make import sidecars

    by_kind: dict[str, list[Path]] = {}
    for path in certificates(folder):
        by_kind.setdefault(kind_of(path.read_bytes()), []).append(path)
    results: list[dict[str, Any]] = []
    # What the user remembers of this policy is no matter of a draft.
    with tempfile.TemporaryDirectory() as state:
        options = ["--trust", str(folder / "trust.json"), "--state", state]
        for kind, files in sorted(by_kind.items()):
            results += verify(files, *options, "--evidence", str(sidecars(kind, folder))).results
    for result in results:
        if result["exit"] != 0:
            raise LockstepError(
                result["code"],
                f"{Path(result['file']).name}: {result['pointer']}",
                result["expected"],
                result["got"],
                "Nothing was written.",
            )
