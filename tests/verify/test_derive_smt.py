"""Re-derivation of proofs by SMT: each rule's mutation in the order of derivation, and asking."""

import copy
import hashlib
import json
import stat
import sys
from pathlib import Path

import pytest

from lockstep_verify import cli, lcj, limits, solvers, spec
from lockstep_verify.derive import smt
from lockstep_verify.errors import Refusal
from lockstep_verify.ledger import ledger
from tests import statements
from tests.statements import get, put

ZERO = "0" * 64
P = "/predicate"
TEXT = "QUERY_NOT_DERIVED"
ANSWER = "QUERY_NOT_ANSWERED"
REPLAY = "COUNTEREXAMPLE_NOT_REPLAYED"
COVERAGE = "COVERAGE_DENOMINATOR_NOT_DERIVED"
H10 = "H10_COUNTS_DO_NOT_RECOMPUTE"
DOCUMENT = Path(spec.root(), "cases", "documents", "smt.json").read_text("utf-8")
# Case 0: paged at llama-3.1-8b; case 4: latent at deepseek-v3 for any token count.
FIXED, ANY = f"{P}/cases/0", f"{P}/cases/4"
COUNTS = (
    "layouts", "combinations", "cases", "not_applicable", "proofs", "guards",
    "lifecycle_proofs", "lifecycle_traces", "queries", "answers",
)  # fmt: skip
COVERED = (
    "layouts_unquantised", "layouts_proved", "layouts_proved_for_any_tokens",
    "lossy", "other_attention", "not_realisable", "strides_hold_tokens",
)  # fmt: skip


@pytest.fixture
def statement():
    held = json.loads(DOCUMENT)
    held["subject"][0]["digest"]["sha256"] = spec.digest("smt")
    return bound(held)


def bound(statement):
    """Bind the subject to the declarations as they stand, in LCJ order as a verifier reads them."""
    data = lcj.encode({"layouts": statement["predicate"]["layouts"]})
    statement["subject"][1]["digest"]["sha256"] = hashlib.sha256(data).hexdigest()
    return json.loads(lcj.encode(statement))


def judge(statement, **options):
    if "programs" in options:
        options["solvers"] = solvers.programs(options.pop("programs"))
    return statements.judge(statement, **options)


def refusal(statement, **options):
    with pytest.raises(Refusal) as caught:
        judge(statement, **options)
    return caught.value.code, caught.value.pointer


def test_a_whole_certificate(statement):
    derivation = judge(statement)
    predicate = statement["predicate"]
    assert derivation.verdict == "DERIVED"
    assert derivation.counts == predicate["counts"] | predicate["coverage"]
    said = "\n".join(derivation.lines)
    assert "lifecycle: not made" in said
    assert "replayed here: 20 counterexamples" in said
    assert "z3: not asked again" in said and "cvc5: not asked again" in said


def test_answers_are_attested_and_texts_are_derived(statement):
    found = ledger(statement["predicate"], spec.load("schemas/smt.schema.json"))
    assert {kind for kind in found.attested_kinds if kind.startswith("/cases")} == {
        f"/cases/*/{member}/*/answers/{solver}"
        for member in ("queries", "guards")
        for solver in ("z3", "cvc5")
    }


def test_denominators_are_those_of_the_specification(statement):
    data, counts = spec.load("smt.json"), statement["predicate"]["counts"]
    layouts = len(statement["predicate"]["layouts"])
    assert counts["combinations"] == layouts * len(data["geometries"]) * len(data["modes"])
    assert counts["proofs"] == counts["guards"] == counts["cases"] * len(data["kinds"])
    assert counts["answers"] == 2 * (counts["proofs"] + counts["guards"])
    # One tensor in each layout of this document, so that a case is a combination.
    assert counts["cases"] + counts["not_applicable"] == counts["combinations"]


