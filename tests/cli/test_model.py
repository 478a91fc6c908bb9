"""`lockstep model`: what it writes, shows and refuses."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from lockstep import cli
from lockstep.engine.checkpoint import read_checkpoint
from lockstep.engine.tiny import TinyModel


def run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: str
) -> tuple[int, str, str]:
    monkeypatch.setattr(sys, "argv", ["lockstep", "model", *arguments])
    status = cli.main()
    return status, *capsys.readouterr()


def test_make_tiny_then_show(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(tmp_path / "tiny")
    options = ("--head-dim", "64", "--seed", "7", "--dtype", "bfloat16", "--tied")
    status, out, err = run(monkeypatch, capsys, "make-tiny", folder, *options)
    assert (status, err) == (0, "")
    for path in Path(folder).iterdir():
        assert f"{path.name} " in out
    checkpoint = read_checkpoint(folder)
    wanted = TinyModel(seed=7, head_dim=64, dtype="bfloat16", tied=True)
    assert checkpoint.config == wanted.config
    status, out, err = run(monkeypatch, capsys, "show", folder, "--dtype", "float16")
    assert (status, err) == (0, "")
    lines = [line.split() for line in out.splitlines()]
    assert ["head_dim", "64"] in lines
    assert ["stored", "dtype", "bfloat16"] in lines
    assert ["compute", "dtype", "float16"] in lines
    assert [checkpoint.sha256] in lines
    for name, digest in checkpoint.files.items():
        assert [digest, name] in lines
    assert out.splitlines()[-1].endswith(" tokenizer.json")


def test_show_without_a_tokenizer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(monkeypatch, capsys, "make-tiny", str(tmp_path / "tiny"))
    (tmp_path / "tiny" / "tokenizer.json").unlink()
    status, out, _ = run(monkeypatch, capsys, "show", str(tmp_path / "tiny"))
    assert status == 0
    assert out.splitlines()[-1] == "  none tokenizer.json"


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (("make-tiny", "."), 2, "USAGE"),
        (("make-tiny", "tiny", "--head-dim", "7"), 2, "/head_dim"),
        (("make-tiny", "tiny", "--dtype", "int8"), 2, "/dtype"),
        (("show", "absent"), 2, "FILE_UNREADABLE at absent/config.json"),
        (("show", "cut"), 3, "CHECKPOINT_MALFORMED at cut/model.safetensors"),
    ],
)
def test_refusals(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    status: int,
    words: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    run(monkeypatch, capsys, "make-tiny", "cut")
    weights = tmp_path / "cut" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1])
    got, out, err = run(monkeypatch, capsys, *arguments)
    assert (got, out) == (status, "")
    assert err.startswith("lockstep: ")
    assert words in err
    assert err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["cut"]


def test_a_missing_library_is_told_with_status_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(monkeypatch, capsys, "make-tiny", str(tmp_path / "tiny"))
    # None in this place makes an import fail as that of an absent module.
    monkeypatch.setitem(sys.modules, "safetensors", None)
    status, _, err = run(monkeypatch, capsys, "show", str(tmp_path / "tiny"))
    assert status == 2
    assert "LIBRARY_MISSING at safetensors" in err
