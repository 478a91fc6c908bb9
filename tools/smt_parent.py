"""Write the parent of the conformance vectors of kind smt, from spec/cases/layouts.

Usage: python tools/smt_parent.py > spec/cases/documents/smt.json

Both solvers are asked. The document is reviewed and committed, so that making vectors needs none;
it is made anew where the texts of spec/smt.md or the geometries of spec/smt.json change.
"""

from __future__ import annotations

import json
import sys

from lockstep import spec
from lockstep.claims.smt import PREDICATE_TYPE, predicate
from lockstep.layouts.declaration import load
from lockstep.layouts.geometry import Geometry
from lockstep.layouts.sets import LayoutSet
from lockstep.proofs.run import prove
from lockstep.proofs.solvers import solvers

NAMES = ("paged", "latent", "fp8", "mqa")
"""One that is proved at some geometries with its token count fixed, one with any; two that fall
outside, so that each reason occurs."""
UNUSED = Geometry(1, 1, 1, 1, 1, 1, "bfloat16")
"""A set has a geometry of its own, which proofs do not look at."""


def document() -> dict[str, object]:
    """Ask, fold, and put placeholders where the vectors' builder fills in digests."""
    layouts = {name: load(spec.root() / "cases" / "layouts" / f"{name}.toml") for name in NAMES}
    seen = prove(LayoutSet("small", UNUSED, (), layouts), solvers(), lifecycle=False)
    words = ("name", "version", "python", "numpy", "machine", "command")
    producer = dict(zip(words, ("conformance vectors", "1", *["none"] * 4), strict=True))
    subjects = {"spec": "$spec:smt", "layouts": "$declarations"}
    return {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [
            {"name": name, "digest": {"sha256": digest}} for name, digest in subjects.items()
        ],
        "predicateType": PREDICATE_TYPE,
        "predicate": predicate(seen, issued_at="2026-05-01T00:00:00Z", producer=producer),
    }


if __name__ == "__main__":
    json.dump(document(), sys.stdout, indent=1, ensure_ascii=False)
    sys.stdout.write("\n")
