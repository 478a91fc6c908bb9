"""The file of a run: it goes on where it stopped, and takes no line for what it is not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lockstep.certify.observation import Output, Round
from lockstep.certify.results import Records
from lockstep.errors import LockstepError

A, B = Output(tokens=(1,), finish="length"), Output(tokens=(2,), finish="length")


def one(number: int, *places: int, lifetime: int = 0) -> Round:
    count = len(places)
    return Round(lifetime, number, places, (0,) * count, (None,) * count, (1,) * count)


def written(path: Path) -> Records:
    records = Records(path, "asked")
    records.begin({"repeats": 2})
    records.add(1, one(0, records.place(B)))
    records.add(0, one(0, records.place(A), records.place(B)))
    return records


def test_a_run_goes_on_with_what_it_has(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    written(path)
    again = Records(path, "asked")
    assert again.plan == {"repeats": 2}
    assert set(again.rounds) == {(0, 0, 0), (1, 0, 0)}
    assert again.place(A) == 1 and again.place(B) == 0
    again.add(0, one(1, again.place(A)))
    assert len(Records(path, "asked").rounds) == 3


def test_outputs_are_in_the_order_of_first_use(tmp_path: Path) -> None:
    cells, outputs = written(tmp_path / "r.jsonl").seen({0: "", 1: "budget"})
    assert outputs == (A, B)
    assert cells[0].rounds[0].outputs == (0, 1)
    assert (cells[1].rounds[0].outputs, cells[1].reason) == ((1,), "budget")


def test_a_line_that_was_cut_off_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    written(path)
    path.write_bytes(path.read_bytes()[:-9])
    again = Records(path, "asked")
    assert set(again.rounds) == {(1, 0, 0)}
    again.add(0, one(0, again.place(A)))
    assert len(Records(path, "asked").rounds) == 2


def test_lines_that_were_edited_moved_or_removed_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    written(path)
    lines = path.read_bytes().splitlines(keepends=True)
    edited = lines[1].replace(b'"tokens":[2]', b'"tokens":[3]')
    assert edited != lines[1]
    for changed in ([lines[0], edited, lines[2]], [lines[0], lines[2]], lines[::-1]):
        path.write_bytes(b"".join(changed))
        with pytest.raises(LockstepError) as refusal:
            Records(path, "asked")
        assert refusal.value.code == "RECORD_ALTERED"
    path.write_bytes(b"{}\n")
    with pytest.raises(LockstepError) as refusal:
        Records(path, "asked")
    assert refusal.value.code == "MALFORMED_JSON"


def test_records_of_another_run_are_refused_and_fresh_begins_anew(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    written(path)
    with pytest.raises(LockstepError) as refusal:
        Records(path, "something else")
    assert refusal.value.code == "USAGE"
    assert Records(path, "something else", fresh=True).rounds == {}


def test_a_run_that_ended_is_begun_anew(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    written(path).end()
    again = Records(path, "whatever is asked now")
    assert (again.plan, again.rounds) == (None, {})
    again.begin({"repeats": 3})
    assert len(path.read_text().splitlines()) == 1
    assert json.loads(path.read_text())["record"]["plan"] == {"repeats": 3}


def test_a_lifetime_that_was_not_done_is_forgotten(tmp_path: Path) -> None:
    records = written(tmp_path / "r.jsonl")
    records.add(0, one(0, records.place(A), lifetime=1))
    records.forget_lifetimes(1, [0, 1])
    assert set(records.rounds) == {(0, 0, 0), (1, 0, 0)}
