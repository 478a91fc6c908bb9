"""Re-derivation of what the certifier detects: each rule's foil, and forgeries that must not pass.

The certificate that the tests mutate is folded by the producer, from made-up records: that the two
agree on it is a test by itself.
"""

from __future__ import annotations

import base64
import copy
import hashlib
import json
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from lockstep.certificate import lcj
from lockstep.certificate.envelope import sign_statement
from lockstep.certificate.statement import detection_subjects, statement
from lockstep.certify.cells import planned
from lockstep.certify.issue import issue_certification
from lockstep.certify.observation import CellSeen, Launch, Seen, Subject
from lockstep.certify.trials import trials
from lockstep.claims.detection import predicate
from lockstep.claims.detection_shown import shown as observed
from lockstep_verify.derive import certification_plan, detection
from tests import detection_records as made
from tests.statements import get, judge, put, refusal

COVERAGE = "COVERAGE_DENOMINATOR_NOT_DERIVED"
OUTCOME = "OUTCOME_NOT_DERIVED"
H10 = "H10_COUNTS_DO_NOT_RECOMPUTE"
BAD = "BAD_VALUE"
P = "/predicate"
_CELLS: dict[str, list[certification_plan.Cell]] = {}


def _cells(plan: dict[str, Any]) -> list[certification_plan.Cell]:
    key = repr(sorted(plan.items()))
    if key not in _CELLS:
        _CELLS[key] = list(certification_plan.cells(plan))
    return _CELLS[key]


