"""Each deliberately wrong verifier is killed by a vector that names its kind of bug."""

import importlib.util
from pathlib import Path

import pytest

from lockstep_verify import protocol


def _zoo():
    place = Path(__file__).with_name("zoo.py")
    found = importlib.util.spec_from_file_location("zoo", place)
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module.ZOO


ZOO = _zoo()


def test_the_zoo_is_large_enough():
    assert len(ZOO) >= 8


@pytest.mark.parametrize("wrong", ZOO, ids=lambda wrong: wrong.__name__)
def test_a_wrong_verifier_is_killed(held, monkeypatch, wrong):
    flag = ZOO[wrong]
    wrong(monkeypatch)
    outcomes = held.judge(lambda request: protocol.answer(request), flag)
    killed = [outcome.id for outcome in outcomes if outcome.state == "failed"]
    assert killed, f"no vector flagged {flag} kills it"
