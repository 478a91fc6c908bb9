"""`lockstep gpu-evidence`: the certificates of the engine once more, made on a GPU."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path

import typer

from lockstep.cli.evidence import YEARS, verify_all


def register(app: typer.Typer) -> None:
    """Add the command `gpu-evidence`."""
    app.command("gpu-evidence")(gpu_evidence)


def gpu_evidence(
    folder: Path = typer.Option(Path("evidence"), help="Where the certificates go."),
) -> None:
    """Make the certificates of the engine on the GPU at hand, under names that say so.

    Those made on a CPU stay as they are. Without a GPU nothing is made, and the exit status is 2.
    Nothing in the folder changes unless every certificate in it verifies.

    Example: lockstep gpu-evidence
    """
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from lockstep.certificate import lcj, times
    from lockstep.certificate.write import write_file
    from lockstep.cli import say
    from lockstep.cli.hunt import now, progress
    from lockstep.engine import device
    from lockstep.errors import LockstepError
    from lockstep.evidence import gpu
    from lockstep.evidence.make import MAKERS
    from lockstep.evidence.making import Making

    if not (folder / "index.json").is_file():
        hint = "Run it at the top of a checkout, or name a folder with --folder."
        raise LockstepError("USAGE", str(folder), "a folder of evidence", "none", hint)
    try:
        name = device.require_device()
    except LockstepError:
        say("evidence on a GPU: not run here, nothing was made")
        raise
    labelled = gpu.label(name, _binding_sha256())
    key = Ed25519PrivateKey.generate()
    with tempfile.TemporaryDirectory() as scratch:
        draft = Path(scratch, "draft")
        shutil.copytree(folder, draft)
        made: dict[str, bytes] = {}
        for kind, cpu_name in gpu.makers().items():
            doing, make = MAKERS[cpu_name]
            say(f"{doing}, on {name}")
            # One process: several on one device would only wait for each other.
            making = Making(key, now(), draft, progress(), gpu.BACKEND, 1)
            made[kind] = make(making)
            write_file(draft / gpu.file_name(kind, labelled), made[kind])
        trust = json.loads((draft / "trust.json").read_bytes())
        trust = gpu.policy_with(trust, key, labelled, times.period(YEARS))
        write_file(draft / "trust.json", lcj.encode(trust))
        index = json.loads((draft / "index.json").read_bytes())
        write_file(draft / "index.json", lcj.encode(gpu.index_with(index, made, labelled)) + b"\n")
        verify_all(draft)
        changed = [*(gpu.file_name(kind, labelled) for kind in made), "trust.json", "index.json"]
        for file in changed:
            write_file(folder / file, (draft / file).read_bytes())
            say(f"wrote {folder / file}")
    say("`lockstep evidence --table` prints the README's table, --check compares it.")


def _binding_sha256() -> str:
    """Read back what the bits of the backend depend on, on this device."""
    from lockstep.engine.backends import open_backend
    from lockstep.engine.environment import environment
    from lockstep.evidence.gpu import BACKEND

    digest: str = environment(open_backend(BACKEND))["binding_sha256"]
    return digest
