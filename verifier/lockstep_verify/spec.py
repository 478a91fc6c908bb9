"""The specification's data, as shipped with the package or as it stands in a checkout."""

import hashlib
import json
import os
from functools import cache
from typing import Any

_SHARED = {
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
"""What is normative for a kind beside the files that bear its name (STMT-9)."""


@cache
def root() -> str:
    """Give the folder of the spec: `_spec` beside this module, else the checkout's `spec`."""
    package = os.path.dirname(os.path.abspath(__file__))
    shipped = os.path.join(package, "_spec")
    if os.path.isdir(shipped):
        return shipped
    checkout = os.path.join(os.path.dirname(os.path.dirname(package)), "spec")
    if os.path.isfile(os.path.join(checkout, "errors.json")):
        return checkout
    raise FileNotFoundError("lockstep_verify was installed without its spec data")


def read(path: str) -> bytes:
    """Read a file of the spec, `path` being relative to its root with `/` as separator."""
    with open(os.path.join(root(), *path.split("/")), "rb") as file:
        return file.read()


@cache
def load(path: str) -> Any:
    """Parse a JSON file of the spec, `path` being relative to its root."""
    return json.loads(read(path))


def paths(kind: str) -> list[str]:
    """List the files that are normative for a claim kind, relative to the root (STMT-9)."""
    own = [f"{kind}.json"] if os.path.isfile(os.path.join(root(), f"{kind}.json")) else []
    return [f"schemas/{kind}.schema.json", *own, *_SHARED.get(kind, ())]


def digest(kind: str) -> str:
    """Give the spec digest of a claim kind, in hex (STMT-9)."""
    files = {path: hashlib.sha256(read(path)).hexdigest() for path in paths(kind)}
    # Names and values are ASCII, so that this is LCJ.
    text = json.dumps(files, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()
