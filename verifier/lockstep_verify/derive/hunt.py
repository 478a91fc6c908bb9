"""Re-derive a hunt for exact transformations between KV-cache layouts (spec/hunt.md).

The declarations and the geometry decide every shape, position count, verdict, word, list and total.
What was run (tokens, differing slots) must agree with them. The order of the checks below is the
normative order of derivation; the first offence gives the code.
"""

import hashlib
from typing import Any

from lockstep_verify import spec
from lockstep_verify.derive import Derivation, Options
from lockstep_verify.derive.hunt_lemmas import Lemmas
from lockstep_verify.derive.hunt_pairs import check_names, demanded, groups, require
from lockstep_verify.derive.hunt_rows import check_row
from lockstep_verify.derive.hunt_sources import check_sources
from lockstep_verify.derive.hunt_totals import Findings, check_findings, check_guards
from lockstep_verify.derive.hunt_transfer import Transfer, check_transfer
from lockstep_verify.derive.layout import Layout
from lockstep_verify.derive.layout_form import check_declaration, check_geometry
from lockstep_verify.derive.layout_image import image_sha256, walk
from lockstep_verify.derive.layout_terms import Geometry, geometry_of
from lockstep_verify.errors import Refusal

_COVERAGE = "COVERAGE_DENOMINATOR_NOT_DERIVED"
_BIJECTION = "BIJECTION_NOT_DERIVED"
_LAYOUTS = "/predicate/layouts"


def derive(statement: dict[str, Any], options: Options) -> Derivation:
    """Re-derive the statement of a hunt.

    Raises:
        Refusal: the first offence in the order of derivation of spec/hunt.md.
    """
    predicate = statement["predicate"]
    check_geometry(predicate["geometry"], predicate["layouts"])
    geometry = geometry_of(predicate["geometry"])
    layouts = _layouts(predicate["layouts"], geometry)
    resolved = groups(predicate["groups"], layouts)
    wanted = demanded(resolved)
    rows = predicate["rows"]
    pairs = check_names(rows, layouts, wanted)
    transfer, lemmas = Transfer(predicate["transfer"]), Lemmas(list(layouts.values()))
    words = [
        check_row(i, row, pair, transfer, lemmas)
        for i, (row, pair) in enumerate(zip(rows, pairs, strict=True))
    ]
    check_transfer(predicate["transfer"], rows, pairs, resolved, geometry.layers)
    findings = Findings(predicate, list(layouts.values()), resolved, pairs, words, lemmas)
    check_findings(findings)
    check_guards(findings)
    check_sources(statement, options)
    return _report(findings, walk(findings.layouts, options.exhaustive), options)


def _layouts(declared: list[dict[str, Any]], geometry: Geometry) -> dict[str, Layout]:
    """Check the declared layouts and their derived fields (step 2).

    Raises:
        Refusal: BAD_VALUE, BIJECTION_NOT_DERIVED, COVERAGE_DENOMINATOR_NOT_DERIVED.
    """
    limit = spec.load("hunt.json")["limits"]["positions"]
    layouts: dict[str, Layout] = {}
    digests: dict[object, str] = {}
    for i, entry in enumerate(declared):
        at = f"{_LAYOUTS}/{i}"
        name = entry["name"]
        if name in layouts:
            raise Refusal("BAD_VALUE", f"{at}/name", "distinct names", name)
        check_declaration(entry, i, geometry.bits)
        layout = layouts[name] = Layout(entry, geometry)
        if layout.positions > limit:
            raise Refusal("BAD_VALUE", at, f"at most {limit} positions", layout.positions)
        if layout.realisable and layout.image not in digests:
            digests[layout.image] = image_sha256(layout)
        for field, value in _derived(layout, digests.get(layout.image)).items():
            code = _BIJECTION if field in ("bijective", "identity", "image_sha256") else _COVERAGE
            require(code, f"{at}/derived/{field}", value, entry["derived"][field])
    return layouts


