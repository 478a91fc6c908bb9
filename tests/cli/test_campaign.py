"""`lockstep fuzz`, and a campaign's certificate that is shown, verified and run again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from lockstep.certificate import lcj
from lockstep.certificate.statement import model_subjects, statement
from lockstep.claims.campaign import predicate
from lockstep.cli import application
from lockstep.cli.payload_tables import describe
from lockstep.errors import LockstepError
from lockstep.fuzz.again import EACH, replay
from lockstep.fuzz.campaign import run_campaign, sources_sha256
from lockstep.fuzz.executors import here
from lockstep.fuzz.store import Store
from lockstep.fuzz.worker import Subject, opened
from lockstep_verify.derive.campaign_execution import run_again
from lockstep_verify.errors import Refusal
from tests.campaign_records import PRODUCER


def lockstep(*arguments: object) -> Result:
    """Run a command in this process."""
    return CliRunner().invoke(application(), [*map(str, arguments)])


@pytest.fixture(scope="module")
def folded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    with (
        Store(tmp_path_factory.mktemp("campaign") / "records", {}) as store,
        here(Subject()) as run,
    ):
        ran = run_campaign(store, run, {"swarm": 2, "probes": 1})
    subject = opened(Subject())
    return predicate(
        ran.padded,
        model=subject.statement(),
        model_digest=subject.model.digest.hex(),
        environment=subject.environment(),
        sources_sha256=sources_sha256(),
        issued_at="2026-11-29T00:00:00Z",
        producer=PRODUCER,
    )


def written(folder: Path, folded: dict[str, Any], **edits: object) -> tuple[Path, dict[str, Any]]:
    document = statement("campaign", model_subjects("campaign", folded), {**folded, **edits})
    path = folder / "statement.json"
    path.write_bytes(lcj.encode(document))
    return path, document


def edited(folded: dict[str, Any], **edits: object) -> Any:
    populations = json.loads(json.dumps(folded["populations"]))
    populations[0]["records"][0] |= edits
    return populations


def test_a_campaign_is_run_again(folded: dict[str, Any], tmp_path: Path) -> None:
    path, document = written(tmp_path, folded)
    done = lockstep("replay", path, "--every", "--json")
    assert json.loads(done.stdout) == {**SAME, "records": 3}
    # Of the swarm's two seeds the first is a multiple of the sample's step, like the probe's.
    assert EACH == 8
    replayed, compared, said = run_again(document)
    assert (replayed, compared) == (2, 1)
    assert "nothing differs" in said


SAME = {
    "outcome": "same", "population": "", "index": 0, "seed": 0, "part": "", "expected": "",
    "got": "", "reason": "",
}  # fmt: skip


def test_another_trajectory_is_told(folded: dict[str, Any], tmp_path: Path) -> None:
    populations = edited(folded, trajectory_sha256="0" * 64)
    path, document = written(tmp_path, folded, populations=populations)
    told = lockstep("replay", path).exception
    assert isinstance(told, LockstepError)
    assert (told.code, told.expected) == ("REPLAY_DIFFERS", "0" * 64)
    assert told.pointer == f"{path}: swarm, seed 0, trajectory_sha256"
    with pytest.raises(Refusal) as caught:
        run_again(document)
    where = "/predicate/populations/0/records/0/trajectory_sha256"
    assert (caught.value.code, caught.value.pointer) == ("REPLAY_DIFFERS", where)


def test_cases_of_other_sources_are_not_comparable(folded: dict[str, Any]) -> None:
    populations = edited(folded, case_sha256="0" * 64)
    found = replay({**folded, "populations": populations})
    assert (found.outcome, found.part) == ("differs", "case_sha256")
    found = replay({**folded, "populations": populations, "sources_sha256": "0" * 64})
    assert (found.outcome, found.reason) == ("not_comparable", "sources_sha256")
    # Where they make the same cases, these are compared.
    assert replay({**folded, "sources_sha256": "0" * 64}).outcome == "same"


def test_another_binding_is_not_comparable(folded: dict[str, Any]) -> None:
    environment = json.loads(json.dumps(folded["environment"]))
    for setting in environment["resolved"]:
        if setting["name"] == "numpy":
            setting["value"] = "1.0"
    found = replay({**folded, "environment": environment})
    assert (found.outcome, found.records) == ("not_comparable", 0)
    assert "numpy" in found.reason


def test_a_campaign_is_shown(folded: dict[str, Any], tmp_path: Path) -> None:
    tables = {table.title: table for table in describe(written(tmp_path, folded)[1], rows=True)}
    assert ("verdict", "UNPROVEN") in tables["certificate"].rows
    assert [row[0] for row in tables["coverage"].rows][-2:] == ["explored", "all"]
    assert len(tables["cases"].rows) == 3


def test_removals_are_of_findings(folded: dict[str, Any], tmp_path: Path) -> None:
    refused = lockstep("replay", written(tmp_path, folded)[0], "--removals")
    assert refused.exit_code == 2
    assert "--removals" in refused.output


def test_the_command(tmp_path: Path) -> None:
    corpus, key = tmp_path / "corpus", tmp_path / "absent.pem"
    said = lockstep("fuzz", "--seeds", 1, "--corpus", corpus, "--jobs", 1).output
    assert "3 cases, 3 clean, 0 rightly refused, 0 failed, 0 not run" in said
    assert (corpus / "cases" / "swarm-0000.json").is_file()
    assert not list((corpus / "failures").iterdir())
    # What is kept is not run again; a key that is missing is told before anything runs.
    again = lockstep("fuzz", "--seeds", 1, "--corpus", corpus, "--jobs", 1, "--json")
    assert json.loads(again.stdout)["counts"]["records"] == 3
    arguments = ("--corpus", corpus, "--certificate", tmp_path / "c.cert.json", "--key", key)
    missing = lockstep("fuzz", *arguments)
    assert "absent.pem" in str(missing.exception)
    unknown = lockstep("fuzz", "--executor", "cloud")
    assert "processes or ray" in unknown.output
