"""The index of figures: each way of disagreeing is seen; the committed evidence agrees."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lockstep.certificate.statement import KINDS
from lockstep.cli.evidence import certificates
from lockstep.evidence.figures import FIGURES
from lockstep.evidence.index import (
    at_pointer,
    faults,
    kind_of,
    printed,
    published_figures,
    statement_of,
)
from lockstep.evidence.make import MAKERS, sidecars

ROOT = Path(__file__).resolve().parents[2]
EVIDENCE = ROOT / "evidence"
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_committed_figures_agree_in_both_directions() -> None:
    assert faults(EVIDENCE, README) == []


def test_every_committed_certificate_verifies(tmp_path: Path) -> None:
    files = certificates(EVIDENCE)
    assert {kind_of(file.read_bytes()) for file in files} == set(KINDS)
    for file in files:
        shown = sidecars(kind_of(file.read_bytes()), EVIDENCE)
        command = [sys.executable, "-m", "lockstep_verify", "--json", "--state", str(tmp_path)]
        command += ["--trust", str(EVIDENCE / "trust.json"), "--evidence", str(shown)]
        done = subprocess.run([*command, str(file)], capture_output=True, check=False)
        assert done.returncode == 0, done.stdout.decode()


def test_every_certificate_that_is_made_is_committed_and_indexed() -> None:
    names = {file.relative_to(EVIDENCE).as_posix() for file in certificates(EVIDENCE)}
    assert set(MAKERS) <= names
    assert set(MAKERS) == set(FIGURES)


def _predicate(name: str) -> dict[str, Any]:
    predicate: dict[str, Any] = statement_of((EVIDENCE / name).read_bytes())["predicate"]
    return predicate


def test_every_lossless_layout_that_was_hunted_has_a_lemma() -> None:
    for name in ("exact-transformations.cert.json", "engine-layouts.cert.json"):
        outcomes = {check["name"]: check["outcome"] for check in _predicate(name)["checks"]}
        assert outcomes["lossless_layouts_have_lemmas"] == "passed", name


def test_the_lemmas_that_rows_name_are_those_that_a_kernel_accepted() -> None:
    lean = _predicate("lean.cert.json")
    assert lean["observations"]["kernel_accepted"] is True
    accepted = {one["name"]: one["statement_sha256"] for one in lean["theorems"]}
    for name in ("exact-transformations.cert.json", "engine-layouts.cert.json"):
        for row in _predicate(name)["rows"]:
            for lemma in row["proof"]["lemmas"] if row["proof"] else ():
                assert accepted[lemma["name"]] == lemma["statement_sha256"]


def test_no_private_key_lies_in_the_evidence() -> None:
    for path in (path for path in EVIDENCE.rglob("*") if path.is_file()):
        assert b"PRIVATE KEY" not in path.read_bytes(), path


def _edit_readme(folder: Path, text: str) -> str:
    name, shown = next(iter(published_figures(text).items()))
    row = next(line for line in text.splitlines() if f"`{name}`" in line)
    return text.replace(row, row.replace(shown, "9" + shown))


def _unknown_in_readme(folder: Path, text: str) -> str:
    name = next(iter(published_figures(text)))
    return text.replace(f"`{name}`", "`no-such-figure`")


def _edit_index(folder: Path, text: str) -> str:
    index = json.loads((folder / "index.json").read_bytes())
    entry = next(iter(index["figures"].values()))
    entry["value"] += 1
    (folder / "index.json").write_text(json.dumps(index), encoding="utf-8")
    return text


def _wrong_pointer(folder: Path, text: str) -> str:
    index = json.loads((folder / "index.json").read_bytes())
    next(iter(index["figures"].values()))["pointer"] = "/predicate/counts/none"
    (folder / "index.json").write_text(json.dumps(index), encoding="utf-8")
    return text


def _unindexed(folder: Path, text: str) -> str:
    certificate = next(folder.glob("*.cert.json"))
    shutil.copy(certificate, folder / "another.cert.json")
    return text


def _lost(folder: Path, text: str) -> str:
    next(folder.glob("*.cert.json")).unlink()
    return text


@pytest.mark.parametrize(
    "edit", [_edit_readme, _unknown_in_readme, _edit_index, _wrong_pointer, _unindexed, _lost]
)
def test_each_disagreement_is_seen(edit: Callable[[Path, str], str], tmp_path: Path) -> None:
    folder = tmp_path / "evidence"
    shutil.copytree(EVIDENCE, folder)
    assert faults(folder, edit(folder, README)) != []


def test_pointers_and_figures_are_read_exactly() -> None:
    assert at_pointer({"a/b": [{"~": 7}]}, "/a~1b/0/~0") == 7
    with pytest.raises(KeyError):
        at_pointer([1], "/1")
    with pytest.raises(KeyError):
        at_pointer([1], "/-1")
    assert printed(90880) == "90,880"
    assert published_figures("| rows | 64 | `hunt-rows` |\n| a | b |\n") == {"hunt-rows": "64"}
