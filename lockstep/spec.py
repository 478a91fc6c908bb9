"""The specification's data, as shipped with the package or as it stands in a checkout."""

import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any

BESIDE = {
    "hunt": ("falsifications.toml", "lemmas.json"),
    "lean": ("lemmas.json",),
    "smt": ("hunt.json", "lifecycle.json", "lifecycle.smt2.template"),
    "invariance": ("environment.json", "lifecycle.json", "relations.json"),
    "fidelity": ("environment.json",),
    "replay": ("environment.json", "lifecycle.json"),
    "campaign": ("environment.json", "fuzz.json", "lifecycle.json"),
    "finding": ("environment.json", "lifecycle.json", "mutation.json"),
    "mutation": ("environment.json", "lemmas.json"),
    "sampling": ("lemmas.json",),
    "sampling-experiments": ("certification.json",),
    "detection": ("certification.json", "mutation.json"),
    "throughput": ("probe.json",),
    "layout-observation": ("hunt.json",),
    "measurement": ("certification.json", "metrics.toml", "probe.json"),
}
"""Normative files of a kind that do not bear its name [STMT-9]."""


@cache
def root() -> Path:
    """Give the folder of the spec: `_spec` beside this module, else the checkout's `spec`.

    Raises:
        FileNotFoundError: neither is there, so that the installation is incomplete.
    """
    package = Path(__file__).resolve().parent
    for folder in (package / "_spec", package.parent / "spec"):
        if (folder / "errors.json").is_file():
            return folder
    raise FileNotFoundError("lockstep was installed without its spec data; install it again")


def read(path: str) -> bytes:
    """Read a file of the spec, `path` being relative to its root with `/` as separator."""
    return root().joinpath(*path.split("/")).read_bytes()


@cache
def load(path: str) -> Any:
    """Parse a JSON file of the spec, `path` being relative to its root."""
    return json.loads(read(path))


def paths(kind: str) -> tuple[str, ...]:
    """List the files that are normative for a claim kind, relative to the root [STMT-9]."""
    own = (f"{kind}.json",) if (root() / f"{kind}.json").is_file() else ()
    return (f"schemas/{kind}.schema.json", *own, *BESIDE.get(kind, ()))


def digest(kind: str) -> str:
    """Give the spec digest of a claim kind, in hex [STMT-9]."""
    files = {path: hashlib.sha256(read(path)).hexdigest() for path in paths(kind)}
    # Names and values are ASCII, so that this is LCJ.
    text = json.dumps(files, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()
