"""The Go implementation: its own tests, the committed vectors, and agreement with the reference.

Mutants are drawn from a fixed seed. A certificate's mutants need no signature: without a policy
the code of re-derivation is shown for information (SIG-5), and that is what is compared.
"""

from __future__ import annotations

import base64
import copy
import json
import random
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lockstep.certificate.statement import KINDS
from lockstep.cli.evidence import certificates
from lockstep.evidence.index import kind_of
from lockstep.sampling import parity
from tests.conformance.built import ROOT, SOURCE, Go, command_of

DERIVED = {
    "campaign": 5, "certification": 6, "detection": 6, "distance-calibration": 6, "fidelity": 8,
    "finding": 12, "hunt": 15, "invariance": 6, "layout-observation": 6, "lean": 10,
    "measurement": 8, "mutation": 5, "replay": 12,
    "sampling": 8, "sampling-experiments": 8, "smt": 8, "throughput": 6, "withdrawal": 6,
}  # fmt: skip
"""The kinds that this implementation derives, and how many outcomes mutants of each reach."""
VECTORS = ROOT / "conformance/vectors/v1"
SEED = 20_260_601
AT = "2026-06-01T00:00:00Z"

BYTE_MUTANTS = 200
TREE_MUTANTS = 300
POLICY_MUTANTS = 100
POSITIONS = 20_000
FEWER = {
    "campaign": 90,
    "certification": 150,
    "detection": 40,
    "distance-calibration": 150,
    "invariance": 90,
    "layout-observation": 100,
    "measurement": 150,
    "mutation": 40,
    "sampling-experiments": 150,
    "smt": 150,
    "withdrawal": 150,
}
"""Mutants of a kind whose certificates are large, or small with little to change."""

# One process builds the binary for all of them.
pytestmark = [pytest.mark.go, pytest.mark.xdist_group("go")]


@pytest.mark.slow  # vets all packages anew
def test_sources_are_formatted_and_vetted_and_need_no_module(go: Go) -> None:
    gofmt = Path(go.run("env", "GOROOT").strip()) / "bin/gofmt"
    listed = subprocess.run([gofmt, "-l", SOURCE], capture_output=True, text=True, check=True)
    assert listed.stdout == ""
    go.run("vet", "./...")
    assert "require" not in (SOURCE / "go.mod").read_text()
    parsers = [p for p in SOURCE.rglob("*.go") if '"encoding/json"' in p.read_text()]
    assert parsers == []


def test_unit_tests_pass(go: Go) -> None:
    go.run("test", "./...")


@pytest.mark.parametrize(
    "mode",
    # The command line starts a process a vector, and derives by the same code.
    [pytest.param([], id="protocol"), pytest.param(["--cli"], id="cli", marks=pytest.mark.slow)],
)
def test_passes_every_vector(binary: Path, mode: list[str]) -> None:
    scored = [*command_of(binary), *([] if mode else ["--protocol"])]
    runner = [sys.executable, "-c", "from lockstep.cli import main; raise SystemExit(main())"]
    done = subprocess.run(
        [*runner, "vectors", "run", "--json", *mode, "--", *scored],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]


def test_a_fault_is_internal_and_a_misuse_usage(binary: Path) -> None:
    usage = subprocess.run([*command_of(binary), "--unheard-of"], capture_output=True, check=False)
    assert (usage.returncode, usage.stdout.split()[0]) == (2, b"USAGE")
    for folder in (binary.parent / "absent", binary):
        command = [*command_of(binary), "--evidence", str(folder), "absent.cert.json"]
        usage = subprocess.run(command, capture_output=True, check=False)
        assert (usage.returncode, usage.stdout.split()[0]) == (2, b"USAGE")
    # A request without its inputs makes the program panic inside.
    answer = exchange([*command_of(binary), "--protocol"], [{"id": "x", "op": "lcj"}])[0]
    assert (answer["result"], answer["code"]) == ("refused", "INTERNAL")


def test_the_readme_names_the_kinds_that_are_left_out() -> None:
    text = (SOURCE / "README.md").read_text("utf-8").partition("Kinds left out: ")[2]
    assert set(re.findall(r"`([a-z-]+)`", text)) == set(KINDS) - DERIVED.keys()


