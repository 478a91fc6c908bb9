"""Write the parents of the conformance vectors of kind measurement.

Usage: python tools/measurement_parent.py records > spec/cases/documents/measurement.json
       python tools/measurement_parent.py probes > spec/cases/documents/measurement-probes.json

No server was measured: records and samples are made up (`tests/measurement_records.py`,
`tests/measure/probed.py`), and folded by the claim of the kind. The documents are reviewed and
committed; they are made anew where the rules or the data of the kind change.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from engine_parent import chosen, placed
from fault_parent import written
from server_parent import ISSUED_AT, PRODUCER


def document(of: str) -> dict[str, Any]:
    """Fold made-up `records`, or made-up samples of `probes`."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from lockstep.claims.measurement import predicate
    from tests.measure import probed
    from tests.measurement_records import document as records

    asked = {"records": records, "probes": probed.document}[of]()
    folded = predicate(asked, issued_at=ISSUED_AT, producer=PRODUCER)
    return placed("measurement", folded, ("spec", "records"))


if __name__ == "__main__":
    sys.stdout.write(written(document(chosen(("records", "probes")))) + "\n")
