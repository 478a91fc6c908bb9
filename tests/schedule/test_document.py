"""Texts: every form that a workload's or schedule's file may not have [SCHED-1] [SCHED-2]."""

from __future__ import annotations

import copy
import json
import os
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockstep import portable_schema, spec
from lockstep.errors import LockstepError
from lockstep.limits import DOCUMENT_BYTES
from lockstep.schedule.document import parse_document, read_document, require_schema
from lockstep.schedule.schedule import parse_schedule, read_schedule
from lockstep.schedule.workload import parse_workload, read_workload, write_workload

from .conftest import REQUEST, refusal


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"\xff\xfe{}", "BAD_ENCODING"),
        (b"\xef\xbb\xbf{}", "BAD_ENCODING"),
        ("{}".encode("utf-16-be"), "BAD_ENCODING"),
        (b"", "MALFORMED_JSON"),
        (b'{"a":1,}', "MALFORMED_JSON"),
        (b'{"a":1} {}', "MALFORMED_JSON"),
        (b'{"a":01}', "MALFORMED_JSON"),
        (b'{"a":1,"\\u0061":2}', "DUPLICATE_KEY"),
        (b'{"a":1.5}', "NUMBER_OUT_OF_PROFILE"),
        (b'{"a":1e3}', "NUMBER_OUT_OF_PROFILE"),
        (b'{"a":-0}', "NUMBER_OUT_OF_PROFILE"),
        (b'{"a":NaN}', "NUMBER_OUT_OF_PROFILE"),
        (b'{"a":9007199254740992}', "NUMBER_OUT_OF_PROFILE"),
        (b'{"a":' + b"9" * 5000 + b"}", "NUMBER_OUT_OF_PROFILE"),
        (b'{"a":"\\ud800"}', "BAD_UNICODE"),
        (b'{"\\udc00":1}', "BAD_UNICODE"),
        (b'{"a":' + b"[" * 200_000, "LIMIT_DEPTH"),
        (b"[]", "NOT_AN_OBJECT"),
        (b"7", "NOT_AN_OBJECT"),
    ],
)
def test_texts_are_read_strictly(tmp_path: Path, data: bytes, code: str) -> None:
    path = tmp_path / "workload.json"
    path.write_bytes(data)
    fault = refusal(lambda: read_document(path))
    assert (fault.code, fault.pointer) == (code, str(path))


def test_only_regular_files_within_the_limit_are_read(tmp_path: Path) -> None:
    missing = refusal(lambda: read_workload(tmp_path / "none.json"))
    assert missing.code == "FILE_UNREADABLE"
    assert refusal(lambda: read_schedule(tmp_path)).code == "FILE_UNREADABLE"
    os.mkfifo(tmp_path / "fifo")
    assert refusal(lambda: read_workload(tmp_path / "fifo")).code == "FILE_UNREADABLE"
    large = tmp_path / "large.json"
    with large.open("wb") as file:
        file.truncate(DOCUMENT_BYTES + 1)
    assert refusal(lambda: read_workload(large)).code == "LIMIT_SIZE"


def test_a_digest_is_of_the_value_and_not_of_the_text(
    tmp_path: Path, workload_document: dict[str, Any]
) -> None:
    workload = parse_workload(workload_document)
    shuffled = {name: workload_document[name] for name in reversed(workload_document)}
    path = tmp_path / "pretty.json"
    path.write_text(json.dumps(shuffled, indent=2) + "\n", "utf-8")
    assert read_workload(path).sha256 == workload.sha256
    write_workload(path, workload)
    assert path.read_bytes() == workload.encode()
    assert read_workload(path) == workload


