"""The environment tuple of a certificate of the engine (spec/environment.md)."""

import hashlib
from typing import Any, NamedTuple

from lockstep_verify import lcj, spec
from lockstep_verify.errors import Refusal

_MISMATCH = "ENVIRONMENT_MISMATCH"
_HEX = frozenset("0123456789abcdef")


class Environment(NamedTuple):
    """The settings that were in force, by name, and those of them that the bits depend on."""

    resolved: dict[str, str]
    binding: dict[str, str]
    sha256: str

    def lines(self) -> tuple[str, ...]:
        """Give lines for people: what computed, and what a comparison is bound to."""
        told = self.resolved
        backend = f"backend {told['backend']}, {told['dtype']}, on {told['machine']} (attested)"
        return backend, f"comparable under equal {', '.join(sorted(self.binding))}"


def check_environment(stated: dict[str, Any], pointer: str) -> Environment:
    """Judge an environment tuple whose shape has been checked [TUPLE-6].

    Raises:
        Refusal: BAD_VALUE, MISSING_FIELD, ENVIRONMENT_MISMATCH, for the first offence.
    """
    data = spec.load("environment.json")
    for member in ("requested", "resolved"):
        _ascending(stated[member], f"{pointer}/{member}")
    asked = {entry["name"]: entry["value"] for entry in stated["requested"]}
    _require(asked, ("backend", "dtype"), f"{pointer}/requested")
    for i, entry in enumerate(stated["requested"]):
        if entry["name"] not in ("backend", "dtype", *data["variables"]):
            at = f"{pointer}/requested/{i}/name"
            raise Refusal("BAD_VALUE", at, "backend, dtype or a known variable", entry["name"])
    resolved = {entry["name"]: entry["value"] for entry in stated["resolved"]}
    places = {entry["name"]: i for i, entry in enumerate(stated["resolved"])}
    _require(resolved, ("backend",), f"{pointer}/resolved")
    if resolved["backend"] not in data["backends"]:
        at = f"{pointer}/resolved/{places['backend']}/value"
        raise Refusal("BAD_VALUE", at, sorted(data["backends"]), resolved["backend"])
    rules = data["backends"][resolved["backend"]]
    _require(resolved, (*data["always"], *rules["also"]), f"{pointer}/resolved")
    binding = {}
    for i, entry in enumerate(stated["resolved"]):
        name = entry["name"]
        binds = name in rules["binds"] if "binds" in rules else name not in data["unbound"]
        if entry["binds"] != binds:
            raise Refusal("BAD_VALUE", f"{pointer}/resolved/{i}/binds", binds, entry["binds"])
        if binds:
            binding[name] = entry["value"]
    for name in ("backend", "dtype"):
        if asked[name] not in (resolved[name], "default"):
            at = f"{pointer}/resolved/{places[name]}/value"
            raise Refusal(_MISMATCH, at, f"{asked[name]}, as requested", resolved[name])
    for name, value in resolved.items():
        if name.endswith("_sha256") and not (len(value) == 64 and set(value) <= _HEX):
            at = f"{pointer}/resolved/{places[name]}/value"
            raise Refusal("BAD_VALUE", at, "64 hex digits", value)
    digest = hashlib.sha256(lcj.encode(binding)).hexdigest()
    if stated["binding_sha256"] != digest:
        raise Refusal(_MISMATCH, f"{pointer}/binding_sha256", digest, stated["binding_sha256"])
    return Environment(resolved, binding, digest)


def _ascending(entries: list[dict[str, Any]], pointer: str) -> None:
    before = ""
    for i, entry in enumerate(entries):
        if entry["name"] <= before:
            raise Refusal("BAD_VALUE", f"{pointer}/{i}/name", f"above {before}", entry["name"])
        before = entry["name"]


def _require(settings: dict[str, str], names: tuple[str, ...], pointer: str) -> None:
    for name in names:
        if name not in settings:
            raise Refusal("MISSING_FIELD", pointer, f"the setting {name}")
