"""Certificates are read once, and what is verified are the bytes that were read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from lockstep.certificate import verifier
from lockstep.certificate.keys import LIMITS
from lockstep.certificate.read import read_certificate, read_withdrawals
from lockstep.certificate.verifier import Report, verify_bytes
from tests.refusals import refused


def test_what_is_no_regular_file_is_not_read(tmp_path: Path) -> None:
    absent = refused("FILE_UNREADABLE", lambda: read_certificate(tmp_path / "absent"))
    folder = refused("FILE_UNREADABLE", lambda: read_certificate(tmp_path))
    device = refused("FILE_UNREADABLE", lambda: read_certificate(Path("/dev/zero")))
    assert absent.got == "none of this name"
    assert folder.got == device.got == "another kind of file"


def test_what_is_larger_than_an_envelope_is_not_read_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(LIMITS, "envelope_bytes", 4)
    (tmp_path / "fits").write_bytes(b"1234")
    (tmp_path / "larger").write_bytes(b"12345")
    assert read_certificate(tmp_path / "fits") == b"1234"
    refused("LIMIT_SIZE", lambda: read_certificate(tmp_path / "larger"))


def test_withdrawals_are_those_of_a_folder_by_name(tmp_path: Path) -> None:
    for name in ("b.cert.json", "a.cert.json", "c.json"):
        (tmp_path / name).write_bytes(name.encode())
    found = read_withdrawals(tmp_path)
    assert list(found.items()) == [
        ("a.cert.json", b"a.cert.json"), ("b.cert.json", b"b.cert.json"),
    ]  # fmt: skip
    assert read_withdrawals(None) == {}
    for wrong in (tmp_path / "absent", tmp_path / "c.json"):
        refused("FILE_UNREADABLE", lambda wrong=wrong: read_withdrawals(wrong))  # type: ignore[misc]


def test_a_policy_that_is_not_there_is_told_before_anything_is_verified(tmp_path: Path) -> None:
    refused("FILE_UNREADABLE", lambda: verify_bytes([b"{}"], tmp_path / "absent"))


def test_copies_are_verified_and_withdrawals_called_by_their_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "trust.json").write_bytes(b"{}")
    seen: list[bytes] = []

    def verify(files: Sequence[Path], *options: str, before: int) -> Report:
        given: Mapping[str, str] = dict(zip(options[::2], options[1::2], strict=True))
        assert given["--trust"] == str(tmp_path / "trust.json")
        folder = sorted(Path(given["--withdrawals"]).iterdir())
        seen.extend(file.read_bytes() for file in (*folder, *files))
        lines = [f"not counted: {folder[1]}: ROLE_NOT_ALLOWED"]
        results: list[dict[str, Any]] = [{"lines": []}] * before + [{"lines": lines}] * len(files)
        return Report(3, tuple(results))

    monkeypatch.setattr(verifier, "verify", verify)
    told = verify_bytes([b"c", b"d"], tmp_path / "trust.json", {"x": b"a", "y": b"b"})
    assert seen == [b"a", b"b", b"c", b"d"]
    assert told.exit == 3
    assert [one["lines"] for one in told.results] == [
        [], [], ["not counted: y: ROLE_NOT_ALLOWED"], ["not counted: y: ROLE_NOT_ALLOWED"],
    ]  # fmt: skip