def nodes(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Give the path of every value within a value."""
    if not isinstance(value, dict | list):
        return [path]
    members = value.items() if isinstance(value, dict) else enumerate(value)
    return [path, *(found for key, child in members for found in nodes(child, (*path, key)))]


def changed(document: Any, path: tuple[Any, ...], new: Any) -> Any:
    """Give a copy in which another value stands at a path; DROP removes it."""
    document = copy.deepcopy(document)
    if not path:
        return new
    parent = document
    for key in path[:-1]:
        parent = parent[key]
    if new is DROP:
        del parent[path[-1]]
    else:
        parent[path[-1]] = new
    return document


DROP = object()
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 2**53),
    st.sampled_from(["", "0", "0.10", "1.5", "a b", "a" * 65, "chunk", "é"]),
    st.sampled_from([[], [1], {}, {"x": 1}]),
    st.just(DROP),
)
SCHEDULE = {
    "version": 1,
    "pool": {"blocks": 8, "block_size": 2},
    "steps": [[{"event": "chunk", "request": "a", "tokens": 3, "blocks": [0, 1]}], []],
}


@pytest.mark.parametrize(
    ("kind", "document"),
    [("workload", {"version": 1, "requests": [REQUEST]}), ("schedule", SCHEDULE)],
)
@given(data=st.data())
def test_the_schema_is_read_as_jsonschema_reads_it(
    kind: str, document: dict[str, Any], data: st.DataObject
) -> None:
    schema = spec.load(f"schemas/{kind}.schema.json")
    path = data.draw(st.sampled_from([p for p in nodes(document) if p]))
    new = data.draw(VALUES)
    mutant = changed(document, path, new)
    fine = jsonschema.Draft202012Validator(schema).is_valid(mutant)
    try:
        portable_schema.require(mutant, schema)
        assert fine
    except LockstepError as fault:
        assert not fine, fault
        assert fault.code in {"WRONG_TYPE", "BAD_VALUE", "MISSING_FIELD", "UNKNOWN_FIELD"}


def test_equality_is_of_type_and_value_and_keywords_of_other_types_are_ignored() -> None:
    # [SCHEMA-3]
    for admitted in ({"const": 1}, {"enum": [0, 1]}):
        assert refusal(lambda a=admitted: portable_schema.require(True, a)).code == "BAD_VALUE"
        portable_schema.require(1, admitted)
    portable_schema.require(True, {"minimum": 2, "maxLength": 0, "maxItems": 0})
    portable_schema.require(None, {"type": ["integer", "null"], "minimum": 2})
    long = {"type": "string", "minLength": 2, "maxLength": 2}
    for text, fine in (("é", False), ("éé", True), ("ééé", False)):
        if fine:
            portable_schema.require(text, long)
        else:
            assert refusal(lambda t=text: portable_schema.require(t, long)).code == "BAD_VALUE"


@pytest.mark.parametrize(
    ("path", "new", "code", "pointer"),
    [
        (("requests",), {}, "WRONG_TYPE", "/requests"),
        (("requests",), [], "BAD_VALUE", "/requests"),
        (("version",), True, "WRONG_TYPE", "/version"),
        (("version",), 2, "BAD_VALUE", "/version"),
        (("a/b~",), 2, "UNKNOWN_FIELD", "/a~1b~0"),
        (("requests", 1, "arrival"), -1, "BAD_VALUE", "/requests/1/arrival"),
        (("requests", 0, "max_new"), 0, "BAD_VALUE", "/requests/0/max_new"),
        (("requests", 0, "id"), "a b", "BAD_VALUE", "/requests/0/id"),
        (("requests", 0, "id"), "a" * 65, "BAD_VALUE", "/requests/0/id"),
        (("requests", 0, "salt"), "\n", "BAD_VALUE", "/requests/0/salt"),
        (("requests", 0, "prompt", 1), "x", "WRONG_TYPE", "/requests/0/prompt/1"),
        (("requests", 0, "sampling"), DROP, "MISSING_FIELD", "/requests/0/sampling"),
        (("requests", 0, "prompt"), [], "EMPTY_PROMPT", "/requests/0/prompt"),
        (("requests", 1, "id"), "a", "DUPLICATE_REQUEST", "/requests/1/id"),
        (
            ("requests", 1, "sampling", "temperature"),
            "0.70",
            "BAD_VALUE",
            "/requests/1/sampling/temperature",
        ),
        (("requests", 0, "sampling", "top_p"), "0", "BAD_VALUE", "/requests/0/sampling/top_p"),
        (
            ("requests", 0, "sampling", "temperature"),
            "101",
            "BAD_VALUE",
            "/requests/0/sampling/temperature",
        ),
    ],
)
def test_a_workload_is_refused_at_its_fault(
    workload_document: dict[str, Any], path: tuple[Any, ...], new: Any, code: str, pointer: str
) -> None:
    mutant = changed(workload_document, path, new)
    fault = refusal(lambda: parse_workload(mutant, "w.json"))
    assert (fault.code, fault.pointer) == (code, f"w.json:{pointer}")


@pytest.mark.parametrize(
    ("path", "new", "code", "pointer"),
    [
        (("pool", "blocks"), 0, "BAD_VALUE", "/pool/blocks"),
        (("pool", "block_size"), "2", "WRONG_TYPE", "/pool/block_size"),
        (("steps", 0, 0, "event"), "submit", "BAD_VALUE", "/steps/0/0/event"),
        (("steps", 0, 0, "request"), DROP, "MISSING_FIELD", "/steps/0/0/request"),
        (("steps", 0, 1, "tokens"), DROP, "MISSING_FIELD", "/steps/0/1/tokens"),
        (("steps", 0, 1, "tokens"), 0, "BAD_VALUE", "/steps/0/1/tokens"),
        (("steps", 1, 1, "tokens"), 1, "UNKNOWN_FIELD", "/steps/1/1/tokens"),
        (("steps", 0, 0, "blocks"), [1], "UNKNOWN_FIELD", "/steps/0/0/blocks"),
        (("steps", 0, 1, "blocks"), [], "BAD_VALUE", "/steps/0/1/blocks"),
        (("steps", 0, 1, "blocks"), [1, 1], "BAD_VALUE", "/steps/0/1/blocks"),
        (("steps", 0, 1, "blocks"), [7, 8], "BAD_VALUE", "/steps/0/1/blocks"),
        (("steps", 0, 1, "blocks"), [-1], "BAD_VALUE", "/steps/0/1/blocks/0"),
    ],
)
def test_a_schedule_is_refused_at_its_fault(
    schedule_document: dict[str, Any], path: tuple[Any, ...], new: Any, code: str, pointer: str
) -> None:
    mutant = changed(schedule_document, path, new)
    fault = refusal(lambda: parse_schedule(mutant, "s.json"))
    assert (fault.code, fault.pointer) == (code, f"s.json:{pointer}")


def test_unnamed_documents_are_pointed_into_alone() -> None:
    fault = refusal(lambda: require_schema(parse_document(b"{}"), "workload"))
    assert (fault.code, fault.pointer) == ("MISSING_FIELD", "/version")
