"""Re-derive the published hunt for exact transformations between KV-cache layouts.

The document's own declarations (engines and geometry) decide every shape,
position count, verdict, list and total in it; spec/published/seed-004.md has
the rules and, in [PUB-22], the order of checks. What no rule decides is counted
as attested and bound by a digest that is printed, never pinned. The signature
cannot be checked: the document names no key.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from typing import Any

from lockstep_verify.derive import Derivation, Options
from lockstep_verify.errors import Refusal

from . import profile, rows, totals
from .declarations import check_declared, declared_layouts
from .fields import classified
from .shape import ATTESTED, CROSS_CHECKED, DERIVED, Field, read


def derive(data: bytes, options: Options) -> Derivation:
    """Re-derive the published document from its bytes.

    Raises:
        Refusal: H0 to H14 or a PUBLISHED code, at the first failing check of [PUB-22].
    """
    document = read(data)
    leaves = list(classified(document))
    recount = rederive(document)
    return _report(data, document, recount, leaves)


def rederive(document: dict[str, Any]) -> dict[str, Any]:
    """Re-derive a document of the closed shape; give the recount of ``observed``.

    Raises:
        Refusal: at the first failing check of [PUB-22] after those of reading and shape.
    """
    _check_profile(document)
    layouts = declared_layouts(document)
    table = document["rows"]
    pairs = rows.check_names(table, layouts)
    for index, (row, pair) in enumerate(zip(table, pairs, strict=True)):
        rows.check_evidence(row, pair, f"/rows/{index}")
    totals.check_findings(table, document["vocabulary"])
    for index, (row, pair) in enumerate(zip(table, pairs, strict=True)):
        rows.require(
            "H5_TRIVIAL_TRANSFORMATION",
            f"/rows/{index}/transformations",
            pair.words,
            row["transformations"],
        )
    totals.check_row_set(table, layouts)
    recount = totals.observed(table, pairs, layouts)
    totals.check_floors(document, recount)
    totals.check_guards(document)
    totals.check_observed(document, recount)
    _check_rest(document, pairs)
    check_declared(document, layouts)
    return recount


def _check_profile(document: dict[str, Any]) -> None:
    """The identifiers of the profile, and the signature's form ([PUB-2], [PUB-5])."""
    for name, value in (("schema", profile.SCHEMA), ("hunt_id", profile.HUNT_ID)):
        rows.require("PUBLISHED_SHAPE", f"/{name}", value, document[name])
    if not re.fullmatch(r"[0-9a-f]{128}", document["signature"]):
        raise Refusal(
            "H1_SIGNATURE_INVALID",
            "/signature",
            "128 lower-case hexadecimal digits",
            document["signature"],
        )


def _check_rest(document: dict[str, Any], pairs: list[rows.Pair]) -> None:
    """Fields that no falsification of the document's own names ([PUB-21])."""
    rows.require(rows.NOT_DERIVED, "/vocabulary", list(profile.VOCABULARY), document["vocabulary"])
    table = document["rows"]
    ran = next(row for row in table if row["verdict"] != "REFUSED")
    payloads = ran["proof"]["gather_payloads"]
    tokens = ran["proof"]["reference_tokens"]
    for index, (row, pair) in enumerate(zip(table, pairs, strict=True)):
        rows.check_rest(row, pair, payloads, tokens, f"/rows/{index}")


def _report(
    data: bytes, document: dict[str, Any], recount: dict[str, Any], leaves: list[Field]
) -> Derivation:
    classes = Counter(leaf.field_class for leaf in leaves)
    verdicts = recount["verdict_counts"]
    counts = {
        "rows": len(document["rows"]),
        "exact_rows": len(recount["exact_pairs"]),
        **{verdict.lower(): verdicts[verdict] for verdict in profile.VERDICTS},
        "engines": len(recount["engines"]),
        "lossless_engines": len(recount["lossless_engines"]),
        "identity_map_engines": len(recount["identity_map_engines"]),
        "frontier_codes": len(recount["frontier_codes"]),
        "vocabulary": len(recount["vocabulary_exercised"]),
        "destination_positions_checked": recount["positions_checked_total"],
        "source_positions_checked": recount["source_positions_checked_total"],
        "distinct_positions": recount["distinct_positions"],
        "distinct_index_spaces": recount["distinct_index_spaces"],
        "checks": len(document["checks"]),
        "falsifications": len(document["falsifications"]),
        "known_limits": len(document["known_limits"]),
        "fields_derived": classes[DERIVED],
        "fields_cross_checked": classes[CROSS_CHECKED],
        "fields_attested": classes[ATTESTED],
    }
    kinds = sorted({re.sub(r"/[0-9]+", "/*", f.pointer) for f in leaves if is_attested(f)})
    lines = (
        f"rows: {counts['rows']}",
        "verdicts: " + ", ".join(f"{name} {verdicts[name]}" for name in profile.VERDICTS),
        f"positions checked: {counts['destination_positions_checked']:,} destination, "
        f"{counts['source_positions_checked']:,} source; "
        f"{counts['distinct_positions']:,} distinct in "
        f"{counts['distinct_index_spaces']} index spaces",
        f"engines: {counts['engines']} declared, {counts['lossless_engines']} lossless; "
        f"identity map: {', '.join(recount['identity_map_engines']) or 'none'}",
        f"frontier: {', '.join(recount['frontier_codes'])}",
        f"vocabulary: {counts['vocabulary']} words, all in use",
        f"guards as registered: {counts['checks']} checks, {counts['falsifications']} "
        f"falsifications, {counts['known_limits']} known limits (that they ran is attested)",
        f"derived fields: {classes[DERIVED]}; cross-checked fields: {classes[CROSS_CHECKED]}",
        f"attested fields: {classes[ATTESTED]}, digest sha256 {attested_digest(leaves)}",
        f"attested kinds: {', '.join(kinds)}",
        f"document sha256 {hashlib.sha256(data).hexdigest()}",
    )
    return Derivation(verdict="DERIVED", counts=counts, lines=lines)


def is_attested(leaf: Field) -> bool:
    """Whether a leaf is the signer's word alone."""
    return leaf.field_class == ATTESTED


def attested_digest(leaves: list[Field]) -> str:
    """SHA-256 over the attested leaves, one JSON pair of pointer and value a line ([PUB-23])."""
    lines = sorted(json.dumps([leaf.pointer, leaf.value]) for leaf in leaves if is_attested(leaf))
    return hashlib.sha256("\n".join(lines).encode("ascii")).hexdigest()
