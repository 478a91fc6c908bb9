"""OUT-1, EXIT-1 to EXIT-3: the command as a process, and with the tiny kind in this process."""

import hashlib
import json
import os
import subprocess
import sys

import pytest

from lockstep_verify import cli, derive, lcj, render
from lockstep_verify.errors import registry

AT = "--at=2026-06-01T00:00:00Z"


@pytest.fixture
def desk(shop, tmp_path, capsys, monkeypatch):
    """Files of a user, and the command run on them."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)

    class Desk:
        folder = tmp_path

        def write(self, name, data):
            (tmp_path / name).write_bytes(data)
            return name

        def run(self, *arguments):
            status = cli.main([AT, *arguments])
            return status, capsys.readouterr().out

    made = Desk()
    made.write("good.cert.json", shop.certificate())
    made.write("trust.json", lcj.encode(shop.policy()))
    return made


def test_verified(desk):
    status, out = desk.run("--trust=trust.json", "good.cert.json")
    assert status == 0
    assert out.splitlines()[0] == "OK good.cert.json"
    for part in ("verdict   SUMS", "ledger    2 derived, 3 witnessed, 2 attested", "time: unproven",
                 "attested /issued_at", "signed by ann"):  # fmt: skip
        assert part in out


def test_a_policy_in_the_working_directory_is_not_used(desk):
    status, out = desk.run("good.cert.json")
    assert status == 3
    assert out.startswith("UNTRUSTED_SIGNER good.cert.json\n")
    assert "re-derivation, for information: OK" in out and "verdict   SUMS" in out


def test_the_users_own_policy_is_used(desk, shop):
    (desk.folder / "config" / "lockstep").mkdir(parents=True)
    (desk.folder / "config" / "lockstep" / "trust.json").write_bytes(lcj.encode(shop.policy()))
    assert desk.run("good.cert.json")[0] == 0


def test_many_files_one_line_each(desk):
    desk.write("cut.cert.json", b"{")
    desk.write("other.cert.json", b"{}")
    files = ("good.cert.json", "other.cert.json", "cut.cert.json", "none.cert.json")
    status, out = desk.run("--json", "--trust=trust.json", *files)
    lines = [json.loads(line) for line in out.splitlines()]
    assert status == 1
    assert [line["code"] for line in lines] == [
        "OK", "ENVELOPE_SHAPE", "MALFORMED_JSON", "FILE_UNREADABLE",
    ]  # fmt: skip
    assert [line["exit"] for line in lines] == [0, 3, 1, 1]
    assert [line["file"] for line in lines] == list(files)
    assert all(lcj.encode_text(line) == text
               for line, text in zip(lines, out.splitlines(), strict=True))  # fmt: skip


def test_a_refused_policy_answers_for_every_file(desk):
    desk.write("bad.json", b"{}")
    status, out = desk.run("--json", "--trust=bad.json", "good.cert.json", "none")
    assert status == 3
    assert [json.loads(line)["code"] for line in out.splitlines()] == ["POLICY_INVALID"] * 2
    status, out = desk.run("--trust=bad.json", "good.cert.json")
    assert status == 3
    assert "where     policy bad.json /version" in out


def test_subject(desk, shop):
    desk.write("weights", b"weights")
    statement = shop.statement()
    digest = hashlib.sha256(b"weights").hexdigest()
    statement["subject"].append({"name": "weights", "digest": {"sha256": digest}})
    desk.write("w.cert.json", shop.certificate(lcj.encode(statement)))
    trusted = ("--trust=trust.json", "--subject=weights")
    assert desk.run(*trusted, "w.cert.json")[0] == 0
    status, out = desk.run(*trusted, "good.cert.json")
    assert status == 3 and out.startswith("SUBJECT_MISMATCH")
    status, out = desk.run("--subject=none", "w.cert.json")
    assert status == 2 and out.startswith("USAGE")


def test_attestation(desk):
    status, out = desk.run("--attest", "--trust=trust.json", "good.cert.json")
    summary = json.loads(out)
    assert status == 0
    assert summary["predicateType"] == "https://slsa.dev/verification_summary/v1"
    assert summary["predicate"]["verificationResult"] == "PASSED"
    assert summary["predicate"]["timeVerified"] == "2026-06-01T00:00:00Z"
    digest = hashlib.sha256((desk.folder / "trust.json").read_bytes()).hexdigest()
    assert summary["predicate"]["policy"]["digest"]["sha256"] == digest
    status, out = desk.run("--attest", "good.cert.json")
    assert json.loads(out)["predicate"]["verificationResult"] == "FAILED"
    assert status == 3


@pytest.mark.parametrize(
    "arguments",
    [[], ["--bogus"], ["--json"], ["--json", "--attest", "x"], ["--at=now", "x"],
     ["--explain=NO_SUCH_CODE"], ["--tru=x", "y"], ["--at=2026-06-01T00:00:00Z\n", "x"]],
)  # fmt: skip
def test_usage(desk, arguments):
    status, out = desk.run(*arguments)
    assert status == 2 and out.startswith("USAGE lockstep-verify\n")


def test_explain_every_code(desk):
    for code in registry():
        status, out = desk.run("--explain", code)
        assert status == 0 and out.startswith(code)


def test_a_fault_of_the_verifier_is_internal(desk, monkeypatch):
    for fault in (RecursionError("deep"), MemoryError(), KeyError("\x1b"), AssertionError()):

        def fail(statement, options, fault=fault):
            raise fault

        monkeypatch.setattr(derive, "derive", fail)
        status, out = desk.run("--trust=trust.json", "good.cert.json", "none")
        assert status == 4 and out.startswith("INTERNAL good.cert.json\n")
        assert "\x1b" not in out and "Traceback" not in out and "FILE_UNREADABLE none" in out

    def unprintable(result):
        raise ValueError

    monkeypatch.setattr(render, "json_line", unprintable)
    status, out = desk.run("--json", "none")
    assert status == 4 and out.startswith("INTERNAL")


def process(*arguments, flags=(), **environment):
    command = [sys.executable, *flags, "-m", "lockstep_verify", AT, *arguments]
    base = {k: v for k, v in os.environ.items() if not k.startswith(("XDG_", "PYTHON", "LC_"))}
    return subprocess.run(
        command, env=base | environment, capture_output=True, timeout=30, check=False
    )


def test_the_environment_changes_nothing(shop, tmp_path):
    kind = "urn:lockstep:certificate:unheard-of:v1"
    statement = shop.statement(note="é\u202e") | {"predicateType": kind}
    (tmp_path / "é.cert.json").write_bytes(shop.certificate(lcj.encode(statement)))
    (tmp_path / "trust.json").write_bytes(lcj.encode(shop.policy()))
    (tmp_path / "twice.cert.json").write_bytes(b'{"a":1,"a":2}')
    (tmp_path / "lone.cert.json").write_bytes(b'{"a":"\\ud800"}')
    arguments = [f"--trust={tmp_path}/trust.json", f"--state={tmp_path}/state"]
    arguments += [str(path) for path in sorted(tmp_path.glob("*.cert.json"))]
    outcomes = set()
    for flags in ((), ("-O",), ("-OO",), ("-I",)):
        for environment in (
            {},
            {"LANG": "C", "LC_ALL": "C"},
            {"PYTHONHASHSEED": "1"},
            {"PYTHONHASHSEED": "2", "PYTHONUTF8": "0", "LC_ALL": "POSIX"},
            {"PYTHONIOENCODING": "ascii"},
            {"PYTHONINTMAXSTRDIGITS": "0"},
        ):
            for form in ((), ("--json",)):
                done = process(*form, *arguments, flags=flags, **environment)
                outcomes.add((form, done.returncode, done.stdout))
                assert done.stderr == b""
    assert len(outcomes) == 2
    ((_, status, out),) = [outcome for outcome in outcomes if not outcome[0]]
    assert status == 1
    codes = {line.split(b" ")[0] for line in out.splitlines() if line and line[:1] != b" "}
    assert codes == {b"PREDICATE_UNKNOWN", b"DUPLICATE_KEY", b"BAD_UNICODE"}


def test_places_that_never_end_are_left_at_once(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    places = [str(tmp_path / "fifo"), "/dev/zero", "/dev/stdin", str(tmp_path / "loop"), "."]
    done = process("--json", *places)
    assert done.returncode == 1 and done.stderr == b""
    codes = [json.loads(line)["code"] for line in done.stdout.splitlines()]
    assert codes == ["FILE_UNREADABLE"] * len(places)


def test_nothing_is_printed_raw(tmp_path):
    path = tmp_path / "\x1b[31m.json"
    path.write_bytes(b'{"\xc2\x9b31m\xe2\x80\xae":1}')
    done = process(str(path), b"\xff\x1b", XDG_CONFIG_HOME=str(tmp_path))
    assert done.returncode == 1
    assert all(byte == 10 or 32 <= byte <= 126 for byte in done.stdout)


def test_a_closed_output_is_no_success(tmp_path):
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "lockstep_verify", AT, str(tmp_path / "none")]
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, timeout=30, check=False)
    os.close(write)
    assert done.returncode not in (0, 1, 3, 5)
    assert done.stderr == b""


def test_it_starts_without_the_heavy_modules(tmp_path):
    (tmp_path / "a").write_bytes(b"{}")
    program = (
        "import sys; from lockstep_verify.cli import main; main(sys.argv[1:]);"
        "bad = {'numpy','torch','lockstep','inspect','pathlib','importlib.metadata','dataclasses',"
        "'cryptography','urllib','asyncio'} & set(sys.modules); sys.exit(repr(bad) if bad else 0)"
    )
    command = [sys.executable, "-I", "-c", program, AT, str(tmp_path / "a")]
    done = subprocess.run(command, capture_output=True, timeout=30, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("folder", ["absent", "good.cert.json", ""])
def test_evidence_that_is_no_folder_is_a_fault_of_the_command_line(desk, folder):
    """It is told before any certificate is read, whatever its kind would have made of it."""
    status, out = desk.run("--json", "--trust=trust.json", f"--evidence={folder}", "absent.json")
    assert status == 2
    assert out.startswith("USAGE lockstep-verify\n")
    assert "--evidence: a folder" in out
    (desk.folder / "there").mkdir()
    assert desk.run("--trust=trust.json", "--evidence=there", "good.cert.json")[0] == 0


@pytest.fixture
def solver(tmp_path):
    """A program that says it is a solver, and is asked nothing."""
    place = tmp_path / "z3"
    place.write_text(f"#!{sys.executable}\nprint('Z3 version 9')\n", "utf-8")
    place.chmod(0o755)
    return place


def test_solvers_that_are_not_there_cannot_be_asked(desk, monkeypatch):
    monkeypatch.setenv("PATH", str(desk.folder / "nowhere"))
    status, out = desk.run("--trust=trust.json", "--solve", "good.cert.json")
    assert status == 2
    assert out.startswith("USAGE lockstep-verify\n")
    assert "--solve: z3 or cvc5 on the PATH" in out


@pytest.mark.parametrize("named", [True, False])
def test_a_certificate_without_queries_is_no_success_where_solvers_were_to_be_asked(
    desk, solver, named, monkeypatch
):
    monkeypatch.setenv("PATH", str(desk.folder))
    asked = f"--solver={solver}" if named else "--solve"
    status, out = desk.run("--trust=trust.json", asked, "good.cert.json")
    assert status == 2
    assert out.startswith("USAGE good.cert.json\n")
    assert "nothing to solve" in out
    assert desk.run("--trust=trust.json", "good.cert.json")[0] == 0
    # Whatever else refuses a certificate is said before.
    desk.write("cut.cert.json", b"{")
    status, out = desk.run("--trust=trust.json", asked, "cut.cert.json")
    assert (status, out.split()[0]) == (1, "MALFORMED_JSON")
