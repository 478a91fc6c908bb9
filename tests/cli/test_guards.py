"""Policies that grow with the evidence, files without end, and what a run prints for programs."""

import base64
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from lockstep.certificate import keys, lcj, times
from lockstep.certificate.statement import KINDS, predicate_type
from lockstep.certificate.verifier import verify
from lockstep.cli import fail, main
from lockstep.cli.evidence import OWN_KEY, _policy
from lockstep.errors import LockstepError
from lockstep.evidence.index import build_index, faults, markdown, published_figures
from lockstep.evidence.make import MAKERS

SPAN = ("2026-01-01T00:00:00Z", "2036-01-01T00:00:00Z")
ROOT = Path(__file__).resolve().parents[2]


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["lockstep", *arguments])
    return main()


def policy_with_a_foreign_key(version: int) -> dict[str, Any]:
    signers = [
        keys.Signer(name, owner, keys.raw(Ed25519PrivateKey.generate().public_key()), roles, *SPAN)
        for name, owner, roles in (
            (OWN_KEY, "lockstep", ("producer",)),
            ("gpu", "elsewhere", ("measurer",)),
        )
    ]
    kinds = ["urn:lockstep:certificate:hunt:v1", "urn:lockstep:certificate:other:v1"]
    return keys.policy(signers, kinds, version=version, expires=SPAN[1])


def test_new_evidence_replaces_its_own_key_and_keeps_foreign_ones(tmp_path: Path) -> None:
    before = policy_with_a_foreign_key(version=7)
    (tmp_path / "trust.json").write_bytes(lcj.encode(before))
    new = Ed25519PrivateKey.generate()
    after = _policy(tmp_path / "trust.json", new, set())
    name = f"{OWN_KEY}-{keys.key_id(new.public_key())[:8]}"
    assert after["version"] == 8
    assert [entry["name"] for entry in after["keys"]] == [name, "gpu"]
    assert after["keys"][0]["public"] != before["keys"][0]["public"]
    assert after["keys"][1] == before["keys"][1]
    kinds = [predicate_type(kind) for kind in KINDS]
    foreign = [r["predicateType"] for r in before["rules"] if r["predicateType"] not in kinds]
    assert foreign
    assert [rule["predicateType"] for rule in after["rules"]] == [*kinds, *foreign]


def test_a_key_stays_as_long_as_a_certificate_is_signed_with_it(tmp_path: Path) -> None:
    before = policy_with_a_foreign_key(version=7)
    (tmp_path / "trust.json").write_bytes(lcj.encode(before))
    signer = keys.key_id_of(bytes.fromhex(before["keys"][0]["public"]))
    after = _policy(tmp_path / "trust.json", Ed25519PrivateKey.generate(), {signer})
    assert after["keys"][1:] == before["keys"]
    (tmp_path / "trust.json").write_bytes(lcj.encode(after))
    last = _policy(tmp_path / "trust.json", Ed25519PrivateKey.generate(), {signer})
    assert last["keys"][1:] == before["keys"]


def test_a_key_of_others_stays_whatever_its_name_begins_with(tmp_path: Path) -> None:
    before = policy_with_a_foreign_key(version=1)
    before["keys"][1]["name"] = f"{OWN_KEY}-elsewhere"
    (tmp_path / "trust.json").write_bytes(lcj.encode(before))
    after = _policy(tmp_path / "trust.json", Ed25519PrivateKey.generate(), set())
    assert after["keys"][1:] == before["keys"][1:]


def test_evidence_names_the_certificates_that_it_makes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "evidence", "--folder", str(ROOT / "evidence"), "--only", "none") == 2
    assert "exact-transformations.cert.json" in capsys.readouterr().err


def test_figures_of_foreign_certificates_are_kept_and_read_anew(tmp_path: Path) -> None:
    for name in MAKERS:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes((ROOT / "evidence" / name).read_bytes())
    payload = base64.b64encode(b'{"predicate":{"n":5}}').decode()
    (tmp_path / "gpu.cert.json").write_bytes(lcj.encode({"payload": payload}))
    old = {"gpu-n": {"file": "gpu.cert.json", "pointer": "/predicate/n", "value": 4}}
    (tmp_path / "index.json").write_bytes(lcj.encode({"version": 1, "figures": old}))
    index = build_index(tmp_path, tmp_path / "index.json")
    assert index["figures"]["gpu-n"]["value"] == 5
    (tmp_path / "index.json").write_bytes(lcj.encode(index))
    table = markdown(index)
    assert published_figures(table)["gpu-n"] == "5"
    assert faults(tmp_path, table) == []


