"""Write the parent of the conformance vectors of kind layout-observation.

Usage: python tools/observation_parent.py > spec/cases/documents/layout-observation.json

No engine was run: memory is made up (`tests/observed_layouts.py`) of the layouts of
spec/cases/layouts, and folded by the claim of the kind. The document is reviewed and committed; it
is made anew where the rules of the kind change.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from engine_parent import placed
from fault_parent import written
from server_parent import ISSUED_AT, PRODUCER

from lockstep import spec
from lockstep.layouts.declaration import load


def document() -> dict[str, Any]:
    """Fold observations: two that match, two that differ, one that is not representable."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from lockstep.claims.layout_observation import predicate
    from lockstep.observation.seen import SeenEngine
    from tests.observed_layouts import GEOMETRY, ordered, seen

    plain, paged, vector = (
        load(spec.root() / "cases" / "layouts" / f"{name}.toml")
        for name in ("plain", "paged", "vector")
    )
    observations = (
        seen(plain, None, ("bfloat16", "float32")),
        seen(paged, ordered(paged, "Tb KV H Ti D")),
        seen(plain, ordered(plain, "T D H")),
        seen(plain, paged),
        seen(vector),
    )
    engine = SeenEngine(
        "engine", "1.0", {"engine/cache.py": "0" * 64}, "write", GEOMETRY, observations, ("other",)
    )
    folded = predicate(engine, issued_at=ISSUED_AT, producer=PRODUCER)
    return placed("layout-observation", folded, ("spec", "layouts", "engine"))


if __name__ == "__main__":
    sys.stdout.write(written(document()) + "\n")
