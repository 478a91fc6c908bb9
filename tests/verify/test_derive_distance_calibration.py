"""Re-derivation of calibrations: each refusal, in the order of derivation, and the report."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from lockstep import spec
from lockstep_verify import limits
from lockstep_verify.derive import distance_calibration, distance_placements
from tests.distance_records import NOISES, ladder, sealed, whole
from tests.statements import get, judge, put, refusal

P = "/predicate"
H10 = "H10_COUNTS_DO_NOT_RECOMPUTE"
OUTCOME = "OUTCOME_NOT_DERIVED"
Statement = dict[str, Any]


@pytest.fixture(scope="module")
def held() -> Statement:
    return whole(ladder())


@pytest.fixture
def statement(held: Statement) -> Statement:
    return deepcopy(held)


def test_a_calibration(statement: Statement) -> None:
    found = judge(statement)
    assert found.verdict == "separated"
    assert found.counts == statement["predicate"]["counts"]
    assert found.lines == (
        "5 rungs, the first 3 count as the model: rung-0 held, rung-1 held, rung-2 held, "
        "rung-3 separated, rung-4 separated",
        "640 positions measured, 128 of them identical; 2 of 4 texts held out, "
        "0 of accepted rungs beyond",
        "log-probabilities of both sides are the signer's word",
    )


def test_a_rung_that_is_not_told_apart_is_said() -> None:
    # The third rung is no other than the second, and is left out of what is accepted.
    made = whole(ladder(), accepts=2)
    found = judge(made)
    assert found.verdict == "overlapping"
    assert (found.counts["separated"], found.counts["not_separated"]) == (2, 1)
    assert "rung-2 not_separated" in found.lines[0]


def test_an_accepted_rung_that_does_not_hold_is_said() -> None:
    # What calibrates is quiet, and what was held out is not.
    quiet, loud = ladder(noises=NOISES), ladder(noises=(0.0, 0.01, 1e-6, 0.01, 2.0))
    rungs = list(quiet.rungs)
    texts = [quiet.rungs[1], loud.rungs[1]]
    supports = tuple(texts[i % 2].supports[i] for i in range(4))
    rungs[1] = rungs[1]._replace(supports=supports)
    made = whole(_with_rungs(quiet, loud, rungs))
    found = judge(made)
    assert found.verdict == "overlapping"
    assert found.counts["held_out_beyond"] == 2
    assert "rung-1 not_held" in found.lines[0]


def _with_rungs(first: Any, second: Any, rungs: list[Any]) -> Any:
    """Give a ladder of other rungs, whose reference holds what these sign."""
    from dataclasses import replace

    recomputed = []
    for i, row in enumerate(first.recomputed):
        recomputed.append([])
        for j, pairs in enumerate(row):
            known = {**dict(pairs), **dict(second.recomputed[i][j])}
            top = sorted(known, key=lambda t: (-float(known[t]), t))[: first.support_tokens]
            wanted = {*top, *(t for one in rungs for t, _ in one.supports[i][j])}
            recomputed[-1].append(tuple(sorted((t, known[t]) for t in wanted)))
    return replace(first, recomputed=tuple(map(tuple, recomputed)), rungs=tuple(rungs))


@pytest.mark.parametrize(("texts", "tokens"), [(3, 32), (1, 32), (4, 31)])
def test_too_little_decides_nothing(texts: int, tokens: int) -> None:
    assert judge(whole(ladder(texts=texts, tokens=tokens))).verdict == "not_decided"


def change(pointer: str, value: object) -> Callable[[Statement], None]:
    return lambda statement: put(statement, f"{P}{pointer}", value)


def edit(pointer: str, by: Callable[[Any], Any]) -> Callable[[Statement], None]:
    return lambda statement: put(statement, f"{P}{pointer}", by(get(statement, f"{P}{pointer}")))


def lowered(text: str) -> str:
    """Take a nat from the first log-probability."""
    first, *rest = text.split(" ")
    token, _, number = first.partition(":")
    whole_part, _, part = number.removeprefix("-").partition(".")
    return " ".join([f"{token}:-{int(whole_part) + 1}.{part}", *rest])


def raised(text: str) -> str:
    """Sign the first token as certain."""
    first, *rest = text.split(" ")
    return " ".join([f"{first.partition(':')[0]}:-0.001", *rest])


def emptied(text: str) -> str:
    """Leave each token next to nothing."""
    return " ".join(f"{pair.partition(':')[0]}:-20" for pair in text.split(" "))


def swapped(text: str) -> str:
    first, second, *rest = text.split(" ")
    return " ".join([second, first, *rest])


R, S = "/texts/1/reference/3", "/rungs/3/supports/2/5"
OFFENCES: tuple[tuple[Callable[[Statement], None], str, str], ...] = (
    (change("/accepts", 5), "BAD_VALUE", "/accepts"),
    (change("/support_tokens", 13), "BAD_VALUE", "/support_tokens"),
    (change("/texts/1/id", "text-0"), "BAD_VALUE", "/texts/1/id"),
    (change("/texts/1/prompt/1", 12), "BAD_VALUE", "/texts/1/prompt/1"),
    (change("/texts/1/tokens/2", 12), "BAD_VALUE", "/texts/1/tokens/2"),
    (edit("/texts/1/reference", lambda given: given[:-1]), "BAD_VALUE", "/texts/1/reference"),
    (change("/rungs/4/name", "rung-3"), "BAD_VALUE", "/rungs/4/name"),
    (edit("/rungs/3/supports", lambda given: given[:-1]), "BAD_VALUE", "/rungs/3/supports"),
    (edit("/rungs/3/supports/2", lambda given: given[1:]), "BAD_VALUE", "/rungs/3/supports/2"),
    (edit(R, swapped), "BAD_VALUE", R),
    (edit(R, lambda text: text.replace(" ", "  ", 1)), "BAD_VALUE", R),
    (edit(R, lambda text: f"{text} "), "BAD_VALUE", R),
    (edit(R, lambda text: f"0{text}"), "BAD_VALUE", R),
    (edit(R, lambda text: text.replace(":-", ":-0", 1)), "BAD_VALUE", R),
    (edit(R, lambda text: " ".join(text.split(" ")[:3])), "BAD_VALUE", R),
    (edit(R, raised), "BAD_VALUE", R),
    (edit(R, emptied), "BAD_VALUE", R),
    (edit(S, swapped), "BAD_VALUE", S),
    (edit(S, lambda text: " ".join(text.split(" ")[:-1])), "BAD_VALUE", S),
    (edit(S, raised), "BAD_VALUE", S),
    (edit(S, emptied), "BAD_VALUE", S),
    (change("/rungs/0/identical", 127), H10, "/rungs/0/identical"),
    (change("/rungs/3/quantiles/2/3", 1), H10, "/rungs/3/quantiles"),
    (change("/rungs/3/statistics/1/0", 1), H10, "/rungs/3/statistics"),
    (edit("/placements", lambda given: given[:-1]), "BAD_VALUE", "/placements"),
    (change("/placements/1/accepts", 3), "BAD_VALUE", "/placements/1/accepts"),
    (change("/placements/2/thresholds/5", 1), H10, "/placements/2/thresholds"),
    (change("/placements/2/outcomes/3", "not_separated"), OUTCOME, "/placements/2/outcomes"),
    (change("/placements/2/held_out_beyond", 1), H10, "/placements/2/held_out_beyond"),
    (change("/verdict", "overlapping"), OUTCOME, "/verdict"),
    (change("/not_run", ["a", "b", "c"]), "BAD_VALUE", "/not_run"),
)


@pytest.mark.parametrize(("offence", "code", "pointer"), OFFENCES)
def test_each_offence_is_refused(
    statement: Statement, offence: Callable[[Statement], None], code: str, pointer: str
) -> None:
    offence(statement)
    assert refusal(statement) == (code, f"{P}{pointer}")


def test_a_log_probability_that_is_changed_is_noticed(statement: Statement) -> None:
    # By the mass, by the statistics, or at the last by the subject.
    at = f"{P}{S}"
    last = get(statement, at)
    digit = "1" if last[-1] != "1" else "2"
    put(statement, at, last[:-1] + digit)
    code, pointer = refusal(statement)
    assert (code, pointer) in (
        (H10, f"{P}/rungs/3/quantiles"),
        (H10, f"{P}/rungs/3/statistics"),
        ("SUBJECT_MISMATCH", "/subject/2/digest/sha256"),
    )


def test_a_token_of_a_rung_stands_in_the_reference(statement: Statement) -> None:
    at = f"{P}/rungs/4/supports/0/0"
    held = {pair.partition(":")[0] for pair in get(statement, f"{P}/texts/0/reference/0").split()}
    spare = next(str(n) for n in range(12) if str(n) not in held)
    pairs = [pair.partition(":")[::2] for pair in get(statement, at).split(" ")]
    pairs[0] = (spare, pairs[0][1])
    put(statement, at, " ".join(f"{token}:{text}" for token, text in sorted(pairs)))
    assert refusal(statement) == ("BAD_VALUE", at)


def test_what_the_reference_would_sign_is_null(statement: Statement) -> None:
    top = get(statement, f"{P}/texts/0/reference/0")
    values = [pair.partition(":")[::2] for pair in top.split(" ")]
    likeliest = sorted(values, key=lambda pair: (-float(pair[1]), pair[0]))[:4]
    text = " ".join(f"{token}:{number}" for token, number in sorted(likeliest))
    at = f"{P}/rungs/0/supports/0/0"
    put(statement, at, text)
    assert refusal(statement) == ("BAD_VALUE", at)


def test_no_token_stands_in_the_reference_that_nobody_has(statement: Statement) -> None:
    at = f"{P}/texts/0/reference/0"
    pairs = dict(pair.partition(":")[::2] for pair in get(statement, at).split(" "))
    spare = next(str(n) for n in range(12) if str(n) not in pairs)
    pairs[spare] = "-30"
    put(statement, at, " ".join(f"{token}:{text}" for token, text in sorted(pairs.items())))
    assert refusal(statement) == ("BAD_VALUE", at)


def test_each_count_is_derived(statement: Statement) -> None:
    for name, count in statement["predicate"]["counts"].items():
        put(statement, f"{P}/counts/{name}", count + 1)
        assert refusal(statement) == (H10, f"{P}/counts/{name}")
        put(statement, f"{P}/counts/{name}", count)
    judge(statement)


def test_subjects_are_the_model_and_the_calibration(statement: Statement) -> None:
    names = [subject["name"] for subject in statement["subject"]]
    for name in ("model", "calibration"):
        made = deepcopy(statement)
        at = f"/subject/{names.index(name)}"
        put(made, f"{at}/digest/sha256", "0" * 64)
        assert refusal(made) == ("SUBJECT_MISMATCH", f"{at}/digest/sha256")
        put(made, f"{at}/name", "others")
        assert refusal(made) == ("SUBJECT_MISMATCH", "/subject")


@pytest.mark.parametrize(
    "pointer", ["/rungs/3/weights", "/rungs/3/backend", "/texts/0/prompt/0", "/reference/dtype"]
)
def test_what_is_attested_is_part_of_what_verdicts_name(statement: Statement, pointer: str) -> None:
    at = f"{P}{pointer}"
    old = get(statement, at)
    put(statement, at, old + 1 if isinstance(old, int) else "another")
    assert refusal(statement) == ("SUBJECT_MISMATCH", "/subject/2/digest/sha256")
    judge(sealed(statement))


def test_pairs_are_bounded(statement: Statement, monkeypatch: pytest.MonkeyPatch) -> None:
    counts = statement["predicate"]["counts"]
    pairs = counts["signed_tokens"] + counts["reference_tokens"]
    monkeypatch.setattr(limits, "DISTANCE_PAIRS", pairs)
    judge(statement)
    monkeypatch.setattr(limits, "DISTANCE_PAIRS", pairs - 1)
    assert refusal(statement) == ("LIMIT_SIZE", P)


def test_more_may_be_said_not_to_be_covered(statement: Statement) -> None:
    statement["predicate"]["not_run"].append("a model that was not at hand")
    judge(statement)


def test_the_verifier_has_the_constants_of_the_data() -> None:
    data = spec.load("distance-calibration.json")
    assert data["pairs_most"] == limits.DISTANCE_PAIRS
    assert tuple(data["quantiles"]) == distance_calibration._QUANTILES
    assert data["positions_least"] == distance_placements._POSITIONS_LEAST
    assert data["texts_least"] == distance_placements._TEXTS_LEAST
    assert (data["mass_least_permille"], data["mass_most_permille"]) == (990, 1010)


def test_what_calibrates_is_not_held_out_under_another_id() -> None:
    made = whole(ladder())
    texts = made["predicate"]["texts"]
    for name in ("prompt", "tokens"):
        texts[1][name] = texts[0][name]
    assert refusal(made) == ("BAD_VALUE", "/predicate/texts/1/tokens")
    # One token more of the prompt, one less of the text: the same tokens at the same places.
    texts[1]["prompt"], texts[1]["tokens"] = (*texts[0]["prompt"], texts[0]["tokens"][0]), []
    texts[1]["tokens"], texts[1]["reference"] = texts[0]["tokens"][1:], texts[1]["reference"][1:]
    assert refusal(sealed(made)) == ("BAD_VALUE", "/predicate/texts/1/tokens")
