"""`lockstep smt`: what it writes, what it says, and what stops it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.xdist_group("smt")

SET = """
[geometry]
tokens = 4
layers = 1
kv_heads = 2
head_dim = 2
dtype = "bfloat16"

[[groups]]
anchor = "vllm-lbnhc"
members = ["vllm/vllm-lbnhc"]
"""


def lockstep(home: Path, code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    run = f"{code}\nfrom lockstep.cli import main\nsys.exit(main())"
    return subprocess.run(
        [sys.executable, "-c", f"import sys\n{run}", *arguments],
        capture_output=True,
        text=True,
        env={"PATH": os.environ["PATH"], "HOME": str(home)},
        cwd=home,
        check=False,
    )


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "one.toml").write_text(SET, "utf-8")
    return tmp_path


def test_it_proves_writes_and_has_the_result_verified(home: Path) -> None:
    done = lockstep(home, "", "smt", "--set", "one.toml", "--no-lifecycle", "--out", "made")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "24 queries, each answered as expected by z3" in done.stdout
    assert "lifecycle: not made" in done.stdout
    assert done.stdout.rstrip().endswith("trusts this key alone: OK")
    envelope = json.loads((home / "made" / "smt.cert.json").read_bytes())
    assert set(envelope) == {"payload", "payloadType", "signatures"}
    script = (home / "made" / "smt" / "layouts" / "vllm-lbnhc.smt2").read_text("ascii")
    assert script.count("(check-sat)") == 12


def test_a_missing_solver_is_said_with_what_brings_it(home: Path) -> None:
    hide = "sys.modules['cvc5'] = None"
    done = lockstep(home, hide, "smt", "--set", "one.toml", "--no-lifecycle")
    assert done.returncode == 2
    assert "SOLVER_MISSING at cvc5" in done.stderr and "'proofs'" in done.stderr
    assert not (home / "results" / "smt" / "smt.cert.json").exists()


def test_a_query_without_its_answer_is_named_and_nothing_is_signed(home: Path) -> None:
    give_up = (
        "from lockstep.proofs import solvers\n"
        "solvers._ask_z3 = lambda text, constants: solvers.Reply('unknown timeout')"
    )
    done = lockstep(home, give_up, "smt", "--set", "one.toml", "--no-lifecycle")
    assert done.returncode == 3
    assert "QUERY_NOT_ANSWERED" in done.stderr
    assert "vllm-lbnhc/kv/llama-3.1-8b/fixed/in-bounds" in done.stderr
    assert "z3: unknown timeout" in done.stderr
    assert not (home / "results" / "smt" / "smt.cert.json").exists()
