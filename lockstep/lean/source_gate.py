"""What a Lean source may not say, since a build that says it could accept what is not proved.

The kernel checks every lemma, but a source can tell it not to look (`debug.skipKernelTC`), hand it
axioms, or run code of its own during elaboration. Lemmas need none of this. The foundation needs
a few such words; which ones, and in which file, is written out in `FOUNDATION`.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lockstep.errors import LockstepError
from lockstep.lean import source_text
from lockstep.lean.source_text import Kind, Token

ROOT = "Lockstep"
FALSE = "Prove the statement, or leave it out."
CODE = "State it as a definition or a lemma; sources run no code of their own."
KERNEL = "Use `decide +kernel`, which trusts the kernel alone."
KEYWORDS = {
    "axiom": FALSE,
    **dict.fromkeys(("unsafe", "opaque", "partial", "initialize", "builtin_initialize"), CODE),
    **dict.fromkeys(("elab", "elab_rules", "macro", "macro_rules", "syntax"), CODE),
    **dict.fromkeys(("declare_syntax_cat", "notation", "infix", "infixl", "infixr"), CODE),
    **dict.fromkeys(("prefix", "postfix", "simproc", "dsimproc", "simproc_decl"), CODE),
    **dict.fromkeys(("run_cmd", "run_elab", "run_meta", "run_tac", "by_elab"), CODE),
    **dict.fromkeys(("include_str", "unif_hint", "binder_predicate", "import"), CODE),
    "init_quot": "Leave it out; there is no quotient here.",
}
"""Words that begin a command or a term; between « and » they're names like any other."""
NAMES = {
    **dict.fromkeys(("sorry", "sorryAx"), FALSE),
    **dict.fromkeys(("skipKernelTC", "debug"), "Let the kernel check it."),
    **dict.fromkeys(
        ("native_decide", "reduceBool", "reduceNat", "ofReduceBool", "ofReduceNat"),
        KERNEL,
    ),
    **dict.fromkeys(("trustCompiler", "extern", "implemented_by", "csimp"), CODE),
}
"""Words refused anywhere in a name, however quoted."""
TACTICS = frozenset({"admit", "stop"})
"""Words refused where a tactic may begin; elsewhere they're names of events and the like."""
BEFORE_TACTIC = frozenset(
    (
        *("by", "try", "repeat", "repeat'", "all_goals", "any_goals", "focus", "iterate"),
        *("fail_if_success", "then", "else", "do", "in", ";", "·", ">"),
    )
)
"""What may stand right before a tactic on its line."""
OPENS_ALTERNATIVES = frozenset(("first", "inductive", "structure", "where", "with", "match", "fun"))
"""Words after which `|` begins an alternative: tactics after `first` alone."""
OPTIONS = ("linter.", "genSizeOf", "maxRecDepth", "maxHeartbeats", "pp.")
"""Beginnings of options that change messages or bounds, not what is accepted."""
ATTRIBUTES = frozenset(
    (
        *("simp", "reducible", "irreducible", "match_pattern", "inline", "class", "instance"),
        *("default_instance", "elab_as_elim", "induction_eliminator", "cases_eliminator"),
    )
)
OPAQUE = r"opaque \S+ : Lean\.(?:ParserDescr|TrailingParserDescr) : = ⟨ 0 , 0 ⟩"
RULE = r"opaque \S+ : Lean\.(?:Macro|PrettyPrinter\.Unexpander) : = fun _ _ _ = > ⟨ 0 , 0 ⟩"
FOUNDATION: dict[str, tuple[str, ...]] = {
    "Lockstep.Foundation.Base": (
        r"unsafe axiom (?:lcErased|lcAny|lcVoid) : Type",
        r"axiom sorryAx \( \w : Sort u \) \( synthetic : Bool \) : \w",
        r"set_option bootstrap\.inductiveCheckResultingUniverse false in",
        r"set_option genCtorIdx false in",
    ),
    "Lockstep.Foundation.Core": (
        r"axiom propext \{ a b : Prop \} : \( a ↔ b \) → a = b",
        r'@ \[ extern "lean_nat_dec_eq" \] (?:protected )?def Nat\.(?:beq|decEq)',
        r'@ \[ extern "lean_nat_dec_le" \] protected def Nat\.ble',
        r'@ \[ extern "lean_nat_sub" \] protected def Nat\.sub',
        r"attribute \[ gen_constructor_elims \] (?:Bool|Decidable|Nat)",
        r"set_option bootstrap\.genMatcherCode false in",
        r"set_option genCtorIdx false in",
    ),
    "Lockstep.Foundation.Syntax": (
        r"set_option compiler\.extract_closed false",
        rf"@ \[ (?:term|tactic)_parser \] {OPAQUE}",
        OPAQUE,
        rf"@ \[ macro \S+ \] {RULE}",
    ),
    "Lockstep.Foundation.Show": (rf"@ \[ app_unexpander \S+ \] {RULE}",),
}
"""What the foundation may say beyond the rules: by module, as patterns over its tokens."""
LONGEST = 24
"""Tokens that the longest of these patterns spans."""


