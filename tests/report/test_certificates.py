"""Certificates before they are shown: the verifier decides, and its bytes are those shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lockstep.certificate.envelope import sign_statement
from lockstep.certificate.keys import LIMITS
from lockstep.cli import application, main
from lockstep.errors import LockstepError
from lockstep.report.certificates import counted, found, judged, may_be_shown
from lockstep.report.figures import Judged, Withdrawn
from tests.report.pages import EVIDENCE, told
from tests.withdrawal_records import CLAIM, OTHER, OWN, place, withdrawal

pytestmark = pytest.mark.xdist_group("report")
TRUST = EVIDENCE / "trust.json"
WITHDRAWALS = EVIDENCE / "withdrawals"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate as it is, one with another payload, one that is no certificate."""
    place = tmp_path_factory.mktemp("held")
    data = (EVIDENCE / "finding-wedge.cert.json").read_bytes()
    (place / "a good.cert.json").write_bytes(data)
    envelope = json.loads(data)
    envelope["payload"] = "A" + envelope["payload"][1:]
    text = json.dumps(envelope, sort_keys=True, separators=(",", ":"))
    (place / "b-altered.cert.json").write_text(text)
    (place / "c-noise.cert.json").write_text("<script>alert(1)</script>")
    (place / "no certificate.txt").write_text("left alone")
    return place


@pytest.fixture(scope="module")
def shown(folder: Path) -> list[Judged]:
    files = [*found([folder]), EVIDENCE / "measurement-seed-001.cert.json"]
    return judged(files, TRUST, WITHDRAWALS, folder / "report.html")


def test_only_what_passes_is_opened(shown: list[Judged]) -> None:
    good, altered, noise, measured, withdrawal = shown
    assert good.verified
    assert good.statement is not None
    assert good.href == "a%20good.cert.json"
    assert (altered.result["code"], altered.statement) == ("SIGNATURE_INVALID", None)
    assert (noise.result["exit"], noise.statement) == (1, None)
    assert withdrawal.verified
    assert withdrawal.kind == "withdrawal"
    assert measured.result["code"] == "CLAIM_WITHDRAWN"
    assert [one.pointer for one in measured.withdrawn] == [
        one["pointer"] for one in withdrawal.predicate["claims"]
    ]


def test_without_a_policy_nothing_is_shown(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "trust.json").write_text("{}")
    (one,) = judged([folder / "a good.cert.json"], tmp_path / "trust.json", None, tmp_path / "r")
    assert not one.verified
    assert one.statement is None


def test_nothing_is_shown_of_what_is_withdrawn_whole_or_refused_for_more() -> None:
    part = (Withdrawn("/predicate/counts", "", None),)
    gone = told("urn:x:measurement:v1", exit=3, code="CLAIM_WITHDRAWN")
    assert may_be_shown(gone, part)
    assert not may_be_shown(gone, ())
    assert not may_be_shown(gone, (*part, Withdrawn("", "", None)))
    assert not may_be_shown(gone, (Withdrawn("/predicate", "", None),))
    assert not may_be_shown(told("urn:x:measurement:v1", exit=3, code="H2_VERDICT"), part)
    assert may_be_shown(told("urn:x:measurement:v1"), ())


def test_a_withdrawal_that_does_not_count_withdraws_nothing() -> None:
    claims = [Withdrawn("/predicate/a", "why", None), Withdrawn("/predicate/ab", "why", "b")]
    lines = ["WITHDRAWN /predicate/ab: why Instead: b", "not counted: x: THRESHOLD_NOT_MET"]
    gone = told("urn:x:measurement:v1", code="CLAIM_WITHDRAWN", lines=lines)
    assert counted(gone, claims) == (claims[1],)
    assert counted({**gone, "code": "OK"}, claims) == ()
    whole = Withdrawn("", "why", None)
    said = {**gone, "lines": ["WITHDRAWN the whole certificate: why"]}
    assert counted(said, [*claims, whole]) == (whole,)


def test_of_two_who_withdraw_one_claim_the_one_that_counts_is_told(tmp_path: Path) -> None:
    other = withdrawal({**CLAIM, "reason": "slow: out of spite"})
    own = withdrawal({**CLAIM, "reason": "slow", "replacement": {"says": "42"}})
    held = (sign_statement(other, [OTHER]), sign_statement(own, [OWN]))
    place(tmp_path, *held, roles=("producer", "auditor"))
    files = [tmp_path / "c.cert.json"]
    shown = judged(files, tmp_path / "trust.json", tmp_path / "w", tmp_path / "report.html")
    assert [(one.name, one.result["code"]) for one in shown] == [
        ("c.cert.json", "CLAIM_WITHDRAWN"), ("0.cert.json", "OK"), ("1.cert.json", "OK"),
    ]  # fmt: skip
    assert shown[0].withdrawn == (Withdrawn(CLAIM["pointer"], "slow", "42"),)
    assert "not counted: 0.cert.json: ROLE_NOT_ALLOWED" in shown[0].result["lines"]


def test_paths_name_certificates_once_and_in_order(folder: Path, tmp_path: Path) -> None:
    file = folder / "a good.cert.json"
    assert [path.name for path in found([folder, file])] == [
        "a good.cert.json", "b-altered.cert.json", "c-noise.cert.json",
    ]  # fmt: skip
    for wrong in ([tmp_path], [tmp_path / "absent"]):
        with pytest.raises(LockstepError) as caught:
            found(wrong)
        assert caught.value.code == "FILE_UNREADABLE"


def test_a_certificate_that_is_too_large_is_not_read(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(LIMITS, "envelope_bytes", 10)
    with pytest.raises(LockstepError) as caught:
        judged([folder / "a good.cert.json"], TRUST, None, tmp_path / "r")
    assert caught.value.code == "LIMIT_SIZE"


def test_the_command_writes_a_page_and_names_what_is_refused(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    options = [str(folder), "--trust", str(TRUST), "--out", str(out)]
    done = CliRunner().invoke(application(), ["report", *options])
    assert done.exit_code == 0
    assert done.output.splitlines() == [
        f"{out}: 3 certificates, 2 refused",
        "  refused b-altered.cert.json: SIGNATURE_INVALID",
        "  refused c-noise.cert.json: MALFORMED_JSON",
    ]
    text = out.read_text("utf-8")
    assert "REFUSED SIGNATURE_INVALID" in text
    assert "<script>alert(1)" not in text
    assert "&lt;script&gt;alert(1)" in text


@pytest.mark.parametrize("option", ["--withdrawals", "--trust", "--out"])
def test_places_that_are_none_are_a_fault_of_usage(
    option: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = {"--out": str(tmp_path / "page.html"), option: str(tmp_path / "absent" / "one")}
    words = [word for pair in given.items() for word in pair]
    monkeypatch.setattr("sys.argv", ["lockstep", "report", str(folder), *words])
    assert main() == 2
    assert not (tmp_path / "page.html").exists()
