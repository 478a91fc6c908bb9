"""A mutation is installed in a fresh process, before the engine, or not at all [MUT-4]."""

import os
import subprocess
import sys

import pytest

from lockstep.errors import LockstepError
from lockstep.mutation import load
from lockstep.mutation.operator import Edit, Operator
from lockstep.mutation.operators import operators


def python(text: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a script in a fresh process."""
    return subprocess.run(
        [sys.executable, "-c", text],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        check=False,
    )


def test_an_installed_guard_is_gone_and_its_sentinels_say_so():
    done = python(
        "from lockstep.mutation import load, sentinel\n"
        "load.install('never_fitting_accepted')\n"
        "from lockstep.lifecycle import Machine, Pool\n"
        "from lockstep.lifecycle.state import empty\n"
        "state = Machine().submit(empty(Pool(2, 32)), 61, 4)\n"
        "print(len(state.queue), *sentinel.counts(), load.installed())\n"
    )
    assert done.stdout == "1 1 1 0 never_fitting_accepted\n", done.stderr


def test_a_traceback_shows_the_mutated_source():
    done = python(
        "from lockstep.mutation import load\n"
        "load.install('never_fitting_accepted')\n"
        "from lockstep.lifecycle import machine\n"
        "import inspect, traceback\n"
        "print('sentinel.ran()' in inspect.getsource(machine.Machine.submit))\n"
        "try:\n"
        "    machine.Machine().submit(None, 0, 0)\n"
        "except AttributeError:\n"
        "    print(traceback.format_exc())\n"
    )
    assert done.stdout.startswith("True\n"), done.stderr
    assert "<mutation never_fitting_accepted>/lockstep/lifecycle/machine.py" in done.stdout
    assert "number = len(state.requests)" in done.stdout


@pytest.mark.parametrize(
    ("script", "code"),
    [
        ("import lockstep.engine.ledger\nload.install('never_fitting_accepted')", "TOO_LATE"),
        ("load.install('never_fitting_accepted')\n" * 2, "TOO_LATE"),
        ("load.install('no_such')", "UNKNOWN"),
    ],
)
def test_what_cannot_be_installed_is_refused(script, code):
    done = python(f"from lockstep.mutation import load\n{script}")
    assert f"MUTATION_{code}" in done.stderr


def test_an_edit_that_does_not_fit_is_refused():
    for old in ("def ", "no such text anywhere"):
        with pytest.raises(LockstepError) as fault:
            load.apply("def a(): 1\ndef b(): 2\n", (Edit(old, ""),), "a module")
        assert fault.value.code == "MUTATION_NOT_APPLICABLE"
    with pytest.raises(LockstepError) as fault:
        load.apply("abcdef", (Edit("abc", ""), Edit("cde", "")), "a module")
    assert fault.value.code == "MUTATION_NOT_APPLICABLE"


def test_edits_do_not_see_each_other():
    edits = (Edit("a", "b"), Edit("b", "a"))
    assert load.apply("a-b", edits, "a module") == "b-a"


def test_what_a_parent_installed_its_child_installs():
    script = "from lockstep.mutation import load\nprint(load.install_from_environment())\n"
    assert python(script, LOCKSTEP_MUTATION="never_fitting_accepted").stdout == (
        "never_fitting_accepted\n"
    )
    assert python(script).stdout == "None\n"


def test_a_mutated_process_is_refused_what_only_the_real_engine_may():
    script = "from lockstep.mutation import load\nload.require_unmutated('a certificate')\n"
    assert python(script).returncode == 0
    assert "MUTATION_INSTALLED" in python(script, LOCKSTEP_MUTATION="x").stderr


@pytest.mark.parametrize("operator", operators().values(), ids=lambda operator: operator.id)
def test_every_operator_fits_the_sources(operator: Operator):
    for module, edits in load.all_edits(operator).items():
        path, text = load.source_of(module)
        compile(load.apply(text, edits, operator.id), str(path), "exec")


def test_no_certificate_is_signed_in_a_mutated_process():
    sign = (
        "from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey\n"
        "from lockstep.certificate.envelope import sign_statement\n"
        "print(len(sign_statement({'predicate': {}}, [Ed25519PrivateKey.generate()])) > 0)\n"
    )
    install = "from lockstep.mutation import load\nload.install('refcount_leak')\n"
    assert python(sign).stdout == "True\n"
    for done in (python(install + sign), python(sign, LOCKSTEP_MUTATION="refcount_leak")):
        assert done.stdout == ""
        assert "MUTATION_INSTALLED" in done.stderr


def test_a_child_of_a_mutated_process_is_mutated_and_adds_its_counts(tmp_path):
    counts = tmp_path / "counts"
    done = python(
        "import subprocess\n"
        "from lockstep.mutation import load\n"
        "load.install('never_fitting_accepted')\n"
        "command = load.module_command('tests_of_a_child')\n"
        "print(subprocess.run(command, capture_output=True, text=True).stdout, end='')\n",
        PYTHONPATH=str(_child(tmp_path)),
        LOCKSTEP_MUTATION_COUNTS=str(counts),
    )
    assert done.stdout == "never_fitting_accepted\n", done.stderr
    assert sorted(counts.read_text("ascii").splitlines()) == ["0 0 0", "1 1 0"]


def _child(folder):
    text = (
        "from lockstep.lifecycle import Machine, Pool\n"
        "from lockstep.lifecycle.state import empty\n"
        "from lockstep.mutation import load\n"
        "Machine().submit(empty(Pool(2, 32)), 61, 4)\n"
        "print(load.installed())\n"
    )
    (folder / "tests_of_a_child.py").write_text(text, "ascii")
    return folder
