"""BYTES-1 to BYTES-4 and the sidecars of EV-1 to EV-3."""

import hashlib
import os

import pytest

from lockstep_verify import bytes as reading
from lockstep_verify.errors import Refusal


def test_a_regular_file_is_read_whole(tmp_path):
    (tmp_path / "a").write_bytes(b"x" * 3_000_000)
    assert reading.read_file(tmp_path / "a", 3_000_000) == b"x" * 3_000_000
    assert reading.sha256_file(tmp_path / "a") == hashlib.sha256(b"x" * 3_000_000).hexdigest()


def test_what_is_no_regular_file_is_refused_without_waiting(tmp_path, refuses):
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "loop").symlink_to(tmp_path / "pool")
    (tmp_path / "pool").symlink_to(tmp_path / "loop")
    places = [tmp_path / "fifo", "/dev/zero", "/dev/null", tmp_path / "loop", tmp_path]
    for place in [*places, tmp_path / "missing", f"{tmp_path}/nul\0", f"{tmp_path}/{'n' * 300}"]:
        assert refuses(reading.read_file, place, 10) == "FILE_UNREADABLE"


def test_size_is_judged_before_reading(tmp_path, refuses, monkeypatch):
    (tmp_path / "a").write_bytes(b"12345")
    assert reading.read_file(tmp_path / "a", 5) == b"12345"
    monkeypatch.setattr(os, "read", None)
    assert refuses(reading.read_file, tmp_path / "a", 4) == "LIMIT_SIZE"


@pytest.mark.parametrize("change", ["grow", "shrink", "touch"])
def test_a_change_during_reading_is_noticed(tmp_path, refuses, monkeypatch, change):
    path = tmp_path / "a"
    path.write_bytes(b"12345")
    real = os.read

    def read(descriptor, size):
        if change == "grow":
            path.write_bytes(b"1234567")
        elif change == "shrink":
            path.write_bytes(b"123")
        else:
            os.utime(path, ns=(1, 1))
        return real(descriptor, size)

    monkeypatch.setattr(os, "read", read)
    assert refuses(reading.read_file, path, 100) == "FILE_CHANGED"


BAD = {
    "bom": b"\xef\xbb\xbf{}",
    "utf-16 with a mark": "{}".encode("utf-16"),
    "utf-16-le": "{}".encode("utf-16-le"),
    "utf-16-be": "{}".encode("utf-16-be"),
    "utf-32-be": "{}".encode("utf-32-be"),
    "gzip": b"\x1f\x8b\x08\x00",
    "overlong": b'{"\xc0\xaf":1}',
    "cesu-8": b'{"\xed\xa0\xbd\xed\xb8\x80":1}',
    "above the last character": b'{"\xf4\x90\x80\x80":1}',
    "cut": b'{"\xf0\x9f',
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_utf8_is_refused(name, refuses):
    assert refuses(reading.decode_utf8, BAD[name]) == "BAD_ENCODING"


def test_evidence_is_bound_by_its_digest(tmp_path, refuses):
    (tmp_path / "rows.bin").write_bytes(b"rows")
    good = hashlib.sha256(b"rows").hexdigest()
    assert reading.evidence(tmp_path, "rows.bin", good, "/predicate/e") == b"rows"
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "rows.bin").write_bytes(b"rows")
    assert reading.evidence(tmp_path, "below/rows.bin", good, "/e") == b"rows"
    assert refuses(reading.evidence, None, "rows.bin", good, "/e") == "EVIDENCE_MISSING"
    assert refuses(reading.evidence, tmp_path, "none.bin", good, "/e") == "EVIDENCE_MISSING"
    assert refuses(reading.evidence, tmp_path, "rows.bin", "0" * 64, "/e") == (
        "EVIDENCE_DIGEST_MISMATCH"
    )
    for name in (
        "../rows.bin",
        "/etc/passwd",
        ".hidden",
        "",
        "a/../b",
        "a//b",
        "a/",
        "a\n",
        "a" * 101,
    ):
        assert refuses(reading.evidence, tmp_path, name, good, "/e") == "BAD_VALUE"
    with pytest.raises(Refusal) as caught:
        reading.evidence(tmp_path, "rows.bin", good, "/e", 3)
    assert (caught.value.code, caught.value.pointer) == ("LIMIT_SIZE", "/e")
