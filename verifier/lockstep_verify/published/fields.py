"""The closed shape of the published document, with the class of each field ([PUB-3])."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .shape import (
    ATTESTED,
    CROSS_CHECKED,
    DERIVED,
    Field,
    Leaf,
    ListOf,
    Record,
    leaves,
)

_H2 = "H2_VERDICT_NOT_DERIVED"
_H3 = "H3_PROOF_MISSING"
_H4 = "H4_PROOF_NOT_EXHAUSTIVE"

_TEXT = Leaf(str, ATTESTED)
_NAME = Leaf(str, CROSS_CHECKED)
_NUMBER = Leaf(int, CROSS_CHECKED)
_FLAG = Leaf(bool, CROSS_CHECKED)
_COUNT = Leaf(int, DERIVED)
_WORD = Leaf(str, DERIVED)
_SEEN = Leaf(bool, DERIVED, nullable=True)
_POSITIONS = Leaf(int, DERIVED, nullable=True)
_TOKENS = ListOf(_NUMBER, nullable=True)
_OPTIONAL_TEXT = Leaf(str, CROSS_CHECKED, nullable=True)

_GUARD = {"name": _NAME, "detail": _TEXT, "passed": _FLAG}

_GEOMETRY = Record(
    {
        "canonical_axes": ListOf(_NAME),
        "decode_steps": _NUMBER,
        "dtype": _NAME,
        "head_dim": _NUMBER,
        "kv_heads": _NUMBER,
        "layers": _NUMBER,
        "lean_slice": Record(
            {"head_dim": _NUMBER, "kv_heads": _NUMBER, "tokens": Leaf(int, ATTESTED)}
        ),
        "pad_model": _TEXT,
        "tokens": _NUMBER,
    }
)

_SHAPES = Record({name: ListOf(_COUNT) for name in ("kv", "k", "v")}, optional=True)

_ENGINE = Record(
    {
        "attention": _NAME,
        "block": _NUMBER,
        "cite": _TEXT,
        "engine": _NAME,
        "is_the_identity_map": Leaf(bool, DERIVED),
        "k_axes": ListOf(_NAME),
        "k_x": _NUMBER,
        "kv": _NAME,
        "lean_lemma": Leaf(str, DERIVED, nullable=True),
        "n_kv_heads": _NUMBER,
        "native_shapes": _SHAPES,
        "quant": _NAME,
        "realisable_at_this_geometry": Leaf(bool, DERIVED),
        "v_axes": ListOf(_NAME),
        "v_x": _NUMBER,
    }
)

POSITION_FIELDS = (
    "positions_checked",
    "positions_total",
    "source_positions_checked",
    "source_positions_total",
    "dest_padding_positions",
    "source_padding_positions",
    "unread_padding_positions",
)

_PROOF = Record(
    {
        "command": _WORD,
        "decoded_tokens": _TOKENS,
        "dest_bijective": _SEEN,
        "detail": _OPTIONAL_TEXT,
        "gather_agrees": _SEEN,
        "gather_payloads": Leaf(int, CROSS_CHECKED, nullable=True),
        "kind": _WORD,
        "layers": _POSITIONS,
        "lean_lemmas": ListOf(_WORD, nullable=True),
        "reference_tokens": _TOKENS,
        "roundtrip_diff_positions": _POSITIONS,
        "source_bijective": _SEEN,
        **{name: _POSITIONS for name in POSITION_FIELDS},
    },
    absent={
        "lean_lemmas": _H3,
        "dest_bijective": _H2,
        "source_bijective": _H2,
        "gather_agrees": _H2,
        **{name: _H4 for name in POSITION_FIELDS},
        "decoded_tokens": "H13_TOKEN_CLAIM_WITHOUT_A_DECODE",
    },
    nullable=True,
)

OBSERVATIONS = (
    "forward_reproduces_target",
    "roundtrip_byte_identical",
    "roundtrip_diff_is_exactly_unread_padding",
    "tokens_identical",
)

_ROW = Record(
    {
        "dst": _NAME,
        "frontier_code": Leaf(str, DERIVED, nullable=True),
        "frontier_reason": _OPTIONAL_TEXT,
        "native_bytes": Record({"dst": _POSITIONS, "src": _POSITIONS}),
        "observations": Record(
            {name: _SEEN for name in OBSERVATIONS}, absent={name: _H2 for name in OBSERVATIONS}
        ),
        "pair_id": _WORD,
        "proof": _PROOF,
        "src": _NAME,
        "transformations": ListOf(_WORD),
        "verdict": _WORD,
    },
    absent={"proof": _H3},
)

FLOORS = (
    "checks_min",
    "dod_engines_min",
    "dod_exact_rows_min",
    "engines_min",
    "exact_byte_min",
    "exact_rows_min",
    "exact_token_min",
    "foils_min",
    "frontier_codes_min",
    "known_limits_min",
    "refused_rows_min",
    "rows_min",
    "vocabulary_min",
)

_OBSERVED = Record(
    {
        "distinct_index_spaces": _COUNT,
        "distinct_positions": _COUNT,
        "engines": ListOf(_WORD),
        "exact_pairs": ListOf(_WORD),
        "frontier_codes": ListOf(_WORD),
        "identity_map_engines": ListOf(_WORD),
        "lossless_engines": ListOf(_WORD),
        "positions_checked_total": _COUNT,
        "source_positions_checked_total": _COUNT,
        "verdict_counts": Record(
            dict.fromkeys(("EXACT_BYTE", "EXACT_TOKEN", "NOT_EXACT", "REFUSED", "UNPROVEN"), _COUNT)
        ),
        "vocabulary_exercised": ListOf(_WORD),
    }
)

DOCUMENT = Record(
    {
        "asserted_counts": Record(dict.fromkeys(FLOORS, _COUNT)),
        "boundary": Record({"does_not_hold": ListOf(_TEXT), "holds": ListOf(_TEXT), "note": _TEXT}),
        "checks": ListOf(Record(_GUARD)),
        "engines": ListOf(_ENGINE),
        "falsifications": ListOf(
            Record({**_GUARD, "actual": _NAME, "declared_guard": _NAME, "guard_ok": _FLAG})
        ),
        "geometry": _GEOMETRY,
        "hunt_id": _NAME,
        "known_limits": ListOf(Record(_GUARD)),
        "observed": _OBSERVED,
        "rows": ListOf(_ROW),
        "schema": _NAME,
        "signature": _TEXT,
        "vocabulary": ListOf(_WORD),
    }
)


def classified(document: dict[str, Any]) -> Iterator[Field]:
    """Yield every leaf with its class, the few that depend on their row included.

    In a row that is neither exact nor refused, what the lossy transfer decoded,
    the words that comment on it and the number of slots by which it missed are
    the signer's word ([PUB-3]).

    Raises:
        Refusal: the document departs from its closed shape.
    """
    for leaf in leaves(document, DOCUMENT):
        yield Field(leaf.pointer, leaf.value, ATTESTED) if _lossy(leaf, document) else leaf


def _lossy(leaf: Field, document: dict[str, Any]) -> bool:
    parts = leaf.pointer.split("/")
    if len(parts) < 5 or parts[1] != "rows" or parts[3] != "proof" or leaf.value is None:
        return False
    row = document["rows"][int(parts[2])]
    if row.get("verdict") != "NOT_EXACT":
        return False
    if parts[4] == "roundtrip_diff_positions":
        observations = row.get("observations")
        name = "roundtrip_diff_is_exactly_unread_padding"
        return isinstance(observations, dict) and observations.get(name) is False
    return parts[4] in ("decoded_tokens", "detail")
