"""The specification's data, as shipped with the package or as it stands in a checkout."""

import hashlib
import json
import os
from functools import cache
from typing import Any


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
    data = [f"{kind}.json", *(["falsifications.toml"] if kind == "hunt" else [])]
    held = [path for path in data if os.path.isfile(os.path.join(root(), path))]
    return [f"schemas/{kind}.schema.json", *held]


def digest(kind: str) -> str:
    """Give the spec digest of a claim kind, in hex (STMT-9)."""
    files = {path: hashlib.sha256(read(path)).hexdigest() for path in paths(kind)}
    # Names and values are ASCII, so that this is LCJ.
    text = json.dumps(files, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()
