"""What a run of a relation observed, as a plain record [REL-4] to [REL-6]."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from lockstep import portable_schema, spec
from lockstep.relations.catalogue import Declared

VERSION = 1
"""The version of the record."""

TEXT_CHARACTERS = 400
"""The longest text of a record."""


class Difference(NamedTuple):
    """Where what was compared first differs.

    Attributes:
        execution: which execution of the run, in words.
        request: the request's id; empty where the comparison is of a whole execution.
        position: the token's place in its sequence, or the step; None where there is none.
        layer: the layer, where a layer's keys or values differ.
        part: what differs: `tokens`, `logits`, `keys`, a part of a trajectory, and so on.
        expected: what stands on the reference's side, shortened.
        got: what stands on the other side, shortened.
    """

    execution: str
    request: str
    position: int | None
    layer: int | None
    part: str
    expected: str
    got: str

    def document(self) -> dict[str, Any]:
        """Give the difference as it stands in a record."""
        texts = ("execution", "request", "expected", "got")
        return {**self._asdict(), **{name: plain(getattr(self, name)) for name in texts}}


@dataclass(frozen=True)
class Subject:
    """What a run is about, by digest; a run is not comparable with one of another subject.

    Attributes:
        backend: the backend's name.
        dtype: its compute dtype.
        model_digest: of weights and compute dtype [ENG-8], in hex.
        binding_sha256: of the LCJ of what can change the backend's bits.
        sources_sha256: of the producer's sources and of relations.json.
    """

    backend: str
    dtype: str
    model_digest: str
    binding_sha256: str
    sources_sha256: str


@dataclass(frozen=True)
class Observation:
    """A run of a relation.

    Attributes:
        relation: the relation's name.
        block_size: of the run's pools.
        seed: that its workloads and draws came from.
        subject: the model on its backend.
        outcome: `holds`, `violated`, `vacuous` or `not_run` [REL-5].
        reason: why it is vacuous or not run; else empty.
        workloads: digests of the workloads that were executed, ascending.
        schedules: digests of the schedules, ascending.
        executions: executions that were compared, those of the reference not among them.
        requests: requests whose outcome was compared, over all executions.
        positions: comparisons, each bit for bit.
        differences: how many of them differ.
        first_difference: the first of these.
        counters: what the executions exercised, by name.
        n_grams: how often requests showed each pair and triple of events [LIFE-3].
    """

    relation: str
    block_size: int
    seed: int
    subject: Subject
    outcome: str
    reason: str = ""
    workloads: tuple[str, ...] = ()
    schedules: tuple[str, ...] = ()
    executions: int = 0
    requests: int = 0
    positions: int = 0
    differences: int = 0
    first_difference: Difference | None = None
    counters: Mapping[str, int] = field(default_factory=dict)
    n_grams: Mapping[tuple[str, ...], int] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """Give the record as a JSON value, in the one form that it has."""
        first = self.first_difference
        return {
            "version": VERSION,
            "relation": self.relation,
            "block_size": self.block_size,
            "seed": self.seed,
            "backend": self.subject.backend,
            "dtype": self.subject.dtype,
            "model_digest": self.subject.model_digest,
            "binding_sha256": self.subject.binding_sha256,
            "sources_sha256": self.subject.sources_sha256,
            "outcome": self.outcome,
            "reason": plain(self.reason),
            "workloads": list(self.workloads),
            "schedules": list(self.schedules),
            "executions": self.executions,
            "requests": self.requests,
            "positions": self.positions,
            "differences": self.differences,
            "first_difference": None if first is None else first.document(),
            "counters": [
                {"name": name, "value": value} for name, value in sorted(self.counters.items())
            ],
            "n_grams": [
                {"events": list(events), "count": count}
                for events, count in sorted(
                    self.n_grams.items(), key=lambda item: (len(item[0]), item[0])
                )
            ],
        }


def judge(
    relation: Declared, positions: int, differences: int, counters: Mapping[str, int]
) -> tuple[str, str]:
    """Give outcome and reason of a run that took place [REL-5]."""
    if differences:
        return "violated", ""
    zero = [name for name in relation.counters if not counters.get(name)]
    if positions == 0:
        zero.insert(0, "positions")
    if zero:
        return "vacuous", f"zero: {', '.join(zero)}"
    return "holds", ""


def parse_observation(document: dict[str, Any], place: str = "") -> Observation:
    """Give the observation of a record; `place` names it in errors.

    Raises:
        LockstepError: WRONG_TYPE, BAD_VALUE, UNKNOWN_FIELD or MISSING_FIELD, by the schema.
    """
    schema = spec.load("schemas/relation-run.schema.json")
    portable_schema.require(document, schema, place)
    first = document["first_difference"]
    subject = Subject(*(document[name] for name in Subject.__dataclass_fields__))
    return Observation(
        relation=document["relation"],
        block_size=document["block_size"],
        seed=document["seed"],
        subject=subject,
        outcome=document["outcome"],
        reason=document["reason"],
        workloads=tuple(document["workloads"]),
        schedules=tuple(document["schedules"]),
        executions=document["executions"],
        requests=document["requests"],
        positions=document["positions"],
        differences=document["differences"],
        first_difference=None if first is None else Difference(**first),
        counters={entry["name"]: entry["value"] for entry in document["counters"]},
        n_grams={tuple(entry["events"]): entry["count"] for entry in document["n_grams"]},
    )


def plain(text: str) -> str:
    """Give a text as a record may hold it: printable ASCII, not too long."""
    shown = "".join(c if " " <= c <= "~" else "?" for c in text)
    return shown if len(shown) <= TEXT_CHARACTERS else f"{shown[: TEXT_CHARACTERS - 3]}..."
