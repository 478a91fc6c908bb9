"""The error registry and the schemas, each against its own rules."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

SPEC = Path(__file__).resolve().parents[1] / "spec"
REGISTRY = json.loads((SPEC / "errors.json").read_text("utf-8"))
CODES = REGISTRY["codes"]
SCHEMAS = sorted((SPEC / "schemas").glob("*.schema.json"))

# [SCHEMA-1]
KEYWORDS = frozenset(
    {
        "$schema",
        "$id",
        "title",
        "description",
        "$defs",
        "$ref",
        "type",
        "const",
        "enum",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "minItems",
        "maxItems",
        "minimum",
        "maximum",
        "minLength",
        "maxLength",
        "pattern",
        "x-class",
    }
)
TYPES = frozenset({"object", "array", "string", "integer", "boolean", "null"})
CLASSES = frozenset({"derived", "witnessed", "attested"})


@pytest.mark.parametrize("entry", CODES, ids=lambda entry: entry["code"])
def test_code_is_complete(entry: dict[str, Any]) -> None:
    assert {"code", "family", "exit", "since", "meaning", "example", "action"} <= set(entry)
    assert re.fullmatch(r"[A-Z][A-Z0-9_]*", entry["code"])
    assert str(entry["exit"]) in REGISTRY["exit"]
    for text in ("family", "since", "meaning", "example", "action"):
        assert entry[text].strip() == entry[text] != ""


def test_codes_are_distinct() -> None:
    codes = [entry["code"] for entry in CODES]
    assert len(codes) == len(set(codes))


def test_seed_codes_are_registered() -> None:
    numbers = [
        int(match[1]) for entry in CODES if (match := re.match(r"H([0-9]+)_", entry["code"]))
    ]
    assert sorted(numbers) == list(range(15))


def test_exit_statuses_are_those_of_the_verifier_and_two_of_the_certifier() -> None:
    assert set(REGISTRY["exit"]) == {*"012345", "6", "10"}
    beyond = {entry["family"] for entry in CODES if entry["exit"] in (6, 10)}
    assert beyond == {"certify"}


def nodes(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Every schema within a schema, itself first."""
    yield schema
    for key in ("properties", "$defs"):
        for child in schema.get(key, {}).values():
            yield from nodes(child)
    if "items" in schema:
        yield from nodes(schema["items"])


@pytest.mark.parametrize("path", SCHEMAS, ids=lambda path: path.name)
def test_schema_is_valid(path: Path) -> None:
    jsonschema.Draft202012Validator.check_schema(json.loads(path.read_text("utf-8")))


@pytest.mark.parametrize("path", SCHEMAS, ids=lambda path: path.name)
def test_schema_keeps_to_the_portable_subset(path: Path) -> None:
    schema = json.loads(path.read_text("utf-8"))
    definitions = schema.get("$defs", {})
    for node in nodes(schema):
        assert set(node) <= KEYWORDS, node
        assert node is schema or "$defs" not in node
        kind = node.get("type")
        if isinstance(kind, list):
            assert len(kind) == 2
            assert kind[1] == "null"
            assert kind[0] in TYPES - {"null"}
        else:
            assert kind is None or kind in TYPES
        if "$ref" in node:
            assert set(node) <= {"$ref", "x-class", "title", "description"}
            assert node["$ref"].removeprefix("#/$defs/") in definitions
        assert node.get("x-class", "derived") in CLASSES
        assert ("properties" in node) == ("additionalProperties" in node)
        assert node.get("additionalProperties", False) is False
        assert set(node.get("required", ())) <= set(node.get("properties", ()))


@pytest.mark.parametrize("path", SCHEMAS, ids=lambda path: path.name)
def test_patterns_are_portable(path: Path) -> None:
    # [SCHEMA-2]
    for node in nodes(json.loads(path.read_text("utf-8"))):
        if "pattern" not in node:
            continue
        pattern = node["pattern"]
        assert "maxLength" in node, pattern
        assert pattern.isascii()
        assert pattern.startswith("^")
        assert pattern.endswith("$")
        assert not re.search(r"\\[a-zA-Z0-9]|\(\?|[*+?}][?+]", pattern), pattern
        outside = re.sub(r"\\.|\[[^\]]*\]", "", pattern[1:-1])
        assert not set(outside) & set(".^$"), pattern
        re.compile(pattern)


PRODUCERS = [path for path in SCHEMAS if '"producer":' in path.read_text("utf-8")]
PRODUCER_MEMBER = {"type": "string", "minLength": 1, "maxLength": 400, "pattern": "^[ -~]+$"}


def test_there_are_producers_to_look_at() -> None:
    kinds = {path.name.partition(".")[0] for path in PRODUCERS}
    assert kinds >= {"hunt", "lean", "smt", "fidelity", "replay", "invariance"}


@pytest.mark.parametrize("path", PRODUCERS, ids=lambda path: path.name)
def test_producers_are_plain_text_in_every_kind(path: Path) -> None:
    # Whoever reads a certificate on a terminal sees what stands there: no control characters, and
    # none that turn the direction of writing round.
    producer = json.loads(path.read_text("utf-8"))["$defs"]["producer"]
    names = ["name", "version", "python", "numpy", "machine", "command"]
    assert [name for name in names if name in producer["properties"]] == producer["required"]
    assert set(producer["properties"]) == set(producer["required"])
    assert producer["additionalProperties"] is False
    assert all(member == PRODUCER_MEMBER for member in producer["properties"].values())
    for bad in ("", "line\n", "\u202egnp", "\x1b[2J", "caf\u00e9"):
        assert not re.fullmatch(PRODUCER_MEMBER["pattern"], bad)


@pytest.mark.parametrize(
    "path", [*sorted(SPEC.glob("*.json")), *SCHEMAS], ids=lambda path: path.name
)
def test_data_is_within_the_number_profile(path: Path) -> None:
    """Whoever reads certificates reads the specification by the same rules [LCJ-5, LCJ-12]."""

    def integer(text: str) -> int:
        assert text != "-0" and abs(int(text)) < 2**53, f"{text} in {path.name}"
        return int(text)

    def refused(text: str) -> None:
        raise AssertionError(f"{text} in {path.name}")

    json.loads(
        path.read_text("utf-8"), parse_int=integer, parse_float=refused, parse_constant=refused
    )
