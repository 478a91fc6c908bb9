"""The fold of a build of the lemmas, against the schema and against the registry."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import jsonschema
import pytest

from lockstep import spec
from lockstep.claims.lean import predicate, registered
from lockstep.lean.observe import LeanObservations

PRODUCER = dict.fromkeys(("name", "version", "python", "machine", "command"), "test")
SEEN = LeanObservations(
    kernel={
        "builder": "wheel",
        "version": "4.35.0",
        "commit": "0" * 40,
        "library_sha256": "0" * 64,
    },
    host="test",
    theorems=registered(),
    modules={"Example.Second": "1" * 64, "Example": "2" * 64},
    kernel_accepted=True,
    gates_passed=True,
    official_toolchain_agrees=None,
    export=("export.ndjson", "3" * 64),
)


def fold(seen: LeanObservations) -> dict[str, Any]:
    return predicate(seen, issued_at="2026-11-29T12:00:00Z", producer=PRODUCER)


def test_the_predicate_has_the_shape_of_the_schema() -> None:
    jsonschema.Draft202012Validator(spec.load("schemas/lean.schema.json")).validate(fold(SEEN))


def test_theorems_and_allow_list_are_those_of_the_registry() -> None:
    data, folded = spec.load("lemmas.json"), fold(SEEN)
    assert folded["theorems"] == data["lemmas"]
    assert folded["allowed_axioms"] == data["allowed_axioms"]


def test_modules_are_sorted_and_lie_where_their_names_say() -> None:
    assert [(one["name"], one["path"]) for one in fold(SEEN)["modules"]] == [
        ("Example", "Example.lean"),
        ("Example.Second", "Example/Second.lean"),
    ]


@pytest.mark.parametrize(("seen", "accepted"), [(True, len(registered())), (None, 0), (False, 0)])
def test_only_what_was_seen_is_counted_as_accepted(seen: bool | None, accepted: int) -> None:
    assert fold(replace(SEEN, kernel_accepted=seen))["counts"]["accepted"] == accepted


def test_what_is_not_there_is_null() -> None:
    folded = fold(replace(SEEN, export=None))
    assert folded["export"] is None
    assert folded["observations"]["official_toolchain_agrees"] is None
