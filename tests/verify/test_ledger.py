"""LEDGER-1 to LEDGER-3."""

from lockstep_verify.ledger import Ledger, ledger

SCHEMA = {
    "type": "object",
    "properties": {
        "rows": {
            "type": "array",
            "x-class": "derived",
            "items": {
                "type": "object",
                "properties": {
                    "n": {"type": "integer"},
                    "file": {"$ref": "#/$defs/digest"},
                    "said/so": {"$ref": "#/$defs/digest", "x-class": "attested"},
                },
            },
        },
        "note": {"type": "string"},
        "any": {"type": "object", "x-class": "witnessed"},
        "empty": {"type": "array", "items": {"type": "string"}},
    },
    "$defs": {"digest": {"type": ["string", "null"], "x-class": "witnessed"}},
}


def test_leaves_are_counted_by_the_nearest_class():
    row = {"n": 1, "file": None, "said/so": "x"}
    value = {"rows": [row, row], "note": "", "any": {"a": 1, "b": [2]}, "empty": []}
    assert ledger(value, SCHEMA) == Ledger(2, 3, 3, ("/note", "/rows/*/said~1so"))


def test_nothing_is_attested_of_an_empty_document():
    assert ledger({}, SCHEMA) == Ledger(0, 0, 0, ())


def test_arrays_of_scalars_are_counted_as_a_whole():
    nullable = {"type": "array", "items": {"type": ["string", "null"]}}
    tokens = {"type": "array", "x-class": "derived", "items": {"type": "integer"}}
    said = {"type": "array", "items": {"type": "integer", "x-class": "witnessed"}}
    schema = {"type": "object", "properties": {"n": nullable, "t": tokens, "w": said}}
    value = {"n": ["a", None], "t": [1, 2, 3], "w": [4, 5, 6, 7]}
    assert ledger(value, schema) == Ledger(3, 4, 2, ("/n/*",))