ORDER = [
    (f"{P}/layouts/1/name", "paged", "BAD_VALUE", None),
    (f"{P}/layouts/0/tensors/0/axes", ["KV", "Tb", "Ti", "H"], "BIJECTION_NOT_DERIVED",
     f"{P}/layouts/0/tensors/0"),
    (f"{P}/layouts/0/tensors/0/components/0/bits", 32, "BIJECTION_NOT_DERIVED",
     f"{P}/layouts/0/tensors/0"),
    ("/subject/1/name", "declarations", "SUBJECT_MISMATCH", "/subject"),
    ("/subject/1/digest/sha256", ZERO, "SUBJECT_MISMATCH", None),
    (f"{P}/solvers/0/name", "cvc5", "BAD_VALUE", None),
    (f"{P}/solvers/1/name", "z3", "BAD_VALUE", None),
    (f"{FIXED}/layout", "latent", TEXT, None),
    (f"{FIXED}/tensor", "k", TEXT, None),
    (f"{FIXED}/geometry", "deepseek-v3", TEXT, None),
    (f"{ANY}/mode", "fixed", TEXT, None),
    (f"{P}/not_applicable/0/layout", "latent", COVERAGE, None),
    (f"{P}/not_applicable/0/reason", "lossy", COVERAGE, None),
    (f"{P}/not_applicable/26/mode", "fixed", COVERAGE, None),
    (f"{FIXED}/queries", [], TEXT, None),
    (f"{FIXED}/queries/0/kind", "padding", TEXT, None),
    (f"{FIXED}/queries/0/sha256", ZERO, TEXT, None),
    (f"{FIXED}/queries/0/expected", "sat", TEXT, None),
    (f"{FIXED}/queries/0/answers/cvc5", "sat", ANSWER, None),
    (f"{FIXED}/queries/0/answers/z3", "sat", ANSWER, None),
    (f"{FIXED}/guards", [], TEXT, None),
    (f"{FIXED}/guards/1/kind", "padding", TEXT, None),
    (f"{FIXED}/guards/1/axis", "H", TEXT, None),
    (f"{FIXED}/guards/1/stride", 1, TEXT, None),
    (f"{FIXED}/guards/1/sha256", ZERO, TEXT, None),
    (f"{FIXED}/guards/1/expected", "unsat", TEXT, None),
    (f"{FIXED}/guards/1/answers/z3", "unsat", ANSWER, None),
    (f"{FIXED}/guards/1/counterexample/offset", 0, REPLAY, f"{FIXED}/guards/1/counterexample"),
    (f"{ANY}/guards/3/counterexample/tokens", 200_000, REPLAY, f"{ANY}/guards/3/counterexample"),
    (f"{P}/scripts/0/name", "smt/other.smt2", TEXT, None),
    (f"{P}/scripts/0/sha256", ZERO, TEXT, None),
    (f"{P}/scripts", [], TEXT, None),
    *[(f"{P}/counts/{name}", 99, H10, None) for name in COUNTS],
    *[(f"{P}/coverage/{name}", 99, H10, None) for name in COVERED],
]  # fmt: skip


@pytest.mark.parametrize(("pointer", "value", "code", "at"), ORDER, ids=[r[0] for r in ORDER])
def test_each_rule_refuses(statement, pointer, value, code, at):
    assert get(statement, pointer) != value
    put(statement, pointer, value)
    if "/layouts/" in pointer:
        statement = bound(statement)
    assert refusal(statement) == (code, at or pointer)


def test_earlier_rules_come_first(statement):
    whole = copy.deepcopy(statement)
    for pointer, value, code, at in reversed(ORDER):
        held = get(whole, pointer)
        put(statement, pointer, value)
        assert refusal(statement) == (code, at or pointer)
        if isinstance(value, list) or "/layouts/" in pointer:
            # What stands below would be out of reach for the rules that come before.
            put(statement, pointer, held)


def test_a_case_that_is_dropped_or_added(statement):
    dropped = copy.deepcopy(statement)
    del dropped["predicate"]["cases"][-1]
    assert refusal(dropped) == (TEXT, f"{P}/cases")
    statement["predicate"]["cases"].append(statement["predicate"]["cases"][0])
    assert refusal(statement) == (TEXT, f"{P}/cases")


def test_a_layout_that_is_dropped_with_its_cases(statement):
    predicate = statement["predicate"]
    del predicate["layouts"][1]
    predicate["cases"] = predicate["cases"][:3]
    statement = bound(statement)
    code, pointer = refusal(statement)
    assert (code, pointer) == (COVERAGE, f"{P}/not_applicable/5/layout")


def test_a_layout_that_is_declared_otherwise_has_other_texts(statement):
    put(statement, f"{P}/layouts/0/block", 8)
    assert refusal(bound(statement)) == (TEXT, f"{FIXED}/queries/0/sha256")


