"""No number that a certificate about sampling derives can be edited, whoever signs the edit."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest

from lockstep.vectors import scenario
from lockstep.vectors.subjects import SUBJECTS
from lockstep_verify import lcj, spec
from lockstep_verify.errors import Refusal
from lockstep_verify.schema import resolve
from tests.statements import judge

KINDS = {"sampling": "$requests", "distance-calibration": "$calibration",
         "sampling-experiments": "$observations"}  # fmt: skip
"""The digest of what was observed, which a forger makes anew."""
Path = tuple[str | int, ...]


def leaves(
    value: Any, node: dict[str, Any], schema: dict[str, Any], inherited: str, path: Path = ()
) -> Iterator[tuple[Path, str, Any]]:
    """Give each leaf with its class [LEDGER-2]."""
    target = resolve(node, schema)
    own = node.get("x-class") or target.get("x-class") or inherited
    if isinstance(value, list):
        for at, item in enumerate(value):
            yield from leaves(item, target.get("items", {}), schema, own, (*path, at))
    elif isinstance(value, dict) and "properties" in target:
        for name, member in value.items():
            yield from leaves(member, target["properties"][name], schema, own, (*path, name))
    else:
        yield path, own, value


def another(value: Any) -> Any:
    if isinstance(value, int):
        return value - 1 if value else 1
    if value is None:
        return 0
    return value[::-1] if value != value[::-1] else value + "0"


def edited(statement: dict[str, Any], path: Path, value: Any, digest: str) -> dict[str, Any]:
    """Give the statement with one leaf changed, and the digests that go with it."""
    made = deepcopy(statement)
    holder = made["predicate"]
    for step in path[:-1]:
        holder = holder[step]
    holder[path[-1]] = value
    held = {"model": made["predicate"].get("model", {}).get("sha256")}
    held[digest.removeprefix("$")] = SUBJECTS[digest](made)
    for subject in made["subject"]:
        if subject["name"] in held:
            subject["digest"]["sha256"] = held[subject["name"]]
    return made


@pytest.mark.parametrize(("kind", "digest"), KINDS.items())
def test_what_is_derived_is_derived(kind: str, digest: str) -> None:
    statement = json.loads(lcj.encode(scenario.document(kind)))
    schema = spec.load(f"schemas/{kind}.schema.json")
    judge(deepcopy(statement))
    tried: set[tuple[str, ...]] = set()
    for path, own, value in leaves(statement["predicate"], schema, schema, "attested"):
        place = tuple("*" if isinstance(step, int) else step for step in path)
        if own != "derived" or place in tried:
            continue
        tried.add(place)
        with pytest.raises(Refusal):
            judge(edited(statement, path, another(value), digest))
    assert len(tried) >= 15
    names = {place[-1] for place in tried}
    assert names >= {"verdict", *statement["predicate"]["counts"]}
