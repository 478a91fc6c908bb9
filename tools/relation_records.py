"""Made-up records of relations that all hold, as runs could leave them (spec/relations.md)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace

from lockstep.lifecycle.relation import observed_n_grams
from lockstep.relations.catalogue import Declared, controls, declared
from lockstep.relations.observation import Difference, Observation, Subject

LOGS = 24
"""Executions of a run, each of one request, where nothing else is said."""
ALWAYS = {
    "steps": 54, "batches": 48, "rows": 5000, "output_rows": 72, "batch_rows_max": 100,
    "batch_requests_max": 8, "admissions": 24, "decodes": 72, "finishes": 24,
}  # fmt: skip
"""What the executions of every run counted."""
WHERE_NAMED = {
    "shared_batches": 20, "foreign_hit_blocks": 12, "split_rows": 20, "splits_crossed": 2,
    "drawn_tokens": 30, "stopped": 6,
}  # fmt: skip
"""What they counted where the relation asks for it."""
PHASES = {
    "cache_hit": {"cache_hits": 24, "hit_blocks": 24, "published_blocks": 30},
    "evict": {"evictions": 24, "published_blocks": 30},
    "chunk": {"chunks": 24},
    "preempt_rc": {"preemptions": 24, "resumes": 24, "recomputed_rows": 40},
}
"""Counters of what a log has where the relation asks for one of them."""
OWN: dict[str, dict[str, int]] = {
    "MR1": {
        "admissions": 194, "decodes": 582, "finishes": 194, "output_rows": 582,
        "shared_batches": 42, "batch_requests_max": 32,
        "batches_of_1": 6, "batches_of_2": 6, "batches_of_3": 6, "batches_of_4": 6,
        "batches_of_8": 6, "batches_of_16": 6, "batches_of_31": 6, "batches_of_32": 6,
    },
    "MR6": {"shapes": 8, "replays": 16},
    "MR6-PROCESS": {"processes": 6, "hash_seeds": 6},
    "NEVER-FITS": {"filled_pools": 4, "refused_prompts": 10, "refused_outputs": 10},
    "BLOCK-SIZE": {"block_sizes_compared": 96},
    "PATH-EQ": {
        "served_positions": 72, "whole_positions": 5000, "chunked_positions": 5000,
        "single_positions": 10,
    },
    "KERNEL-EQ": {"kernels": 13, "shapes": 57},
}  # fmt: skip
"""Counters of a relation that are not as above."""
IMPLIED = {"MR8": {"cache_hits", "chunks"}}
"""Counters of the engine that a relation's own ones imply."""
EXECUTIONS = {"MR1": 16, "MR7": 14}
REQUESTS = {"MR1": 194, "MR6": 16, "MR6-PROCESS": 0, "BLOCK-SIZE": 120, "KERNEL-EQ": 0}
POSITIONS = {
    "MR1": 776, "MR4": 120, "MR4b": 120, "MR6": 116, "MR6-PROCESS": 186, "PATH-EQ": 5140,
    "BLOCK-SIZE": 480, "NEVER-FITS": 116, "NO-STARVATION": 120, "KERNEL-EQ": 57,
}  # fmt: skip
"""Positions of a run, where they are not its outputs and their endings."""


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _log(relation: Declared) -> tuple[str, ...]:
    """Give the log of every request: what the relation asks for, and no more."""
    named = {*relation.counters, *IMPLIED.get(relation.name, ())}
    shown = {event for event, told in PHASES.items() if told.keys() & named}
    log = ["admit", *(event for event in ("cache_hit", "evict", "chunk") if event in shown)]
    again = ["preempt_rc", "resume"] if "preempt_rc" in shown else []
    return (*log, "decode", "decode", *again, "decode", "finish")


def holding(relation: Declared, size: int, subject: Subject, seed: int = 0) -> Observation:
    """Give the record of a run that holds; the first seed's digests leave the seed out."""
    if not relation.executes:
        counters = OWN[relation.name]
        return Observation(
            relation=relation.name,
            block_size=size,
            seed=0,
            subject=subject,
            outcome="holds",
            positions=POSITIONS[relation.name],
            counters=counters,
        )
    log = _log(relation)
    counters = dict.fromkeys(relation.counters, 1) | ALWAYS
    counters |= {name: n for name, n in WHERE_NAMED.items() if name in counters}
    for event in set(log) & PHASES.keys():
        counters |= PHASES[event]
    counters |= OWN.get(relation.name, {})
    grams = {
        gram: counters["admissions"] * count
        for n in (2, 3)
        for gram, count in observed_n_grams(log, n).items()
    }
    return Observation(
        relation=relation.name,
        block_size=size,
        seed=seed,
        subject=subject,
        outcome="holds",
        workloads=(_sha256(f"{relation.name}{seed or ''}"),),
        schedules=(_sha256(f"{relation.name} {size}{seed or ''}"),),
        executions=EXECUTIONS.get(relation.name, LOGS),
        requests=REQUESTS.get(relation.name, LOGS),
        positions=POSITIONS.get(relation.name, 96),
        counters=counters,
        n_grams=grams,
    )


def runs(subject: Subject) -> list[Observation]:
    """Give a run of every relation at every block size."""
    return [
        holding(relation, size, subject)
        for relation in declared().values()
        for size in relation.block_sizes
    ]


def controlled_runs(subject: Subject) -> list[Observation]:
    """Give runs of two seeds of the one combination that controls repeat."""
    control = controls()[0]
    relation = declared()[control.relation]
    return [holding(relation, control.block_size, subject, seed) for seed in (0, 1)]


def control_runs(subject: Subject, bindings: Mapping[str, str]) -> list[Observation]:
    """Give a run of every control; those that are required are violated.

    Args:
        subject: of the other runs.
        bindings: digests of the controls' bindings, by backend.
    """
    difference = Difference("batch of 2", "r1", 17, None, "logits", "1", "2")
    found = []
    for control in controls():
        told = replace(subject, backend=control.backend, binding_sha256=bindings[control.backend])
        run = holding(declared()[control.relation], control.block_size, told)
        if control.required:
            run = replace(run, outcome="violated", differences=2, first_difference=difference)
        found.append(run)
    return found
