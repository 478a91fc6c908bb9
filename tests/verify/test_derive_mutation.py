"""Re-derivation of mutation testing: each rule's offence, in the order of the rules.

The certificate that the tests change is folded by the producer, from made-up trials: that the two
agree on it is a test by itself.
"""

from __future__ import annotations

import copy
from itertools import product
from typing import Any

import pytest

from lockstep.certificate.statement import model_subjects, statement
from lockstep.claims import mutation as claims
from lockstep.claims import mutation_totals
from lockstep.engine.opening import open_model
from lockstep.engine.tiny import TinyModel
from lockstep.errors import LockstepError
from lockstep_verify import spec
from lockstep_verify.derive.mutation import operator_verdict, outcome
from lockstep_verify.ledger import ledger
from tests.mutation_records import DIFFERENCE, FIRST, HEX, NAMES, made
from tests.mutation_records import cell as make_cell
from tests.statements import judge, put, refusal

COVERAGE = "COVERAGE_DENOMINATOR_NOT_DERIVED"
OUTCOME = "OUTCOME_NOT_DERIVED"
H10 = "H10_COUNTS_DO_NOT_RECOMPUTE"
BAD = "BAD_VALUE"
DATA = spec.load("mutation.json")
INVISIBLE = next(one["id"] for one in DATA["operators"] if one["black_box"] == "invisible")
COUNTS = list(spec.load("schemas/mutation.schema.json")["$defs"]["counts"]["properties"])


@pytest.fixture
def trials() -> dict[str, dict[str, Any]]:
    """Trials of which GOLDEN kills every operator, and NEVER-FITS the first one too."""
    return made()


@pytest.fixture(scope="module")
def surroundings() -> dict[str, Any]:
    opened = open_model(TinyModel())
    return {
        "model": opened.statement(),
        "model_digest": opened.model.digest.hex(),
        "environment": opened.environment(),
        "sources_sha256": HEX,
        "issued_at": "2026-11-29T12:00:00Z",
        "producer": {
            "name": "lockstep", "version": "0", "python": "3", "numpy": "2", "machine": "m",
            "command": "c",
        },
    }  # fmt: skip


@pytest.fixture
def fold(trials: dict[str, Any], surroundings: dict[str, Any]) -> Any:
    """What folds the trials as they stand when it is called."""

    def folded() -> dict[str, Any]:
        predicate = claims.predicate(list(trials.values()), **copy.deepcopy(surroundings))
        subjects = model_subjects("mutation", predicate)
        return copy.deepcopy(statement("mutation", subjects, predicate))

    return folded


def change(trials: dict[str, Any], name: str, observer: str, **members: Any) -> None:
    """Give a trial's cell of an observer other members."""
    cell = trials[name]["cells"][NAMES.index(observer)]
    cell.update(members)
    if "seen" in members:
        cell["reason"] = "why" if cell["seen"] == "not_run" else ""
        cell["first_difference"] = DIFFERENCE if cell["seen"] == "differs" else None


def test_a_whole_certificate(fold: Any) -> None:
    stated = fold()
    found = judge(stated)
    counts = stated["predicate"]["counts"]
    assert found.verdict == "EXPLAINED"
    assert found.counts == counts
    whole = len(DATA["operators"])
    assert counts["operators"] == counts["killed"] == whole
    assert counts["cells"] == whole * len(NAMES)
    assert counts["cells_killed"] == whole + 1
    assert counts["cells_unfit"] == whole
    assert (counts["score_permille"], counts["relations_killed"]) == (1000, 1)
    assert (counts["observers"], counts["fit"]) == (len(NAMES) - 2,) * 2
    golden = next(one for one in stated["predicate"]["observers"] if one["name"] == "GOLDEN")
    assert golden == {"name": "GOLDEN", "killed": whole, "alone": whole - 1}
    assert f"operators: {whole} killed of {whole}" in "\n".join(found.lines)


def test_what_is_derived_and_what_is_attested(fold: Any) -> None:
    found = ledger(fold()["predicate"], spec.load("schemas/mutation.schema.json"))
    told = {kind.rpartition("/")[2] for kind in found.attested_kinds if "/cells/" in kind}
    assert {"seen", "ran", "live", "steps", "milliseconds"} <= told
    assert not {"observer", "outcome", "verdict", "killed_by"} & told
    derived = ("/counts", "/observers", "/verdict", "/mutation_sha256", "/block_size")
    assert not any(kind.startswith(derived) for kind in found.attested_kinds)


SURVIVES = {"seen": "agrees"}


