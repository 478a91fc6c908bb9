"""Key files: their mode, and what is refused."""

import hashlib
import stat
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from lockstep.certificate import keys
from lockstep.cli import main
from lockstep.errors import LockstepError


def test_a_key_is_written_for_its_owner_alone_and_read_back(tmp_path: Path) -> None:
    path = tmp_path / "below" / "key.pem"
    key = keys.new_key_file(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert keys.raw(keys.load_key(path).public_key()) == keys.raw(key.public_key())


def test_a_key_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "key.pem"
    keys.new_key_file(path)
    before = path.read_bytes()
    with pytest.raises(LockstepError, match="never overwritten"):
        keys.new_key_file(path)
    assert path.read_bytes() == before


def test_a_key_that_others_may_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "key.pem"
    keys.new_key_file(path)
    path.chmod(0o640)
    with pytest.raises(LockstepError, match="chmod 600"):
        keys.load_key(path)


def test_an_absent_key_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(LockstepError, match="keys init"):
        keys.load_key(tmp_path / "none.pem")


def test_what_is_no_ed25519_key_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "key.pem"
    path.write_bytes(b"not a key")
    path.chmod(0o600)
    with pytest.raises(LockstepError, match="a PEM key"):
        keys.load_key(path)
    other = ec.generate_private_key(ec.SECP256R1())
    path.write_bytes(
        other.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    with pytest.raises(LockstepError, match="an Ed25519 key"):
        keys.load_key(path)


def test_the_key_id_is_the_digest_of_the_tagged_key(tmp_path: Path) -> None:
    public = keys.new_key_file(tmp_path / "key.pem").public_key()
    expected = hashlib.sha256(b"lockstep-ed25519-v1\n" + keys.raw(public)).hexdigest()
    assert keys.key_id(public) == expected


def test_the_configuration_folder_follows_xdg_only_where_it_is_absolute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert keys.config_folder() == tmp_path / "lockstep"
    monkeypatch.setenv("XDG_CONFIG_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert keys.config_folder() == tmp_path / ".config" / "lockstep"


@pytest.mark.parametrize("owner", ["", "a" * 101, "Zo\u00eb", "a\nb", "a\n"])
def test_an_owner_that_no_policy_may_have_is_refused_before_a_key_is_made(
    owner: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for words in (["keys", "init", "--dir", "k"], ["init", "k"]):
        monkeypatch.setattr("sys.argv", ["lockstep", *words, f"--owner={owner}"])
        assert main() == 2
    assert list(tmp_path.iterdir()) == []


def test_an_owner_may_have_a_space() -> None:
    keys.require_owner("Alice Example <alice@example.org>", "--owner")