@pytest.fixture(autouse=True)
def _plans_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the cells of a plan once: hundreds of verifications share four plans."""
    monkeypatch.setattr(detection, "cells", _cells)


@pytest.fixture(scope="module")
def folded() -> dict[str, Any]:
    """Give a predicate of trials that all came out as expected."""
    return predicate(made.records(), issued_at=made.ISSUED_AT, producer=made.PRODUCER)


@pytest.fixture
def stated(folded: dict[str, Any]) -> dict[str, Any]:
    """Give a statement to break."""
    told = copy.deepcopy(folded)
    return statement("detection", detection_subjects(told), told)


def at(folded: dict[str, Any], sort: str) -> str:
    """Give the pointer to the first trial that showed an observation of a sort."""
    shown = [one["shown"] and one["shown"]["sort"] for one in folded["trials"]]
    return f"/trials/{shown.index(sort)}"


def test_both_sides_agree(stated: dict[str, Any], folded: dict[str, Any]) -> None:
    told = judge(stated)
    assert (told.verdict, told.counts) == ("DETECTED", folded["counts"])
    assert folded["counts"]["visible"] >= 8
    assert all(folded["counts"][f"shown_{sort}"] for sort in made.SORTS)
    assert any(line.startswith("blind: exp_cut_short: ") for line in told.lines)


DERIVED = [
    ("/mutation_sha256", "0" * 64, COVERAGE),
    ("/certification_sha256", "0" * 64, COVERAGE),
    ("/plan/repeats", 2, COVERAGE),
    ("/plan/filler", ["fixed"], COVERAGE),
    ("/plan/cases", ["prefix_equal"], COVERAGE),
    ("/plan/cache", ["warm"], COVERAGE),
    ("/plan/observable", "tokens", COVERAGE),
    ("/plan/lifetimes", 2, COVERAGE),
    ("/plan/positive", "mode_off", BAD),
    ("/plan/offers", ["stream", "logprobs"], BAD),
    ("/contexts", [1280], COVERAGE),
    ("/contexts/0", 64, COVERAGE),
    ("/trials/0/name", "none_crowded", COVERAGE),
    ("/trials/0/lifetimes", 19, COVERAGE),
    ("/trials/0/expected", "quiet", COVERAGE),
    ("/trials/0/server", "crowded", COVERAGE),
    ("/trials/2/mode", "invariant", COVERAGE),
    ("/trials/5/operator", None, COVERAGE),
    ("/trials/5/edits_sha256", "0" * 64, COVERAGE),
    ("/trials/5/command", "lockstep serve --tiny --port {port}", COVERAGE),
    ("/trials/5/elapsed_us", None, BAD),
    ("/trials/0/certificate", None, BAD),
    ("/trials/0/certificate/verdict", "DIVERGENT", OUTCOME),
    ("/trials/0/certificate/verdict", "INCONCLUSIVE", OUTCOME),
    ("/trials/0/certificate/counts/lifetimes", 19, H10),
    ("/trials/0/certificate/counts/cells_run", 1, H10),
    ("/trials/0/certificate/counts/failures", 1, H10),
    ("/trials/0/certificate/sha256", "0" * 64, "SUBJECT_MISMATCH"),
    ("/trials/0/outcome", "quiet", OUTCOME),
    ("/trials/6/outcome", "late", OUTCOME),
    ("/blind", [], OUTCOME),
    ("/not_run", [], OUTCOME),
    ("/verdict", "MISSED", OUTCOME),
]


@pytest.mark.parametrize(("pointer", "value", "code"), DERIVED, ids=lambda one: str(one)[:40])
def test_what_is_derived_cannot_be_stated(
    stated: dict[str, Any], pointer: str, value: object, code: str
) -> None:
    put(stated, P + pointer, value)
    got, where = refusal(stated)
    assert got == code
    assert code == "SUBJECT_MISMATCH" or where.startswith(f"{P}/{pointer.split('/')[1]}")


@pytest.mark.parametrize("sort", ["malformed", "failure", "reused"])
def test_what_shows_a_fault_is_in_no_clean_certificate(
    stated: dict[str, Any], folded: dict[str, Any], sort: str
) -> None:
    verdict = f"{P}{at(folded, sort)}/certificate/verdict"
    put(stated, verdict, "CLEAN")
    assert refusal(stated) == (OUTCOME, verdict)


def test_each_count_is_derived(stated: dict[str, Any], folded: dict[str, Any]) -> None:
    for name in folded["counts"]:
        forged = copy.deepcopy(stated)
        forged["predicate"]["counts"][name] += 1
        assert refusal(forged) == (H10, f"{P}/counts/{name}")


def test_no_trial_can_be_left_out(stated: dict[str, Any]) -> None:
    for place in (0, 1, 2, 3, 40, 85):
        forged = copy.deepcopy(stated)
        del forged["predicate"]["trials"][place]
        assert refusal(forged) == (COVERAGE, f"{P}/trials")


SHOWN = [
    ("difference", "/cell", 999, "/cell", BAD),
    ("difference", "/cell", 9, "/answers/0/cell", BAD),
    ("difference", "/cell", None, "/cell", BAD),
    ("difference", "/case", "prefix_below", "/case", OUTCOME),
    ("difference", "/control", "sequential", "/control", OUTCOME),
    ("difference", "/cache", "off", "/cache", OUTCOME),
    ("difference", "/filler", "none", "/filler", OUTCOME),
    ("difference", "/order", "rotated", "/order", OUTCOME),
    ("difference", "/scope", "lifetimes", "/scope", OUTCOME),
    ("difference", "/kind", "tokens", "/kind", OUTCOME),
    ("difference", "/position", 1, "/position", OUTCOME),
    ("difference", "/delta", "1.000e-02", "/delta", OUTCOME),
    ("difference", "/answers/1/number", 99, "/answers/1/number", BAD),
    ("difference", "/answers/1/lifetime", 1, "/answers/1/lifetime", BAD),
    ("difference", "/answers/1/place", 999, "/answers/1/place", BAD),
    ("difference", "/answers/1/place", 0, "/answers/1/place", BAD),
    ("difference", "/answers/1/cell", 0, "/answers/1/cell", BAD),
    ("difference", "/answers/1/cell", 999, "/answers/1/cell", BAD),
    ("difference", "/told", "words", "/told", BAD),
    ("difference", "/sort", "malformed", "/answers", BAD),
    ("difference", "/sort", "failure", "/failure", BAD),
    ("difference", "/sort", "no_answer", "/cell", BAD),
    ("rescoring", "/scope", "repeats", "/scope", OUTCOME),
    ("rescoring", "/position", 2, "/position", OUTCOME),
    ("rescoring", "/answers/1/number", 2, "/answers/1/number", BAD),
    ("rescoring", "/answers/1/place", 1, "/answers/1/place", BAD),
    ("rescoring", "/answers/0/output/prompt_logprobs", None, "/answers/0/output", BAD),
    ("malformed", "/kind", "shape", "/kind", OUTCOME),
    ("malformed", "/answers", [], "/answers", BAD),
    ("failure", "/failure/request", 999, "/failure/request", BAD),
    ("failure", "/failure/number", 9, "/failure/number", BAD),
    ("failure", "/failure", None, "/failure", BAD),
    ("reused", "/reused/cached", [16], "/reused/cached", BAD),
    ("reused", "/reused/number", 0, "/reused/number", BAD),
    ("reused", "/reused/lifetime", 3, "/reused/lifetime", BAD),
    ("reused", "/reused", None, "/reused", BAD),
    ("no_answer", "/told", "", "/told", BAD),
    ("no_answer", "/case", "prefix_equal", "/case", BAD),
]


@pytest.mark.parametrize(("sort", "member", "value", "where", "code"), SHOWN)
def test_what_is_shown_must_hold(
    stated: dict[str, Any],
    folded: dict[str, Any],
    sort: str,
    member: str,
    value: object,
    where: str,
    code: str,
) -> None:
    trial = at(folded, sort)
    put(stated, f"{P}{trial}/shown{member}", value)
    assert refusal(stated) == (code, f"{P}{trial}/shown{where}")


def test_what_does_not_differ_shows_nothing(stated: dict[str, Any], folded: dict[str, Any]) -> None:
    trial = P + at(folded, "difference")
    one = get(stated, f"{trial}/shown/answers/0/output")
    put(stated, f"{trial}/shown/answers/1/output", copy.deepcopy(one))
    assert refusal(stated) == (OUTCOME, f"{trial}/shown/kind")


def test_a_difference_behind_the_log_probabilities_has_no_delta(
    stated: dict[str, Any], folded: dict[str, Any]
) -> None:
    trial = P + at(folded, "difference")
    one, other = (get(stated, f"{trial}/shown/answers/{i}/output") for i in (0, 1))
    for output in (one, other):
        output["logprobs"] = output["logprobs"][:1]
        output["top"] = copy.deepcopy(one["top"])
    other["logprobs"] = list(one["logprobs"])
    other["top"][1][0]["logprob"] = "-9.75"
    put(stated, f"{trial}/shown/position", 1)
    put(stated, f"{trial}/shown/delta", "1.000e-02")
    assert refusal(stated) == (OUTCOME, f"{trial}/shown/delta")
    put(stated, f"{trial}/shown/delta", None)
    assert judge(stated).verdict == "DETECTED"


def test_an_answer_that_is_well_formed_shows_nothing(
    stated: dict[str, Any], folded: dict[str, Any]
) -> None:
    trial = P + at(folded, "malformed")
    output = get(stated, f"{trial}/shown/answers/0/output")
    output["logprobs"] = ["-0.5", *output["logprobs"]]
    assert refusal(stated) == (OUTCOME, f"{trial}/shown/sort")


def test_a_score_that_agrees_shows_nothing(stated: dict[str, Any], folded: dict[str, Any]) -> None:
    trial = P + at(folded, "rescoring")
    one, other = (get(stated, f"{trial}/shown/answers/{i}/output") for i in (0, 1))
    one["prompt_logprobs"][-len(other["logprobs"]) :] = other["logprobs"]
    assert refusal(stated) == (OUTCOME, f"{trial}/shown/kind")


def test_a_cache_that_is_not_used_shows_nothing(
    stated: dict[str, Any], folded: dict[str, Any]
) -> None:
    trial = P + at(folded, "reused")
    cached = get(stated, f"{trial}/shown/reused/cached")
    put(stated, f"{trial}/shown/reused/cached", [0] * len(cached))
    assert refusal(stated) == (OUTCOME, f"{trial}/shown/sort")


def changed(name: str, **members: Any) -> dict[str, Any]:
    """Give a predicate folded anew from records of which one is another."""
    records = made.records()
    one = next(record for record in records if record["name"] == name)
    one.update(members)
    return predicate(records, issued_at=made.ISSUED_AT, producer=made.PRODUCER)


def test_verdicts() -> None:
    every = {one.name: one for one in trials()}
    quiet = made.certificate(every["exp_cut_short"], "INCONCLUSIVE")
    alarm = made.record(every["none"], "difference")
    proxy = made.record(every["exp_cut_short"], "difference")
    missed = made.certificate(every["refcount_leak"], "INCONCLUSIVE")
    slow = 300_000_001
    cases = [
        ("none", {"shown": alarm["shown"], "certificate": alarm["certificate"]}, "FALSE_ALARM"),
        ("none", {"certificate": quiet}, "INCONCLUSIVE"),
        ("refcount_leak", {"shown": None, "certificate": missed}, "MISSED"),
        ("refcount_leak", {"elapsed_us": slow}, "MISSED"),
        ("exp_cut_short", {"certificate": quiet}, "INCONCLUSIVE"),
        (
            "exp_cut_short",
            {"shown": proxy["shown"], "certificate": proxy["certificate"]},
            "INCONCLUSIVE",
        ),
        ("fast", {"elapsed_us": slow}, "DETECTED"),
        (
            "fast",
            {"shown": alarm["shown"], "certificate": alarm["certificate"], "elapsed_us": slow},
            "DETECTED",
        ),
    ]
    for name, members, verdict in cases:
        told = changed(name, **members)
        assert told["verdict"] == verdict, (name, members.keys())
        assert judge(statement("detection", detection_subjects(told), told)).verdict == verdict


def test_less_seen_is_never_detected(stated: dict[str, Any]) -> None:
    """A verdict without what shows a fault, or with a control's taken away, is not DETECTED."""
    for trial in stated["predicate"]["trials"]:
        if trial["expected"] == "caught" and trial["shown"] is not None:
            trial["shown"] = None
            break
    assert refusal(stated)[0] in (OUTCOME, BAD)


