"""From observations of a build to a signed certificate that the verifier accepts."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from typer.testing import CliRunner

from lockstep.certificate import keys
from lockstep.claims.lean import registered
from lockstep.cli import application
from lockstep.errors import LockstepError
from lockstep.evidence.index import statement_of
from lockstep.issue import issue_lean
from lockstep.lean import observe
from lockstep.lean.build import source_folder

SEEN = observe.LeanObservations(
    kernel={
        "builder": "wheel",
        "version": "4.35.0",
        "commit": "0" * 40,
        "library_sha256": "0" * 64,
    },
    host="a test",
    theorems=registered(),
    modules=observe.sources(source_folder()),
    kernel_accepted=True,
    gates_passed=True,
    official_toolchain_agrees=None,
    export=None,
)


def see(monkeypatch: pytest.MonkeyPatch, seen: observe.LeanObservations) -> None:
    monkeypatch.setattr(observe, "observe", lambda *_, **__: seen)


def test_the_command_writes_what_the_verifier_accepts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    see(monkeypatch, SEEN)
    key, output = tmp_path / "key.pem", tmp_path / "lemmas.cert.json"
    keys.new_key_file(key)
    done = CliRunner().invoke(
        application(),
        ["lean", "certify", "-o", str(output), "--key", str(key)],
        catch_exceptions=False,
    )
    assert done.exit_code == 0, done.output
    number = len(SEEN.theorems)
    assert f"{number} of {number} theorems accepted" in done.output
    assert "lockstep-verify: OK" in done.output
    statement = statement_of(output.read_bytes())
    assert statement["predicate"]["counts"]["modules"] == len(SEEN.modules)


def test_what_the_verifier_refuses_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # The verifier is shown the sources as they are.
    see(monkeypatch, replace(SEEN, modules={**SEEN.modules, "Lockstep": "0" * 64}))
    key, output = tmp_path / "key.pem", tmp_path / "lemmas.cert.json"
    keys.new_key_file(key)
    done = CliRunner().invoke(
        application(), ["lean", "certify", "-o", str(output), "--key", str(key)]
    )
    assert done.exit_code == 3
    assert "EVIDENCE_DIGEST_MISMATCH" in done.output


def test_nothing_is_signed_that_is_not_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    first, *others = SEEN.theorems
    for theorems in (
        tuple(others),
        (replace(first, statement_sha256="0" * 64), *others),
        (replace(first, axioms=("propext", "sorryAx")), *others),
        (first, observe.Theorem("Nobody.made", "0" * 64, ()), *others),
    ):
        see(monkeypatch, replace(SEEN, theorems=theorems))
        with pytest.raises(LockstepError) as caught:
            issue_lean([Ed25519PrivateKey.generate()], issued_at="2026-06-01T00:00:00Z", command="")
        assert caught.value.code == "LEMMA_STATEMENT_MISMATCH"


def test_equal_observations_give_equal_payloads(monkeypatch: pytest.MonkeyPatch) -> None:
    see(monkeypatch, SEEN)
    made = [
        issue_lean([Ed25519PrivateKey.generate()], issued_at="2026-06-01T00:00:00Z", command="x")
        for _ in range(2)
    ]
    payloads = {json.loads(issued.certificate)["payload"] for issued in made}
    assert len(payloads) == 1
