"""Write the parent of the conformance vectors of kind throughput.

Usage: python tools/measure_parent.py > spec/cases/documents/throughput.json

No server was measured: the walls are made up (`tests/measure/runs.py`), and folded by the claim of
the kind. The document is reviewed and committed; it is made anew where the rules or the data of the
kind change.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from engine_parent import placed
from fault_parent import written
from server_parent import ISSUED_AT, PRODUCER

SLOW = (1100, 1110, 1120, 1130, 1140, 1150, 1160)
FAST = (1000,) * 7


def document() -> dict[str, Any]:
    """Fold a run of two arms over seven blocks, with a criterion that cannot be separated."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from lockstep.claims.throughput import Criterion, predicate
    from tests.measure.runs import run

    made = predicate(
        run({"invariant": SLOW, "fast": FAST}),
        [("invariant", "fast")],
        [Criterion(0, 1_150_000, "above")],
        issued_at=ISSUED_AT,
        producer=PRODUCER,
    )
    return placed("throughput", made, ("spec", "arms"), arms=made["arms_sha256"])


if __name__ == "__main__":
    sys.stdout.write(written(document()) + "\n")