@dataclass(frozen=True)
class Finding:
    """A word that is refused.

    Attributes:
        path: the file, relative to the sources' folder.
        line: counted from 1.
        word: what stands there.
        remedy: what to do.
    """

    path: str
    line: int
    word: str
    remedy: str

    def __str__(self) -> str:
        """Give file, line, word and remedy."""
        return f"{self.path}:{self.line}: {self.word}: {self.remedy}"


def check(source: Path) -> int:
    """Judge every source below a folder, and give how many there are.

    Raises:
        LockstepError: LEAN_SOURCE_REFUSED, with all that was found.
    """
    paths = source_text.modules(source)
    found = list(_unreached(source, paths.keys()))
    for module, path in paths.items():
        shown = path.relative_to(source).as_posix()
        found += findings(module, shown, path.read_text("utf-8"))
    if found:
        lines = "".join(f"\n{finding}" for finding in found).removesuffix(".")
        hint = "Mend each place as it says; lean/README.md says what a source may use."
        raise LockstepError("LEAN_SOURCE_REFUSED", found[0].path, "nothing of this", lines, hint)
    return len(paths)


def _unreached(source: Path, modules: Iterable[str]) -> Iterator[Finding]:
    """Give the modules that the root module does not import, which Lake would not build."""
    path = source / f"{ROOT}.lean"
    imports = source_text.header(path.read_text("utf-8")).imports if path.is_file() else ()
    for module in modules:
        # What does not stand below the root's folder is told of in its own file.
        if module.startswith(f"{ROOT}.") and module not in imports:
            yield Finding(path.name, 1, f"no import {module}", "Import every module here.")


def findings(module: str, path: str, text: str) -> Iterator[Finding]:
    """Give all that a source may not say, in the order of lines."""
    words = list(source_text.code(text))
    imports, at = _imports(words)
    first = words[0].line if words else 1
    if module != ROOT and not module.startswith(f"{ROOT}."):
        yield Finding(path, first, module, f"Put the file below {ROOT}/, or leave it out.")
    if not words or words[0].text != "prelude":
        yield Finding(path, first, "no prelude", "Let the file begin with `prelude`.")
    for imported in imports:
        if imported.parts[:1] != (ROOT,):
            remedy = f"Import modules of {ROOT} only."
            yield Finding(path, imported.line, f"import {imported.text}", remedy)
    allowed = FOUNDATION.get(module, ())
    while at < len(words):
        if skipped := _allowed(words, at, allowed):
            at += skipped
            continue
        for word, remedy in _refused(words, at):
            yield Finding(path, words[at].line, word, remedy)
        at += 1


def _imports(words: Sequence[Token]) -> tuple[list[Token], int]:
    """Give the modules that a header names, and the place after it."""
    imports = []
    at = 1 if words and words[0].text == "prelude" else 0
    while at + 1 < len(words) and words[at].text == "import":
        imports.append(words[at + 1])
        at += 2
    return imports, at


