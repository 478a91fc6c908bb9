"""The documentation as a site: made from spec and commands, and without a remote asset."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from lockstep import spec
from lockstep.certificate.statement import KINDS
from lockstep.cli.sections import SECTIONS
from tests.docs.documents import ROOT
from tools.docs_site import front, main, on_page_markdown, remote, rules
from tools.reference import members, pages

MKDOCS = importlib.util.find_spec("material") is not None
needs_mkdocs = pytest.mark.skipif(not MKDOCS, reason="MkDocs is not installed (extra docs)")


@pytest.fixture(scope="module")
def made() -> dict[str, str]:
    return pages()


def test_the_reference_has_every_command_code_and_kind(made: dict[str, str]) -> None:
    commands = re.findall(r"(?m)^## `lockstep ([a-z-]+)`$", made["reference/cli.md"])
    assert sorted(commands) == sorted(name for names in SECTIONS.values() for name in names)
    codes = re.findall(r"(?m)^## `([A-Z0-9_]+)`$", made["reference/errors.md"])
    assert codes == [entry["code"] for entry in spec.load("errors.json")["codes"]]
    assert all(f"reference/kinds/{kind}.md" in made for kind in KINDS)
    assert "--withdrawals" in made["reference/verifier.md"]


def test_a_kind_lists_each_leaf_by_its_class(made: dict[str, str]) -> None:
    for kind in KINDS:
        page = made[f"reference/kinds/{kind}.md"]
        listed = re.findall(r"(?m)^- `(/[^`]*)`$", page)
        assert sorted(listed) == sorted(place for place, _ in members(kind))
    classes = dict(members("hunt"))
    # Its own class, the class beside a reference, the nearest enclosing one, and none.
    assert classes["/issued_at"] == "attested"
    assert classes["/rows/*/verdict"] == "derived"
    assert classes["/layouts/*/citation/path"] == "attested"


def test_all_pages_of_docs_are_in_the_navigation() -> None:
    text = (ROOT / "mkdocs.yml").read_text("utf-8")
    named = set(re.findall(r"[\w/-]+\.md", str(yaml.safe_load(text)["nav"])))
    there = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    assert named == (there | {"index.md"}) - {"README.md", "adr/README.md"}


def test_the_front_page_and_the_rules_are_those_of_the_checkout() -> None:
    assert "](tutorial.md)" in front()
    assert "](docs/" not in front()
    assert {"spec/index.md", "spec/certificate.md", "spec/hunt.md"} <= set(rules())


def test_a_blocks_info_string_keeps_its_language_alone() -> None:
    assert on_page_markdown('```sh skip="gpu: x"\nmake\n```\n') == "```sh\nmake\n```\n"


@pytest.mark.parametrize(
    "text",
    [
        '<script src="https://cdn.example/a.js"></script>',
        "<link rel=stylesheet href=//fonts.example/a.css>",
        "<style>@import 'https://a/b.css'; </style>",
        "<p style=\"background: url('http://a/b.png')\">",
        '<img alt="x" src="http://a/b.png">',
        '<pre class="mermaid">graph</pre>',
    ],
)
def test_a_remote_asset_is_found(text: str, tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text(text)
    assert len(list(remote(tmp_path))) == 1
    assert main(tmp_path) == 3


def test_what_is_local_or_only_linked_is_no_remote_asset(tmp_path: Path) -> None:
    assert main(tmp_path) == 2
    (tmp_path / "a.html").write_text('<a href="https://a">x</a><img src="b.png"><script src=c.js>')
    (tmp_path / "a.css").write_text("p { background: url(data:image/png;base64,//8=) }")
    assert main(tmp_path) == 0


@pytest.mark.slow
@needs_mkdocs
def test_the_site_is_built_strictly_and_loads_nothing_remote(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "DISABLE_MKDOCS_2_WARNING": "true"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "reference" / "kinds" / "hunt.html").is_file()
    assert list(remote(tmp_path)) == []
