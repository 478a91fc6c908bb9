"""Every falsification meets its code, and one that nothing catches is said to have failed."""

import copy
import importlib
import subprocess

import pytest

from lockstep.certificate.lcj import encode
from lockstep.certificate.statement import statement
from lockstep.errors import LockstepError
from lockstep.falsify import (
    content,
    declarations,
    engines,
    envelopes,
    lemmas,
    payload_text,
    run,
    surroundings,
)
from lockstep.falsify.forge import Forge
from lockstep.falsify.registry import entries
from lockstep.falsify.surroundings import escape_code
from lockstep.falsify.trial import Answer, Setting, Trial, holding, judge

# The package's `run` is the function.
run_module = importlib.import_module("lockstep.falsify.run")


def failed(results):
    return {result["name"] for result in results if result["actual"] != result["expected"]}


def test_every_falsification_meets_its_code(draft, arguments):
    before = copy.deepcopy(draft)
    results = run(*arguments(draft))
    assert [(r["name"], r["expected"]) for r in results] == [
        (entry.name, entry.expected) for entry in entries()
    ]
    assert failed(results) == set()
    assert draft == before


def test_a_mutation_that_does_nothing_fails(small_draft, arguments, monkeypatch):
    idle = {}
    for module in (content, declarations, lemmas):
        idle |= {name: (lambda statement: None) for name in module.MUTATIONS}
        monkeypatch.setattr(module, "MUTATIONS", dict.fromkeys(module.MUTATIONS, lambda s: None))
    edits = dict.fromkeys(payload_text.EDITS, lambda payload: payload)
    monkeypatch.setattr(payload_text, "EDITS", edits)
    made = dict.fromkeys(envelopes.MADE, lambda forge: forge.signed(forge.payload))
    monkeypatch.setattr(envelopes, "MADE", made)
    assert failed(run(*arguments(small_draft))) == {*idle, *edits, *made}


def test_surroundings_that_are_as_usual_fail(small_draft, arguments, monkeypatch):
    real = run_module.trials

    def idle(forge):
        usual, good = Setting(encode(forge.policy())), holding(forge.signed(forge.payload))
        names = [trial.name for trial in real(forge)]
        return [Trial(name, good, usual, name.replace("/", "-")) for name in names]

    monkeypatch.setattr(run_module, "trials", idle)
    monkeypatch.setattr(engines, "OUTCOMES", {})
    assert failed(run(*arguments(small_draft))) == {entry.name for entry in entries()}


def test_silence_is_no_refusal(small_draft, arguments, monkeypatch):
    real = subprocess.run

    def silent(command, **options):
        done = real(command, **options)
        if "fifo" in " ".join(command):
            done.stdout = done.stdout[: len(done.stdout) // 2]
        return done

    monkeypatch.setattr(subprocess, "run", silent)
    with pytest.raises(LockstepError) as caught:
        run(*arguments(small_draft))
    assert caught.value.code == "H9_GUARD_FAILED_OPEN"
    assert caught.value.got == "INTERNAL"


def test_a_draft_that_is_refused_itself_proves_nothing(small_draft, arguments):
    draft = copy.deepcopy(small_draft)
    draft["counts"]["rows"] += 1
    with pytest.raises(LockstepError) as caught:
        run(*arguments(draft))
    assert caught.value.code == "H9_GUARD_FAILED_OPEN"
    assert caught.value.got == "H10_COUNTS_DO_NOT_RECOMPUTE"


@pytest.mark.parametrize(
    ("kept", "code"),
    [({"REFUSED"}, "H6_HUNT_FOUND_NOTHING"), ({"EXACT_BYTE"}, "H14_NO_FRONTIER")],
)
def test_a_draft_without_targets_is_refused(small_draft, arguments, kept, code):
    draft = copy.deepcopy(small_draft)
    draft["rows"] = [row for row in draft["rows"] if row["verdict"] in kept]
    with pytest.raises(LockstepError) as caught:
        run(*arguments(draft))
    assert caught.value.code == code


def test_a_file_changes_while_it_is_read_where_there_is_no_proc(
    small_draft, arguments, monkeypatch, tmp_path
):
    monkeypatch.setattr(surroundings, "_GROWING", tmp_path / "absent")
    draft, subjects, issued_at = arguments(small_draft)
    forge = Forge(statement("hunt", subjects, draft), issued_at)
    name = "file-that-is-not-as-long-as-it-says"
    trials = [trial for trial in surroundings.file_trials(forge) if trial.name == name]
    assert judge(trials, issued_at)[name].code == "FILE_CHANGED"


@pytest.mark.parametrize(
    ("report", "code"),
    [
        (b"OK \\u{1b}[2J.cert.json\n", "OK"),
        (b"OK \x1b[2J.cert.json\n", "INTERNAL"),
        (b"OK \\u{1b}[2J \x1b.cert.json\n", "INTERNAL"),
        (b"OK plain.cert.json\n", "INTERNAL"),
    ],
)
def test_terminal_escapes_must_be_shown_escaped(report, code):
    assert escape_code(Answer("OK", report)) == code


def test_a_draft_without_exact_token_rows_has_its_verdict_lowered(small_draft):
    statement = {"predicate": copy.deepcopy(small_draft)}
    rows = statement["predicate"]["rows"]
    statement["predicate"]["rows"] = [row for row in rows if row["verdict"] != "EXACT_TOKEN"]
    content.verdict_relabelled(statement)
    assert not any(row["verdict"] == "EXACT_BYTE" for row in statement["predicate"]["rows"])


@pytest.mark.parametrize("name", sorted(engines.OUTCOMES))
def test_a_broken_premise_shows_nothing(name, monkeypatch):
    from dataclasses import replace

    real = engines._observed

    def without_observations(*arguments, **options):
        return replace(
            real(*arguments, **options),
            forward_reproduces_target=None,
            roundtrip_byte_identical=None,
            tokens_identical=None,
        )

    monkeypatch.setattr(engines, "_observed", without_observations)
    frontier = {"mla-destination", "tp-shard-destination", "x16-destination"}
    expected = next(entry.expected for entry in entries() if entry.name == name)
    outcome = engines.OUTCOMES[name]()
    assert outcome == (expected if name in frontier else "INTERNAL")
