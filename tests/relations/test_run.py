"""The runner: what it keeps, what it takes up again, and what it says of controls."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from lockstep.errors import LockstepError
from lockstep.relations import run
from lockstep.relations.catalogue import controls, declared
from lockstep.relations.observation import Observation
from lockstep.relations.relation import Relation, observe
from lockstep.relations.results import read_observations, write_observations
from tests.refusals import refused

from .conftest import Observe

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[run.Plan]:
    """The plans that are performed in this process, in order."""
    performed: list[run.Plan] = []
    perform = run.perform

    def noted(plan: run.Plan) -> Observation:
        performed.append(plan)
        return perform(plan)

    monkeypatch.setattr(run, "perform", noted)
    return performed


def test_plans_are_every_relation_at_each_of_its_block_sizes(folder: Path) -> None:
    plans = run.plans(folder)
    assert len(plans) == sum(len(relation.block_sizes) for relation in declared().values())
    assert [(p.relation, p.block_size) for p in run.plans(folder, "host", None, ["EOS"], [16])] == [
        ("EOS", 16)
    ]
    assert len(run.plans(folder, relations=["EOS"], block_sizes=[8], seeds=range(3))) == 3


@pytest.mark.parametrize(("relations", "sizes"), [(["MR9"], []), ([], [12])])
def test_what_is_not_declared_is_refused(
    folder: Path, relations: list[str], sizes: list[int]
) -> None:
    with pytest.raises(LockstepError) as caught:
        run.plans(folder, relations=relations, block_sizes=sizes)
    assert caught.value.code == "BAD_VALUE"


def test_an_interrupted_campaign_goes_on(
    folder: Path, tmp_path: Path, made: list[run.Plan]
) -> None:
    results = tmp_path / "runs.jsonl"
    plans = run.plans(folder, relations=["NEVER-FITS"], block_sizes=[8, 16, 32])

    def interrupt(done: int, observation: Observation) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run.run_plans(plans, results, 1, interrupt)
    kept = read_observations(results)
    assert [entry.outcome for entry in kept] == ["holds", "holds"]
    made.clear()
    observations = run.run_plans(plans, results, 1)
    assert [plan.block_size for plan in made] == [8]
    assert [entry.block_size for entry in observations] == [8, 16, 32]
    assert read_observations(results) == observations
    made.clear()
    assert run.run_plans(plans, results, 1) == observations
    assert made == []


def test_records_of_another_subject_or_without_a_run_are_made_anew(
    folder: Path, tmp_path: Path, made: list[run.Plan]
) -> None:
    results = tmp_path / "runs.jsonl"
    plans = run.plans(folder, relations=["NEVER-FITS"], block_sizes=[8])
    observed = run.run_plans(plans, results, 1)[0]
    other = replace(observed.subject, sources_sha256="0" * 64)
    for stale in (
        replace(observed, subject=other),
        replace(observed, outcome="not_run", reason="no such library"),
    ):
        write_observations(results, [stale])
        made.clear()
        assert run.run_plans(plans, results, 1) == [observed]
        assert made == plans
        assert read_observations(results) == [observed]


def test_records_of_other_runs_stay(folder: Path, tmp_path: Path, made: list[run.Plan]) -> None:
    results = tmp_path / "runs.jsonl"
    eight, sixteen = (
        run.plans(folder, relations=["NEVER-FITS"], block_sizes=[size]) for size in (8, 16)
    )
    observed = [*run.run_plans(eight, results, 1), *run.run_plans(sixteen, results, 1)]
    made.clear()
    assert run.run_plans([*eight, *sixteen], results, 1) == observed
    assert made == []


def test_a_last_line_that_was_cut_off_costs_its_run_alone(
    folder: Path, tmp_path: Path, made: list[run.Plan]
) -> None:
    results = tmp_path / "runs.jsonl"
    plans = run.plans(folder, relations=["NEVER-FITS"], block_sizes=[8, 16])
    observed = run.run_plans(plans, results, 1)
    whole = results.read_bytes()
    told: list[str] = []
    # Without its line feed alone the record is whole.
    results.write_bytes(whole[:-1])
    assert read_observations(results, told.append) == observed
    assert told == []
    for cut in (2, 300):
        results.write_bytes(whole[:-cut])
        assert read_observations(results, told.append) == observed[:1]
        assert told.pop() == f"{results}, line 2 was cut off; its run is made anew"
        made.clear()
        assert run.run_plans(plans, results, 1, warn=told.append) == observed
        assert [plan.block_size for plan in made] == [16]
        assert len(told) == 1 and told.pop()
        assert results.read_bytes() == whole


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"outcome":"holds"', b'"outcome":"violated"'),
        (b'"positions":', b'"positions":9'),
        (b'"sha256":"', b'"sha256":"0'),
        (b'"counters":[', b'"counters":[1.5,'),
    ],
)
def test_a_record_that_was_edited_is_refused_by_its_line(
    folder: Path, tmp_path: Path, old: bytes, new: bytes
) -> None:
    results = tmp_path / "runs.jsonl"
    plans = run.plans(folder, relations=["NEVER-FITS"], block_sizes=[8, 16])
    run.run_plans(plans, results, 1)
    first, second = results.read_bytes().splitlines(keepends=True)
    assert old in second
    results.write_bytes(first + second.replace(old, new))
    error = refused("RECORD_ALTERED", lambda: run.run_plans(plans, results, 1))
    assert error.pointer == f"{results}, line 2"
    assert "--fresh" in str(error)


def test_processes_give_what_one_process_gives(folder: Path, tmp_path: Path) -> None:
    plans = run.plans(folder, relations=["NEVER-FITS"], block_sizes=[8, 16])
    assert run.run_plans(plans, tmp_path / "runs.jsonl", 2) == run.run_plans(plans, None, 1)


@pytest.mark.parametrize(
    ("line", "code"),
    [(b"{", "MALFORMED_JSON"), (b"[]", "NOT_AN_OBJECT"), (b"{}", "MISSING_FIELD")],
)
def test_a_damaged_file_is_refused_by_its_line(tmp_path: Path, line: bytes, code: str) -> None:
    results = tmp_path / "runs.jsonl"
    results.write_bytes(line + b"\n")
    with pytest.raises(LockstepError) as caught:
        read_observations(results)
    assert caught.value.code == code
    assert caught.value.pointer.startswith(f"{results}, line 1")


def test_required_controls_are_caught(folder: Path) -> None:
    for control, plan in zip(controls(), run.control_plans(folder), strict=True):
        if control.required:
            model, subject = run.opened(*plan[3:])
            relation = run.RELATIONS[plan.relation]
            size = plan.block_size
            observed = observe(relation, model, folder, subject, size, plan.seed, stop=True)
            assert observed.subject.backend == control.backend
            assert observed.outcome == "violated"


def test_a_model_that_is_too_short_makes_no_run(folder: Path, observe_once: Observe) -> None:
    model, subject = run.opened("host", None, folder)
    short = replace(model.config, max_position_embeddings=16)
    relation = Relation("EOS", lambda context: run.RELATIONS["EOS"].run(context))
    shortened = type(model).__new__(type(model))
    shortened.__dict__.update({**model.__dict__, "config": short})
    observed = observe(relation, shortened, folder, subject, 64, 0)
    assert observed.outcome == "not_run"
    assert "SEQUENCE_TOO_LONG" in observed.reason


def lockstep(*arguments: str) -> list[str]:
    code = "import sys; from lockstep.cli import main; sys.exit(main())"
    return [sys.executable, "-c", code, "relations", *arguments]


def test_the_command_says_what_holds(folder: Path, tmp_path: Path) -> None:
    command = lockstep(
        *("--model", str(folder), "--relations", "NEVER-FITS", "--block-sizes", "8"),
        *("--no-controls", "--out", str(tmp_path / "out")),
    )
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "1 runs: 1 holds, 0 VIOLATED, 0 VACUOUS, 0 not run" in done.stdout
    assert [entry.relation for entry in read_observations(tmp_path / "out" / "runs.jsonl")] == [
        "NEVER-FITS"
    ]


def test_the_command_fails_where_a_relation_does(folder: Path, tmp_path: Path) -> None:
    command = lockstep(
        *("--model", str(folder), "--backend", "fast", "--relations", "MR5"),
        *("--block-sizes", "8", "--no-controls", "--out", str(tmp_path / "out")),
    )
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 3
    assert "MR5 at 8, seed 0: VIOLATED" in done.stdout
    # The first difference is named: execution, request, position and part.
    assert re.search(r"first in [a-z ]+, request r[0-9], position [0-9]+: logits ", done.stdout)


@pytest.mark.slow
def test_ctrl_c_leaves_what_was_done(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = lockstep(
        *("--model", str(folder), "--no-controls", "--jobs", "2", "--out", str(out)),
        *("--relations", "NEVER-FITS,MR1,MR2,MR6"),
    )
    process = subprocess.Popen(
        command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    while not (out / "runs.jsonl").exists():
        assert process.poll() is None
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "the same command goes on" in told
    assert "Traceback" not in told
    kept = read_observations(out / "runs.jsonl")
    assert 0 < len(kept) < 20


@pytest.mark.slow
def test_padded_tiles_are_caught_where_they_break(folder: Path, tmp_path: Path) -> None:
    # Kernels for AVX2 break them; a CPU without it falls back to others.
    environment = {**os.environ, "OPENBLAS_CORETYPE": "Haswell"}
    ask = (
        "from lockstep.engine.backends import open_backend;"
        "print(open_backend('padded_tiles').environment()['blas_kernel'])"
    )
    told = subprocess.run(
        [sys.executable, "-c", ask], capture_output=True, text=True, check=True, env=environment
    )
    if told.stdout.strip() != "Haswell":
        pytest.skip(f"not run: OpenBLAS uses its kernels for {told.stdout.strip()} here")
    command = lockstep(
        *("--model", str(folder), "--backend", "padded_tiles", "--relations", "MR1"),
        *("--block-sizes", "16", "--no-controls", "--out", str(tmp_path / "out")),
    )
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 3, done.stdout
    assert "VIOLATED" in done.stdout
