"""Made-up records of relations that all hold, as runs could leave them; a test changes one."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any

from lockstep.claims.invariance import predicate
from lockstep.engine.backends import open_backend
from lockstep.engine.digest import framed
from lockstep.engine.environment import binding_sha256, environment
from lockstep.lifecycle.relation import observed_n_grams
from lockstep.relations.catalogue import controls, declared
from lockstep.relations.observation import Difference, Observation, Subject

LOG = (
    "admit", "cache_hit", "chunk", "evict", "chunk", "decode", "decode", "preempt_rc", "resume",
    "decode", "finish",
)  # fmt: skip
"""The log of every request; each execution has one, but for those of MR1."""
REQUESTS = 24
"""Requests of a run's executions, where a relation does not ask for another number."""
EACH = {
    "steps": 5, "rows": 170, "output_rows": 3, "admissions": 1, "cache_hits": 1, "hit_blocks": 1,
    "chunks": 2, "decodes": 3, "evictions": 1, "preemptions": 1, "resumes": 1, "finishes": 1,
    "published_blocks": 1,
}  # fmt: skip
"""What each request counted."""
ENGINE = {
    "batches": 31, "shared_batches": 7, "batch_rows_max": 100, "batch_requests_max": 8,
    "foreign_hit_blocks": 12, "recomputed_rows": 40, "split_rows": 20, "splits_crossed": 2,
    "drawn_tokens": 30, "stopped": 0,
}  # fmt: skip
"""What else a run counted, whatever its relation."""
OWN: dict[str, dict[str, int]] = {
    "MR1": {
        "batches": 80, "shared_batches": 70,
        **{f"batches_of_{n}": 10 for n in (1, 2, 3, 4, 8, 16, 31, 32)},
    },
    "EOS": {"stopped": 6},
    "MR7": {"neighbour_seed": 4, "neighbour_sampling": 8},
    "MR6": {"shapes": 8, "replays": 16},
    "MR6-PROCESS": {"processes": 6, "hash_seeds": 6},
    "NEVER-FITS": {"filled_pools": 4, "refused_prompts": 10, "refused_outputs": 10},
    "BLOCK-SIZE": {"block_sizes_compared": 96},
    "PATH-EQ": {
        "served_positions": 72, "whole_positions": 4080, "chunked_positions": 4080,
        "single_positions": 10,
    },
    "KERNEL-EQ": {"kernels": 13, "shapes": 57},
}  # fmt: skip
"""Counters of a relation's own that are not 1."""
POSITIONS = {
    "MR1": 776, "MR4": 120, "MR4b": 120, "MR6": 160, "MR6-PROCESS": 384, "PATH-EQ": 4234,
    "BLOCK-SIZE": 480, "NEVER-FITS": 116, "NO-STARVATION": 120, "KERNEL-EQ": 57,
}  # fmt: skip
"""Positions of a run, where they are not its outputs and their endings."""
COMPARED = {"MR1": 194, "MR6": 16, "MR6-PROCESS": 0, "BLOCK-SIZE": 120, "KERNEL-EQ": 0}
PRODUCER = dict.fromkeys(("name", "version", "python", "numpy", "machine", "command"), "test")
CHECKPOINT = "ab" * 32


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def holding(name: str, size: int, subject: Subject, seed: int = 0) -> Observation:
    """Give the record of a run that holds."""
    relation = declared()[name]
    requests, executions = (194, 16) if name == "MR1" else (REQUESTS, REQUESTS)
    grams = {
        gram: requests * count for n in (2, 3) for gram, count in observed_n_grams(LOG, n).items()
    }
    engine = {**ENGINE, **{counter: requests * each for counter, each in EACH.items()}}
    own = dict.fromkeys(set(relation.counters) - set(engine), 1)
    executed = relation.executes
    return Observation(
        relation=name,
        block_size=size,
        seed=seed,
        subject=subject,
        outcome="holds",
        workloads=tuple(sorted({sha256(f"{name}, {seed}"), sha256("shared")})) if executed else (),
        schedules=(sha256(f"{name} {size} {seed}"),) if executed else (),
        executions=executions * executed,
        requests=COMPARED.get(name, REQUESTS),
        positions=POSITIONS.get(name, 96),
        counters={**(engine if executed else {}), **own, **OWN.get(name, {})},
        n_grams=grams if executed else {},
    )


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
            holding(name, size, self.subject)
            for name, one in declared().items()
            for size in one.block_sizes
        ]
        self.bindings = {one.backend: open_backend(one.backend).binding() for one in controls()}
        caught, missed = (
            holding(one.relation, one.block_size, self.controlled(one.backend))
            for one in controls()
        )
        difference = Difference("batch of 2", "r1", 17, None, "logits", "1", "2")
        self.controls = [
            replace(caught, outcome="violated", differences=2, first_difference=difference),
            missed,
        ]

    @staticmethod
    def make(name: str, size: int, subject: Subject, seed: int) -> Observation:
        """Give the record of a run that holds."""
        return holding(name, size, subject, seed)

    def controlled(self, backend: str) -> Subject:
        """Give the subject of a control."""
        digest = binding_sha256(self.bindings[backend])
        return replace(self.subject, backend=backend, binding_sha256=digest)

    def move(self, settings: dict[str, str]) -> None:
        """Put all runs into an environment that resolves settings so; they bind there too."""
        held = {entry["name"]: entry["value"] for entry in self.environment["resolved"]}
        held |= settings
        resolved = [
            {"name": name, "value": value, "binds": name != "python"}
            for name, value in sorted(held.items())
        ]
        binding = {entry["name"]: entry["value"] for entry in resolved if entry["binds"]}
        digest = binding_sha256({str(name): str(value) for name, value in binding.items()})
        requested = [{"name": name, "value": held[name]} for name in ("backend", "dtype")]
        self.environment = {
            "requested": requested, "resolved": resolved, "binding_sha256": digest
        }  # fmt: skip
        self.subject = replace(self.subject, backend=held["backend"], binding_sha256=digest)
        self.runs = [replace(run, subject=self.subject) for run in self.runs]

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
            "bindings": self.bindings,
            "issued_at": "2026-05-01T00:00:00Z",
            "producer": PRODUCER,
        }

    def fold(self) -> dict[str, Any]:
        """Give the predicate."""
        return predicate(**self.arguments())