def test_a_layout_too_large_for_its_positions(statement):
    put(statement, f"{P}/layouts/1/tensors/0/reserve", 16_777_216)
    put(statement, f"{P}/layouts/1/ranks", 1024)
    put(statement, f"{P}/layouts/1/rank_axis", "replicated")
    put(statement, f"{P}/layouts/1/tensors/0/axes", ["R", "T", "C"])
    assert refusal(bound(statement)) == ("BAD_VALUE", f"{P}/layouts/1")


# What each kind's counterexample may not say: element, offset, their number, coordinates.
def test_no_coordinate_of_a_counterexample_can_be_moved_out_of_range(statement):
    for i, case in enumerate(statement["predicate"]["cases"]):
        for j, guard in enumerate(case["guards"]):
            for k in range(6):
                wrong = copy.deepcopy(statement)
                at = f"{P}/cases/{i}/guards/{j}/counterexample"
                put(wrong, f"{at}/elements/0/{k}", 1 << 40)
                assert refusal(wrong) == (REPLAY, at), (guard["kind"], k)


def test_counterexamples_have_their_number_of_elements(statement):
    for j in range(4):
        at = f"{FIXED}/guards/{j}/counterexample"
        elements = get(statement, at)["elements"]
        wrong = copy.deepcopy(statement)
        put(wrong, f"{at}/elements", elements[:1] if len(elements) == 2 else elements * 2)
        assert refusal(wrong) == (REPLAY, at)
        if len(elements) == 2:
            put(wrong, f"{at}/elements", [elements[0], elements[0]])
            assert refusal(wrong) == (REPLAY, at)


def test_padding_that_is_padding_breaks_nothing(statement):
    at = f"{ANY}/guards/3/counterexample"
    found = get(statement, at)
    put(statement, f"{at}/offset", found["offset"] + 1)
    assert refusal(statement) == (REPLAY, at)


def test_script_files_are_compared_where_they_are(statement, tmp_path):
    assert "0 compared" in judge(statement, evidence=tmp_path).lines[-1]
    asked = []
    for i, (case, declared) in enumerate(
        zip(smt._plan(statement["predicate"]["layouts"])[0], statement["predicate"]["cases"],
            strict=True)
    ):  # fmt: skip
        asked += smt._check_case(case, declared, f"{P}/cases/{i}")
    for name, text in smt._scripts(asked).items():
        place = tmp_path / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, "ascii")
    assert "2 compared" in judge(statement, evidence=tmp_path).lines[-1]
    place.write_text(text + "\n", "ascii")
    assert refusal(statement, evidence=tmp_path) == (
        "EVIDENCE_DIGEST_MISMATCH",
        f"{P}/scripts/1/sha256",
    )


def program(place: Path, says: str, answers: str) -> str:
    """Write a program that passes for a solver."""
    place.write_text(
        f"#!{sys.executable}\nimport sys\n"
        f"if '--version' in sys.argv: print({says!r}); sys.exit()\n"
        f"texts = sys.stdin.read().split('(reset)\\n')\n{answers}\n",
        "utf-8",
    )
    place.chmod(place.stat().st_mode | stat.S_IXUSR)
    return str(place)


HONEST = "for text in texts: print('sat' if hash_of(text) in sat else 'unsat')"


def honest(statement):
    """Answer as the certificate says, so that no solver is needed here."""
    guards = [g["sha256"] for case in statement["predicate"]["cases"] for g in case["guards"]]
    return (
        "import hashlib\n"
        f"sat = set({guards!r})\n"
        "hash_of = lambda text: hashlib.sha256(text.encode()).hexdigest()\n" + HONEST
    )


def test_programs_are_asked_again(statement, tmp_path):
    z3 = program(tmp_path / "one", "Z3 version 9", honest(statement))
    lines = judge(statement, programs=[z3]).lines
    assert "z3: answered all 40 queries again here (Z3 version 9)" in lines
    assert "cvc5: not run here, no program given or on the PATH" in lines
    assert judge(statement, programs=[z3]).solved
    assert not judge(statement).solved


@pytest.mark.parametrize("answer", ["unknown", "sat", ""])
def test_a_program_that_answers_otherwise_refuses(statement, tmp_path, answer):
    wrong = honest(statement).replace("else 'unsat'", f"else {answer!r}")
    cvc5 = program(tmp_path / "two", "This is cvc5 version 9", wrong)
    assert refusal(statement, programs=[cvc5]) == (ANSWER, f"{FIXED}/queries/0")


