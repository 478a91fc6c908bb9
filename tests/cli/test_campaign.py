"""`lockstep fuzz`, and a campaign's certificate that is shown, verified and run again."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from lockstep.certificate import lcj
from lockstep.certificate.statement import model_subjects, statement
from lockstep.claims.campaign import predicate
from lockstep.cli.payload_tables import describe
from lockstep.fuzz.again import EACH
from lockstep.fuzz.campaign import run_campaign, sources_sha256
from lockstep.fuzz.executors import here
from lockstep.fuzz.store import Store
from lockstep.fuzz.worker import Subject, opened
from lockstep_verify.derive.campaign_execution import run_again
from lockstep_verify.errors import Refusal
from tests.campaign_records import PRODUCER

START = "import sys; from lockstep.cli import main; sys.exit(main())"


def lockstep(*arguments: object, status: int = 0) -> str:
    done = subprocess.run(
        [sys.executable, "-c", START, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == status, done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def folded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
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


def written(folder: Path, folded: dict[str, object], **edits: object) -> tuple[Path, dict]:
    document = statement("campaign", model_subjects("campaign", folded), {**folded, **edits})
    path = folder / "statement.json"
    path.write_bytes(lcj.encode(document))
    return path, document


def edited(folded: dict[str, object], **edits: object) -> object:
    populations = json.loads(json.dumps(folded["populations"]))
    populations[0]["records"][0] |= edits
    return populations


def test_a_campaign_is_run_again(folded: dict[str, object], tmp_path: Path) -> None:
    path, document = written(tmp_path, folded)
    # Of two seeds of the swarm the first is a multiple of the sample's step, like the probe's.
    assert EACH == 8
    assert "ran 2 cases again: nothing differs" in lockstep("replay", path)
    assert json.loads(lockstep("replay", path, "--every", "--json"))["records"] == 3
    replayed, compared, said = run_again(document)
    assert (replayed, compared) == (2, 1)
    assert "nothing differs" in said


def test_another_trajectory_is_told(folded: dict[str, object], tmp_path: Path) -> None:
    populations = edited(folded, trajectory_sha256="0" * 64)
    path, document = written(tmp_path, folded, populations=populations)
    assert "REPLAY_DIFFERS" in lockstep("replay", path, status=3)
    with pytest.raises(Refusal) as caught:
        run_again(document)
    where = "/predicate/populations/0/records/0/trajectory_sha256"
    assert (caught.value.code, caught.value.pointer) == ("REPLAY_DIFFERS", where)


def test_other_sources_are_not_comparable(folded: dict[str, object], tmp_path: Path) -> None:
    populations = edited(folded, case_sha256="0" * 64)
    path, _ = written(tmp_path, folded, populations=populations)
    assert "REPLAY_DIFFERS" in lockstep("replay", path, status=3)
    other = {"populations": populations, "sources_sha256": "0" * 64}
    path, document = written(tmp_path, folded, **other)
    assert "NOT_COMPARABLE" in lockstep("replay", path, status=3)
    assert run_again(document)[:2] == (0, 0)


def test_a_campaign_is_shown(folded: dict[str, object], tmp_path: Path) -> None:
    tables = {table.title: table for table in describe(written(tmp_path, folded)[1], rows=True)}
    assert ("verdict", "UNPROVEN") in tables["certificate"].rows
    assert [row[0] for row in tables["coverage"].rows][-2:] == ["explored", "all"]
    assert len(tables["cases"].rows) == 3


def test_removals_are_of_findings(folded: dict[str, object], tmp_path: Path) -> None:
    path, _ = written(tmp_path, folded)
    assert "--removals" in lockstep("replay", path, "--removals", status=2)


def test_the_command(tmp_path: Path) -> None:
    corpus, key = tmp_path / "corpus", tmp_path / "absent.pem"
    said = lockstep("fuzz", "--seeds", 1, "--corpus", corpus, "--jobs", 1)
    assert "3 cases, 3 clean, 0 rightly refused, 0 failed, 0 not run" in said
    assert (corpus / "cases" / "swarm-0000.json").is_file()
    assert not list((corpus / "failures").iterdir())
    # What is kept is not run again; a key that is missing is told before anything runs.
    told = json.loads(lockstep("fuzz", "--seeds", 1, "--corpus", corpus, "--jobs", 1, "--json"))
    assert told["counts"]["records"] == 3
    arguments = ("--corpus", corpus, "--certificate", tmp_path / "c.cert.json", "--key", key)
    assert "absent.pem" in lockstep("fuzz", *arguments, status=2)
    assert "processes or ray" in lockstep("fuzz", "--executor", "cloud", status=2)
