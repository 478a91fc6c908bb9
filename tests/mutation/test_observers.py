"""Each observer sees what it is there for, and not what it is said to be blind to [MUT-6]."""

import json
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from lockstep.claims.mutation_totals import Matrix, contradicted, outcome, verdict
from lockstep.engine.tiny import TinyModel, make_tiny
from lockstep.fidelity.golden import read_baseline, write_baseline
from lockstep.mutation import baselines, observers
from lockstep.mutation.declaration import observers as declared
from lockstep.mutation.observer import Seen, Setting
from lockstep.relations.observation import Difference, Observation
from lockstep.relations.registry import RELATIONS
from lockstep.relations.run import opened

OBSERVERS = {observer.name: observer for observer in observers.OBSERVERS}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = make_tiny(tmp_path_factory.mktemp("observers") / "tiny")
    baselines.make(made, *_beside(made))
    return made


@pytest.fixture
def setting(folder: Path) -> Setting:
    model, subject = opened("host", None, folder)
    golden, trajectory = _beside(folder)
    return Setting(model, folder, TinyModel(), subject, golden=golden, trajectory=trajectory)


def _beside(folder: Path) -> tuple[Path, Path]:
    return folder.with_name("tiny.golden.json"), folder.with_name("tiny.trajectory.json")


