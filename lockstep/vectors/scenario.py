"""From a case's declaration to the inputs of one request."""

import base64
import copy
import hashlib
import json
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from lockstep import spec
from lockstep.certificate import lcj
from lockstep.vectors import keys, lemmas
from lockstep.vectors.blob import INLINE_BYTES, Blob, make, shorten
from lockstep.vectors.edits import Edit, edit_blob, edit_value, stage
from lockstep.vectors.subjects import SUBJECTS

Scenario = dict[str, Any]

_TIMED: dict[str, Any] = {"at": "2026-06-01T00:00:00Z", "last_version": None}
SAMPLING = ("draws", "seed", "exp", "weights", "scan", "position", "sequence")
"""The sampler's functions; each has an op, whose inputs are all that its case gives."""
DEFAULTS: dict[str, dict[str, Any]] = {
    "read": {"limit": 17825792},
    "lcj": {"role": "payload"},
    "envelope": {"signers": ["ann"]},
    "pae": {},
    "ed25519": {},
    "keyid": {},
    "policy": {"policy": "policy", **_TIMED},
    "admit": {"policy": "policy", "signers": ["ann"], "subject": None, **_TIMED},
    "statement": {"subject": None},
    "verdict": {"frontier_code": None},
    **{f"sampling_{name}": {} for name in SAMPLING},
    "certificate": {
        "policy": "policy", "signers": ["ann"], "subject": None, "evidence": None, **_TIMED,
    },
}  # fmt: skip
"""What a scenario of each op holds unless its case says otherwise."""


@dataclass(frozen=True)
class Rendered:
    """The inputs of one request, and the payload that was signed, if one was."""

    inputs: dict[str, Any]
    payload: Blob | None = None


@cache
def _falsifications() -> list[dict[str, str]]:
    entries = tomllib.loads(spec.read("falsifications.toml").decode("utf-8"))["falsification"]
    return [
        {"name": entry["name"], "expected": entry["expected"], "actual": entry["expected"]}
        for entry in entries
    ]


_PLACEHOLDERS: dict[str, Callable[[str], Any]] = {
    "public": lambda name: keys.public(name).hex(),
    "keyid": lambda name: keys.key_id(keys.public(name)),
    "spec": spec.digest,
    "falsifications": lambda _: copy.deepcopy(_falsifications()),
    "theorems": lemmas.theorems,
    "allowed_axioms": lambda _: lemmas.allowed_axioms(),
    "modules": lambda _: lemmas.modules(),
    "lean_sources": lambda _: lemmas.sources(),
    "null": lambda _: None,
    "source": lambda name: (keys.cases_root() / "layouts" / f"{name}.toml").read_text("utf-8"),
    "sha256": lambda text: hashlib.sha256(text.encode("utf-8")).hexdigest(),
}


def resolve(value: Any) -> Any:
    """Replace strings such as `$public:ann`, `$keyid:ann` and `$spec:hunt` by what they mean."""
    if isinstance(value, dict):
        return {name: resolve(item) for name, item in value.items()}
    if isinstance(value, list):
        return [resolve(item) for item in value]
    if isinstance(value, str) and value.startswith("$"):
        name, _, argument = value[1:].partition(":")
        if name in _PLACEHOLDERS:
            return _PLACEHOLDERS[name](argument)
    return value


@cache
def _document(name: str) -> str:
    return (keys.cases_root() / "documents" / f"{name}.json").read_text("utf-8")


def document(name: str) -> Any:
    """Give a document of spec/cases/documents, its placeholders resolved."""
    value = resolve(json.loads(_document(name)))
    lemmas.fill(value)
    _fill_subjects(value)
    return value


def _fill_subjects(statement: dict[str, Any]) -> None:
    """Put what follows from the predicate in the place of the names that stand for it."""
    for subject in statement.get("subject", ()):
        told = subject["digest"].get("sha256")
        if isinstance(told, str) and told in SUBJECTS:
            subject["digest"]["sha256"] = SUBJECTS[told](statement)


def complete(declared: Scenario) -> Scenario:
    """Add the defaults of a scenario's op, and load the documents that it names."""
    scenario: Scenario = resolve(copy.deepcopy({**DEFAULTS[declared["op"]], **declared}))
    for part in ("statement", "policy"):
        if isinstance(scenario.get(part), str):
            name = scenario[part]
            scenario[part] = None if name == "none" else document(name)
    return scenario


def _signature(signer: str | dict[str, str], payload: bytes) -> dict[str, str]:
    """Sign as a scenario says: `as` claims another key's id, `over` signs other bytes."""
    declared = {"key": signer} if isinstance(signer, str) else signer
    name = declared["key"]
    message = keys.pae(payload, declared.get("type", keys.PAYLOAD_TYPE))
    if declared.get("over") == "payload":
        message = payload
    keyid = keys.key_id(keys.public(declared.get("as", name)))
    return {"keyid": keyid, "sig": base64.b64encode(keys.sign(name, message)).decode("ascii")}


