"""What the published document says about all of its rows and guards together."""

from __future__ import annotations

from collections import Counter
from typing import Any

from lockstep_verify.errors import Refusal

from . import profile
from .layout import Layout
from .rows import NOT_DERIVED, Pair, Row, require

_H7 = "H7_VOCABULARY_NOT_EXERCISED"
_H8 = "H8_FLOOR_BELOW_OBSERVATION"
_H9 = "H9_GUARD_FAILED_OPEN"
_H10 = "H10_COUNTS_DO_NOT_RECOMPUTE"
_H12 = "H12_PAIR_DECLARED_TWICE"


def check_findings(rows: list[Row], vocabulary: list[str]) -> None:
    """Something exact, every declared word used, something refused ([PUB-19])."""
    verdicts = {row["verdict"] for row in rows}
    if not verdicts & set(profile.EXACT):
        raise Refusal("H6_HUNT_FOUND_NOTHING", "/rows", "at least one exact row", "none")
    used = {word for row in rows for word in row["transformations"]}
    if used != set(vocabulary) or len(vocabulary) != len(used):
        raise Refusal(_H7, "/vocabulary", sorted(used), vocabulary)
    if "REFUSED" not in verdicts:
        raise Refusal("H14_NO_FRONTIER", "/rows", "at least one refused row", "none")


def check_row_set(rows: list[Row], layouts: dict[str, Layout]) -> None:
    """The rows are exactly the pairs that the declarations demand, sorted ([PUB-15])."""
    lossless = [name for name, layout in layouts.items() if layout.lossless]
    pairs = [(a, b) for a in lossless for b in lossless if a != b]
    for name in layouts:
        if name not in lossless:
            pairs += [(name, profile.ANCHOR), (profile.ANCHOR, name)]
    expected = sorted(f"{src}->{dst}" for src, dst in pairs)
    got = [row["pair_id"] for row in rows]
    for index, (want, have) in enumerate(zip(expected, got, strict=False)):
        require(_H12, f"/rows/{index}/pair_id", want, have)
    require(_H12, "/rows", len(expected), len(got))


def observed(rows: list[Row], pairs: list[Pair], layouts: dict[str, Layout]) -> dict[str, Any]:
    """Recount ``observed`` from rows and layouts ([PUB-20])."""
    ran = [pair for pair in pairs if not pair.frontier]
    verdicts = Counter(row["verdict"] for row in rows)
    spaces = {
        tuple((buffer, *shape) for buffer, shape in side.shapes.items()): side.positions
        for pair in ran
        for side in (pair.src, pair.dst)
    }
    return {
        "distinct_index_spaces": len(spaces),
        "distinct_positions": sum(spaces.values()),
        "engines": list(layouts),
        "exact_pairs": [row["pair_id"] for row in rows if row["verdict"] in profile.EXACT],
        "frontier_codes": sorted({pair.frontier for pair in pairs if pair.frontier}),
        "identity_map_engines": [n for n, layout in layouts.items() if layout.is_identity],
        "lossless_engines": [name for name, layout in layouts.items() if layout.lossless],
        "positions_checked_total": sum(pair.dst.positions for pair in ran),
        "source_positions_checked_total": sum(pair.src.positions for pair in ran),
        "verdict_counts": {verdict: verdicts[verdict] for verdict in profile.VERDICTS},
        "vocabulary_exercised": sorted({w for row in rows for w in row["transformations"]}),
    }


def check_floors(document: dict[str, Any], recount: dict[str, Any]) -> None:
    """Guards are complete and each floor equals its observation ([PUB-19])."""
    registered = {
        "checks": len(profile.CHECKS),
        "falsifications": len(profile.FALSIFICATIONS),
        "known_limits": len(profile.KNOWN_LIMITS),
    }
    for name, count in registered.items():
        require(_H8, f"/{name}", count, len(document[name]))
    verdicts = recount["verdict_counts"]
    floors = {
        "checks_min": registered["checks"],
        "engines_min": len(recount["engines"]),
        "exact_byte_min": verdicts["EXACT_BYTE"],
        "exact_rows_min": len(recount["exact_pairs"]),
        "exact_token_min": verdicts["EXACT_TOKEN"],
        "foils_min": registered["falsifications"],
        "frontier_codes_min": len(recount["frontier_codes"]),
        "known_limits_min": registered["known_limits"],
        "refused_rows_min": verdicts["REFUSED"],
        "rows_min": len(document["rows"]),
        "vocabulary_min": len(recount["vocabulary_exercised"]),
        **profile.DOD_FLOORS,
    }
    for name, count in floors.items():
        require(_H8, f"/asserted_counts/{name}", count, document["asserted_counts"][name])


def check_guards(document: dict[str, Any]) -> None:
    """Every guard is the registered one and had its required outcome ([PUB-19])."""
    for section in ("checks", "known_limits", "falsifications"):
        for index, guard in enumerate(document[section]):
            require(_H9, f"/{section}/{index}/passed", True, guard["passed"])
    for index, foil in enumerate(document["falsifications"]):
        pointer = f"/falsifications/{index}"
        require(_H9, f"{pointer}/guard_ok", True, foil["guard_ok"])
        require(_H9, f"{pointer}/actual", foil["declared_guard"], foil["actual"])
    names = {
        "checks": list(profile.CHECKS),
        "known_limits": list(profile.KNOWN_LIMITS),
        "falsifications": list(profile.FALSIFICATIONS),
    }
    for section, registered in names.items():
        code = "FOIL_NOT_DISTINCT" if section == "falsifications" else NOT_DERIVED
        for index, name in enumerate(registered):
            require(code, f"/{section}/{index}/name", name, document[section][index]["name"])
    for index, foil in enumerate(document["falsifications"]):
        required = profile.FALSIFICATIONS[foil["name"]]
        pointer = f"/falsifications/{index}/declared_guard"
        require("FOIL_NOT_DISTINCT", pointer, required, foil["declared_guard"])


def check_observed(document: dict[str, Any], recount: dict[str, Any]) -> None:
    """Each published count and list equals its recount ([PUB-20])."""
    for name, value in recount.items():
        require(_H10, f"/observed/{name}", value, document["observed"][name])
