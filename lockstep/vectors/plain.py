"""An implementation under test as a plain command, started once a vector."""

import hashlib
import json
import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lockstep.certificate import lcj
from lockstep.errors import registry

SECONDS = 10.0

_COMPARED = ("verdict", "counts", "rederivation", "unknown_signatures")


def _files(folder: Path, inputs: dict[str, Any]) -> list[str]:
    """Write a request's files and give the options that name them."""
    state = folder / "state"
    state.mkdir()
    options = ["--json", "--at", str(inputs["at"]), "--state", str(state)]
    for name, option in (("policy", "--trust"), ("subject", "--subject")):
        if inputs[name] is not None:
            path = folder / f"{name}.json"
            path.write_bytes(inputs[name])
            options += [option, str(path)]
    if inputs["last_version"] is not None:
        digest = hashlib.sha256(os.fsencode(os.path.realpath(folder / "policy.json"))).hexdigest()
        record = lcj.encode({"version": inputs["last_version"]})
        (state / f"policy-{digest}.json").write_bytes(record)
    if inputs["evidence"] is not None:
        held = folder / "evidence"
        held.mkdir()
        for name, data in inputs["evidence"].items():
            path = held.joinpath(*name.split("/"))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        options += ["--evidence", str(held)]
    return options


def ask(command: Sequence[str], inputs: dict[str, Any]) -> dict[str, Any]:
    """Judge one certificate and give an answer in the protocol's form.

    Args:
        command: the implementation.
        inputs: the inputs of op `certificate`, expressions evaluated.
    """
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        certificate = folder / "it.cert.json"
        certificate.write_bytes(inputs["certificate"])
        line = [*command, *_files(folder, inputs), str(certificate)]
        empty = {"XDG_CONFIG_HOME": str(folder / "no"), "XDG_STATE_HOME": str(folder / "no")}
        try:
            done = subprocess.run(
                line, capture_output=True, timeout=SECONDS, env={**os.environ, **empty}, check=False
            )
        except subprocess.TimeoutExpired:
            return {"fault": f"no result within {SECONDS:g} s"}
    return _answer(done.returncode, done.stdout)


def _answer(status: int, output: bytes) -> dict[str, Any]:
    try:
        result = json.loads(output)
        code = str(result["code"])
    except (ValueError, KeyError, TypeError):
        return {"fault": f"status {status}, and no line of JSON: {output[:80]!r}"}
    wanted = 0 if code == "OK" else registry().get(code, {}).get("exit")
    if status != wanted or result.get("exit") != wanted:
        return {"fault": f"{code} has exit status {wanted}, got {status}"}
    return {
        "result": "ok" if code == "OK" else "refused",
        "code": code,
        "pointer": result.get("pointer"),
        "value": {name: result.get(name) for name in _COMPARED}
        | {"signers": result.get("signers")},
    }
