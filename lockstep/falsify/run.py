"""Carry out every registered falsification against a draft of a hunt."""

from typing import Any

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
    surroundings,
)
from lockstep.falsify.forge import Forge
from lockstep.falsify.registry import entries
from lockstep.falsify.trial import Answer, Setting, Trial, holding, judge

_UNCHANGED = "the-draft-itself"
_LEMMAS = "the-lemmas-themselves"
_ESCAPES = "terminal-escapes-in-a-detail"


def run(
    predicate: dict[str, Any], subjects: list[dict[str, Any]], issued_at: str
) -> list[dict[str, str]]:
    """Run the registered falsifications and give `{name, expected, actual}` for each, in order.

    Nothing of the draft is changed. The keys that mutants are signed with are made now and thrown
    away.

    Args:
        predicate: a complete hunt; its falsifications are `registry.placeholders()`.
        subjects: the statement's subjects.
        issued_at: the draft's time, which is the verifier's clock in every trial.

    Raises:
        LockstepError: H9_GUARD_FAILED_OPEN, the verifier refuses the draft itself, so that no
            refusal of a mutant would say anything; H6 or H14, the draft has no exact or no
            REFUSED row to mutate.
    """
    _require_rows(predicate)
    forge = Forge(statement("hunt", subjects, {**predicate, "issued_at": issued_at}), issued_at)
    answers = judge(trials(forge), issued_at)
    for name in (_UNCHANGED, _LEMMAS):
        if answers[name].code != "OK":
            hint = f"Correct {name.replace('-', ' ')}: lockstep-verify says more about it."
            got = answers[name].code
            raise LockstepError("H9_GUARD_FAILED_OPEN", "/falsifications", "OK", got, hint)
    outcomes = engines.outcomes()
    return [
        {
            "name": entry.name,
            "expected": entry.expected,
            "actual": outcomes.get(entry.name) or _actual(answers, entry.name),
        }
        for entry in entries()
    ]


def trials(forge: Forge) -> list[Trial]:
    """Give the trials of a draft: the draft itself, and every mutant of a finished certificate."""
    usual = Setting(encode(forge.policy()))
    made = {_UNCHANGED: forge.signed(forge.payload)}
    for name, mutate in (content.MUTATIONS | declarations.MUTATIONS).items():
        draft = forge.draft()
        mutate(draft)
        made[name] = forge.signed(encode(draft))
    for name, edit in payload_text.EDITS.items():
        made[name] = forge.signed(edit(forge.payload))
    for name, make in envelopes.MADE.items():
        made[name] = make(forge)
    for name, mutate_lemmas in lemmas.MUTATIONS.items():
        made[name] = forge.signed(encode(lemmas.mutant(forge.issued_at, mutate_lemmas)))
    made[_LEMMAS] = forge.signed(encode(lemmas.draft(forge.issued_at)))
    return [
        *(Trial(name, holding(data), usual) for name, data in made.items()),
        *surroundings.file_trials(forge),
        *surroundings.policy_trials(forge),
        *surroundings.condition_trials(forge),
        surroundings.escape_trial(forge),
    ]


def _require_rows(predicate: dict[str, Any]) -> None:
    verdicts = {row["verdict"] for row in predicate["rows"]}
    if not verdicts & set(content.EXACT):
        raise LockstepError("H6_HUNT_FOUND_NOTHING", "/rows", "an exact row", "none")
    if "REFUSED" not in verdicts:
        hint = "Add a layout to the set that cannot convert into the anchor."
        raise LockstepError("H14_NO_FRONTIER", "/rows", "a REFUSED row", "none", hint)


def _actual(answers: dict[str, Answer], name: str) -> str:
    """Give what a falsification met; one that nothing carries out has met nothing."""
    if name in surroundings.CONDITIONS:
        lie = next(e.expected for e in entries() if e.name == "verdict-relabelled")
        return surroundings.condition_code(answers, name, lie)
    if name not in answers:
        return "INTERNAL"
    return surroundings.escape_code(answers[name]) if name == _ESCAPES else answers[name].code
