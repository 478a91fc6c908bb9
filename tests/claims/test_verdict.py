from __future__ import annotations

from itertools import product

import pytest

from lockstep.claims import verdict as subject
from lockstep.claims.verdict import ORDER, verdict, weakening_never_raises
from lockstep.vectors import build, score

VALUES = (True, False, None)


def test_weakening_any_of_the_81_assignments_never_raises_the_verdict() -> None:
    assignments = list(product(VALUES, repeat=4))
    assert len(assignments) == 81
    for seen in assignments:
        rank = ORDER.index(verdict(None, *seen))
        for place, value in enumerate(seen):
            for weaker in VALUES[VALUES.index(value) + 1 :]:
                weakened = (*seen[:place], weaker, *seen[place + 1 :])
                assert ORDER.index(verdict(None, *weakened)) <= rank
    assert weakening_never_raises()


def test_the_guard_on_weakening_notices_a_rule_that_rewards_not_looking(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def lenient(
        code: str | None,
        forward: bool | None,
        byte: bool | None,
        difference: bool | None,
        tokens: bool | None,
    ) -> str:
        return verdict(code, forward, byte, difference, True if tokens is None else tokens)

    monkeypatch.setattr(subject, "verdict", lenient)
    assert not weakening_never_raises()


def test_the_table_of_the_conformance_vectors() -> None:
    vectors = score.load(build.folder(), ["verdict"])
    assert len(vectors) > 81
    for vector in vectors:
        given = vector["input"]
        assert (
            verdict(given["frontier_code"], *given["observations"])
            == vector["expect"]["value"]["verdict"]
        ), vector["id"]


@pytest.mark.parametrize(
    ("seen", "wanted"),
    [
        ((True, True, True, True), "EXACT_BYTE"),
        ((True, False, True, True), "EXACT_TOKEN"),
        ((False, True, True, True), "NOT_EXACT"),
        ((True, False, False, True), "NOT_EXACT"),
        ((True, True, True, False), "NOT_EXACT"),
        ((True, True, True, None), "UNPROVEN"),
        ((False, None, False, False), "UNPROVEN"),
    ],
)
def test_verdicts(seen: tuple[bool | None, ...], wanted: str) -> None:
    assert verdict(None, *seen) == wanted
    assert verdict("X1_LATENT_KV", *seen) == "REFUSED"
