"""The commands of the documentation run, document by document, and print what is shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.certify.fake_endpoint import Behaviour, FakeEndpoint
from tests.docs.documents import Block, blocks, documents, parsed
from tests.docs.session import Session

SMALL = """
[certify]
adapter = "vllm"
[certify.plan]
cases = ["full_hit"]
cache = ["warm"]
filler = ["none"]
order = ["fixed"]
repeats = 4
max_new = 4
top = 1
"""
"""Beside docs/certify.md: its commands are run against a server that computes nothing."""

RUN = [name for name in documents() if any(block.runs for block in blocks(name))]


@pytest.mark.slow
@pytest.mark.parametrize("document", [name for name in RUN if name != "docs/certify.md"])
def test_a_documents_blocks_run(document: str, tmp_path: Path) -> None:
    with Session(tmp_path) as session:
        for block in blocks(document):
            session.run(block)


@pytest.mark.slow
def test_the_guide_to_the_certifier_runs(tmp_path: Path) -> None:
    with FakeEndpoint(Behaviour()) as fake:
        port = int(fake.url.rpartition(":")[2])
        with Session(tmp_path, port) as session:
            (session.work / "lockstep.toml").write_text(SMALL)
            (session.work / "eval.jsonl").write_text('{"prompt": [1, 2], "max_tokens": 4}\n' * 2)
            (session.work / "score.py").write_text("import sys\nfor _ in sys.stdin: print(1)\n")
            for block in blocks("docs/certify.md"):
                session.run(block)
            written = {path.name for path in session.work.iterdir()}
    assert {"server.cert.json", "certify.xml", "certify.sarif", "keys"} <= written


def one(text: str) -> Block:
    (block,) = parsed("a", text)
    return block


def test_a_session_sees_what_is_not_as_shown(tmp_path: Path) -> None:
    with Session(tmp_path) as session:
        session.run(one('```text file="f"\nx\n```\n'))
        session.run(one("```console\n$ cat f; cat README.md | head -1\nx\n# Lockstep\n```\n"))
        session.run(one('```sh exit="3"\nexit 3\n```\n'))
        session.run(one('```sh skip="yours: x"\nexit 3\n```\n'))
        with pytest.raises(AssertionError, match="exit 1"):
            session.run(one("```sh\nfalse | true\n```\n"))
        with pytest.raises(AssertionError, match="printed:\nx"):
            session.run(one("```console\n$ cat f\ny\n```\n"))
        with pytest.raises(AssertionError, match="nothing listens, exit 0"):
            session.run(one('```sh beside="yes"\ntrue\n```\n'))
