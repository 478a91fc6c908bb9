"""`lockstep mutation`: what it says, signs and gives as its exit status."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import typer

from lockstep.certificate import keys
from lockstep.cli import mutation as command
from lockstep.errors import LockstepError
from lockstep.evidence.index import statement_of
from lockstep.mutation import campaign
from tests.mutation_records import FIRST, NAMES, made


@pytest.fixture
def trials(monkeypatch: pytest.MonkeyPatch) -> dict[str, dict[str, Any]]:
    """Trials that stand for those of a campaign."""
    held = made()

    def run(folder: Path, wanted: Any, chosen: Any, jobs: Any, tell: Any) -> list[dict[str, Any]]:
        for done, record in enumerate(held.values(), 1):
            tell(done, record)
        return list(held.values())

    monkeypatch.setattr(campaign, "run_campaign", run)
    return held


def mutation(folder: Path, **options: Any) -> None:
    given = {
        "operators": "", "observers": "", "jobs": None, "out": folder / "out", "fresh": False,
        "certificate": None, "key": None, "issued_at": None,
    }  # fmt: skip
    command.mutation(**(given | options))


def sees(trial: dict[str, Any], observer: str, seen: str) -> None:
    trial["cells"][NAMES.index(observer)].update(seen=seen, first_difference=None)


def test_a_matrix_is_told_signed_and_verified(
    trials: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    keys.new_key_file(tmp_path / "key.pem")
    file = tmp_path / "mutation.cert.json"
    mutation(tmp_path, certificate=file, key=tmp_path / "key.pem")
    said = capsys.readouterr().out
    assert f"{len(trials) - 1} operators: {len(trials) - 1} killed" in said
    assert "EXPLAINED" in said
    assert "trusts this key alone: OK" in said
    assert statement_of(file.read_bytes())["predicate"]["verdict"] == "EXPLAINED"


@pytest.mark.parametrize(
    ("name", "observer", "seen", "told"),
    [
        (None, "GOLDEN", "agrees", "1 survived"),
        (None, "GOLDEN", "not_run", "1 unproven"),
        ("unmutated", "MR1", "differs", "MR1 differs on the engine as it is"),
    ],
)
def test_what_is_not_explained_gives_another_status(
    trials: Any, tmp_path: Path, capsys: Any, name: str | None, observer: str, seen: str, told: str
) -> None:
    trial = trials[name] if name else list(trials.values())[2]
    sees(trial, observer, seen)
    with pytest.raises(typer.Exit) as left:
        mutation(tmp_path)
    assert left.value.exit_code == 3
    assert told in capsys.readouterr().out


def test_a_part_of_a_matrix_is_not_signed(trials: Any, tmp_path: Path) -> None:
    keys.new_key_file(tmp_path / "key.pem")
    del trials[FIRST]
    file = tmp_path / "mutation.cert.json"
    with pytest.raises(LockstepError) as fault:
        mutation(tmp_path, certificate=file, key=tmp_path / "key.pem")
    assert fault.value.code == "MUTATION_INCOMPLETE"
    assert not file.exists()
