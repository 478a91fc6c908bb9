"""Object files are read whole or refused; nothing in them makes the reader fail otherwise."""

from __future__ import annotations

import random
import shutil
import struct
from typing import TYPE_CHECKING

import pytest

from lockstep.errors import LockstepError
from lockstep.lean import declarations
from lockstep.lean.environment import load
from lockstep.lean.module_data import read_module
from lockstep.lean.olean import START
from lockstep.lean.terms import Terms

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import Tree

pytestmark = pytest.mark.xdist_group("lean")

SOURCE = """prelude
import Lockstep.Foundation.Show
set_option linter.all false
noncomputable section
inductive Small.Colour where
  | red
  | green (depth : Nat)
def Small.big : Nat := 123456789012345678901234567890123456789
theorem Small.fact (c : Small.Colour) : c = c := rfl
"""


@pytest.fixture(scope="module")
def small(built: Tree, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("small")
    shutil.copytree(built.source, folder / "source")
    shutil.copytree(built.output, folder / "output")
    tree = type(built)(folder / "source", folder / "output")
    tree.write("Lockstep.Small", SOURCE)
    tree.build("Lockstep.Small")
    return tree.object("Lockstep.Small").read_bytes()


def read(data: bytes, folder: Path) -> Terms:
    path = folder / "Small.olean"
    path.write_bytes(data)
    terms = Terms()
    read_module(path, terms)
    return terms


def test_constants_of_all_kinds_are_read(built: Tree) -> None:
    found = load(built.output)
    kinds = {type(one) for one in found.constants.values()}
    assert kinds >= {
        declarations.Axiom,
        declarations.Definition,
        declarations.Theorem,
        declarations.Opaque,
        declarations.Inductive,
        declarations.Constructor,
        declarations.Recursor,
    }
    nat = found.inductive(("Nat",))
    assert nat.constructors == (("Nat", "zero"), ("Nat", "succ"))
    assert (nat.recursive, nat.reflexive, nat.nested, nat.indices) == (True, False, 0, 0)
    recursor = found.constant(("Nat", "rec"))
    assert isinstance(recursor, declarations.Recursor)
    assert [rule.fields for rule in recursor.rules] == [0, 1]
    assert (recursor.k, recursor.motives, recursor.minors) == (False, 1, 2)
    equality = found.constant(("Eq", "rec"))
    assert isinstance(equality, declarations.Recursor)
    assert equality.k


def test_big_naturals_are_read_whole(small: bytes, tmp_path: Path) -> None:
    terms = read(small, tmp_path)
    assert ("nat", 123456789012345678901234567890123456789) in terms.terms


def test_cut_files_are_refused(small: bytes, tmp_path: Path) -> None:
    for size in [0, 5, 95, START, *random.Random(0).sample(range(START, len(small)), 20)]:
        with pytest.raises(LockstepError) as refused:
            read(small[:size], tmp_path)
        assert refused.value.code == "OLEAN_MALFORMED"


@pytest.mark.parametrize(
    ("at", "value"),
    [(0, b"oldan"), (5, b"\x01"), (6, b"\x00"), (7, b"\xff"), (80, b"\x01"), (88, b"\xff" * 8)],
    ids=["magic", "format", "flags", "version", "base", "root"],
)
def test_headers_of_another_kind_are_refused(
    small: bytes, tmp_path: Path, at: int, value: bytes
) -> None:
    with pytest.raises(LockstepError) as refused:
        read(small[:at] + value + small[at + len(value) :], tmp_path)
    assert refused.value.code == "OLEAN_MALFORMED"


def test_any_change_is_read_or_refused(small: bytes, tmp_path: Path) -> None:
    chance = random.Random(1)
    refusals = 0
    for _ in range(400):
        at = chance.randrange(START, len(small) // 8 * 8, 8)
        (word,) = struct.unpack_from("<Q", small, at)
        other = chance.choice([word ^ 1 << chance.randrange(64), word + 8, chance.randrange(64)])
        changed = small[:at] + struct.pack("<Q", other % (1 << 64)) + small[at + 8 :]
        try:
            read(changed, tmp_path)
        except LockstepError as refused:
            assert refused.code == "OLEAN_MALFORMED"
            refusals += 1
    assert refusals > 50


def test_pointer_to_what_stands_later_is_refused(small: bytes, tmp_path: Path) -> None:
    (base, root) = struct.unpack_from("<QQ", small, 80)
    at = root - base + 8
    changed = small[:at] + struct.pack("<Q", root) + small[at + 8 :]
    with pytest.raises(LockstepError) as refused:
        read(changed, tmp_path)
    assert refused.value.expected == "pointers to what stands before the object"