def test_exhaustive_walk_agrees(binary: Path, tmp_path: Path) -> None:
    evidence = ROOT / "evidence"
    files = certificates(evidence)
    done = subprocess.run(
        [*command_of(binary), "--exhaustive", "--json", "--at", "2026-12-01T00:00:00Z"]
        + ["--state", str(tmp_path), "--trust", str(evidence / "trust.json")]
        + [str(file) for file in files],
        capture_output=True,
        text=True,
        check=False,
    )
    codes = [json.loads(line)["code"] for line in done.stdout.splitlines()]
    known = [kind_of(file.read_bytes()) in DERIVED for file in files]
    assert sum(known) >= 3
    expected = ["OK" if one else "PREDICATE_UNKNOWN" for one in known]
    assert codes == expected, done.stdout[-2000:]


def exchange(command: list[str], requests: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The answers of a protocol run."""
    lines = "".join(json.dumps(request, sort_keys=True) + "\n" for request in requests)
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def assert_agreement(
    binary: Path, requests: list[dict[str, Any]], outcome: Callable[[dict[str, Any]], Any]
) -> Counter[Any]:
    """Both give the same outcome for every request; the outcomes are counted."""
    reference = exchange([sys.executable, "-m", "lockstep_verify", "--protocol"], requests)
    second = exchange([*command_of(binary), "--protocol"], requests)
    assert len(reference) == len(second) == len(requests)
    differing = [
        (request["id"], outcome(one), outcome(other))
        for request, one, other in zip(requests, reference, second, strict=True)
        if outcome(one) != outcome(other)
    ]
    assert differing == []
    return Counter(outcome(answer) for answer in second)


def code_of(answer: dict[str, Any]) -> tuple[str, str]:
    return answer["code"], answer.get("pointer", "")


def rederived(answer: dict[str, Any]) -> tuple[str, str | None]:
    return answer["code"], answer["value"]["rederivation"]


def packed(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def encoded(value: object) -> bytes:
    """LCJ of a value whose names are ASCII, as all names here are."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8")


SPLICES = [b"", b" ", b"\n", b'"', b"\\", b"\\u", b"\\ud800", b"\\udc00", b"0", b"-", b"-0", b"1.0"]
SPLICES += [b"e", b"NaN", b"-Infinity", b"null", b"true", b"[", b"]", b"{", b"}", b",", b":"]
SPLICES += [b"\x00", b"\xff", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"9007199254740992", b"\x1f"]
SPLICES += ['"é"'.encode(), b'"a":1,', b"[" * 64]


def byte_mutant(draw: random.Random, data: bytes) -> bytes:
    for _ in range(draw.choice([1, 1, 1, 2, 3])):
        at = draw.randrange(len(data) + 1)
        data = data[:at] + draw.choice(SPLICES) + data[at + draw.choice([0, 0, 1, 1, 2, 8]) :]
    return data


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of all values within a value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    found = []
    for key, member in inner:
        found.append((*path, key))
        if isinstance(member, dict | list):
            found += places(member, (*path, key))
    return found


def tree_mutant(draw: random.Random, tree: Any) -> Any:
    """A copy with one value replaced, removed, doubled, renamed or exchanged."""
    tree = copy.deepcopy(tree)
    # By kind of place first, so that long lists do not take all the draws.
    by_kind: dict[tuple[Any, ...], list[tuple[Any, ...]]] = {}
    for path in places(tree):
        kind = tuple("*" if isinstance(step, int) else step for step in path)
        by_kind.setdefault(kind, []).append(path)
    path = draw.choice(by_kind[draw.choice(sorted(by_kind, key=str))])
    holder = tree
    for step in path[:-1]:
        holder = holder[step]
    key, old = path[-1], holder[path[-1]]
    operation = draw.choice(["value", "value", "value", "remove", "double", "rename", "exchange"])
    if operation == "remove":
        del holder[key]
    elif operation == "double" and isinstance(holder, list):
        holder.insert(key, copy.deepcopy(old))
    elif operation == "rename" and isinstance(holder, dict):
        holder[draw.choice([key.upper(), key + "x", "a/b~c"])] = holder.pop(key)
    elif operation == "exchange" and isinstance(holder, list) and len(holder) > 1:
        other = draw.randrange(len(holder))
        holder[key], holder[other] = holder[other], old
    else:
        holder[key] = replacement(draw, old)
    return tree


