"""Findings shown again."""

from __future__ import annotations

from typing import Any

import pytest

from lockstep.errors import LockstepError
from lockstep.minimize.again import UNMUTATED, show_again

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def stated(wedge_statement: dict[str, Any]) -> dict[str, Any]:
    predicate: dict[str, Any] = wedge_statement["predicate"]
    return predicate


def test_it_shows_again_with_every_single_removal(stated: dict[str, Any]) -> None:
    found = show_again(stated, every=True)
    # 62 removals are 2 cases; the case as it is needs no engine to be refused.
    assert (found.outcome, found.tested) == ("same", 2)


def test_what_a_commit_closed_does_not_show(stated: dict[str, Any]) -> None:
    stated |= {"mutation": None, "unmutated": None, "closed_by": COMMIT}
    # The machine that it was found on does not matter any more.
    stated["environment"]["resolved"][0]["value"] = "another"
    found = show_again({**stated, "environment": _on_host(stated)})
    assert (found.outcome, found.expected) == ("closed", f"closed by {COMMIT}")


def test_without_a_commit_it_is_a_failure(stated: dict[str, Any]) -> None:
    stated |= {"mutation": None, "unmutated": None}
    assert show_again(stated).outcome == "not_reproduced"


def test_what_shows_again_is_not_closed(stated: dict[str, Any]) -> None:
    stated["closed_by"] = COMMIT
    assert show_again(stated).outcome == "reopened"


def test_another_trajectory_differs(stated: dict[str, Any]) -> None:
    stated["trajectory_sha256"] = "0" * 64
    found = show_again(stated)
    assert (found.outcome, found.expected) == ("differs", "0" * 64)


@pytest.mark.parametrize(("place", "first"), [(30, 0), (61, 61)])
def test_another_outcome_is_pointed_at(place: int, first: int, stated: dict[str, Any]) -> None:
    # Removals of one case share an outcome; the first of them speaks for all.
    same = stated["removals"][place]["sha256"]
    for row in stated["removals"]:
        if row["sha256"] == same:
            row |= {"outcome": "fails_otherwise", "code": "starved"}
    found = show_again(stated, every=True)
    assert (found.outcome, found.removal) == ("another_outcome", first)
    assert (found.expected, found.got) == ("fails_otherwise starved", "passes")


def test_removals_that_do_not_follow_are_refused(stated: dict[str, Any]) -> None:
    del stated["removals"][0]
    with pytest.raises(LockstepError) as caught:
        show_again(stated, every=True)
    assert caught.value.code == "FINDING_REMOVALS_NOT_DERIVED"


def test_edits_and_bindings_are_compared_first(stated: dict[str, Any]) -> None:
    edited = {**stated, "mutation": {**stated["mutation"], "sha256": "0" * 64}}
    assert show_again(edited).reason == "the edits of never_fitting_accepted"
    for setting in stated["environment"]["resolved"]:
        if setting["name"] == "numpy":
            setting["value"] = "1.0"
    found = show_again(stated)
    assert found.outcome == "not_comparable"
    assert "numpy" in found.reason


def test_another_model_is_refused(stated: dict[str, Any]) -> None:
    stated["model"]["recipe"]["seed"] += 1
    with pytest.raises(LockstepError) as caught:
        show_again(stated)
    assert caught.value.code == "SUBJECT_MISMATCH"
    stated["model"]["recipe"] = None
    with pytest.raises(LockstepError) as caught:
        show_again(stated)
    assert caught.value.code == "BAD_VALUE"


def test_the_engine_as_it_is_has_a_place_of_its_own() -> None:
    assert UNMUTATED < 0


def _on_host(stated: dict[str, Any]) -> dict[str, Any]:
    """Give the environment with what the engine is opened by."""
    resolved = [
        {**entry, "value": "host" if entry["name"] == "backend" else entry["value"]}
        for entry in stated["environment"]["resolved"]
    ]
    return {**stated["environment"], "resolved": resolved}
