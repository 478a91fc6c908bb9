"""The command line as people meet it: keys, hunt, show and what they are told on bad input."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

# One process makes what these tests share.
pytestmark = pytest.mark.xdist_group("commands")

ROOT = Path(__file__).resolve().parents[2]


class Shell:
    """Runs `lockstep` in a home of its own."""

    def __init__(self, home: Path) -> None:
        self.home = home
        keep = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        self.env = {**keep, "HOME": str(home), "COLUMNS": "120"}

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        code = "import sys; from lockstep.cli import main; sys.exit(main())"
        command = [sys.executable, "-c", code, *arguments]
        return subprocess.run(
            command, capture_output=True, text=True, env=self.env, cwd=self.home, check=False
        )


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    """A shell whose home holds a key, a policy and a certificate."""
    made = Shell(tmp_path_factory.mktemp("home"))
    done = made.run("keys", "init", "--owner", "alice")
    assert done.returncode == 0, done.stderr
    done = made.run("hunt", "-o", "hunt.cert.json")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "OK, exit 0" in done.stdout
    return made


def test_keys_init_makes_a_private_key_and_overwrites_nothing(shell: Shell) -> None:
    key = shell.home / ".config" / "lockstep" / "key.pem"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    before = key.read_bytes()
    done = shell.run("keys", "init")
    assert done.returncode == 2
    assert key.read_bytes() == before
    shown = shell.run("keys", "show")
    assert shown.returncode == 0
    assert "of alice" in shown.stdout


def test_show_says_verified_only_of_what_has_just_been_verified(shell: Shell) -> None:
    done = shell.run("show", "hunt.cert.json", "--no-rows")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "=== VERIFIED" in done.stdout
    stranger = Shell(shell.home / "elsewhere")
    stranger.home.mkdir(exist_ok=True)
    done = stranger.run("show", str(shell.home / "hunt.cert.json"))
    assert done.returncode == 3
    assert "=== NOT VERIFIED: UNTRUSTED_SIGNER ===" in done.stdout
    assert "=== VERIFIED" not in done.stdout
    assert "says why" in done.stdout.splitlines()[-1]


def test_an_edited_certificate_is_shown_as_not_verified(shell: Shell) -> None:
    data = bytearray((shell.home / "hunt.cert.json").read_bytes())
    data[200] = ord("A") if data[200] != ord("A") else ord("B")
    (shell.home / "edited.cert.json").write_bytes(data)
    done = shell.run("show", "edited.cert.json")
    assert done.returncode == 3
    assert "NOT VERIFIED" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "exit_status", "told"),
    [
        (("hunt", "--head-dim", "0"), 3, "head_dim"),
        (("hunt", "--dtype", "float7"), 3, "float7"),
        (("hunt", "--set", "no-such-set"), 2, "seed-004"),
        (("hunt", "--key", "no-such-key.pem"), 2, "keys init"),
        (("hunt", "--tokens", "many"), 2, "--tokens"),
        (("hunt", "-o", "no/such/folder/x.cert.json"), 2, "no folder"),
        (("hunt", "-o", "."), 2, "is a folder"),
        (("hunt", "--issued-at", "9999-01-01T00:00:00Z"), 2, "--issued-at"),
        (("hunt", "--trust", "no-such-policy"), 2, "no file"),
        (("bench-verify", "--runs", "0"), 2, "--runs"),
        (("bench-verify", "--evidence", "no-such-folder"), 2, "no file"),
        (("show", "no-such-file"), 2, "no-such-file"),
        (("no-such-command",), 2, "no-such-command"),
        (("layouts", "show", "no-such-layout"), 2, "no-such-layout"),
    ],
)
def test_bad_input_is_told_and_never_a_traceback(
    shell: Shell, arguments: tuple[str, ...], exit_status: int, told: str
) -> None:
    done = shell.run(*arguments)
    assert done.returncode == exit_status, done.stderr
    assert told in done.stderr
    assert "Traceback" not in done.stderr


def test_a_set_without_a_frontier_is_refused_before_anything_is_signed(shell: Shell) -> None:
    (shell.home / "two.toml").write_text(
        "[geometry]\ntokens = 40\nlayers = 1\nkv_heads = 2\nhead_dim = 8\n"
        'dtype = "float16"\n[[groups]]\nanchor = "vllm-fa"\n'
        'members = ["seed-004/vllm-fa", "seed-004/sglang"]\n',
        encoding="utf-8",
    )
    done = shell.run("hunt", "--set", "two.toml", "-o", "two.cert.json")
    assert done.returncode == 3
    assert "H14_NO_FRONTIER" in done.stderr
    assert not (shell.home / "two.cert.json").exists()


def test_a_set_and_a_layout_of_ones_own_are_hunted_from_ones_own_folder(shell: Shell) -> None:
    place = shell.home / "own"
    place.mkdir()
    theirs = (ROOT / "layouts" / "seed-004" / "sglang.toml").read_text(encoding="utf-8")
    (place / "my-blocks.toml").write_text(
        theirs.replace("block = 0", "block = 8").replace('"T"', '"Tb", "Ti"'), encoding="utf-8"
    )
    own_set = (
        "[geometry]\ntokens = 40\nlayers = 1\nkv_heads = 2\nhead_dim = 8\n"
        'dtype = "float16"\n[[groups]]\nanchor = "vllm-fa"\n'
        'members = ["seed-004/vllm-fa", "seed-004/vllm-tp2", "my-blocks"]\n'
    )
    (place / "mine.toml").write_text(own_set, encoding="utf-8")
    done = shell.run("hunt", "--set", "own/mine.toml", "-o", "own/mine.cert.json")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "REFUSED 2" in done.stdout
    (place / "mine.toml").write_text(own_set.replace("my-blocks", "my-block"), encoding="utf-8")
    done = shell.run("hunt", "--set", "own/mine.toml", "-o", "own/mine.cert.json")
    assert done.returncode == 2
    assert "beside the set's file" in done.stderr


def test_the_version_names_the_package(shell: Shell) -> None:
    done = shell.run("--version")
    assert done.returncode == 0
    assert done.stdout.startswith("lockstep 0.")


def test_a_missing_extra_makes_its_command_say_so(shell: Shell) -> None:
    blocked = (
        "import sys; sys.modules['typer'] = None\nfrom lockstep.cli import main; sys.exit(main())"
    )
    done = subprocess.run(
        [sys.executable, "-c", blocked, "hunt"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "pip install '.[hunt]'" in done.stderr


def test_an_anchor_that_does_not_exist_at_the_geometry_is_refused_with_its_code(
    shell: Shell,
) -> None:
    (shell.home / "anchored.toml").write_text(
        "[geometry]\ntokens = 40\nlayers = 1\nkv_heads = 2\nhead_dim = 8\n"
        'dtype = "float16"\n[[groups]]\nanchor = "vllm-paged-x"\n'
        'members = ["seed-004/vllm-paged-x", "seed-004/sglang", "seed-004/deepseek-mla"]\n',
        encoding="utf-8",
    )
    arguments = ("--set", "anchored.toml", "--head-dim", "6", "-o", "anchored.cert.json")
    done = shell.run("hunt", *arguments)
    assert done.returncode == 3
    assert "X4_GEOMETRY_UNREPRESENTABLE" in done.stderr
    assert not (shell.home / "anchored.cert.json").exists()


def test_a_hunt_for_programs_prints_the_verifiers_line_alone(shell: Shell) -> None:
    issued = ("--issued-at", "2026-01-02T03:04:05Z")
    done = shell.run("hunt", "-o", "dated.cert.json", "--json", *issued)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert (result["code"], result["issued_at"]) == ("OK", issued[1])
    assert result["counts"]["rows"] == 64


def test_a_missing_library_of_an_extra_is_named(tmp_path: Path) -> None:
    code = "import sys; sys.modules['numpy'] = None\n"
    code += "from lockstep.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", code, "demo", "--folder", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    assert "pip install '.[hunt]'" in done.stderr
    assert "Traceback" not in done.stderr
