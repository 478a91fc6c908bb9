"""SCHEMA-1 to SCHEMA-4; jsonschema, where installed, is the second opinion on validity."""

import copy
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockstep_verify import schema, spec
from lockstep_verify.errors import Refusal

ROOT = {
    "type": "object",
    "additionalProperties": False,
    "required": ["z", "a"],
    "properties": {
        "a": {"$ref": "#/$defs/count"},
        "m": {"type": "array", "minItems": 1, "maxItems": 3, "items": {"$ref": "#/$defs/word"}},
        "n~/x": {"type": ["string", "null"], "enum": ["on", None]},
        "o": {"type": "object"},
        "z": {"type": "boolean", "const": True},
    },
    "$defs": {
        "count": {"type": "integer", "minimum": 1, "maximum": 9},
        "word": {"type": "string", "minLength": 2, "maxLength": 4, "pattern": "^[a-z]+$"},
    },
}
GOOD = {"a": 1, "z": True}

CASES = [
    ({"a": True, "z": True}, "WRONG_TYPE", "/a"),
    ({"a": "1", "z": True}, "WRONG_TYPE", "/a"),
    ({"a": None, "z": True}, "WRONG_TYPE", "/a"),
    ({"a": 1, "z": 1}, "WRONG_TYPE", "/z"),
    ({"a": 1, "z": "true"}, "WRONG_TYPE", "/z"),
    ({"a": 1, "z": False}, "BAD_VALUE", "/z"),
    ({"a": 0, "z": True}, "BAD_VALUE", "/a"),
    ({"a": 10, "z": True}, "BAD_VALUE", "/a"),
    ({}, "MISSING_FIELD", "/z"),
    ({"z": True}, "MISSING_FIELD", "/a"),
    ({"Z": True, "a": 1}, "UNKNOWN_FIELD", "/Z"),
    ({"a": "x", "b/c~": 1}, "UNKNOWN_FIELD", "/b~1c~0"),
    ({"A": 1}, "UNKNOWN_FIELD", "/A"),
    ([], "WRONG_TYPE", ""),
    ({**GOOD, "m": []}, "BAD_VALUE", "/m"),
    ({**GOOD, "m": [1, 2, 3, 4]}, "BAD_VALUE", "/m"),
    ({**GOOD, "m": ["ab", "a"]}, "BAD_VALUE", "/m/1"),
    ({**GOOD, "m": ["ab", "ab\n"]}, "BAD_VALUE", "/m/1"),
    ({**GOOD, "m": ["abcde"]}, "BAD_VALUE", "/m/0"),
    ({**GOOD, "m": ["é" * 3]}, "BAD_VALUE", "/m/0"),
    ({**GOOD, "m": [["ab"]]}, "WRONG_TYPE", "/m/0"),
    ({**GOOD, "n~/x": "off"}, "BAD_VALUE", "/n~0~1x"),
    ({**GOOD, "n~/x": False}, "WRONG_TYPE", "/n~0~1x"),
]


@pytest.mark.parametrize(("value", "code", "pointer"), CASES)
def test_first_offence(value, code, pointer):
    with pytest.raises(Refusal) as caught:
        schema.check(value, ROOT, "/predicate")
    assert (caught.value.code, caught.value.pointer) == (code, "/predicate" + pointer)


def test_good_values():
    schema.check(GOOD, ROOT)
    schema.check({"a": 9, "m": ["ab", "abcd"], "n~/x": None, "o": {"any": [1]}, "z": True}, ROOT)


def test_equality_is_of_type_and_value(refuses):
    for keyword, given_value in (
        ({"const": True}, 1),
        ({"const": 0}, False),
        ({"enum": [1, "a"]}, True),
        ({"enum": [False]}, 0),
    ):
        assert refuses(schema.check, given_value, keyword) == "BAD_VALUE"


LEAVES = st.sampled_from([None, True, False, 0, 1, 5, 10, "", "ab", "on", "abcde", "A"])
VALUES = st.recursive(
    LEAVES,
    lambda v: (
        st.lists(v, max_size=4)
        | st.dictionaries(st.sampled_from(["a", "m", "n~/x", "o", "z", "b"]), v, max_size=5)
    ),
    max_leaves=12,
)


@given(VALUES | st.fixed_dictionaries({"a": LEAVES, "z": LEAVES}, optional={"m": VALUES}))
def test_jsonschema_agrees_on_validity(value):
    jsonschema = pytest.importorskip("jsonschema")
    try:
        schema.check(value, ROOT)
        ours = True
    except Refusal:
        ours = False
    assert ours == jsonschema.Draft202012Validator(ROOT).is_valid(value)


KEYWORDS = {
    "$schema", "$id", "title", "description", "$defs", "$ref", "type", "const", "enum",
    "properties", "required", "additionalProperties", "items", "minItems", "maxItems", "minimum",
    "maximum", "minLength", "maxLength", "pattern", "x-class",
}  # fmt: skip


def portable(node, root, top=True):
    """Assert SCHEMA-1 and SCHEMA-2 of a schema node and what lies below it."""
    assert set(node) <= KEYWORDS, set(node) - KEYWORDS
    assert top or "$defs" not in node
    if "$ref" in node:
        assert set(node) <= {"$ref", "x-class", "title", "description"}
        assert node["$ref"].removeprefix("#/$defs/") in root["$defs"]
    if "properties" in node:
        assert node["additionalProperties"] is False
        assert set(node.get("required", ())) <= set(node["properties"])
    if "pattern" in node:
        assert "maxLength" in node and node["pattern"].isascii()
        # An escaped letter is a class of some dialect; an escaped sign is itself in all of them.
        assert not re.search(r"\\[A-Za-z0-9]|\(\?|[*+?}][*+?]", node["pattern"])
        unescaped = re.sub(r"\\.|\[(\\.|[^\]])*\]", "", node["pattern"])
        assert "." not in unescaped
        re.compile(node["pattern"])
    assert node.get("x-class", "derived") in {"derived", "witnessed", "attested"}
    for below in (*node.get("properties", {}).values(), *node.get("$defs", {}).values()):
        portable(below, root, False)
    if "items" in node:
        portable(node["items"], root, False)


@pytest.mark.parametrize("name", ["trust", "hunt"])
def test_shipped_schemas_are_portable(name):
    root = spec.load(f"schemas/{name}.schema.json")
    portable(root, root)
    with pytest.raises(AssertionError):
        portable({**copy.deepcopy(root), "format": "date"}, root)


@pytest.mark.parametrize(
    ("value", "code", "pointer"),
    [
        ([0, 1, True], "WRONG_TYPE", "/2"),
        ([0, 7, 10], "BAD_VALUE", "/1"),
        ([0, -1, "x"], "BAD_VALUE", "/1"),
        ([1, None, 7], "WRONG_TYPE", "/1"),
    ],
)
def test_arrays_of_integers_name_the_first_offence(value, code, pointer):
    items = {"type": "integer", "minimum": 0, "maximum": 6}
    with pytest.raises(Refusal) as caught:
        schema.check(value, {"type": "array", "items": items})
    assert (caught.value.code, caught.value.pointer) == (code, pointer)
    schema.check([0, 6], {"type": "array", "items": items})
