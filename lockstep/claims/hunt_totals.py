"""Coverage, counts and outcomes of checks over a hunt's rows [HUNT-11..13]."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lockstep import spec
from lockstep.claims.hunt_lemmas import lemmas_of
from lockstep.claims.verdict import EXACT, weakening_never_raises
from lockstep.hunt.demand import demanded_pairs, lossless_members, pair_id
from lockstep.hunt.observe import HuntObservations
from lockstep.layouts.index_map import is_identity, same_image
from lockstep.layouts.realise import Realised

Rows = Sequence[dict[str, Any]]


def coverage(
    observations: HuntObservations, rows: Rows, transfer: dict[str, Any]
) -> dict[str, int]:
    """Say what was enumerated, composed and decoded [HUNT-11]."""
    walked = [entry.probe for entry in observations.layouts if entry.probe is not None]
    return {
        "layouts_enumerated": len(walked),
        "positions_enumerated": sum(probe.positions for probe in walked),
        "layers_enumerated": 1,
        "rows_composed": len(_proofs(rows)),
        "rows_decoded": len(transfer["rows"]),
        "layers_decoded": len(transfer["layers"]),
    }


def counts(observations: HuntObservations, rows: Rows) -> dict[str, Any]:
    """Count and list what the rows hold [HUNT-12]."""
    lossless = _lossless(observations)
    names = spec.load("hunt.json")["verdicts"]
    verdicts = [row["verdict"] for row in rows]
    realised = [entry.realised for entry in observations.layouts if entry.realised is not None]
    kept = [one for one in realised if one.layout.name in lossless]
    return {
        "layouts": len(observations.layouts),
        "rows": len(rows),
        **{name.lower(): verdicts.count(name) for name in names},
        "positions_checked": sum(proof["positions_checked"] for proof in _proofs(rows)),
        "source_positions_checked": sum(
            proof["source_positions_checked"] for proof in _proofs(rows)
        ),
        "distinct_images": len(_distinct(kept)),
        "distinct_positions": sum(one.positions for one in _distinct(realised)),
        "lemmas": len({lemma["name"] for proof in _proofs(rows) for lemma in proof["lemmas"]}),
        "lossless_layouts": lossless,
        "identity_layouts": [one.layout.name for one in kept if is_identity(one)],
        "frontier_codes": sorted({row["frontier_code"] for row in rows if row["frontier_code"]}),
        "vocabulary": sorted({word for row in rows for word in row["transformations"]}),
    }


def checks(observations: HuntObservations, rows: Rows) -> list[dict[str, str]]:
    """Give the outcome of each check, in the registered order [HUNT-13]."""
    outcomes = _derived(observations, rows)
    for name, seen in observations.checks.items():
        outcomes[name] = "not_made" if seen is None else _passed(seen)
    return [
        {"name": check["name"], "outcome": outcomes[check["name"]]}
        for check in spec.load("hunt.json")["checks"]
    ]


def _derived(observations: HuntObservations, rows: Rows) -> dict[str, str]:
    """Give the outcomes of the checks that follow from the rest of the predicate."""
    exact = [row for row in rows if row["verdict"] in EXACT]
    layouts = {entry.layout.name: entry.layout for entry in observations.layouts}
    demanded = demanded_pairs(observations.groups, layouts, observations.geometry)
    pinned = all(layout.citation.commit is not None for layout in layouts.values())
    references = [set(reference.tokens) for reference in observations.references]
    return {
        "rows_have_the_closed_shape": "passed",
        "exact_rows_cover_their_index_space": _passed(
            all(
                row["proof"]["positions_checked"] == row["proof"]["positions_total"]
                for row in exact
            )
        ),
        "exact_rows_need_a_transformation": _passed(all(row["transformations"] for row in exact)),
        "both_exactness_classes_occur": _both_classes(observations, rows),
        "vocabulary_is_exercised": _passed(any(row["transformations"] for row in rows)),
        "frontier_codes_are_reached": _passed(any(row["frontier_code"] for row in rows)),
        "reference_tokens_are_not_degenerate": (
            _passed(all(len(tokens) > 1 for tokens in references)) if references else "not_made"
        ),
        "token_rows_differ_on_padding_only": (
            "passed" if any(row["verdict"] == "EXACT_TOKEN" for row in rows) else "vacuous"
        ),
        "layouts_are_distinct_declarations": _passed(_declarations_differ(observations)),
        "lossless_images_are_distinct": "passed" if _images_differ(observations) else "vacuous",
        "layouts_carry_pinned_citations": "passed" if pinned else "not_made",
        "lossless_layouts_have_lemmas": (
            "passed" if _lossless_have_lemmas(observations) else "not_made"
        ),
        "weakening_never_raises_a_verdict": _passed(weakening_never_raises()),
        "every_ordered_lossless_pair_is_present": _passed(
            [row["pair_id"] for row in rows] == [pair_id(*pair) for pair in demanded]
        ),
    }


def _both_classes(observations: HuntObservations, rows: Rows) -> str:
    """Tell whether both exact verdicts occur, where padding lets them."""
    lossless = _lossless(observations)
    padding = {
        entry.layout.name: entry.realised.padding_positions
        for entry in observations.layouts
        if entry.realised is not None
    }
    padded = any(padding[name] for name in lossless)
    tight = any(
        not padding[name] and len(members) > 1
        for members in _members(observations)
        for name in members
    )
    if not (padded and tight):
        return "vacuous"
    return _passed(set(EXACT) <= {row["verdict"] for row in rows})


def _declarations_differ(observations: HuntObservations) -> bool:
    """Compare declarations without name, engine, citation and source."""
    seen: list[dict[str, Any]] = []
    for entry in observations.layouts:
        declared = entry.layout.as_json(observations.geometry)
        for field in ("name", "engine", "citation", "source"):
            del declared[field]
        if declared in seen:
            return False
        seen.append(declared)
    return True


def _images_differ(observations: HuntObservations) -> bool:
    """Compare the images of each group's lossless members."""
    realised = {entry.layout.name: entry.realised for entry in observations.layouts}
    for members in _members(observations):
        images = [image for name in members if (image := realised[name]) is not None]
        if len(_distinct(images)) < len(images):
            return False
    return True


def _lossless_have_lemmas(observations: HuntObservations) -> bool:
    """Tell whether lemmas are registered for each lossless layout's declaration [HUNT-18]."""
    layouts = {entry.layout.name: entry.layout for entry in observations.layouts}
    return all(lemmas_of(layouts[name], observations.geometry) for name in _lossless(observations))


def _members(observations: HuntObservations) -> list[tuple[str, ...]]:
    """List the lossless members of each group."""
    layouts = {entry.layout.name: entry.layout for entry in observations.layouts}
    return [
        lossless_members(group, layouts, observations.geometry) for group in observations.groups
    ]


def _lossless(observations: HuntObservations) -> list[str]:
    """List the layouts that are lossless in some group, in declared order."""
    names = {name for members in _members(observations) for name in members}
    return [entry.layout.name for entry in observations.layouts if entry.layout.name in names]


def _distinct(layouts: Sequence[Realised]) -> list[Realised]:
    """Keep one layout of each image [LAY-17]."""
    kept: list[Realised] = []
    for layout in layouts:
        if not any(same_image(layout, other) for other in kept):
            kept.append(layout)
    return kept


def _proofs(rows: Rows) -> list[dict[str, Any]]:
    return [row["proof"] for row in rows if row["proof"] is not None]


def _passed(holds: bool) -> str:
    return "passed" if holds else "failed"
