"""TRUST-1, 2, 7 and 9: where the policy lies, and what is remembered of it."""

import os
from pathlib import Path

import pytest

from lockstep_verify import lcj, policy_file
from lockstep_verify.times import seconds

NOW = seconds("2026-06-01T00:00:00Z")


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "home"


def write(path, document):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(lcj.encode(document))
    return str(path)


def test_lookup(shop, home, monkeypatch, tmp_path):
    write(Path("trust.json"), shop.policy())
    write(Path("lockstep/trust.json"), shop.policy())
    assert policy_file.load(None, None, NOW) == (None, "")
    monkeypatch.setenv("XDG_CONFIG_HOME", ".")
    assert policy_file.load(None, None, NOW) == (None, "")
    write(home / ".config/lockstep/trust.json", shop.policy())
    assert policy_file.load(None, None, NOW)[0] is not None
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    assert policy_file.load(None, None, NOW) == (None, "")


def test_a_named_policy_must_be_there(home, refuses, tmp_path):
    os.mkfifo(tmp_path / "fifo")
    for place in (tmp_path / "none.json", tmp_path, tmp_path / "fifo", "/dev/zero"):
        assert refuses(policy_file.load, str(place), None, NOW) == "POLICY_INVALID"


def test_25_rollback(shop, home, refuses, tmp_path):
    place = write(tmp_path / "trust.json", shop.policy(version=4))
    assert policy_file.load(place, None, NOW)[1] == ""
    (record,) = (home / ".local/state/lockstep").iterdir()
    assert record.read_bytes() == b'{"version":4}'
    write(tmp_path / "trust.json", shop.policy(version=3))
    assert refuses(policy_file.load, place, None, NOW) == "POLICY_ROLLBACK"
    # Another spelling of the path is the same policy; another state folder has not seen it.
    spelt = str(tmp_path / "here" / ".." / "trust.json")
    assert refuses(policy_file.load, spelt, None, NOW) == "POLICY_ROLLBACK"
    assert policy_file.load(place, str(tmp_path / "state"), NOW)[0] is not None
    write(tmp_path / "trust.json", shop.policy(version=5))
    policy_file.load(place, None, NOW)
    assert record.read_bytes() == b'{"version":5}'
    for spoilt in (b"", b'{"version":"5"}', b'{"version":5}\n', b'{"version":true}'):
        record.write_bytes(spoilt)
        assert refuses(policy_file.load, place, None, NOW) == "POLICY_ROLLBACK"


def test_an_expired_policy_is_not_remembered(shop, home, refuses, tmp_path):
    place = write(tmp_path / "trust.json", shop.policy(version=9))
    late = seconds("2028-01-01T00:00:00Z")
    assert refuses(policy_file.load, place, None, late) == "POLICY_EXPIRED"
    assert not (home / ".local").exists()


def test_a_state_folder_that_cannot_be_written_is_told(shop, home, tmp_path):
    place = write(tmp_path / "trust.json", shop.policy())
    (tmp_path / "file").write_text("")
    policy, notice = policy_file.load(place, str(tmp_path / "file" / "below"), NOW)
    assert policy is not None and "could not be remembered" in notice
