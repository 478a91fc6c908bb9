"""A file is written whole or not at all."""

import os
from pathlib import Path

import pytest

from lockstep.certificate.write import write_file


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "a"
    write_file(path, b"one")
    write_file(path, b"two")
    assert path.read_bytes() == b"two"
    assert os.listdir(tmp_path) == ["a"]


def test_a_failure_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a"
    write_file(path, b"one")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_file(path, b"two")
    assert path.read_bytes() == b"one"
    assert os.listdir(tmp_path) == ["a"]


def test_what_a_link_leads_to_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    link, path = tmp_path / "link", tmp_path / "folder" / "a"
    link.symlink_to("folder/a")
    for data in (b"one", b"two"):
        write_file(link, data)
        assert path.read_bytes() == data
    assert os.readlink(link) == "folder/a"
    assert os.listdir(path.parent) == ["a"]


def test_what_is_no_regular_file_stays(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to("fifo")
    for name in ("fifo", "link"):
        with pytest.raises(OSError, match=f"no regular file.*{name}"):
            write_file(tmp_path / name, b"")
    assert (tmp_path / "fifo").is_fifo()
    assert sorted(os.listdir(tmp_path)) == ["fifo", "link"]


def test_a_mode_is_given_or_usual(tmp_path: Path) -> None:
    path = tmp_path / "a"
    umask = os.umask(0o077)
    try:
        write_file(path, b"")
        assert path.stat().st_mode & 0o777 == 0o644
        path.chmod(0o640)
        write_file(path, b"", mode=None)
        assert path.stat().st_mode & 0o777 == 0o640
        write_file(tmp_path / "b", b"", mode=None)
        assert (tmp_path / "b").stat().st_mode & 0o777 == 0o600
    finally:
        left = os.umask(umask)
    assert left == 0o077
