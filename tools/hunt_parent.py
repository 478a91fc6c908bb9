"""Write the parent of the hunt's conformance vectors from spec/cases/layouts.

Usage: python tools/hunt_parent.py > spec/cases/documents/hunt.json

The document is reviewed and committed, so that making vectors needs neither NumPy nor a hunt. Its
observations follow from the declarations [HUNT-8]; its tokens are set by hand, since no model ran.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from lockstep import spec
from lockstep.layouts.declaration import load
from lockstep.layouts.derived import derived_json
from lockstep.layouts.frontier import frontier_code
from lockstep.layouts.geometry import Geometry
from lockstep.layouts.realise import realise
from lockstep.layouts.words import transformations

GEOMETRY = Geometry(6, 2, 2, 4, 4, 2, "float16")
TOKENS = {"plain": [3, 1, 4, 1], "latent": [2, 7, 1, 8]}
OBSERVED = tuple(spec.load("hunt.json")["observations"])


NAMES = ("plain", "paged", "vector", "fp8", "mqa", "thirds", "latent", "latent-paged")
LAYOUTS = tuple(load(spec.root() / "cases" / "layouts" / f"{name}.toml") for name in NAMES)
GROUPS = (
    ("plain", ("plain", "paged", "vector", "fp8", "mqa", "thirds", "latent")),
    ("latent", ("latent", "latent-paged")),
)
BY_NAME = {entry.name: entry for entry in LAYOUTS}
REALISED = {entry.name: realise(entry, GEOMETRY) for entry in LAYOUTS}


def lossless(anchor: str, members: tuple[str, ...]) -> list[str]:
    """Give the members that convert without loss [HUNT-3]."""
    return [
        name
        for name in members
        if BY_NAME[name].quantisation == "none"
        and frontier_code(BY_NAME[name], BY_NAME[anchor], GEOMETRY) is None
    ]


def pairs() -> dict[str, tuple[str, str, str]]:
    """Give source, destination and anchor of each demanded pair, sorted [HUNT-3]."""
    found: dict[str, tuple[str, str, str]] = {}
    for anchor, members in GROUPS:
        exact = lossless(anchor, members)
        wanted = [(a, b) for a in exact for b in exact if a != b]
        for name in members:
            if name not in exact:
                wanted += [(name, anchor), (anchor, name)]
        for src, dst in wanted:
            found.setdefault(f"{src}->{dst}", (src, dst, anchor))
    return dict(sorted(found.items()))


def verdict(code: str | None, seen: dict[str, bool | None]) -> str:
    """Fold a frontier code and four observations [HUNT-7]."""
    if code is not None:
        return "REFUSED"
    forward, byte, diff, tokens = (seen[name] for name in OBSERVED)
    if not (forward and diff and tokens):
        return "NOT_EXACT"
    return "EXACT_BYTE" if byte else "EXACT_TOKEN"


def row(pair_id: str, src: str, dst: str) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """Give a row and its entry in the transfer."""
    one, other = BY_NAME[src], BY_NAME[dst]
    code = frontier_code(one, other, GEOMETRY)
    kept = other.quantisation in ("none", one.quantisation)
    into_same = one.quantisation in ("none", other.quantisation)
    same_tokens = one.quantisation == other.quantisation == "none"
    source, dest = REALISED[src], REALISED[dst]
    seen: dict[str, bool | None] = dict.fromkeys(OBSERVED)
    head = {"pair_id": pair_id, "src": src, "dst": dst, "frontier_code": code}
    words = list(transformations(one, other, GEOMETRY))
    if code is not None or source is None or dest is None:
        return {
            **head, "verdict": "REFUSED", "transformations": words, "observations": seen,
            "proof": None, "native_bytes": None,
        }, None  # fmt: skip
    seen = dict(
        zip(
            OBSERVED,
            (into_same, kept and source.padding_positions == 0, kept, same_tokens),
            strict=True,
        )
    )
    unread = GEOMETRY.layers * source.padding_positions
    anchor = pairs()[pair_id][2]
    tokens = TOKENS[anchor]
    entry = {
        "pair_id": pair_id,
        "roundtrip_diff_positions": unread if kept else unread + 5,
        "decoded_tokens": tokens if same_tokens else [*tokens[:-1], 0],
    }
    return {
        **head,
        "verdict": verdict(code, seen),
        "transformations": words,
        "observations": seen,
        "proof": {
            "kind": "index-permutation-exhaustive",
            "positions_checked": dest.positions,
            "positions_total": dest.positions,
            "source_positions_checked": source.positions,
            "source_positions_total": source.positions,
            "dest_padding_positions": dest.padding_positions,
            "source_padding_positions": source.padding_positions,
            "unread_padding_positions": unread,
            "dest_bijective": True,
            "source_bijective": True,
            "gather_agrees": True,
            "lemmas": "$lemmas",
        },
        "native_bytes": {"src": source.native_bytes, "dst": dest.native_bytes},
    }, entry


def predicate() -> dict[str, Any]:
    """Give the predicate; its falsifications stand for the registry of the specification."""
    made = [row(name, src, dst) for name, (src, dst, _) in pairs().items()]
    rows = [entry for entry, _ in made]
    ran = [entry for _, entry in made if entry is not None]
    held = {name: found for name, found in REALISED.items() if found is not None}
    proved = [entry for entry in rows if entry["proof"] is not None]
    exact = {name for anchor, members in GROUPS for name in lossless(anchor, members)}
    derived = {name: derived_json(found) for name, found in REALISED.items()}
    images = {name: (derived[name]["positions"], derived[name]["image_sha256"]) for name in held}
    verdicts = [entry["verdict"] for entry in rows]
    vacuous = {"lossless_layouts_have_lemmas": "not_made"}
    data = spec.load("hunt.json")
    return {
        "issued_at": "2026-05-01T00:00:00Z",
        "critical": [],
        "producer": {
            "name": "conformance vectors", "version": "1", "python": "none", "numpy": "none",
            "machine": "none", "command": "none: the observations follow from the declarations",
        },
        "set": "vectors",
        "geometry": GEOMETRY.as_json(),
        "layouts": [
            {**entry.as_json(GEOMETRY), "derived": derived[entry.name]}
            for entry in LAYOUTS
        ],
        "groups": [{"anchor": anchor, "members": list(members)} for anchor, members in GROUPS],
        "rows": rows,
        "transfer": {
            "layers": [0, 1], "gather_payloads": 1, "payload_seed": 1, "weights_seed": 2,
            "steps": 4,
            "references": [
                {"anchor": anchor, "tokens": TOKENS[anchor]} for anchor, _ in GROUPS
            ],
            "rows": ran,
        },
        "coverage": {
            "layouts_enumerated": len(held),
            "positions_enumerated": sum(found.positions for found in held.values()),
            "layers_enumerated": 1,
            "rows_composed": len(proved),
            "rows_decoded": len(ran),
            "layers_decoded": 2,
        },
        "counts": {
            "layouts": len(LAYOUTS),
            "rows": len(rows),
            **{name.lower(): verdicts.count(name) for name in data["verdicts"]},
            "positions_checked": sum(entry["proof"]["positions_total"] for entry in proved),
            "source_positions_checked": sum(
                entry["proof"]["source_positions_total"] for entry in proved
            ),
            "distinct_images": len({images[name] for name in exact}),
            "distinct_positions": sum(positions for positions, _ in set(images.values())),
            "lemmas": "$lemmas",
            "lossless_layouts": [name for name in BY_NAME if name in exact],
            "identity_layouts": [
                name for name in BY_NAME if name in exact and derived[name]["identity"]
            ],
            "frontier_codes": sorted({r["frontier_code"] for r in rows if r["frontier_code"]}),
            "vocabulary": sorted({word for r in rows for word in r["transformations"]}),
        },
        "checks": [
            {"name": check["name"], "outcome": vacuous.get(check["name"], "passed")}
            for check in data["checks"]
        ],
        "known_limits": [{"name": name, "holds": True} for name in data["known_limits"]],
        "falsifications": "$falsifications",
    }  # fmt: skip


def main() -> None:
    """Write the statement to standard output."""
    statement = {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [
            {"name": "spec", "digest": {"sha256": "$spec:hunt"}},
            {"name": "layouts", "digest": {"sha256": "$layouts"}},
        ],
        "predicateType": "urn:lockstep:certificate:hunt:v1",
        "predicate": predicate(),
    }
    json.dump(statement, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