def replacement(draw: random.Random, old: Any) -> Any:
    if isinstance(old, bool):
        return draw.choice([not old, not old, None, int(old)])
    if isinstance(old, int):
        return draw.choice([old + 1, old + 1, max(0, old - 1), 0, old * 2, str(old), None, -1])
    if isinstance(old, str):
        near = ["T", "Tb", "D", "H", "L", "R", "KV", "none", "int8", "fp8_e5m2", "gqa", "mla"]
        return draw.choice([*near, old + "x", old.upper(), old[:-1], "", None, old + "\n", 7])
    if old is None:
        return draw.choice([True, False, 0, 1, "", "X2_HEAD_GATHER", {}, []])
    return draw.choice([None, [], {}, 0, "x"])


def test_agrees_on_byte_mutants(binary: Path) -> None:
    draw = random.Random(SEED)
    payload = (VECTORS / "hunt" / "files/valid.payload").read_bytes()
    small = encoded({"a": [1, -2, {"b": "x\n\u00e9"}], "c": {"d": None, "e": True}, "f": ""})
    requests = [
        {
            "id": str(number),
            "op": "lcj",
            "role": draw.choice(["envelope", "payload"]),
            "data": packed(byte_mutant(draw, draw.choice([small, small, payload]))),
        }
        for number in range(BYTE_MUTANTS)
    ]
    assert len(assert_agreement(binary, requests, code_of)) >= 8


def valid_statement(kind: str) -> Any:
    """The statement of the valid certificate among a kind's vectors; a short one has no file."""
    file = VECTORS / kind / "files/valid.payload"
    if file.exists():
        return json.loads(file.read_bytes())
    vector = json.loads((VECTORS / kind / "valid.json").read_text("utf-8"))
    envelope = json.loads(vector["input"]["certificate"]["text"])
    return json.loads(base64.b64decode(envelope["payload"]))


@pytest.mark.slow  # some seconds a kind; the vectors stay
@pytest.mark.parametrize(("kind", "codes"), sorted(DERIVED.items()))
def test_agrees_on_mutants_of_a_certificate(binary: Path, kind: str, codes: int) -> None:
    draw = random.Random(SEED)
    statement = valid_statement(kind)
    signature = packed(b"\x02" + bytes(63))
    requests = []
    for number in range(FEWER.get(kind, TREE_MUTANTS)):
        mutant = tree_mutant(draw, statement)
        envelope = {
            "payload": packed(encoded(mutant)),
            "payloadType": "application/vnd.in-toto+json",
            "signatures": [{"keyid": "0" * 64, "sig": signature}],
        }
        requests.append(
            {
                "id": str(number),
                "op": "certificate",
                "certificate": packed(encoded(envelope)),
                "policy": None,
                "at": AT,
                "last_version": None,
                "subject": None,
                "evidence": None,
            }
        )
    assert len(assert_agreement(binary, requests, rederived)) >= codes


def test_agrees_on_mutants_of_a_policy(binary: Path) -> None:
    draw = random.Random(SEED)
    vector = json.loads((VECTORS / "hunt" / "valid.json").read_text())
    policy = json.loads(vector["input"]["policy"]["text"])
    requests = [
        {
            "id": str(number),
            "op": "policy",
            "policy": packed(encoded(tree_mutant(draw, policy))),
            "at": AT,
            "last_version": draw.choice([None, 1, 2]),
        }
        for number in range(POLICY_MUTANTS)
    ]
    assert_agreement(binary, requests, lambda answer: answer["code"])


def test_agrees_on_random_positions_of_samplers(binary: Path) -> None:
    found = parity.compare([*command_of(binary), "--protocol"], str(SEED), POSITIONS)
    assert found.first == ()
    assert found.differences == 0
    assert found.positions == POSITIONS
    assert POSITIONS // 4 < found.upstream < POSITIONS // 2
    assert POSITIONS // 50 < found.refused < POSITIONS // 5
