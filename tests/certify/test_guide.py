"""docs/certify.md: its configurations are read, its tables are the data's.

tests/docs runs its commands.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lockstep import spec
from lockstep.certify import config_table
from lockstep.certify.adapters.catalogue import ADAPTERS, is_verified
from lockstep.certify.ask import Ask
from lockstep.certify.config import read_config
from tests.docs.documents import blocks, rows

GUIDE = (spec.root().parent / "docs" / "certify.md").read_text("utf-8")


def test_its_configurations_are_read_and_have_every_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known: set[str] = set()
    take = config_table.Table._take

    def noted(self: config_table.Table, key: str, kind: type, what: str) -> object:
        known.add(f"{self._place.partition(':')[2]}/{key}")
        return take(self, key, kind, what)

    monkeypatch.setattr(config_table.Table, "_take", noted)
    path = tmp_path / "lockstep.toml"
    whole, *others = (one.text for one in blocks("docs/certify.md") if one.language == "toml")
    assert others
    for text in (*others, whole):
        path.write_text(text)
        read_config(path)
    table, named = "", set[str]()
    for line in whole.splitlines():
        if heading := re.match(r"\[([a-z.]+)\]", line):
            table = "/" + heading[1].replace(".", "/")
            named.add(table)
        elif key := re.match(r"([a-z_]+) = ", line):
            named.add(f"{table}/{key[1]}")
    # A positive control's command has the keys of a launch.
    same = {f"/certify/positive/{key}" for key in ("environment", "ready_seconds", "interpreter")}
    assert known - named == same
    assert named <= known


def test_its_tables_are_those_of_the_data() -> None:
    data = spec.load("certification.json")
    verdicts = [
        name for row in rows(GUIDE, "verdict") for name in re.findall(r"`([a-z_]+)`", row[0])
    ]
    assert verdicts == data["cell_verdicts"]
    told = {int(row[0]): row[1] for row in rows(GUIDE, "exit")}
    assert set(told) == {one["exit"] for one in data["exits"]} | {2, 4, 6}
    assert all(one["verdict"] in told[one["exit"]] for one in data["exits"])
    for name, asked, form, gauge, _, verified in rows(GUIDE, "adapter"):
        adapter = ADAPTERS[name.strip("`")]("m")
        assert form.startswith({"tokens": "ids", "text": "text"}[adapter.form])
        assert gauge == (f"`{adapter.running[0]}`" if adapter.running else "none")
        assert verified == ("yes" if is_verified(adapter.name) else "no")
        prompt = (1,) if adapter.form == "tokens" else "a"
        assert asked == f"`{adapter.call(Ask(prompt, 1))[0]}`"
    assert [row[0].strip("`") for row in rows(GUIDE, "adapter")] == list(ADAPTERS)