def _allowed(words: Sequence[Token], at: int, patterns: tuple[str, ...]) -> int:
    """Give how many tokens one of the patterns spans here."""
    if not patterns:
        return 0
    text = " ".join(token.text for token in words[at : at + LONGEST])
    for pattern in patterns:
        if match := re.match(pattern + r"(?= |$)", text):
            return match[0].count(" ") + 1
    return 0


def _refused(words: Sequence[Token], at: int) -> Iterator[tuple[str, str]]:
    """Give each way in which the token here is refused, as the word and what to do."""
    token = words[at]
    after = words[at + 1 : at + 3]
    if token.kind is Kind.AMBIGUOUS:
        yield token.text[:20], "Write it so that no reader can take code for prose: add spaces."
    elif token.kind in {Kind.STRING, Kind.CHARACTER}:
        yield token.text[:40], "Lemmas hold no text; put prose into a comment."
    elif token.text == "#":
        yield "#" + "".join(t.text for t in after[:1]), "Commands that only print are left out."
    elif token.text == "+" and after and after[0].text == "native":
        yield "+native", KERNEL
    elif token.text in {"native", "config"} and _is_argument(words, at):
        yield f"{token.text} :=", KERNEL
    elif token.text in {"@", "attribute"} and after and after[0].text == "[":
        yield from _attributes(words, at + 2)
    elif token.kind is Kind.WORD:
        if token.text in KEYWORDS:
            yield token.text, KEYWORDS[token.text]
        for part in token.parts:
            if part in NAMES:
                yield token.text, NAMES[part]
        if token.text in TACTICS and _begins_tactic(words, at):
            yield token.text, FALSE
        if token.text == "set_option" and after:
            option = ".".join(after[0].parts)
            if not option.startswith(OPTIONS) and "debug" not in after[0].parts:
                yield f"set_option {option}", f"Only options that begin so: {', '.join(OPTIONS)}"


def _is_argument(words: Sequence[Token], at: int) -> bool:
    """Say whether a word names an argument, `(word := …)`; with such a one `decide` runs code."""
    return words[at - 1].text == "(" and [token.text for token in words[at + 1 : at + 3]] == [
        ":",
        "=",
    ]


def _begins_tactic(words: Sequence[Token], at: int) -> bool:
    """Say whether a tactic may begin here, after the header."""
    before, token = words[at - 1], words[at]
    if before.line < token.line or before.text in BEFORE_TACTIC:
        return True
    if before.text in {"(", "{"}:
        after = words[at + 1] if at + 1 < len(words) else None
        return after is None or after.line > token.line or after.text in {")", "}", ";", "<"}
    if before.text == ".":
        return before.column + 1 < token.column
    return before.text == "|" and _opening(words, at - 1) == "first"


def _opening(words: Sequence[Token], at: int) -> str:
    """Give the word whose alternatives the `|` at a place is one of; nothing if none is."""
    depth = 0
    for token in reversed(words[:at]):
        if token.text in {")", "]", "}", "⟩"}:
            depth += 1
        elif token.text in {"(", "[", "{", "⟨"}:
            depth -= 1
        elif depth <= 0 and token.text in OPENS_ALTERNATIVES:
            return token.text
    return ""


def _attributes(words: Sequence[Token], at: int) -> Iterator[tuple[str, str]]:
    """Judge the attributes of a list that begins at `at`, behind its bracket."""
    depth, begins = 1, True
    for token in words[at:]:
        if token.text in {"[", "("}:
            depth += 1
        elif token.text in {"]", ")"}:
            depth -= 1
            if not depth:
                return
        elif token.text == "," and depth == 1:
            begins = True
            continue
        elif begins and token.text in {"local", "scoped", "-"}:
            continue
        elif begins and token.text not in ATTRIBUTES | NAMES.keys():
            yield token.text, "Leave the attribute out, or see what source_gate.ATTRIBUTES offers."
        begins = False