def test_an_edited_certificate_is_seen_by_the_index_and_by_the_verifier(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "evidence", tmp_path, dirs_exist_ok=True)
    path = tmp_path / "exact-transformations.cert.json"
    envelope = json.loads(path.read_bytes())
    statement = json.loads(base64.b64decode(envelope["payload"]))
    statement["predicate"]["counts"]["rows"] += 1
    envelope["payload"] = base64.b64encode(lcj.encode(statement)).decode()
    path.write_bytes(lcj.encode(envelope))
    readme = (ROOT / "README.md").read_text("utf-8")
    assert any("certificate" in fault for fault in faults(tmp_path, readme))
    options = ["--trust", str(tmp_path / "trust.json"), "--state", str(tmp_path)]
    assert verify([path], *options).results[0]["code"] == "SIGNATURE_INVALID"


def test_show_reads_regular_files_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    os.mkfifo(tmp_path / "fifo")
    for name in ("fifo", "absent"):
        assert run(monkeypatch, "show", str(tmp_path / name)) == 2
        assert "FILE_UNREADABLE" in capsys.readouterr().err
    assert run(monkeypatch, "show", "/dev/zero") == 2


@pytest.mark.parametrize(
    "policy",
    [
        b"[]",
        b"{}",
        b"not json",
        b"[" * 100_000,
        b'{"keys":[{"public":"zz"}],"version":1,"expires":""}',
    ],
)
def test_keys_show_refuses_what_is_no_policy(
    policy: bytes,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "trust.json").write_bytes(policy)
    assert run(monkeypatch, "keys", "show", "--dir", str(tmp_path)) == 3
    assert "POLICY_INVALID" in capsys.readouterr().err


def test_keys_show_prints_no_terminal_escape(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    policy = policy_with_a_foreign_key(version=1)
    policy["keys"][0]["owner"] = "\x1b[2J"
    (tmp_path / "trust.json").write_bytes(lcj.encode(policy))
    assert run(monkeypatch, "keys", "show", "--dir", str(tmp_path)) == 3
    assert "\x1b" not in "".join(capsys.readouterr())


def test_a_fault_that_repeats_a_document_writes_to_no_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert fail(LockstepError("UNKNOWN_FIELD", "/é\x1b[2J\n")) == 3
    # No line but the first begins as one of ours.
    assert " /é\\u{1b}[2J\n  : " in capsys.readouterr().err


def test_keys_show_gives_programs_the_ids(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "keys", "init", "--dir", str(tmp_path)) == 0
    capsys.readouterr()
    assert run(monkeypatch, "keys", "show", "--dir", str(tmp_path), "--json") == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["signing_key"] == shown["keys"][0]["id"]


@pytest.mark.parametrize(
    "text", ["2026-02-30T00:00:00Z", "2026-01-01T00:00:60Z", "2026-01-01", "", "now"]
)
def test_a_time_that_is_none_is_a_fault_of_the_command_line(text: str) -> None:
    with pytest.raises(LockstepError) as caught:
        times.claimed(text)
    assert caught.value.code == "USAGE"


def test_a_time_that_is_one_is_kept() -> None:
    assert times.claimed("2024-02-29T23:59:59Z") == "2024-02-29T23:59:59Z"
    assert times.SHAPE.fullmatch(times.claimed(None))


@pytest.mark.slow  # twice the main job; `make run` is it once
def test_the_demo_is_safe_to_repeat_and_removes_nothing_of_others(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine", encoding="utf-8")
    code = "import sys; sys.modules['torch'] = None\n"
    code += "from lockstep.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", code, "demo", "--folder", str(tmp_path)]
    for _ in range(2):
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
        assert done.returncode == 0, done.stdout + done.stderr
    assert "9 counts are equal" in done.stdout
    assert "OK, exit 0" in done.stdout
    assert "DERIVED_UNSIGNED, exit 5" in done.stdout
    assert (tmp_path / "mine.txt").read_text("utf-8") == "mine"
    assert (tmp_path / "key.pem").stat().st_mode & 0o777 == 0o600


def test_a_reader_that_leaves_early_gets_no_traceback(tmp_path: Path) -> None:
    code = "from lockstep.cli import main; import sys; sys.exit(main())"
    certificate = ROOT / "evidence" / "engine-layouts.cert.json"
    shell = f"{sys.executable} -c '{code}' show {certificate} | head -1"
    done = subprocess.run(
        ["/bin/bash", "-c", shell], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.stdout
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr
