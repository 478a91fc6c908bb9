"""Sources may not say what could make a build accept what is not proved; prose may say all."""

from __future__ import annotations

from pathlib import Path

import pytest

from lockstep.errors import LockstepError
from lockstep.lean import build, source_gate, source_text

ARITH = "prelude\nimport Lockstep.Arith\n"


def findings(text: str, module: str = "Lockstep.Foil") -> list[source_gate.Finding]:
    path = module.replace(".", "/") + ".lean"
    return list(source_gate.findings(module, path, text))


def words(text: str, module: str = "Lockstep.Foil") -> list[tuple[int, str]]:
    return [(found.line, found.word) for found in findings(text, module)]


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("theorem t : 1 = 2 := sorry", "sorry"),
        ("theorem t : 1 = 2 := by\n  sorry", "sorry"),
        ("theorem t : 1 = 2 := by admit", "admit"),
        ("theorem t : 1 = 2 := by\n  admit", "admit"),
        ("theorem t : 1 = 2 := by (admit)", "admit"),
        ("theorem t : 1 = 2 := by (admit; skip)", "admit"),
        ("theorem t : 1 = 2 := by first | admit | rfl", "admit"),
        ("theorem t : 1 = 2 := by first | (exact rfl) | admit", "admit"),
        ("theorem t : 1 = 2 := by\n  first\n  | rfl\n  | admit", "admit"),
        ("theorem t : 1 = 2 := by try admit", "admit"),
        ("theorem t : 1 = 2 := by all_goals admit", "admit"),
        ("theorem t : 1 = 2 := by skip <;> admit", "admit"),
        ("theorem t : 1 = 2 := by\n  . admit", "admit"),
        ("theorem t : 1 = 2 := by { admit }", "admit"),
        ("theorem t : 1 = 2 := sorryAx _ true", "sorryAx"),
        ("theorem t : 1 = 2 := _root_.sorryAx _ true", "_root_.sorryAx"),
        ("theorem t : 1 = 2 := «sorryAx» _ true", "«sorryAx»"),
        ("axiom wrong : False", "axiom"),
        ("unsafe def f : Nat := 1", "unsafe"),
        ("opaque f : Nat", "opaque"),
        ("partial def f : Nat → Nat := f", "partial"),
        ('@[extern "f"] def f : Nat := 1', "extern"),
        ("@[implemented_by g] def f : Nat := 1", "implemented_by"),
        ("@[simp, implemented_by g] def f : Nat := 1", "implemented_by"),
        ("attribute [implemented_by g] f", "implemented_by"),
        ("@[csimp] theorem t : f = g := rfl", "csimp"),
        ("@[term_parser] def p : Nat := 1", "term_parser"),
        ("attribute [local command_elab x] f", "command_elab"),
        ("theorem t : 1 = 1 := by native_decide", "native_decide"),
        ("theorem t : 1 = 1 := by decide +native", "+native"),
        ("theorem t : 1 = 1 := by decide (native := true)", "native :="),
        ("theorem t : 1 = 1 := by decide (config := c)", "config :="),
        ("init_quot", "init_quot"),
        ("set_option debug.skipKernelTC true", "debug.skipKernelTC"),
        ("set_option «debug».«skipKernelTC» true", "«debug».«skipKernelTC»"),
        ("set_option debug.byAsSorry true", "debug.byAsSorry"),
        ("set_option bootstrap.genMatcherCode false", "set_option bootstrap.genMatcherCode"),
        ("set_option Elab.async true in\ntheorem t : True := .intro", "set_option Elab.async"),
        ("def x := Lean.reduceBool true", "Lean.reduceBool"),
        ('def s := "text"', '"text"'),
        ("def c := 'c'", "'c'"),
        ('notation "x" => 1', "notation"),
        ("macro_rules | `(x) => `(1)", "macro_rules"),
        ("elab_rules : term | _ => 1", "elab_rules"),
        ("run_cmd f", "run_cmd"),
        ("initialize f", "initialize"),
        ("#eval 1", "#eval"),
        ("#print axioms t", "#print"),
        ("def x := 1\nimport Lockstep.Index", "import"),
        ("theorem t : p |--sorry", "--"),
    ],
)
def test_a_word_is_refused_with_its_place(text: str, word: str) -> None:
    found = findings(ARITH + "/-! Prose. -/\n" + text + "\n")
    assert word in [one.word for one in found], found
    (first, *_) = [one for one in found if one.word == word]
    line = 4 + next(n for n, t in enumerate(text.split("\n")) if word.strip("+#«")[:5] in t)
    assert (first.path, first.line) == ("Lockstep/Foil.lean", line)
    assert first.remedy.endswith((".", ")")) or ":" in first.remedy


@pytest.mark.parametrize(
    "text",
    [
        "-- sorry, axiom and unsafe\n",
        "/- sorry /- axiom -/ unsafe -/\n",
        '/-- No axiom: "sorry" is refused, and so is `debug.skipKernelTC`. -/\ndef f := 1\n',
        "inductive Event where\n  | admit\n  | stop\ndef f := Event.admit\n",
        "def f (l : Layout) := l.native\n",
        "def f : Layout where\n  native := [[1]]\ndef g (native : Nat) := native\n",
        "def f (e : Event) :=\n  match e with\n  | .admit => (g .admit)\n  | .stop, (n) => n\n",
        "theorem t : p := by\n  first | exact q\ninductive E where | admit | stop\n",
        "def sorryful := 1\ndef «axiom» := 1\n",
        "@[simp, reducible] def f := 1\nattribute [local simp] f\nattribute [-simp] f\n",
        "set_option maxRecDepth 4096 in\nset_option linter.all false\n",
        "theorem t : 3 < 5 := by decide +kernel\n",
        "def f (x : Nat × Nat) := x.1 - 1\n",
    ],
)
def test_prose_and_plain_lemmas_pass(text: str) -> None:
    assert findings(ARITH + text) == []


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("import Lockstep.Arith\n", "no prelude"),
        ("-- prelude\nimport Lockstep.Arith\n", "no prelude"),
        ("module\nprelude\n", "no prelude"),
        ("", "no prelude"),
        ("prelude\nimport Init\n", "import Init"),
        ("prelude\nimport Lockstep.Arith\nimport Std.Data\n", "import Std.Data"),
        ("prelude\nimport LockstepOther\n", "import LockstepOther"),
    ],
)
def test_a_file_begins_with_prelude_and_its_own_modules(text: str, word: str) -> None:
    assert word in [found for _, found in words(text)]


def test_a_module_outside_the_root_is_refused() -> None:
    assert words("prelude\n", "Other.Foil") == [(1, "Other.Foil")]
    assert words("prelude\n", "LockstepOther") == [(1, "LockstepOther")]
    assert words("prelude\n", "Lockstep") == []


FOUNDATION = sorted(source_gate.FOUNDATION)


@pytest.mark.parametrize("module", FOUNDATION)
def test_the_foundation_may_say_only_what_is_listed(module: str) -> None:
    text = source_text.modules(build.source_folder())[module].read_text("utf-8")
    assert findings(text, module) == []
    assert findings(text, "Lockstep.Foil") != []
    for foil in ("axiom wrong : False", "axiom propext : False", "unsafe axiom lcAny : False"):
        assert words(text + foil + "\n", module), foil
    assert words(text + '@[extern "lean_nat_add"] def Nat.add2 : Nat := 1\n', module)
    assert words(text + "opaque f : False := ⟨0, 0⟩\n", module)
    assert words(text + "set_option debug.skipKernelTC true\n", module)


def test_every_allowance_of_the_foundation_is_used() -> None:
    paths = source_text.modules(build.source_folder())
    for module, patterns in source_gate.FOUNDATION.items():
        text = paths[module].read_text("utf-8")
        for pattern in patterns:
            others = tuple(other for other in patterns if other != pattern)
            try:
                source_gate.FOUNDATION[module] = others
                assert findings(text, module), f"{module} needs no {pattern}"
            finally:
                source_gate.FOUNDATION[module] = patterns


def tree(folder: Path, **texts: str) -> Path:
    for name, text in texts.items():
        path = folder / (name.replace("_", "/") + ".lean")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return folder


def test_a_tree_is_judged_whole(tmp_path: Path) -> None:
    good = "prelude\n"
    root = "prelude\nimport Lockstep.A\nimport Lockstep.B\n"
    assert source_gate.check(tree(tmp_path, Lockstep=root, Lockstep_A=good, Lockstep_B=good)) == 3
    tree(tmp_path, Lockstep_A="prelude\naxiom a : False\n", Lockstep_C=good)
    with pytest.raises(LockstepError) as caught:
        source_gate.check(tmp_path)
    assert caught.value.code == "LEAN_SOURCE_REFUSED"
    assert "\nLockstep.lean:1: no import Lockstep.C: " in str(caught.value)
    assert "\nLockstep/A.lean:2: axiom: " in str(caught.value)


def test_a_file_beside_the_root_is_told_of_once(tmp_path: Path) -> None:
    """It is to be moved or left out; that the root does not import it is no second fault."""
    root = tree(tmp_path, Lockstep="prelude\nimport Lockstep.A\n", Lockstep_A="prelude\n")
    tree(tmp_path, Evil="prelude\n")
    with pytest.raises(LockstepError) as caught:
        source_gate.check(root)
    said = str(caught.value)
    assert "\nEvil.lean:1: Evil: Put the file below Lockstep/, or leave it out. " in said
    assert said.endswith(
        "leave it out. Mend each place as it says; lean/README.md says what a source may use."
    )
    assert "no import" not in said
    assert ".." not in said


def test_a_tree_without_root_module_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LockstepError, match=r"Lockstep\.lean:1: no import Lockstep\.A"):
        source_gate.check(tree(tmp_path, Lockstep_A="prelude\n"))