def test_a_program_that_stops_early_or_late_refuses(statement, tmp_path, monkeypatch):
    early = program(tmp_path / "three", "Z3 version 9", "print('unsat')")
    assert refusal(statement, programs=[early]) == (ANSWER, f"{FIXED}/queries/1")
    monkeypatch.setattr(limits, "SOLVE_SECONDS", 1)
    slow = "print('unsat', flush=True)\nimport time\ntime.sleep(60)"
    late = program(tmp_path / "four", "Z3 version 9", slow)
    assert refusal(statement, programs=[late]) == (ANSWER, f"{FIXED}/queries/1")


def test_a_program_that_is_no_solver_is_a_fault_of_the_command_line(tmp_path, capsys):
    other = program(tmp_path / "five", "yices 2", "")
    z3 = program(tmp_path / "six", "Z3 version 9", "")
    posing = program(tmp_path / "eight", "this is cvc5, not z3", "")
    behind = program(tmp_path / "nine", "We wrap\nZ3 version 9", "")
    silent = program(tmp_path / "ten", "", "")
    unnumbered = program(tmp_path / "eleven", "Z3 version of ours", "")
    absent = str(tmp_path / "absent")
    for wrong in (
        [other], [absent], [str(tmp_path)], ["nul\0"], [z3, z3],
        [posing], [behind], [silent], [unnumbered],
    ):  # fmt: skip
        arguments = [part for path in wrong for part in ("--solver", path)]
        assert cli.main([*arguments, "absent.cert.json"]) == 2
        assert capsys.readouterr().out.startswith("USAGE lockstep-verify\n")


def test_a_program_that_does_not_say_what_it_is_is_told_in_words(tmp_path, monkeypatch):
    place = tmp_path / "slow"
    place.write_text(f"#!{sys.executable}\nimport time\ntime.sleep(60)\n", "utf-8")
    place.chmod(0o755)
    monkeypatch.setattr(limits, "IDENTIFY_SECONDS", 1)
    with pytest.raises(Refusal) as caught:
        solvers.programs([str(place)])
    assert caught.value.code == "USAGE"
    assert caught.value.got == f"{place}: no answer to --version within 1 seconds"
    with pytest.raises(Refusal) as caught:
        solvers.programs([str(tmp_path / "absent")])
    assert caught.value.got == f"{tmp_path / 'absent'}: No such file or directory"


@pytest.mark.parametrize(
    ("says", "name"),
    [
        ("Z3 version 4.13.0 - 64 bit", "z3"),
        ("This is cvc5 version 1.2.0 [git tag 1.2.0 branch HEAD]", "cvc5"),
        ("This is cvc5 version 1.2.1-dev.34.abcdef", "cvc5"),
    ],
)
def test_a_solver_says_its_name_and_version(tmp_path, says, name):
    (found,) = solvers.programs([program(tmp_path / "other-name", says, "")])
    assert (found.name, found.version) == (name, says)


def test_solvers_on_the_path(statement, tmp_path, monkeypatch):
    program(tmp_path / "z3", "Z3 version 9", honest(statement))
    monkeypatch.setenv("PATH", str(tmp_path))
    lines = judge(statement, programs=[]).lines
    assert "z3: answered all 40 queries again here (Z3 version 9)" in lines
    assert "cvc5: not run here, no program given or on the PATH" in lines


def test_the_options_of_the_command_reach_the_derivation(tmp_path, monkeypatch):
    parser = cli._parser()
    z3 = program(tmp_path / "seven", "Z3 version 9", "")
    (given,) = cli._Run(parser.parse_args(["--solver", z3, "x"])).options.solvers
    assert given == ("z3", z3, "Z3 version 9")
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    with pytest.raises(Refusal) as caught:
        cli._Run(parser.parse_args(["--solve", "x"]))
    assert (caught.value.code, caught.value.exit) == ("USAGE", 2)
    assert cli._Run(parser.parse_args(["x"])).options.solvers is None


def test_the_real_z3_answers_again(statement):
    z3 = Path(sys.executable).with_name("z3")
    assert z3.is_file(), "the wheel of the extra 'proofs' brings it"
    lines = judge(statement, programs=[str(z3)]).lines
    assert any(line.startswith("z3: answered all 40 queries again here") for line in lines)
