"""The observers of the matrix, in the order of its columns [MUT-6].

Each has a blind spot of its own. Relations compare the engine with itself, so what is the same
under every schedule is nothing to them; F1 compares with binary64, within bounds, by the model's
own code; golden bytes compare with what the engine gave before, and know no right or wrong. Two
more are no observers at all, and show what the matrix would say of such.
"""

from __future__ import annotations

from lockstep.engine.opening import Opened, open_model
from lockstep.errors import LockstepError
from lockstep.fidelity.corpus import require_corpus
from lockstep.fidelity.golden import Golden, compare, golden, read_baseline
from lockstep.fidelity.judge import measures
from lockstep.fidelity.measure import measure
from lockstep.fidelity.observe import REFERENCE
from lockstep.mutation import sentinel
from lockstep.mutation.observer import Observer, Seen, Setting
from lockstep.mutation.trajectory import TRAJECTORY
from lockstep.relations.observation import Difference
from lockstep.relations.registry import RELATIONS
from lockstep.relations.relation import Relation
from lockstep.relations.relation import observe as run_relation

SEED = 1
"""Of the relations' draws."""

AGREES = Seen("agrees")


def relation(chosen: Relation) -> Observer:
    """Give a relation as an observer: its run ends with the first difference.

    A run that exercised nothing of what it must is no agreement: on the engine as it is, it does.
    """

    def look(setting: Setting) -> Seen:
        seen = run_relation(
            chosen,
            setting.model,
            setting.folder,
            setting.subject,
            setting.block_size,
            SEED,
            stop=True,
        )
        if seen.outcome == "violated":
            return Seen("differs", "", seen.first_difference)
        if seen.outcome == "vacuous":
            return _differs("the run", "vacuous", "no zero counter", seen.reason)
        return AGREES if seen.outcome == "holds" else Seen("not_run", seen.reason)

    return Observer(chosen.name, look)


def fidelity(setting: Setting) -> Seen:
    """Look at the seven measures of F1 over the corpus; a prompt counts as a step."""
    opened, reference = _open(setting), open_model(setting.folder, REFERENCE)
    measured = measure(opened.model, reference.model, lambda what, done, whole: sentinel.step())
    records = tuple(record for prompt in measured for record in prompt.records)
    for found in measures(records, opened.model.backend.dtype):
        if not found.holds:
            bound = f"{found.limit} {found.bound}"
            return _differs("the corpus", found.name, bound, str(found.value))
    return AGREES


def golden_bytes(setting: Setting) -> Seen:
    """Compare the corpus, prompt by prompt, with the baseline; a prompt counts as a step."""
    opened = _open(setting)
    (baseline,) = read_baseline(setting.golden)
    for prompt in require_corpus(opened.model):
        sentinel.step()
        one = Golden(baseline.model, baseline.binding, {prompt.id: baseline.prompts[prompt.id]})
        try:
            found = compare([one], [golden(opened, [prompt])])
        except LockstepError as fault:
            if fault.code != "GOLDEN_MISMATCH":
                raise
            return _differs(f"prompt {prompt.id}", "golden", str(fault.expected), str(fault.got))
        if found.not_comparable:
            return Seen("not_run", "; ".join(found.reasons))
    return AGREES


def always_pass(setting: Setting) -> Seen:
    """Agree with everything; whatever this kills, the matrix is wrong."""
    return AGREES


def always_fail(setting: Setting) -> Seen:
    """Differ from everything, the engine as it is among it, so that no kill of its counts."""
    return _differs("nothing", "nothing", "nothing", "nothing")


def _open(setting: Setting) -> Opened:
    return open_model(setting.folder, setting.model.backend.name, setting.model.backend.dtype)


def _differs(execution: str, part: str, expected: str, got: str) -> Seen:
    return Seen("differs", "", Difference(execution, "", None, None, part, expected, got))


OBSERVERS = (
    *(relation(chosen) for chosen in RELATIONS.values()),
    Observer("F1", fidelity),
    Observer("GOLDEN", golden_bytes),
    TRAJECTORY,
    Observer("ALWAYS-PASS", always_pass),
    Observer("ALWAYS-FAIL", always_fail),
)
"""All observers, the baselines last."""