def _derived(layout: Layout, digest: str | None) -> dict[str, Any]:
    """Give a layout's derived fields, in the schema's order (LAY-10 to LAY-18)."""
    if not layout.realisable:
        names = ("positions", "padding_positions", "replicas", "native_bytes")
        absent = dict.fromkeys((*names, "bijective", "identity", "image_sha256"))
        return {"realisable": False, "native_shapes": [], **absent}
    return {
        "realisable": True,
        "native_shapes": layout.native_shapes,
        "positions": layout.positions,
        "padding_positions": layout.padding,
        "replicas": layout.replicas,
        "native_bytes": layout.native_bytes,
        "bijective": layout.bijective,
        "identity": layout.identity,
        "image_sha256": digest,
    }


def _apart(findings: Findings) -> list[str]:
    """Name the layouts that no group holds, which are counted and not hunted (HUNT-1)."""
    grouped = {member.name for group in findings.resolved for member in group.members}
    names = [layout.name for layout in findings.layouts if layout.name not in grouped]
    return [f"declared and in no group, so not hunted: {', '.join(names)}"] if names else []


def _lemma_lines(findings: Findings) -> list[str]:
    """Say which lemmas the rows rest on, and what is not known of them here (HUNT-18)."""
    of, lossless = findings.lemmas.of, findings.lossless
    covered = [layout for layout in lossless if of[layout.name]]
    digest = hashlib.sha256(spec.read("lemmas.json")).hexdigest()
    return [
        f"lemmas: {findings.counts()['lemmas']} named by statement digest, as registered in "
        f"lemmas.json (sha256 {digest}); {len(covered)} of {len(lossless)} lossless layouts have "
        "some of their own",
        "that a kernel accepted them is for a certificate of kind lean to say",
    ]


def _report(findings: Findings, walked: int, options: Options) -> Derivation:
    counts, coverage = findings.counts(), findings.coverage()
    numbers = {name: value for name, value in (counts | coverage).items() if isinstance(value, int)}
    checks = findings.predicate["checks"]
    transfer = findings.predicate["transfer"]
    verdicts = spec.load("hunt.json")["verdicts"]
    open_checks = [
        (c["name"], c["outcome"].replace("_", " ")) for c in checks if c["outcome"] != "passed"
    ]
    sources = "as declared" if options.evidence else "not compared (no --evidence)"
    geometry = findings.predicate["geometry"]
    lines = (
        "geometry: " + ", ".join(f"{name} {value}" for name, value in geometry.items()),
        f"rows: {counts['rows']}, demanded by groups of "
        + ", ".join(f"{len(g.members)} layouts around {g.anchor.name}" for g in findings.resolved),
        *_apart(findings),
        "verdicts: " + ", ".join(f"{name} {counts[name.lower()]}" for name in verdicts),
        f"positions checked: {counts['positions_checked']:,} destination, "
        f"{counts['source_positions_checked']:,} source; "
        f"{counts['distinct_positions']:,} distinct (slots of one layer, padding included)",
        f"layouts: {counts['layouts']} declared, {len(findings.realisable)} realisable, "
        f"{len(findings.lossless)} lossless with {counts['distinct_images']} distinct images; "
        f"identity map: {', '.join(counts['identity_layouts']) or 'none'}",
        f"frontier: {', '.join(counts['frontier_codes']) or 'none'}",
        f"transformations: {', '.join(counts['vocabulary'])}",
        f"enumerated by the producer: {coverage['layouts_enumerated']} layouts, "
        f"{coverage['positions_enumerated']:,} positions, over one layer",
        f"derived from strides: the other layers, and {coverage['rows_composed']} rows as "
        "compositions",
        f"decoded by the producer: {coverage['rows_decoded']} rows over "
        f"{coverage['layers_decoded']} layers, {transfer['steps']} tokens each",
        f"walked here as a cross-check: {walked:,} positions of distinct images"
        + (", all of them" if options.exhaustive else ""),
        f"guards: {len(checks)} checks, {len(findings.predicate['known_limits'])} known limits, "
        f"{len(findings.predicate['falsifications'])} falsifications "
        "(that they ran is attested)",
        *(f"check {name}: {outcome}" for name, outcome in open_checks),
        *_lemma_lines(findings),
        f"layout sources: {sources}",
    )
    return Derivation("DERIVED", numbers, lines)