class _Renderer:
    """One scenario with its edits on the way to a request."""

    def __init__(self, scenario: Scenario, edits: Sequence[Edit], files: Path) -> None:
        self.edits, self.files = edits, files
        self.root: dict[str, Any] = complete(scenario)
        for edit in edits:
            if stage(edit) == 0:
                edit_value(self.root, resolve(edit))
        # An edit that names a digest has that of what was edited.
        if any(str(edit.get("value")) in SUBJECTS for edit in edits):
            _fill_subjects(self.root["statement"])

    def part(self, name: str, blob: Blob) -> Blob:
        """Apply the edits that concern one encoded part."""
        for edit in self.edits:
            if edit.get("in") == name:
                blob = edit_blob(blob, edit, self.files)
        return blob

    def given(self, name: str) -> Blob:
        return self.part(name, make(self.root[name], self.files))

    def optional(self, name: str) -> Blob | None:
        return None if self.root[name] is None else self.given(name)

    def policy(self) -> Blob | None:
        value = self.root["policy"]
        return None if value is None else self.part("policy", Blob(lcj.encode(value)))

    def payload(self, base: Blob | None) -> Blob:
        if "payload" in self.root:
            blob = self.given("payload")
        else:
            blob = self.part("payload", Blob(lcj.encode(self.root["statement"])))
        return shorten(blob, base)

    def envelope(self, payload: Blob) -> Blob:
        signatures = [_signature(signer, payload.data) for signer in self.root["signers"]]
        value = {
            "payload": base64.b64encode(payload.data).decode("ascii"),
            "payloadType": keys.PAYLOAD_TYPE,
            "signatures": sorted(signatures, key=lambda entry: entry["keyid"]),
        }
        encoded, holder = value["payload"], {"envelope": value}
        for edit in self.edits:
            if stage(edit) == 2:
                edit_value(holder, resolve(edit))
        text = _envelope_text(holder["envelope"], str(encoded))
        return self.part("envelope", _around(text, str(encoded).encode("ascii"), payload))


def _envelope_text(value: dict[str, Any], encoded: str) -> bytes:
    """Encode an envelope; a payload's base64 needs no escapes, and may have 16 MiB."""
    if value.get("payload") != encoded:
        return lcj.encode(value)
    before, after = lcj.encode({**value, "payload": ""}).split(b'"payload":""', 1)
    return b'%b"payload":"%b"%b' % (before, encoded.encode("ascii"), after)


def _around(text: bytes, encoded: bytes, payload: Blob) -> Blob:
    """Write an envelope around its payload's expression, where that is shorter."""
    if (payload.written is None and len(payload.data) <= INLINE_BYTES) or text.count(encoded) != 1:
        return Blob(text)
    before, after = text.split(encoded)
    parts = [Blob(before).expression(), {"base64_of": payload.expression()}]
    return Blob(text, {"concat": [*parts, Blob(after).expression()]})


def render(
    scenario: Scenario, edits: Sequence[Edit], files: Path, base: Blob | None = None
) -> Rendered:
    """Make the inputs of a request.

    Args:
        scenario: the case's declaration.
        edits: its mutation; none for a valid case.
        files: the area's folder of files.
        base: the parent's payload, by which a long payload is abbreviated.
    """
    renderer = _Renderer(scenario, edits, files)
    root = renderer.root
    payload: Blob | None = None
    inputs: dict[str, Any] = {}
    match root["op"]:
        case "read":
            inputs = {"path": {"path": root["path"]}, "limit": root["limit"]}
        case "lcj":
            inputs = {"data": renderer.given("data"), "role": root["role"]}
        case "ed25519" | "keyid":
            names = [name for name in ("public", "message", "signature") if name in root]
            inputs = {name: renderer.given(name) for name in names}
        case "verdict":
            inputs = {name: root[name] for name in ("frontier_code", "observations")}
        case op if op.startswith("sampling_"):
            inputs = {name: value for name, value in root.items() if name != "op"}
        case "policy":
            inputs = {"policy": renderer.policy()}
        case "pae" | "statement":
            inputs = {"payload": (payload := renderer.payload(base))}
        case _:
            payload = renderer.payload(base)
            name = "certificate" if root["op"] == "certificate" else "envelope"
            inputs = {name: renderer.envelope(payload)}
            if root["op"] != "envelope":
                inputs["policy"] = renderer.policy()
    if "subject" in root:
        inputs["subject"] = renderer.optional("subject")
    if "evidence" in root:
        held = root["evidence"]
        inputs["evidence"] = held and {name: make(held[name], files) for name in sorted(held)}
    for name in ("at", "last_version"):
        if name in root:
            inputs[name] = root[name]
    return Rendered(inputs, payload)
