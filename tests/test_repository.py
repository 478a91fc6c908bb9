"""What the repository promises about itself: imports, packaging, sizes, folders."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

import lockstep
import lockstep_verify

# One process makes what these tests share.
pytestmark = pytest.mark.xdist_group("repository")

ROOT = Path(__file__).resolve().parents[1]
VERIFIER = ROOT / "verifier" / "lockstep_verify"
PRODUCER = ROOT / "lockstep"

MODULE_LINES = 300
# Path relative to the checkout: why it may be longer.
LONG_MODULES: dict[str, str] = {}

# What `cryptography` itself imports.
CRYPTOGRAPHY = frozenset({"cryptography", "cffi", "_cffi_backend", "pycparser"})

# Runs before the verifier in a fresh process: from here on, only the standard library,
# `cryptography` and the verifier can be imported.
BLOCK = f"""
import sys
allowed = sys.stdlib_module_names | set({sorted(CRYPTOGRAPHY)!r}) | {{"lockstep_verify"}}
class Block:
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if top not in allowed and not top.startswith("_sysconfigdata"):
            raise ModuleNotFoundError("blocked: " + name, name=name)
        return None
for name in [name for name in sys.modules if name.partition(".")[0] not in allowed]:
    if name != "__main__":
        del sys.modules[name]
sys.meta_path.insert(0, Block())
"""


def python(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd=ROOT,
    )


def modules(package: Path) -> list[Path]:
    return sorted(path for path in package.rglob("*.py") if "_spec" not in path.parts)


def imported(path: Path) -> set[str]:
    """Top-level names that a module imports anywhere, inside functions too."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names.add(node.module.partition(".")[0])
    return names


def test_versions_agree() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert lockstep.__version__ == lockstep_verify.__version__ == project["version"]


def test_base_install_is_cryptography_alone() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert [entry.partition(">")[0] for entry in project["dependencies"]] == ["cryptography"]


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys; sys.path[:0] = ['.', 'verifier']; "
            "from importlinter.cli import lint_imports_command; lint_imports_command()",
            "--no-cache",
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd=folder,
    )


def test_import_contracts_hold() -> None:
    result = lint_imports(ROOT)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize(
    ("path", "statement", "contract"),
    [
        ("lockstep/foil.py", "import lockstep_verify", "The producer imports nothing"),
        ("verifier/lockstep_verify/foil.py", "import lockstep", "The verifier imports nothing"),
        ("verifier/lockstep_verify/foil.py", "import numpy", "The verifier imports nothing"),
    ],
)
def test_import_contracts_can_break(
    tmp_path: Path, path: str, statement: str, contract: str
) -> None:
    (tmp_path / "pyproject.toml").write_bytes((ROOT / "pyproject.toml").read_bytes())
    for package in ("lockstep", "verifier/lockstep_verify"):
        (tmp_path / package).mkdir(parents=True)
        (tmp_path / package / "__init__.py").write_text("", "utf-8")
    assert lint_imports(tmp_path).returncode == 0
    (tmp_path / path).write_text(statement + "\n", "utf-8")
    broken = lint_imports(tmp_path)
    assert broken.returncode == 1
    assert any(
        contract in line and line.endswith("BROKEN") for line in broken.stdout.splitlines()
    ), broken.stdout


@pytest.mark.parametrize("path", modules(VERIFIER), ids=lambda path: str(path.relative_to(ROOT)))
def test_verifier_imports_standard_library_and_cryptography(path: Path) -> None:
    assert imported(path) <= sys.stdlib_module_names | {"cryptography", "lockstep_verify"}


@pytest.mark.parametrize("path", modules(PRODUCER), ids=lambda path: str(path.relative_to(ROOT)))
def test_producer_does_not_import_the_verifier(path: Path) -> None:
    assert "lockstep_verify" not in imported(path)


@pytest.mark.parametrize("name", ["lockstep", "numpy", "torch"])
def test_block_stops_an_import(name: str) -> None:
    result = python(BLOCK + f"import {name}")
    assert result.returncode == 1
    assert f"ModuleNotFoundError: blocked: {name}" in result.stderr


