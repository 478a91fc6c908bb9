"""The specification's data, as shipped with the package or as it stands in a checkout."""

import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any


@cache
def root() -> Path:
    """Give the folder of the spec: `_spec` beside this module, else the checkout's `spec`."""
    shipped = Path(__file__).with_name("_spec")
    if shipped.is_dir():
        return shipped
    checkout = Path(__file__).parents[2] / "spec"
    if (checkout / "errors.json").is_file():
        return checkout
    raise FileNotFoundError("lockstep_verify was installed without its spec data")


@cache
def load(path: str) -> Any:
    """Parse a JSON file of the spec, `path` being relative to its root."""
    return json.loads((root() / path).read_bytes())


def paths(kind: str) -> list[str]:
    """List the files that are normative for a claim kind, relative to the root (STMT-9)."""
    data = f"{kind}.json"
    return [f"schemas/{kind}.schema.json", *([data] if (root() / data).is_file() else [])]


def digest(kind: str) -> str:
    """Give the spec digest of a claim kind, in hex (STMT-9)."""
    files = {path: hashlib.sha256((root() / path).read_bytes()).hexdigest() for path in paths(kind)}
    # Names and values are ASCII, so that this is LCJ.
    text = json.dumps(files, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()