def _leaves(value: Any, pointer: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for name, member in value.items():
            yield from _leaves(member, f"{pointer}/{name}")
    elif isinstance(value, list):
        for i, member in enumerate(value):
            yield from _leaves(member, f"{pointer}/{i}")
    else:
        yield pointer, value


def test_an_edit_is_refused_or_of_what_the_signer_says(
    stated: dict[str, Any], folded: dict[str, Any]
) -> None:
    """Any leaf that is changed and accepted is attested; what it says of verdicts stays true."""
    draw, schema_attested = random.Random(7), 0
    leaves = [(where, value) for where, value in _leaves(folded, P) if "/issued_at" not in where]
    for where, value in draw.sample(leaves, 150):
        forged = copy.deepcopy(stated)
        if isinstance(value, bool) or value is None:
            put(forged, where, not value)
        elif isinstance(value, int):
            put(forged, where, value + 1)
        else:
            put(forged, where, value[:-1] + ("0" if value[-1:] != "0" else "1"))
        try:
            told = judge(forged)
        except Exception as refused:
            assert type(refused).__name__ == "Refusal", (where, refused)
            continue
        schema_attested += 1
        assert told.verdict == "DETECTED"
        assert any(
            word in where
            for word in (
                "/producer/", "/server/", "/counts/", "/plan/", "/contexts/", "/elapsed_us",
                "/answers/", "/failure/", "/cached/", "/told", "/output/",
            )
        ), where  # fmt: skip
        assert not where.startswith(f"{P}/counts/")
    assert schema_attested


TRIAL = next(one for one in trials() if one.name == "neighbours_stop_tokens")
AT = f"{P}/trials/{[one.name for one in trials()].index(TRIAL.name)}"
KEY = Ed25519PrivateKey.from_private_bytes(b"1" * 32)


def launched(run: Seen, command: str = TRIAL.command) -> Seen:
    """Give a run whose server was started by a command."""
    launch = Launch(command, "3.11", (), ("up",))
    return replace(run, subject=Subject(run.subject.identity, launch, None))


def beside(folder: Path, run: Seen, **members: Any) -> dict[str, Any]:
    """Give a statement, the certificate of one of its trials being put into a folder.

    Args:
        folder: of the evidence.
        run: of the trial.
        members: of its record that are other than the run's.
    """
    issued = issue_certification(run, [KEY], issued_at=made.ISSUED_AT, command="none")
    path = folder / "detection" / f"{TRIAL.name}.cert.json"
    path.parent.mkdir()
    path.write_bytes(issued.certificate)
    told = {name: issued.predicate[name] for name in ("verdict", "counts")}
    told["sha256"] = hashlib.sha256(issued.certificate).hexdigest()
    given = {"certificate": told, "shown": observed(run), **members}
    folded = changed(TRIAL.name, **given)
    return statement("detection", detection_subjects(folded), folded)


@pytest.fixture
def evidence(tmp_path: Path) -> tuple[dict[str, Any], Path]:
    """Give a statement, and a folder with the certificate of one of its trials."""
    run = launched(made.seen(made.plan(TRIAL), "prefix_equal", made.differing))
    return beside(tmp_path, run), tmp_path


def test_certificates_at_hand_are_derived(evidence: tuple[dict[str, Any], Path]) -> None:
    stated, folder = evidence
    held = sum(one["certificate"] is not None for one in stated["predicate"]["trials"])
    assert judge(stated, evidence=folder).lines[-1].endswith(f": 1 of {held}")
    assert judge(stated).lines[-1].endswith(f": 0 of {held}")


def test_a_certificate_at_hand_must_say_the_same(evidence: tuple[dict[str, Any], Path]) -> None:
    stated, folder = evidence
    place = next(
        i
        for i, one in enumerate(stated["predicate"]["trials"])
        if one["name"] == "neighbours_stop_tokens"
    )
    trial = f"{P}/trials/{place}"
    forged = copy.deepcopy(stated)
    put(forged, f"{trial}/certificate/counts/rounds", 1)
    assert refusal(forged, evidence=folder) == (OUTCOME, f"{trial}/certificate")
    forged = copy.deepcopy(stated)
    put(forged, f"{trial}/shown/answers/1/output/top", None)
    put(forged, f"{trial}/shown/kind", "shape")
    put(forged, f"{trial}/shown/position", None)
    put(forged, f"{trial}/shown/delta", None)
    assert judge(forged).verdict == "DETECTED"
    assert refusal(forged, evidence=folder) == (OUTCOME, f"{trial}/certificate")
    path = next((folder / "detection").iterdir())
    path.write_bytes(path.read_bytes() + b"\n")
    code, where = refusal(stated, evidence=folder)
    assert (code, where) == ("EVIDENCE_DIGEST_MISMATCH", f"{trial}/certificate/sha256")


def test_a_certificate_at_hand_is_of_the_trials_server_and_plan(tmp_path: Path) -> None:
    plan = made.plan(TRIAL)
    runs = (
        launched(made.seen(plan, "prefix_equal", made.differing), "lockstep serve --tiny"),
        launched(made.seen({**plan, "context": 1281}, "prefix_equal", made.differing)),
    )
    for i, run in enumerate(runs):
        folder = tmp_path / str(i)
        folder.mkdir()
        stated = beside(folder, run)
        assert judge(stated).verdict == "DETECTED"
        assert refusal(stated, evidence=folder) == (OUTCOME, f"{AT}/certificate")


def test_a_verdict_is_not_the_signers_where_the_certificate_is_at_hand(tmp_path: Path) -> None:
    run = launched(made.seen(made.plan(TRIAL), "prefix_equal", made.differing))
    stated = beside(tmp_path, run, shown=None)
    put(stated, f"{AT}/certificate/verdict", "INCONCLUSIVE")
    assert judge(stated).verdict == "MISSED"
    assert refusal(stated, evidence=tmp_path) == (OUTCOME, f"{AT}/certificate")


@pytest.mark.parametrize(
    ("sort", "at", "value"),
    [("failure", "failure/detail", "another end"), ("reused", "reused/cached/0", 17)],
)
def test_what_is_shown_stands_in_the_certificate(
    tmp_path: Path, sort: str, at: str, value: object
) -> None:
    twist = made.failing if sort == "failure" else None
    run = launched(made.seen(made.plan(TRIAL), "prefix_equal", twist))
    stated = beside(tmp_path, made.reusing(run) if sort == "reused" else run)
    assert get(stated, f"{AT}/shown/sort") == sort
    judge(stated, evidence=tmp_path)
    put(stated, f"{AT}/shown/{at}", value)
    judge(stated)
    assert refusal(stated, evidence=tmp_path) == (OUTCOME, f"{AT}/certificate")


@pytest.mark.parametrize("code", ["PREDICATE_UNKNOWN", "SUBJECT_MISMATCH"])
def test_a_certificate_at_hand_is_one_by_itself(
    evidence: tuple[dict[str, Any], Path], code: str
) -> None:
    """One of another kind, or of another specification, is refused with its own code."""
    stated, folder = evidence
    path = folder / "detection" / f"{TRIAL.name}.cert.json"
    held = copy.deepcopy(stated)
    if code == "SUBJECT_MISMATCH":
        held = json.loads(base64.b64decode(json.loads(path.read_bytes())["payload"]))
        held["subject"][0]["digest"]["sha256"] = "0" * 64
    path.write_bytes(sign_statement(held, [KEY]))
    put(stated, f"{AT}/certificate/sha256", hashlib.sha256(path.read_bytes()).hexdigest())
    assert refusal(stated, evidence=folder) == (code, f"{AT}/certificate")


def test_a_round_that_the_certificate_lacks_shows_nothing(
    evidence: tuple[dict[str, Any], Path],
) -> None:
    stated, folder = evidence
    name = "neighbours_stop_tokens"
    place = [one["name"] for one in stated["predicate"]["trials"]].index(name)
    trial = f"{P}/trials/{place}"
    shown = get(stated, f"{trial}/shown")
    cells = planned(made.plan(next(one for one in trials() if one.name == name)))
    at = next(
        i
        for i, one in enumerate(cells)
        if one.case != shown["case"] and one.control is None and one.cache == shown["cache"]
    )
    shown |= {"cell": at, "case": cells[at].case, "scope": "repeats"}
    shown |= {"filler": cells[at].filler, "order": cells[at].order}
    for number, answer in enumerate(shown["answers"]):
        answer |= {"cell": at, "lifetime": 0, "number": number, "place": 0}
    assert judge(stated).verdict == "DETECTED"
    assert refusal(stated, evidence=folder) == (OUTCOME, f"{trial}/certificate")


def test_the_plan_is_the_certification_schema_s() -> None:
    mine, theirs = (
        json.loads(Path(f"spec/schemas/{kind}.schema.json").read_text())["$defs"]
        for kind in ("detection", "certification")
    )
    assert mine["plan"] == theirs["plan"]
    assert mine["output"] == theirs["output"]
    assert mine["certification_counts"]["properties"] == theirs["counts"]["properties"]


def test_every_place_is_of_the_same_cell_on_both_sides(folded: dict[str, Any]) -> None:
    for trial in list(trials())[:4]:
        plan = made.plan(trial)
        assert [one.requests_sha256 for one in planned(plan)] == [
            one.sha256 for one in _cells(plan)
        ]


def test_a_signed_certificate_is_lcj(stated: dict[str, Any]) -> None:
    certificate = sign_statement(stated, [Ed25519PrivateKey.generate()])
    assert lcj.encode(stated)
    assert len(certificate) < 400_000
    assert CellSeen((), "interrupted").rounds == ()
