"""Made-up records of relations that all hold; a test changes one."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any

from lockstep.claims.invariance import predicate
from lockstep.engine.backends import open_backend
from lockstep.engine.digest import framed
from lockstep.engine.environment import environment
from lockstep.lifecycle.relation import observed_n_grams
from lockstep.relations.catalogue import controls, declared
from lockstep.relations.observation import Difference, Observation, Subject

LOG = ("admit", "chunk", "chunk", "decode", "decode", "preempt_rc", "resume", "decode", "finish")
PRODUCER = dict.fromkeys(("name", "version", "python", "numpy", "machine", "command"), "test")
CHECKPOINT = "ab" * 32


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


class Records:
    """Runs of every relation at every block size, and the controls."""

    def __init__(self) -> None:
        self.environment = environment(open_backend("host"), "float32", {})
        digest = framed("lockstep/model/1", bytes.fromhex(CHECKPOINT), b"float32").hex()
        recipe = {"seed": 0, "head_dim": 16, "dtype": "float32", "tied": False}
        self.model = {
            "sha256": CHECKPOINT,
            "stored_dtype": "float32",
            "dtype": "float32",
            "vocab_size": 256,
            "recipe": recipe,
        }
        binding = self.environment["binding_sha256"]
        self.subject = Subject("host", "float32", digest, binding, "5" * 64)
        self.runs = [
            self._holding(name, size, self.subject)
            for name, one in declared().items()
            for size in one.block_sizes
        ]
        required, other = controls()
        caught = self._holding(
            required.relation, required.block_size, replace(self.subject, backend=required.backend)
        )
        missed = self._holding(
            other.relation, other.block_size, replace(self.subject, backend=other.backend)
        )
        difference = Difference("batch of 2", "r1", 17, None, "logits", "1", "2")
        self.controls = [
            replace(caught, outcome="violated", differences=2, first_difference=difference),
            missed,
        ]

    @staticmethod
    def _holding(name: str, size: int, subject: Subject) -> Observation:
        grams = observed_n_grams(LOG, 2) + observed_n_grams(LOG, 3)
        executed = name != "KERNEL-EQ"
        return Observation(
            relation=name,
            block_size=size,
            seed=0,
            subject=subject,
            outcome="holds",
            workloads=tuple(sorted({sha256(name), sha256("shared")})) if executed else (),
            schedules=(sha256(f"{name} {size}"),) if executed else (),
            executions=2 * executed,
            requests=3 * executed,
            positions=100,
            counters=dict.fromkeys(declared()[name].counters, 4),
            n_grams=dict(grams) if executed else {},
        )

    def run(self, name: str, size: int) -> Observation:
        """Give a run."""
        return self.runs[self.place(name, size)]

    def place(self, name: str, size: int) -> int:
        """Give a run's place, which is that in the certificate too."""
        return [(run.relation, run.block_size) for run in self.runs].index((name, size))

    def change(self, name: str, size: int, first: bool = False, **members: Any) -> None:
        """Change members of a run."""
        difference = Difference("an execution", "r0", 3, 1, "keys", "1", "2") if first else None
        if members.get("outcome") == "not_run":
            members = {
                "workloads": (), "schedules": (), "executions": 0, "requests": 0, "positions": 0,
                "counters": {}, "n_grams": {}, **members,
            }  # fmt: skip
        if members.get("outcome") == "vacuous":
            members = {"positions": 0, **members}
        self.runs[self.place(name, size)] = replace(
            self.run(name, size), first_difference=difference, **members
        )

    def drop(self, name: str, size: int) -> None:
        """Leave a run out."""
        del self.runs[self.place(name, size)]

    def arguments(self) -> dict[str, Any]:
        """Give what the fold takes."""
        return {
            "observations": self.runs,
            "controls": self.controls,
            "model": self.model,
            "model_digest": self.subject.model_digest,
            "environment": self.environment,
            "issued_at": "2026-05-01T00:00:00Z",
            "producer": PRODUCER,
        }

    def fold(self) -> dict[str, Any]:
        """Give the predicate."""
        return predicate(**self.arguments())
