"""The reference verifier passes every vector, by protocol and by command line."""

import json
import subprocess
import sys

import pytest

from lockstep.vectors import score

VERIFIER = [sys.executable, "-m", "lockstep_verify"]
SAMPLED = 12
"""Every so many vectors are run by command line; each starts an interpreter."""


def _faults(outcomes):
    return [o for o in outcomes if o.state != "passed"]


def test_by_protocol(held):
    result = score.run(held.folder, [*VERIFIER, "--protocol"])
    assert _faults(result.outcomes) == []
    assert result.perfect
    assert len(result.outcomes) == len(held.vectors) == result.whole


@pytest.mark.slow
def test_a_sample_by_command_line(held, tmp_path, monkeypatch):
    chosen = [v for v in held.vectors if v["op"] == score.PLAIN_OP]
    picked = {v["id"] for v in chosen[::SAMPLED]} | {
        "hunt/valid", "hunt/valid-without-policy", "hunt/policy-rollback", "hunt/evidence-missing",
    }  # fmt: skip
    everything = score.load
    monkeypatch.setattr(
        score, "load", lambda *given: tuple(v for v in everything(*given) if v["id"] in picked)
    )
    result = score.run(held.folder, VERIFIER, by_command_line=True)
    assert _faults(result.outcomes) == []
    assert len(result.outcomes) == len(picked)


@pytest.mark.slow
def test_all_by_command_line(held):
    result = score.run(held.folder, VERIFIER, by_command_line=True)
    assert _faults(result.outcomes) == []


def _implementation(tmp_path, body):
    path = tmp_path / "it.py"
    path.write_text(
        f"import json, sys, time\nfor line in sys.stdin:\n    q = json.loads(line)\n{body}"
    )
    return [sys.executable, str(path)]


def _run(held, command):
    return score.run(held.folder, command, ["ed25519"])


def test_a_skip_is_counted_and_is_no_pass(held, tmp_path):
    body = "    print(json.dumps({'id': q['id'], 'result': 'unsupported'}), flush=True)\n"
    result = _run(held, _implementation(tmp_path, body))
    assert result.count("skipped") == len(result.outcomes) > 0
    assert not result.perfect


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("    sys.exit(3)\n", "status 3"),
        ("    print('nonsense', flush=True)\n", "something else than JSON"),
        ("    print(json.dumps({'id': 'x'}), flush=True)\n", "answered something else"),
    ],
)
def test_an_implementation_that_does_not_answer_fails(held, tmp_path, body, said):
    result = _run(held, _implementation(tmp_path, body))
    assert result.count("failed") == len(result.outcomes)
    assert said in result.outcomes[0].got
    assert "not asked" in result.outcomes[-1].got


def test_one_death_costs_one_vector(held, tmp_path):
    body = (
        "    if q['id'].endswith('/keyid'): sys.exit(1)\n"
        "    print(json.dumps({'id': q['id'], 'result': 'unsupported'}), flush=True)\n"
    )
    result = _run(held, _implementation(tmp_path, body))
    assert [o.id for o in result.outcomes if o.state == "failed"] == ["ed25519/keyid"]


def test_the_command_shows_the_broken_rule_and_exits_1(held, tmp_path):
    body = "    print(json.dumps({'id': q['id'], 'result': 'ok', 'code': 'OK'}), flush=True)\n"
    command = ["vectors", "run", "--area", "json", "--", *_implementation(tmp_path, body)]
    start = [sys.executable, "-c", "from lockstep.cli import main; raise SystemExit(main())"]
    done = subprocess.run([*start, *command], capture_output=True, text=True)
    assert done.returncode == 1
    assert "FAILED json/duplicate breaks LCJ-4" in done.stdout
    assert "expected DUPLICATE_KEY, got OK" in done.stdout
    command.insert(2, "--json")
    done = subprocess.run([*start, *command], capture_output=True, text=True)
    document = json.loads(done.stdout)
    assert document["selected"] == document["passed"] + document["failed"]
    assert document["skipped"] == 0
