"""The claim of a layout hunt: what was observed, folded into the predicate (spec/hunt.md).

Nothing is read, timed or drawn here: the same observations and arguments give the same
predicate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lockstep import spec
from lockstep.claims import hunt_totals
from lockstep.claims.hunt_lemmas import row_lemmas
from lockstep.claims.verdict import verdict
from lockstep.hunt.demand import pair_id
from lockstep.hunt.observe import HuntObservations, LayoutObservation, RowObservation
from lockstep.layouts.declaration import Citation, Component, Layout, Tensor
from lockstep.layouts.derived import derived_json
from lockstep.layouts.frontier import frontier_code
from lockstep.layouts.words import transformations

PREDICATE_TYPE = "urn:lockstep:certificate:hunt:v1"


def predicate(
    observations: HuntObservations,
    *,
    issued_at: str,
    producer: Mapping[str, str],
    falsifications: Sequence[Mapping[str, str]],
) -> dict[str, Any]:
    """Fold a hunt's observations into the predicate of its certificate.

    Args:
        observations: of the hunt.
        issued_at: UTC time, as the schema writes it.
        producer: name, version, python, numpy, machine and command.
        falsifications: name, expected and actual of each registered falsification [HUNT-15].
    """
    by_name = {entry.layout.name: entry for entry in observations.layouts}
    rows = [_row(observations, by_name, src, dst) for src, dst in observations.pairs]
    transfer = _transfer(observations)
    return {
        "issued_at": issued_at,
        "critical": [],
        "producer": dict(producer),
        "set": observations.set_name,
        "geometry": observations.geometry.as_json(),
        "layouts": [_layout(observations, entry) for entry in observations.layouts],
        "groups": [
            {"anchor": group.anchor, "members": list(group.members)}
            for group in observations.groups
        ],
        "rows": rows,
        "transfer": transfer,
        "coverage": hunt_totals.coverage(observations, rows, transfer),
        "counts": hunt_totals.counts(observations, rows),
        "checks": hunt_totals.checks(observations, rows),
        "known_limits": [
            {"name": name, "holds": observations.known_limits[name]}
            for name in spec.load("hunt.json")["known_limits"]
        ],
        "falsifications": [dict(entry) for entry in falsifications],
    }


def opened(declared: Mapping[str, Any]) -> Layout:
    """Give a layout of the predicate as it was declared."""
    # A layout file states widths of quantised components alone; others are the dtype's [LAY-9].
    stated = declared["quantisation"] != "none"
    tensors = tuple(
        Tensor(
            tensor["name"],
            tuple(
                Component(part["name"], part["bits"] if stated else None)
                for part in tensor["components"]
            ),
            tuple(tensor["axes"]),
            tensor["x"],
            tensor["pad_tokens"],
            tensor["pad_head_dim"],
            tensor["reserve"],
        )
        for tensor in declared["tensors"]
    )
    source = declared["source"]
    names = ("name", "engine", "attention", "kv_heads", "ranks", "rank_axis", "block")
    return Layout(
        **{name: declared[name] for name in names},
        quantisation=declared["quantisation"],
        tensors=tensors,
        citation=Citation(**declared["citation"]),
        source_path=source["path"],
        source_sha256=source["sha256"],
    )


def _layout(observations: HuntObservations, entry: LayoutObservation) -> dict[str, Any]:
    """Give a declaration with its derived fields; what was walked comes from the walk."""
    declared = entry.layout.as_json(observations.geometry)
    if entry.realised is None or entry.probe is None:
        return {**declared, "derived": derived_json(None)}
    walked = {
        "positions": entry.probe.positions,
        "padding_positions": entry.probe.padding_positions,
        "bijective": entry.probe.bijective and entry.probe.layers_agree,
        "image_sha256": entry.probe.image_sha256,
    }
    return {**declared, "derived": {**derived_json(entry.realised), **walked}}


def _row(
    observations: HuntObservations, by_name: Mapping[str, LayoutObservation], src: str, dst: str
) -> dict[str, Any]:
    """Fold one pair."""
    one, other = by_name[src], by_name[dst]
    geometry = observations.geometry
    code = frontier_code(one.layout, other.layout, geometry)
    name = pair_id(src, dst)
    seen = RowObservation() if code else observations.rows[name]
    four = {
        "forward_reproduces_target": seen.forward_reproduces_target,
        "roundtrip_byte_identical": seen.roundtrip_byte_identical,
        "roundtrip_diff_is_exactly_unread_padding": seen.roundtrip_diff_is_exactly_unread_padding,
        "tokens_identical": seen.tokens_identical,
    }
    return {
        "pair_id": name,
        "src": src,
        "dst": dst,
        "frontier_code": code,
        "verdict": verdict(code, *four.values()),
        "transformations": list(transformations(one.layout, other.layout, geometry)),
        "observations": four,
        "proof": None if code else _proof(observations, one, other, seen),
        "native_bytes": None if code else _native_bytes(one, other),
    }


def _proof(
    observations: HuntObservations,
    one: LayoutObservation,
    other: LayoutObservation,
    seen: RowObservation,
) -> dict[str, Any]:
    """State what was walked [HUNT-9]; a pair's walk, where made, has to agree with its gathers."""
    src, dst = one.realised, other.realised
    assert src is not None and dst is not None  # noqa: S101 - the row has no frontier code
    assert one.probe is not None and other.probe is not None  # noqa: S101
    agrees = seen.gather_agrees
    if seen.walk_is_bijective is False:
        agrees = False
    return {
        "kind": "index-permutation-exhaustive",
        "positions_checked": other.probe.positions,
        "positions_total": dst.positions,
        "source_positions_checked": one.probe.positions,
        "source_positions_total": src.positions,
        "dest_padding_positions": other.probe.padding_positions,
        "source_padding_positions": one.probe.padding_positions,
        "unread_padding_positions": len(observations.layers) * one.probe.padding_positions,
        "dest_bijective": other.probe.bijective and other.probe.layers_agree,
        "source_bijective": one.probe.bijective and one.probe.layers_agree,
        "gather_agrees": agrees,
        "lemmas": row_lemmas(one.layout, other.layout, observations.geometry),
    }


def _native_bytes(one: LayoutObservation, other: LayoutObservation) -> dict[str, int] | None:
    if one.realised is None or other.realised is None:
        return None
    return {"src": one.realised.native_bytes, "dst": other.realised.native_bytes}


def _transfer(observations: HuntObservations) -> dict[str, Any]:
    """State what was run [HUNT-10]."""
    return {
        "layers": list(observations.layers),
        "gather_payloads": observations.gather_payloads,
        "payload_seed": observations.payload_seed,
        "weights_seed": observations.weights_seed,
        "steps": observations.steps,
        "references": [
            {"anchor": reference.anchor, "tokens": list(reference.tokens)}
            for reference in observations.references
        ],
        "rows": [
            {
                "pair_id": name,
                "roundtrip_diff_positions": row.roundtrip_diff_positions,
                "decoded_tokens": list(row.decoded_tokens),
            }
            for name, row in sorted(observations.rows.items())
            if row.decoded_tokens is not None
        ],
    }
