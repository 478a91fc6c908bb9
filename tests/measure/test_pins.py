"""Identity pins: each field is held to its own constant, whatever the others are."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from lockstep import spec
from lockstep.certify.config import Command
from lockstep.measure import pins
from lockstep_verify.derive import probe_arms
from lockstep_verify.errors import Refusal
from tests.measure.foils import foil

NAMES = spec.load("probe.json")["pins"]
RECORDED = {name: f"recorded {name}" for name in NAMES}


def observed(**changes: str | None) -> dict[str, pins.Reading]:
    told: dict[str, str | None] = {**RECORDED, **changes}
    return {name: pins.Reading(value, "here") for name, value in told.items()}


def guard(module: ModuleType) -> None:
    """What must hold of whatever compares an identity with its constants."""
    found = module.pins(RECORDED, observed())
    assert [module.agrees(pin) for pin in found] == [True] * len(NAMES)
    for name in NAMES:
        # A value that is another field's constant is none of this one's.
        for other in (*(RECORDED[one] for one in NAMES if one != name), None, "other"):
            found = module.pins(RECORDED, observed(**{name: other}))
            due = [one != name for one in NAMES]
            assert [module.agrees(pin) for pin in found] == due, (name, other)


def test_the_guard_holds() -> None:
    guard(pins)


FOILS = [
    (
        "Pin(name, recorded.get(name), observed[name].observed",
        'Pin(name, recorded.get("distribution_version"), observed[name].observed',
    ),
    (
        "Pin(name, recorded.get(name), observed[name].observed",
        'Pin(name, recorded.get(name), observed["runtime_version"].observed',
    ),
    ("pin.observed == pin.recorded", "pin.observed is not None"),
    ("pin.observed == pin.recorded", "True"),
    ("pin.observed == pin.recorded", "pin.observed in (None, pin.recorded)"),
]


@pytest.mark.parametrize(("old", "new"), FOILS)
def test_one_constant_for_two_fields_goes_red(old: str, new: str) -> None:
    with foil("lockstep.measure.pins", old, new) as mutated, pytest.raises(AssertionError):
        guard(mutated)


def test_equal_constants_hide_nothing() -> None:
    """A source build has one text as both versions; each is still compared with its own."""
    recorded = {"distribution_version": "0.28.1", "runtime_version": "0.28.1"}
    read = {**observed(), "runtime_version": pins.Reading("0.28.1", "/version")}
    read["distribution_version"] = pins.Reading("0.28.1.precompiled", "metadata")
    found = {pin.name: pins.agrees(pin) for pin in pins.pins(recorded, read)}
    assert (found["distribution_version"], found["runtime_version"]) == (False, True)
    assert found["commit"] is None


def test_the_verifier_compares_each_with_its_own() -> None:
    entries = [
        {"name": name, "recorded": "a", "observed": "b", "source": "here", "agrees": False}
        for name in NAMES
    ]
    arm = {"name": "x", "adapter": "lockstep", "pins": entries, "server_settings": []}
    probe_arms.check_arms([arm], "/arms")
    entries[3]["agrees"] = True
    with pytest.raises(Refusal) as caught:
        probe_arms.check_arms([arm], "/arms")
    assert (caught.value.code, caught.value.pointer) == (
        "OUTCOME_NOT_DERIVED",
        "/arms/0/pins/3/agrees",
    )


def test_commits_are_read_where_builds_write_them() -> None:
    version = "0.28.1rc1.dev132+ge126687a9"
    assert pins.readings({}, version, "/version", None)["commit"].observed == "e126687a9"
    told = pins.readings({"commit": "b" * 40, "name": "vllm"}, version, "/version", None)["commit"]
    assert (told.observed, "direct_url.json" in told.source) == ("b" * 40, True)
    told = pins.readings({}, "1.0", "/version", {"commit": "abc123"})["commit"]
    assert told.observed == "abc123"
    assert pins.readings({}, "1.0", "/version", {})["commit"] == (None, "not told")


def test_a_digest_says_what_it_is_of() -> None:
    read = pins.readings({"name": "x", "record": "0" * 64}, None, "", None)["wheel_digest"]
    assert read.source.startswith("SHA-256 of RECORD")
    read = pins.readings({"name": "x", "wheel": "1" * 64}, None, "", None)["wheel_digest"]
    assert (read.observed, read.source.startswith("direct_url.json")) == ("1" * 64, True)


def test_the_servers_own_interpreter_is_asked() -> None:
    command = Command(f"{sys.executable} -m nothing --port {{port}}")
    told = pins.read_build(command, ("no-such-distribution", "pytest"))
    assert told["name"] == "pytest"
    assert told["version"] == pytest.__version__
    assert str(told["mode"]).startswith("wheel ")
    assert pins.read_build(Command("/bin/sh -c true"), ("pytest",)) == {}