def test_every_verifier_module_loads_alone() -> None:
    code = """
import importlib, pkgutil, lockstep_verify
found = ["lockstep_verify"]
for module in pkgutil.walk_packages(lockstep_verify.__path__, "lockstep_verify."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
        found.append(module.name)
print("\\n".join(found))
"""
    result = python(BLOCK + code)
    assert result.returncode == 0, result.stderr
    assert len(result.stdout.split()) == len(
        [path for path in modules(VERIFIER) if path.name != "__main__.py"]
    )


def test_verifier_runs_alone() -> None:
    extracts = sorted((ROOT / "conformance" / "published").glob("*.txt")) or sorted(
        (ROOT / "conformance" / "published").glob("*.json")
    )
    assert extracts, "conformance/published/ holds no document"
    code = """
import runpy
sys.argv[0] = "lockstep-verify"
runpy.run_module("lockstep_verify", run_name="__main__", alter_sys=True)
"""
    result = python(BLOCK + code, "--unsigned", str(extracts[0]))
    assert result.returncode == 5, result.stdout + result.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    folder = tmp_path_factory.mktemp("wheel")
    built = subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert built.returncode == 0, built.stdout + built.stderr
    (path,) = folder.glob("*.whl")
    return zipfile.ZipFile(path)


@pytest.mark.parametrize(
    ("folder", "inside"),
    [
        ("spec", "lockstep_verify/_spec"),
        ("spec", "lockstep/_spec"),
        ("layouts", "lockstep/_layouts"),
        ("conformance/vectors", "lockstep/_vectors"),
    ],
)
def test_wheel_carries_the_data_byte_for_byte(
    wheel: zipfile.ZipFile, folder: str, inside: str
) -> None:
    here = {
        path.relative_to(ROOT / folder).as_posix(): path.read_bytes()
        for path in (ROOT / folder).rglob("*")
        if path.is_file()
    }
    there = {
        name.removeprefix(inside + "/"): wheel.read(name)
        for name in wheel.namelist()
        if name.startswith(inside + "/")
    }
    assert here
    assert there == here


def test_wheel_holds_both_packages_and_nothing_else(wheel: zipfile.ZipFile) -> None:
    names = set(wheel.namelist())
    assert {"lockstep/py.typed", "lockstep_verify/py.typed"} <= names
    assert {"lockstep/report/report.css", "lockstep/report/report.js"} <= names
    for package, inside in ((PRODUCER, "lockstep"), (VERIFIER, "lockstep_verify")):
        assert {
            f"{inside}/{path.relative_to(package).as_posix()}" for path in modules(package)
        } <= (names)
    tops = {name.partition("/")[0] for name in names}
    assert tops == {
        "lockstep",
        "lockstep_verify",
        f"lockstep_llm-{lockstep.__version__}.dist-info",
    }


def test_groups_of_tests_are_kept_together(request: pytest.FixtureRequest) -> None:
    # What they share, such as a built library, is else made by each process again.
    grouped = getattr(request.config.option, "loadgroup", False)
    assert ("@" in request.node.nodeid) == grouped


FOLDERS = sorted(
    path.name
    for path in ROOT.iterdir()
    if path.is_dir()
    and not path.name.startswith((".", "__"))
    and path.name not in {"results", "build", "dist"}
    and any(child.is_file() for child in path.rglob("*"))
)


@pytest.mark.parametrize("folder", FOLDERS)
def test_folder_says_what_lives_there(folder: str) -> None:
    text = (ROOT / folder / "README.md").read_text("utf-8")
    assert text.startswith(f"# {folder}\n")


def test_modules_are_short() -> None:
    long = {
        path.relative_to(ROOT).as_posix(): lines
        for package in (PRODUCER, ROOT / "verifier")
        for path in modules(package)
        if (lines := len(path.read_text("utf-8").splitlines())) > MODULE_LINES
    }
    assert set(long) == set(LONG_MODULES), long
    assert all(LONG_MODULES.values()), "each exception needs its reason"
