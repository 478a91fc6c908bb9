"""The user's own prompts: who moves them, by answers and by scores."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from lockstep.certificate.statement import certification_subjects, statement
from lockstep.certify import run
from lockstep.certify.config import Config
from lockstep.certify.prompts import lines, read_prompts
from lockstep.certify.results import Records
from lockstep.certify.scorer import Scorer, scorer
from lockstep.claims.certification import predicate
from lockstep.cli.certify_watch import Progress
from lockstep.errors import LockstepError
from tests import certification_records as made
from tests.certify.fake_endpoint import MODEL, Asked, Behaviour, FakeEndpoint, Said
from tests.certify.pathologies import other_token
from tests.statements import judge

PLAN = {
    "cases": ["full_hit"],
    "cache": ["warm", "cold"],
    "filler": ["none", "fixed"],
    "order": ["fixed", "rotated"],
    "fixed_width": 3,
    "repeats": 3,
    "max_new": 4,
    "top": 2,
}
LENGTHS = """
import json, sys
for line in sys.stdin:
    told = json.loads(line)
    assert told["item"]["id"] == f"item {told['index']}"
    print(len(told["tokens"]) + len(told["answer"]))
"""
MOVES = "import sys, uuid\nfor line in sys.stdin: print(uuid.uuid4().hex[:8])"


class BesideOthers(Behaviour):
    """An answer of the evaluation differs where others are answered at the same time."""

    def said(self, asked: Asked, answer: Said) -> Said:
        """Alter what is not alone."""
        is_item = asked.body["max_tokens"] == 5
        return other_token(answer, 3) if asked.beside > 1 and is_item else answer


class AfterAHit(Behaviour):
    """An answer of the evaluation differs where a part of its prompt was in the cache."""

    def said(self, asked: Asked, answer: Said) -> Said:
        """Alter what had a hit."""
        is_item = asked.body["max_tokens"] == 5
        return other_token(answer, 2) if answer.cached and is_item else answer


def evaluation(folder: Path, count: int = 4, shared: int = 1) -> Path:
    path = folder / "eval.jsonl"
    items = [
        {"id": f"item {n}", "prompt": [9, n + 1] + [7] * shared, "max_tokens": 5, "weight": 0.1}
        for n in range(count)
    ]
    path.write_text("".join(json.dumps(one) + "\n" for one in items))
    return path


def command(folder: Path, source: str) -> str:
    path = folder / "score.py"
    path.write_text(source)
    return f"{sys.executable} {path}"


def told(behaviour: Behaviour, prompts: Path, score: str | None) -> dict[str, Any]:
    """Certify with prompts, and give the member `prompts`, which the verifier has derived."""
    with FakeEndpoint(behaviour) as fake:
        config = Config(
            endpoint=fake.url, controlled=True, adapter="vllm", model=MODEL, plan=PLAN,
            timeout=30, prompts=prompts, score=score,
        )  # fmt: skip
        seen = asyncio.run(run.observe(config, Records(None, ""), Progress(quiet=True)))
    folded = predicate(seen, issued_at=made.ISSUED_AT, producer=made.PRODUCER)
    judge(statement("certification", certification_subjects(folded), folded))
    found: dict[str, Any] = folded["prompts"]
    return found


def test_a_steady_server_and_scorer(tmp_path: Path) -> None:
    found = told(Behaviour(), evaluation(tmp_path, shared=20), command(tmp_path, LENGTHS))
    axes = ("control", "cache", "filler", "order")
    assert [tuple(one[name] for name in axes) for one in found["conditions"]] == [
        ("sequential", "warm", "none", "fixed"),
        (None, "warm", "none", "fixed"),
        (None, "cold", "none", "fixed"),
        (None, "warm", "fixed", "fixed"),
        (None, "warm", "none", "rotated"),
    ]
    assert [one["cache_witness"] for one in found["conditions"]] == ["shown"] * 5
    assert [(one["a"], one["b"]) for one in found["comparisons"]][:6] == [
        *((0, other) for other in range(5)),
        (1, 1),
    ]
    assert (found["verdict"], found["items"], found["scorer"]) == (
        "STEADY",
        4,
        f"{Path(sys.executable).name} score.py",
    )
    assert [one["scores_compared"] for one in found["comparisons"]] == [4] * 15
    assert all(one["scores"] == ["10"] * 4 for one in found["conditions"][0]["rounds"])
    assert lines(found)[-1].startswith("The engine is no reason")


def test_an_engine_that_moves_is_named_with_the_first_token(tmp_path: Path) -> None:
    found = told(BesideOthers(), evaluation(tmp_path), None)
    apart = found["comparisons"][1]
    assert (found["verdict"], apart["a"], apart["b"]) == ("ENGINE_MOVES", 0, 1)
    assert apart["answers"] >= 1
    assert {one["position"] for one in apart["first"]} == {3}
    assert found["comparisons"][0]["answers"] == 0
    assert any("first diverging token 3" in line for line in lines(found))
    assert any(f"{apart['answers']} of 4 flip" in line for line in lines(found))


@pytest.mark.slow  # waits for its rounds
def test_a_cache_that_moves_answers_is_named(tmp_path: Path) -> None:
    found = told(AfterAHit(), evaluation(tmp_path, shared=20), None)
    assert found["verdict"] == "ENGINE_MOVES"
    flips = {(one["a"], one["b"]): one["answers"] for one in found["comparisons"]}
    cold = 2
    assert flips[cold, cold] == 0
    assert flips[0, 0] > 0
    assert flips[1, cold] > 0
    assert any("(cache warm) against at once (cache cold)" in line for line in lines(found))


@pytest.mark.slow  # waits for its rounds
def test_a_scorer_that_moves_is_named(tmp_path: Path) -> None:
    found = told(Behaviour(), evaluation(tmp_path), command(tmp_path, MOVES))
    assert found["verdict"] == "SCORER_MOVES"
    assert [one["scores"] for one in found["comparisons"]] == [4] * 15


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        ("raise SystemExit('no model')", "ended by 1: no model"),
        ("print(1)", "wrote 1 lines for 2 answers"),
        ("print('x' * 65); print(1)", "line 1: not at most 64"),
    ],
)
def test_a_scorer_that_fails_is_named(tmp_path: Path, source: str, fault: str) -> None:
    own = scorer(command(tmp_path, source))
    found = asyncio.run(own.score([(0, "{}", "a", None), (1, "{}", "b", (1,))]))
    assert found.scores == (None, None)
    assert fault in found.fault


def test_a_program_that_is_gone_is_named() -> None:
    found = asyncio.run(Scorer(("/nowhere/score",)).score([(0, "{}", "a", None)]))
    assert found.fault.startswith("score does not start")


@pytest.mark.parametrize("text", ["", "no-such-program --x", "'"])
def test_a_command_that_cannot_run_is_refused(text: str) -> None:
    with pytest.raises(LockstepError) as caught:
        scorer(text)
    assert (caught.value.code, caught.value.pointer) == ("USAGE", "--score")


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("{", "MALFORMED_JSON"),
        ("[]", "NOT_AN_OBJECT"),
        ("{}", "MISSING_FIELD"),
        ('{"prompt": ""}', "MISSING_FIELD"),
        ('{"prompt": [1, -1]}', "MISSING_FIELD"),
        ('{"prompt": 7}', "MISSING_FIELD"),
        ('{"prompt": "a", "temperature": 1}', "MISSING_FIELD"),
        ('{"prompt": "a", "temperature": -1}', "BAD_VALUE"),
        ('{"prompt": "a", "max_tokens": "5"}', "BAD_VALUE"),
    ],
)
def test_a_line_that_is_no_item_is_refused_by_its_number(
    tmp_path: Path, line: str, code: str
) -> None:
    path = tmp_path / "eval.jsonl"
    path.write_text('{"prompt": "a"}\n\n' + line + "\n")
    with pytest.raises(LockstepError) as caught:
        read_prompts(path, None, None)
    assert caught.value.code == code
    assert caught.value.pointer.endswith("eval.jsonl, line 3")


def test_a_file_that_is_empty_missing_or_no_text_is_refused(tmp_path: Path) -> None:
    empty, binary = tmp_path / "empty", tmp_path / "binary"
    empty.write_text("\n")
    binary.write_bytes(b"\xff")
    for path, code in (
        (empty, "LIMIT_SIZE"),
        (binary, "BAD_ENCODING"),
        (tmp_path / "none", "FILE_UNREADABLE"),
    ):
        with pytest.raises(LockstepError) as caught:
            read_prompts(path, None, None)
        assert caught.value.code == code


def test_a_seeded_item_is_asked_as_it_says(tmp_path: Path) -> None:
    path = tmp_path / "eval.jsonl"
    path.write_text('{"prompt": "hi", "temperature": 0.7, "seed": 3, "top_p": 0.5, "top_k": 4}\n')
    ask = read_prompts(path, 1, None).items[0].ask
    assert (ask.prompt, ask.temperature, ask.seed, ask.top_p) == ("hi", "0.7", 3, "0.5")
    assert (ask.top_k, ask.max_new, ask.top) == (4, 128, 1)
