"""What a fault of the command line, of the installation or of memory says, and what it advises."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from lockstep import cli
from lockstep.engine.tiny import make_tiny

Run = Callable[..., str]


@pytest.fixture
def lockstep(lockstep: Run) -> Run:
    """Run a command that is refused: as a use of it unless another exit status is named."""
    return partial(lockstep, exit=2)


@pytest.fixture
def workload(lockstep: Run, tmp_path: Path) -> str:
    lockstep("workload", "make", "--requests", "2", "--max-new", "2", "-o", "w.json", exit=0)
    make_tiny(tmp_path / "tiny")
    return "w.json"


@pytest.mark.parametrize(
    "line",
    [
        "fidelity --backend abacus",
        "golden --backend abacus",
        "record --workload w.json --backend abacus",
        "run --model tiny --workload w.json --backend abacus",
        "relations --backend abacus --relations MR2 --block-sizes 8 --no-controls",
    ],
)
def test_a_backend_that_is_none(lockstep: Run, workload: str, line: str) -> None:
    said = lockstep(*line.split())
    assert "USAGE at --backend" in said and "abacus" in said
    assert "lockstep-verify" not in said


@pytest.mark.parametrize(
    ("line", "has"),
    [
        ("fidelity --dtype float64", "float32 or float16"),
        ("golden --backend float64 --dtype float16", "No such option"),
        ("record --workload w.json --backend float64 --dtype float16", "Expected float64"),
        ("run --model tiny --workload w.json --dtype bfloat16", "float32 or float16"),
        ("relations --backend float64 --dtype float16 --relations MR2", "Expected float64"),
    ],
)
def test_a_dtype_that_a_backend_has_not(lockstep: Run, workload: str, line: str, has: str) -> None:
    said = lockstep(*line.split())
    assert has in said


@pytest.mark.parametrize(
    "line",
    [
        "run --model tiny --workload w.json --policy nope",
        "record --workload w.json --policy nope",
        "schedule make w.json --policy nope -o s.json",
    ],
)
def test_a_policy_that_is_none(lockstep: Run, workload: str, line: str, tmp_path: Path) -> None:
    said = lockstep(*line.split())
    assert "USAGE at --policy" in said and "swarm, got nope" in said
    assert not (tmp_path / "s.json").exists()


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--relations", "NOPE"),
        ("--relations", ""),
        ("--relations", "MR1,,MR2"),
        ("--relations", "MR1,MR1"),
        ("--block-sizes", ""),
        ("--block-sizes", "9"),
        ("--block-sizes", "eight"),
    ],
)
def test_relations_that_are_none(lockstep: Run, tmp_path: Path, option: str, value: str) -> None:
    said = lockstep("relations", option, value, "--out", "kept")
    assert f"USAGE at {option}" in said
    assert not (tmp_path / "kept").exists()


@pytest.mark.parametrize("command", ["fidelity", "record --workload w.json"])
def test_a_folder_in_the_place_of_a_certificate(lockstep: Run, workload: str, command: str) -> None:
    assert "is a folder" in lockstep(*command.split(), "-o", "tiny")


def test_relations_are_not_run_where_their_certificate_cannot_be_written(
    lockstep: Run, tmp_path: Path
) -> None:
    said = lockstep("relations", "--certificate", "none/c.json", "--out", "kept")
    assert "is no folder" in said
    assert not (tmp_path / "kept").exists()


def test_golden_outside_a_checkout(
    lockstep: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from lockstep import spec

    real = spec.root()
    elsewhere = tmp_path / "package" / "_spec"
    elsewhere.parent.mkdir()
    elsewhere.symlink_to(real)
    monkeypatch.setattr(spec, "root", lambda: elsewhere)
    said = lockstep("golden")
    assert "USAGE at --baseline" in said and "--new-claim" in said


@pytest.mark.parametrize(
    ("module", "arguments", "extra"),
    [
        ("numpy", ["run", "--model", "m"], "engine"),
        ("numpy", ["hunt"], "hunt"),
        ("typer", ["record"], "engine"),
        ("typer", [], "hunt"),
        ("numpy", ["serve"], "serve"),
        ("rich", ["smt"], "hunt"),
        ("z3", ["smt"], "proofs"),
        ("safetensors", ["run"], "engine"),
    ],
)
def test_a_missing_module_names_the_extra_of_the_command(
    lockstep: Run, monkeypatch: pytest.MonkeyPatch, module: str, arguments: list[str], extra: str
) -> None:
    def application() -> object:
        raise ModuleNotFoundError(f"No module named '{module}'", name=module)

    monkeypatch.setattr(cli, "application", application)
    assert f"pip install '.[{extra}]'" in lockstep(*arguments)


def test_a_pool_beyond_memory_is_refused_by_name(
    lockstep: Run, workload: str, tmp_path: Path
) -> None:
    line = "run --model tiny --workload w.json --block-size 4096 --blocks 1048576 --out o"
    said = lockstep(*line.split())
    assert "MEMORY_SHORT at /pool" in said
    assert f"{2 * 2 * 2 * 16 * 4 << 32:,} bytes" in said
    assert not (tmp_path / "o").exists()


def test_what_memory_cannot_hold_after_all_is_told(
    lockstep: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def application() -> object:
        raise MemoryError

    monkeypatch.setattr(cli, "application", application)
    assert "MEMORY_SHORT" in lockstep("run")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("workload make -o x.json --kind nope", "--kind"),
        ("workload make -o x.json --block-size 4097", "--block-size"),
        ("workload make -o x.json --requests 4097", "--requests"),
        ("workload make -o x.json --vocab-size 1", "--vocab-size"),
        ("workload make -o x.json --max-new 262145", "--max-new"),
        ("workload make -o x.json --arrivals 1000001", "--arrivals"),
        ("workload text --model tiny -o x.json --max-new 0 hi", "--max-new"),
        ("workload text --model tiny -o x.json --temperature 1e9 hi", "USAGE at --temperature"),
        ("run --model tiny --workload w.json --out w.json/x", "--out"),
        ("run --model tiny --workload w.json --out w.json", "--out"),
        ("relations --out w.json", "--out"),
        ("record --workload w.json --schedule w.json --block-size 8 -o x.json", "--block-size"),
        ("record --workload w.json --schedule w.json --seed 1 -o x.json", "--seed"),
    ],
)
def test_options_out_of_range_or_place(
    lockstep: Run, workload: str, tmp_path: Path, line: str, said: str
) -> None:
    assert said in lockstep(*line.split())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["tiny", "w.json"]


@pytest.mark.parametrize("command", ["record", "run --model tiny"])
@pytest.mark.parametrize(
    ("file", "edit", "said"),
    [
        ("w.json", ("prompt", [256]), "TOKEN_OUT_OF_RANGE at w.json:/requests/0/prompt/0"),
        ("w.json", ("max_new", 4096), "SEQUENCE_TOO_LONG at w.json:/requests/0"),
        ("s.json", ("event", "resume"), "EVENT_NOT_ALLOWED at s.json:/steps/0/0"),
        ("s.json", ("request", "stranger"), "REQUEST_UNKNOWN at s.json:/steps/0/0"),
        ("s.json", ("steps", []), "SCHEDULE_UNFINISHED at s.json:/steps"),
    ],
)
def test_what_an_engine_cannot_take_is_told_at_its_file(
    lockstep: Run,
    workload: str,
    tmp_path: Path,
    command: str,
    file: str,
    edit: tuple[str, object],
    said: str,
) -> None:
    lockstep("schedule", "make", "w.json", "--blocks", "400", "-o", "s.json", exit=0)
    document = json.loads((tmp_path / file).read_bytes())
    member, value = edit
    where = document["requests"][0] if file == "w.json" else document["steps"][0][0]
    (document if member == "steps" else where)[member] = value
    (tmp_path / file).write_text(json.dumps(document))
    line = f"{command} --workload w.json --schedule s.json"
    assert said in lockstep(*line.split(), exit=3)
    assert not (tmp_path / "replay.cert.json").exists()


def test_a_file_that_cannot_be_written_is_named_as_it_was_asked_for(
    lockstep: Run, workload: str, tmp_path: Path
) -> None:
    for place, reason in (("none/x.json", "No such file"), ("tiny", "Is a directory")):
        said = lockstep("workload", "make", "-o", place)
        assert said.startswith(f"lockstep: {place}: {reason}")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["tiny", "w.json"]
