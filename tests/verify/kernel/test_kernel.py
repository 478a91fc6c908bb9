"""The second checker: what it accepts, and that each corrupted export is refused by its reason."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lockstep_verify import limits
from lockstep_verify.errors import Refusal
from lockstep_verify.kernel.checking import check
from lockstep_verify.kernel.reasons import REASONS, KernelRefusal

from .assembler import SAMPLE, Assembler, sample
from .corpus import CASES


def test_sample_is_accepted() -> None:
    checked = check(SAMPLE.read_bytes())
    assert checked.declarations == 35
    assert checked.theorems == ("Nat.beq_refl", "Nat.mul_spec", "eq_of_heq", "eq_true")
    assert checked.assumed == ()


@pytest.mark.parametrize("name", CASES)
def test_corrupted_export_is_refused(name: str) -> None:
    reason, make = CASES[name]
    with pytest.raises(KernelRefusal) as refused:
        check(make().data())
    assert (refused.value.code, refused.value.reason) == ("KERNEL_REFUSED", reason)
    assert refused.value.pointer != "/0"


# What a change of may pass: names of binders and blocks, and when a definition is unfolded.
FREE_MEMBERS = {"name", "binderInfo", "all", "hints", "safety", "str", "num"}


def _leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, (*path, key))
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from _leaves(inner, (*path, place))
    else:
        yield path


def test_any_changed_number_is_refused_where_it_means_something() -> None:
    lines = [json.loads(line) for line in SAMPLE.read_bytes().splitlines()]
    chance = random.Random(0)
    accepted = refused = 0
    for _ in range(250):
        place = chance.randrange(1, len(lines))
        line = json.loads(json.dumps(lines[place]))
        path = chance.choice([one for one in _leaves(line) if one[0] not in ("in", "il", "ie")])
        *outer, last = path
        target = line
        for key in outer:
            target = target[key]
        if type(target[last]) is bool:
            target[last] = not target[last]
        elif type(target[last]) is int:
            target[last] = max(0, target[last] + chance.choice([-2, -1, 1, 2]))
        if line == lines[place]:
            continue
        changed = [*lines[:place], line, *lines[place + 1 :]]
        try:
            check(b"".join(json.dumps(one).encode() + b"\n" for one in changed))
        except Refusal:
            refused += 1
        else:
            accepted += 1
            assert FREE_MEMBERS & set(path), path
    assert refused > 100 > accepted


def test_corpus_has_every_reason() -> None:
    assert {reason for reason, _ in CASES.values()} == set(REASONS)
    assert len(CASES) >= 30


def test_accepted_where_the_corpus_is_refused() -> None:
    """What the corrupted exports corrupt is accepted when it is whole."""
    a = sample()
    nat, one = a.const("Nat"), a.succ(0)
    sum_ = a.app(a.const("Nat.add"), a.nat(1 << 70), a.nat(1))
    a.theorem("Sum", a.equals(one, nat, sum_, a.nat((1 << 70) + 1)), a.refl(one, nat, sum_))
    pair = a.app(a.const("Prod.mk", 0, 0), nat, nat, a.nat(1), a.nat(2))
    a.theorem(
        "Second", a.equals(one, nat, a.proj("Prod", 1, pair), a.nat(2)), a.refl(one, nat, a.nat(2))
    )
    step = a.pi(nat, nat)
    wrapped = a.lam(nat, a.app(a.bvar(1), a.bvar(0)))
    a.theorem(
        "Eta",
        a.pi(step, a.equals(one, step, wrapped, a.bvar(0))),
        a.lam(step, a.refl(one, step, a.bvar(0))),
    )
    true = a.const("True")
    a.theorem(
        "Irrelevant",
        a.pi(true, true, a.equals(0, true, a.bvar(1), a.bvar(0))),
        a.lam(true, true, a.refl(0, true, a.bvar(1))),
    )
    both = a.app(a.const("Prod", 0, 0), nat, nat)
    made = a.app(
        a.const("Prod.mk", 0, 0),
        nat,
        nat,
        a.proj("Prod", 0, a.bvar(0)),
        a.proj("Prod", 1, a.bvar(0)),
    )
    a.theorem(
        "Structure",
        a.pi(both, a.equals(one, both, made, a.bvar(0))),
        a.lam(both, a.refl(one, both, a.bvar(0))),
    )
    unit = a.const("PUnit", one)
    a.theorem(
        "OneUnit",
        a.pi(unit, unit, a.equals(one, unit, a.bvar(1), a.bvar(0))),
        a.lam(unit, unit, a.refl(one, unit, a.bvar(1))),
    )
    let = a.let(nat, a.nat(3), a.app(a.const("Nat.succ"), a.bvar(0)))
    a.theorem("Let", a.equals(one, nat, let, a.nat(4)), a.refl(one, nat, a.nat(4)))
    u = a.param("u")
    a.define("Level", a.sort(a.succ(a.max(u, u))), a.sort(a.imax(u, u)), "u")
    checked = check(a.data())
    added = {"Sum", "Second", "Eta", "Irrelevant", "Structure", "OneUnit", "Let"}
    assert added <= set(checked.theorems)


def test_assumed_proof_is_not_looked_at_and_does_not_compute() -> None:
    a = sample()
    false = a.pi(a.sort(0), a.bvar(0))
    a.theorem("Word", false, a.nat(0))
    assert check(a.data(), ["Word"]).assumed == ("Word",)
    nat = a.const("Nat")
    number = a.app(a.const("Word"), nat)
    with pytest.raises(KernelRefusal) as refused:
        check(a.data())
    assert refused.value.reason == "VALUE_TYPE"
    a.theorem("Next", a.equals(a.succ(0), nat, number, number), a.nat(0))
    with pytest.raises(KernelRefusal) as refused:
        check(a.data(), ["Word"])
    assert "Next" in refused.value.detail


def test_arithmetic_is_by_definition_without_its_specification() -> None:
    a = sample()
    nat, one = a.const("Nat"), a.succ(0)
    two = a.lam(nat, nat, a.bvar(1))
    a.define("Nat.div", a.pi(nat, nat, nat), two)
    quotient = a.app(a.const("Nat.div"), a.nat(6), a.nat(3))
    a.theorem("Own", a.equals(one, nat, quotient, a.nat(6)), a.refl(one, nat, a.nat(6)))
    assert "Own" in check(a.data()).theorems
    a.theorem("Bad", a.equals(one, nat, quotient, a.nat(2)), a.refl(one, nat, a.nat(2)))
    with pytest.raises(KernelRefusal) as refused:
        check(a.data())
    assert refused.value.reason == "VALUE_TYPE"


def test_steps_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "KERNEL_STEPS", 20)
    with pytest.raises(KernelRefusal) as refused:
        check(SAMPLE.read_bytes())
    assert refused.value.reason == "TOO_MANY_STEPS"


def test_terms_are_dropped_after_a_long_computation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "KERNEL_TERMS", 0)
    assert len(check(SAMPLE.read_bytes()).theorems) == 4


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "lockstep_verify.kernel", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_command(tmp_path: Path) -> None:
    done = run(str(SAMPLE))
    assert done.returncode == 0
    assert "35 declarations, 4 theorems, 0 assumed" in done.stdout
    a = sample()
    a.axiom("Bad", a.pi(a.sort(0), a.bvar(0)))
    path = tmp_path / "bad.ndjson"
    path.write_bytes(a.data())
    done = run(str(path))
    assert (done.returncode, done.stdout.split()[0]) == (3, "KERNEL_REFUSED")
    assert "Bad" in done.stdout
    done = run(str(SAMPLE), "--registered")
    assert (done.returncode, done.stdout.split()[0]) == (3, "H3_PROOF_MISSING")
    assert run(str(tmp_path / "absent")).returncode == 1


def test_empty_export_is_accepted() -> None:
    assert check(Assembler().data()).declarations == 0