@pytest.mark.parametrize(
    ("changes", "said", "verdict"),
    [
        ([("GOLDEN", SURVIVES)], "survived", "SURVIVORS"),
        ([("GOLDEN", SURVIVES), ("MR1", {"seen": "not_run"})], "unproven", "UNPROVEN"),
        ([("GOLDEN", {"live": 0})], "survived", "SURVIVORS"),
        ([(name, {"live": 0}) for name in NAMES], "not_exercised", "UNPROVEN"),
        ([(name, {"ran": 0}) for name in NAMES], "not_exercised", "UNPROVEN"),
        ([("MR1", {"seen": "not_run"})], "killed", "EXPLAINED"),
    ],
)
def test_what_is_not_killed_is_told(
    trials: dict[str, Any], fold: Any, changes: list[Any], said: str, verdict: str
) -> None:
    name = DATA["operators"][1]["id"]
    for observer, members in changes:
        change(trials, name, observer, **members)
    stated = fold()
    found = judge(stated)
    assert found.verdict == verdict
    assert stated["predicate"]["rows"][1]["verdict"] == said
    if said != "killed":
        assert f"{said}: {name}" in found.lines


@pytest.mark.parametrize(
    ("name", "observer", "seen"),
    [
        (claims.CONTROL, "MR1", "differs"),
        (claims.CONTROL, "GOLDEN", "not_run"),
        (claims.CONTROL, "ALWAYS-FAIL", "agrees"),
        (claims.CONTROL, "ALWAYS-PASS", "differs"),
        (FIRST, "ALWAYS-FAIL", "agrees"),
        (FIRST, "ALWAYS-PASS", "differs"),
        (INVISIBLE, "MR3", "differs"),
    ],
)
def test_an_unfit_observer_a_toothless_baseline_and_a_proxy_prove_nothing(
    trials: dict[str, Any], fold: Any, name: str, observer: str, seen: str
) -> None:
    change(trials, name, observer, seen=seen)
    assert judge(fold()).verdict == "UNPROVEN"


def test_what_differs_on_the_control_kills_nothing(trials: dict[str, Any], fold: Any) -> None:
    change(trials, claims.CONTROL, "GOLDEN", seen="differs")
    counts = fold()["predicate"]["counts"]
    assert counts["killed"] == 1
    assert counts["unproven"] == counts["operators"] - 1


# Pointer below the predicate, the value put there, the code, and the pointer of the refusal where
# it is another.
OFFENCES: list[tuple[str, Any, str, str | None]] = [
    ("/environment/binding_sha256", HEX, "ENVIRONMENT_MISMATCH", None),
    ("/model/dtype", "float16", BAD, None),
    ("/model_digest", HEX, BAD, None),
    ("/mutation_sha256", HEX, COVERAGE, None),
    ("/block_size", 16, COVERAGE, None),
    ("/control/0/observer", "MR2", COVERAGE, None),
    ("/control/0/reason", "why", BAD, None),
    ("/control/0/first_difference", DIFFERENCE, BAD, None),
    ("/control/0/ran", 1, BAD, None),
    ("/control/0/live", 1, BAD, None),
    *(
        (f"/{cells}/{NAMES.index(name)}/{member}", 1, BAD, None)
        for cells in ("control", "rows/0/cells")
        for name, member in (
            ("ALWAYS-PASS", "ran"),
            ("ALWAYS-PASS", "live"),
            ("ALWAYS-FAIL", "steps"),
            ("KERNEL-EQ", "steps"),
        )
    ),
    ("/rows/0/operator", "another", COVERAGE, None),
    ("/rows/0/edits_sha256", HEX, COVERAGE, None),
    ("/rows/0/cells/1/observer", "MR1", COVERAGE, None),
    ("/rows/0/cells/1/reason", "why", BAD, None),
    ("/rows/0/cells/1/seen", "differs", BAD, "/rows/0/cells/1/first_difference"),
    ("/rows/0/cells/1/live", 0, OUTCOME, "/rows/0/cells/1/outcome"),
    ("/rows/0/cells/1/outcome", "killed", OUTCOME, None),
    ("/rows/0/verdict", "survived", OUTCOME, None),
    ("/rows/0/killed_by", ["GOLDEN"], OUTCOME, None),
    ("/observers/0/name", "MR2", COVERAGE, None),
    ("/observers/0/killed", 9, H10, None),
    ("/observers/0/alone", 9, H10, None),
    *((f"/counts/{name}", 7777, H10, None) for name in COUNTS),
    ("/verdict", "SURVIVORS", OUTCOME, None),
]


@pytest.mark.parametrize(("pointer", "value", "code", "where"), OFFENCES)
def test_an_offence_is_refused(
    fold: Any, pointer: str, value: object, code: str, where: str | None
) -> None:
    stated = fold()
    put(stated["predicate"], pointer, value)
    assert refusal(stated) == (code, f"/predicate{where or pointer}")


@pytest.mark.parametrize("place", [0, -1])
def test_no_operator_and_no_observer_is_dropped(fold: Any, place: int) -> None:
    stated = fold()
    del stated["predicate"]["rows"][place]
    assert refusal(stated) == (COVERAGE, "/predicate/rows")
    stated = fold()
    del stated["predicate"]["rows"][2]["cells"][place]
    assert refusal(stated) == (COVERAGE, "/predicate/rows/2/cells")
    stated = fold()
    del stated["predicate"]["control"][place]
    assert refusal(stated) == (COVERAGE, "/predicate/control")


