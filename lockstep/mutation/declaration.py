"""What spec/mutation.json says of operators and observers, and how it is kept one with the code.

Run as a module it writes the list of operators anew, and leaves observers, block size and proofs
as they stand there: `python -m lockstep.mutation.declaration FILE`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from lockstep import spec
from lockstep.certificate.write import write_file
from lockstep.mutation.operator import Operator
from lockstep.mutation.operators import operators

FILE = "mutation.json"


class Declared(NamedTuple):
    """An observer, as the spec declares it.

    Attributes:
        name: its name.
        sort: `relation`, `reference`, `golden`, or `baseline`, which is none.
        schedules: whether it compares one request under several schedules.
    """

    name: str
    sort: str
    schedules: bool


@cache
def observers() -> tuple[Declared, ...]:
    """Give the observers in the order of the matrix [MUT-6]."""
    return tuple(
        Declared(one["name"], one["sort"], one["schedules"]) for one in spec.load(FILE)["observers"]
    )


@cache
def proofs() -> Mapping[str, Mapping[str, str] | None]:
    """Give the proof of equivalence of each operator by its id, None for most [MUT-10]."""
    return {one["id"]: one["proof"] for one in spec.load(FILE)["operators"]}


def entry(operator: Operator, proof: Mapping[str, str] | None) -> dict[str, Any]:
    """Give an operator as the spec lists it [MUT-2]."""
    return {
        "id": operator.id,
        "subsystem": operator.subsystem,
        "module": operator.module,
        "cause": operator.cause,
        "source": operator.source,
        "black_box": operator.black_box,
        "reason": operator.reason,
        "edits_sha256": operator.sha256,
        "proof": None if proof is None else dict(proof),
    }


def document(previous: Mapping[str, Any]) -> dict[str, Any]:
    """Give the spec's data with the operators of the code."""
    held = {one["id"]: one["proof"] for one in previous["operators"]}
    listed = [entry(operator, held.get(operator.id)) for operator in operators().values()]
    return {**previous, "operators": listed}


def main(arguments: Sequence[str]) -> int:
    """Write the file that the argument names anew."""
    path = Path(arguments[0])
    made = document(json.loads(path.read_text("utf-8")))
    write_file(path, (json.dumps(made, indent=1, ensure_ascii=False) + "\n").encode("utf-8"))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
