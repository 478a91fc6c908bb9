"""The generated part of the foundation is what the library gives, and says nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lockstep.errors import LockstepError
from lockstep.lean import build, symbols, syntax_stubs, toolchain

if TYPE_CHECKING:
    from .conftest import Tree

# One process builds what the tests of this folder share.
pytestmark = pytest.mark.xdist_group("lean")


@pytest.mark.parametrize(
    ("parts", "symbol"),
    [
        (("Nat", "add"), "l_Nat_add"),
        (("term_=_",), "l_term___x3d__"),
        (("term∃_,_",), "l_term_u2203___x2c__"),
        (("Lean", "tacticHave'"), "l_Lean_tacticHave_x27"),
    ],
)
def test_names_are_mangled_as_the_compiler_does(parts: tuple[str, ...], symbol: str) -> None:
    assert symbols.mangled(parts) == symbol


def test_symbols_are_those_that_the_library_defines(lean: toolchain.Toolchain) -> None:
    found = symbols.defined(lean.library)
    assert {"lean_main", "l_term___x3d__"} <= found
    # The library only refers to what the C library defines.
    assert not {"malloc", "memcpy"} & found


def test_what_is_no_library_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.so"
    path.write_bytes(b"\x7fELF\x01\x01" + bytes(100))
    with pytest.raises(LockstepError, match="FILE_UNREADABLE"):
        symbols.defined(path)


def test_the_committed_modules_are_what_the_library_gives(lean: toolchain.Toolchain) -> None:
    syntax_stubs.check(build.source_folder(), lean.library)


def test_a_changed_module_is_refused(tree: Tree, lean: toolchain.Toolchain) -> None:
    syntax_stubs.check(tree.source, lean.library)
    foil = "opaque wrong : Lean.ParserDescr := ⟨0, 0⟩\n"
    path = tree.path("Lockstep.Foundation.Syntax")
    path.write_text(path.read_text("utf-8") + foil, "utf-8")
    with pytest.raises(LockstepError, match=r"LEAN_SOURCE_DRIFTED at .*Syntax\.lean: .*generated"):
        syntax_stubs.check(tree.source, lean.library)


def test_a_name_that_the_library_lacks_is_refused(
    monkeypatch: pytest.MonkeyPatch, lean: toolchain.Toolchain
) -> None:
    monkeypatch.setattr(syntax_stubs, "TACTICS", syntax_stubs.TACTICS + " conjure")
    with pytest.raises(LockstepError, match=r"LEAN_TOOLCHAIN at Lean\.Parser\.Tactic\.conjure"):
        syntax_stubs.files(lean.library)