def test_the_producer_folds_no_part_of_a_matrix(trials: dict[str, Any], fold: Any) -> None:
    for name in (claims.CONTROL, FIRST):
        held = trials.pop(name)
        with pytest.raises(LockstepError) as fault:
            fold()
        assert fault.value.code == "MUTATION_INCOMPLETE"
        trials[name] = held
    cell = trials[FIRST]["cells"].pop()
    with pytest.raises(LockstepError) as fault:
        fold()
    assert fault.value.code == "MUTATION_INCOMPLETE"
    trials[FIRST]["cells"].append(cell)
    trials[FIRST]["edits_sha256"] = HEX
    with pytest.raises(LockstepError) as fault:
        fold()
    assert fault.value.code == "MUTATION_INCOMPLETE"


def test_equivalence_needs_a_lemma(fold: Any, trials: Any, monkeypatch: Any) -> None:
    lemma = spec.load("lemmas.json")["lemmas"][0]
    name = DATA["operators"][1]["id"]
    change(trials, name, "GOLDEN", seen="agrees")
    for proof, code in (
        ({"lemma": lemma["name"], "statement_sha256": lemma["statement_sha256"]}, None),
        ({"lemma": lemma["name"], "statement_sha256": HEX}, "H3_PROOF_MISSING"),
    ):
        data = copy.deepcopy(DATA)
        data["operators"][1]["proof"] = proof
        given = {"mutation.json": data}
        real = spec.load
        with monkeypatch.context() as patch:
            patch.setattr(
                claims, "proofs", lambda d=data: {o["id"]: o["proof"] for o in d["operators"]}
            )
            patch.setattr(spec, "load", lambda path, g=given, r=real: g.get(path) or r(path))
            stated = fold()
            assert stated["predicate"]["rows"][1]["verdict"] == "equivalent"
            if code is None:
                assert judge(stated).verdict == "EXPLAINED"
            else:
                assert refusal(stated) == (code, "/predicate/rows/1")


def test_both_implementations_judge_every_cell_and_row_alike() -> None:
    for seen, ran, live, fit in product(("differs", "agrees", "not_run"), (0, 1), (0, 1), (0, 1)):
        cell = make_cell("MR1", seen, ran, live)
        names = {"MR1"} if fit else set()
        assert outcome(cell, names) == mutation_totals.outcome(cell, names)
    words = ("killed", "survived", "not_exercised", "not_run", "unfit")
    for chosen in product((False, True), repeat=len(words)):
        some = {word for word, there in zip(words, chosen, strict=True) if there}
        cells = [{"observer": "MR1", "outcome": word} for word in sorted(some)]
        for proved in (False, True):
            said, _ = mutation_totals.verdict_of(cells, proved)
            assert operator_verdict(some, proved) == said


def test_weakening_never_raises_the_verdict(trials: dict[str, Any], fold: Any) -> None:
    order = ("UNPROVEN", "SURVIVORS", "EXPLAINED")
    name = DATA["operators"][1]["id"]
    weaker = {"differs": ("agrees", "not_run"), "agrees": ("not_run",), "not_run": ()}
    for seen in ("differs", "agrees"):
        change(trials, name, "GOLDEN", seen=seen, ran=1, live=1)
        before = order.index(judge(fold()).verdict)
        for other in weaker[seen]:
            change(trials, name, "GOLDEN", seen=other)
            assert order.index(judge(fold()).verdict) <= before
        change(trials, name, "GOLDEN", seen=seen, live=0)
        assert order.index(judge(fold()).verdict) <= before


@pytest.mark.parametrize(
    ("name", "weakened"),
    [
        (INVISIBLE, {"live": 0}),
        (INVISIBLE, {"ran": 0}),
        (INVISIBLE, {"seen": "not_run"}),
        (claims.CONTROL, {"seen": "not_run"}),
    ],
)
def test_a_proxy_is_not_excused_by_looking_less(
    trials: dict[str, Any], fold: Any, name: str, weakened: dict[str, Any]
) -> None:
    """GOLDEN kills it all the same, so that nothing else would keep the verdict down."""
    change(trials, INVISIBLE, "MR3", seen="differs")
    assert judge(fold()).verdict == "UNPROVEN"
    change(trials, name, "MR3", **weakened)
    stated = fold()
    assert stated["predicate"]["counts"]["killed"] == len(DATA["operators"])
    assert judge(stated).verdict == "UNPROVEN"


def test_a_kill_without_an_execution_has_no_steps_to_detection(
    trials: dict[str, Any], fold: Any
) -> None:
    for one in DATA["operators"]:
        change(trials, one["id"], "KERNEL-EQ", seen="differs")
    assert judge(fold()).counts["steps_median"] == 7
    for one in DATA["operators"]:
        change(trials, one["id"], "NEVER-FITS", seen="agrees")
        change(trials, one["id"], "GOLDEN", seen="agrees")
    assert judge(fold()).counts["steps_median"] == 0