def trial(name: str, folder: Path, *chosen: str) -> dict[str, Any]:
    """Make a trial of an operator, and give its cells by observer, with their outcomes."""
    done = subprocess.run(
        [sys.executable, "-m", "lockstep.mutation.trial", name, str(folder), *chosen],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    cells = json.loads(done.stdout)["cells"]
    return {cell["observer"]: {**cell, "outcome": outcome(cell, chosen)} for cell in cells}


def test_a_reversed_fold_is_seen_by_golden_bytes_and_not_by_f1(folder: Path) -> None:
    cells = trial("fold_reversed", folder, "F1", "GOLDEN")
    assert {name: cell["outcome"] for name, cell in cells.items()} == {
        "F1": "survived",
        "GOLDEN": "killed",
    }
    # Of two splits the order does not matter, addition being commutative; of three it does.
    assert cells["GOLDEN"]["first_difference"]["execution"] == "prompt third"


@pytest.mark.slow
def test_a_reversed_fold_is_seen_by_comparisons_with_former_bits_alone(folder: Path) -> None:
    sorts = {one.name: one.sort for one in declared() if one.sort != "baseline"}
    cells = trial("fold_reversed", folder, *sorts)
    killers = {name for name, cell in cells.items() if cell["outcome"] == "killed"}
    assert "GOLDEN" in killers
    assert {sorts[name] for name in killers} == {"golden"}
    # The relation that reaches into a third split has read the other bits, and agrees with itself.
    assert cells["PATH-EQ"]["outcome"] == cells["F1"]["outcome"] == "survived"


def test_a_fault_of_packing_alone_is_seen_by_path_equality(folder: Path) -> None:
    cells = trial("length_off_by_one", folder, "MR5", "PATH-EQ", "GOLDEN")
    assert {name: cell["outcome"] for name, cell in cells.items()} == {
        "MR5": "survived",
        "PATH-EQ": "killed",
        "GOLDEN": "not_exercised",
    }


def test_a_value_that_is_overwritten_before_it_is_read_is_no_injected_fault(folder: Path) -> None:
    script = (
        "import sys\n"
        "from lockstep.mutation import load, sentinel\n"
        "from lockstep.mutation.operator import Edit, Operator\n"
        "last = '    last = np.cumsum(counts, dtype=np.int64) - 1\\n'\n"
        "dead = '    last = sentinel.ran(np.cumsum(counts))\\n'\n"
        "read = 'output_rows=last['\n"
        "seen = 'output_rows=sentinel.read(last, np.cumsum(counts) - 1)['\n"
        "load.install_operator(Operator(\n"
        "    'dead', 'batch', 'lockstep.engine.batch', (Edit(last, dead + last),),\n"
        "    'A dead store.', 'a test', 'invisible', 'It is.', (Edit(read, seen),)))\n"
        "from lockstep.engine.batch import pack\n"
        "from lockstep.engine.events import Work\n"
        "batch = pack([Work(0, 0, (1, 2, 3), (0,), True), Work(1, 4, (5,), (1,), True)], 8)\n"
        "counts = sentinel.counts()\n"
        "print(batch.output_rows.tolist(), counts.ran, counts.live)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.stdout == "[2, 3] 1 0\n", done.stderr
    cell = {"observer": "MR1", "seen": "differs", "ran": 1, "live": 0}
    assert outcome(cell, ["MR1"]) == "not_exercised"


def test_a_proxy_of_the_reversed_fold_contradicts_its_declaration(folder: Path) -> None:
    # It scales what attention gives where there are two splits or more: by how much the last
    # bits move, it stands for the fold; but a batch has two splits or not, and the fold does not.
    script = (
        "import sys\n"
        "from pathlib import Path\n"
        "from lockstep.mutation import load, sentinel\n"
        "from lockstep.mutation.operator import Edit, Operator\n"
        "plain = '    return output / total[..., None]\\n'\n"
        "scaled = (\n"
        "    '    factor = np.float32(1 + 2**-11 if partials.split.max(initial=0) else 1)\\n'\n"
        "    '    plain = output / total[..., None]\\n'\n"
        "    '    return sentinel.inject(plain * factor, plain)\\n')\n"
        "load.install_operator(Operator(\n"
        "    'fold_reversed', 'host_kernels', 'lockstep.engine.host.attention',\n"
        "    (Edit(plain, scaled),), 'A proxy.', 'a test', 'invisible', 'It is said to be.'))\n"
        "from lockstep.relations.registry import RELATIONS\n"
        "from lockstep.relations.relation import observe\n"
        "from lockstep.relations.run import opened\n"
        "folder = Path(sys.argv[1])\n"
        "model, subject = opened('host', None, folder)\n"
        "seen = observe(RELATIONS['MR8'], model, folder, subject, 8, 1, stop=True)\n"
        "print(seen.outcome, sentinel.counts().live > 0)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(folder)], capture_output=True, text=True, check=False
    )
    assert done.stdout == "violated True\n", done.stderr

    def matrix(observer: str) -> Matrix:
        cell = {"observer": observer, "seen": "differs", "ran": 1, "live": 1, "outcome": "killed"}
        told = {"killed_by": [observer], "verdict": "killed", "cells": [cell]}
        return Matrix([], [{"operator": "fold_reversed", **told}], [observer])

    assert contradicted(matrix("MR8")) == ["fold_reversed"]
    assert verdict(matrix("MR8")) == "UNPROVEN"
    assert verdict(matrix("GOLDEN")) == "EXPLAINED"


def test_golden_bytes_agree_with_what_the_engine_gave(setting: Setting) -> None:
    assert OBSERVERS["GOLDEN"].look(setting) == Seen("agrees")


def test_golden_bytes_differ_at_the_first_prompt_that_does(
    setting: Setting, tmp_path: Path
) -> None:
    (entry,) = read_baseline(setting.golden)
    changed = dict(entry.prompts)
    for name in ("blocks", "third"):
        changed[name] = (changed[name][0], "0" * 64)
    write_baseline(tmp_path / "other.json", [replace(entry, prompts=changed)])
    seen = OBSERVERS["GOLDEN"].look(replace(setting, golden=tmp_path / "other.json"))
    assert seen.outcome == "differs"
    assert seen.difference is not None
    assert seen.difference.execution == "prompt blocks"
    assert (seen.difference.expected, seen.difference.got) == ("0" * 64, entry.prompts["blocks"][1])


def test_golden_bytes_are_not_compared_under_another_binding(
    setting: Setting, tmp_path: Path
) -> None:
    (entry,) = read_baseline(setting.golden)
    binding = {**entry.binding, "numpy": "1.0"}
    write_baseline(tmp_path / "other.json", [replace(entry, binding=binding)])
    seen = OBSERVERS["GOLDEN"].look(replace(setting, golden=tmp_path / "other.json"))
    assert seen.outcome == "not_run"
    assert "numpy" in seen.reason


@pytest.mark.parametrize(
    ("holds", "expected"), [(True, "agrees"), (False, "differs")], ids=["within", "beyond"]
)
def test_f1_differs_where_a_measure_is_out_of_its_bound(
    setting: Setting, monkeypatch: pytest.MonkeyPatch, holds: bool, expected: str
) -> None:
    prompt = observers.require_corpus(setting.model)[0]

    monkeypatch.setattr(observers, "measure", partial(observers.measure, prompts=[prompt]))
    if not holds:
        limits = observers.measures
        monkeypatch.setattr(
            observers,
            "measures",
            lambda records, dtype: [one._replace(bound=-1) for one in limits(records, dtype)],
        )
    seen = OBSERVERS["F1"].look(setting)
    assert seen.outcome == expected
    assert seen.difference is None if holds else seen.difference.part == "kl_max"


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("holds", Seen("agrees")),
        ("not_run", Seen("not_run", "told")),
        (
            "vacuous",
            Seen(
                "differs",
                "",
                Difference("the run", "", None, None, "vacuous", "no zero counter", "told"),
            ),
        ),
    ],
)
def test_a_relation_that_exercised_nothing_does_not_agree(
    setting: Setting, monkeypatch: pytest.MonkeyPatch, said: str, expected: Seen
) -> None:
    record = Observation("MR1", 8, 1, setting.subject, said, "" if said == "holds" else "told")
    monkeypatch.setattr(observers, "run_relation", lambda *a, **k: record)
    assert observers.relation(RELATIONS["MR1"]).look(setting) == expected


def test_the_baselines_look_at_nothing(setting: Setting) -> None:
    assert OBSERVERS["ALWAYS-PASS"].look(setting) == Seen("agrees")
    assert OBSERVERS["ALWAYS-FAIL"].look(setting).outcome == "differs"
