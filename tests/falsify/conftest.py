"""Drafts of hunts, made once: four small layouts, and the published set."""

import pytest

from lockstep.certificate.statement import hunt_subjects
from lockstep.claims.hunt import predicate
from lockstep.falsify.registry import placeholders
from lockstep.hunt import hunt
from lockstep.layouts.sets import load_set

ISSUED_AT = "2026-06-01T00:00:00Z"
PRODUCER = dict.fromkeys(("name", "version", "python", "numpy", "machine", "command"), "none")


def make(name):
    return predicate(
        hunt(load_set(name)),
        issued_at=ISSUED_AT,
        producer=PRODUCER,
        falsifications=placeholders(),
    )


@pytest.fixture(scope="session")
def small_draft():
    return make("fuzz")


@pytest.fixture(scope="session", params=["fuzz", "seed-004"])
def draft(request):
    return make(request.param)


@pytest.fixture
def arguments():
    def of(draft):
        return draft, hunt_subjects(draft), ISSUED_AT

    return of
