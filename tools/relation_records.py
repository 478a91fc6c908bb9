"""Made-up records of relations that all hold, as runs could leave them (spec/relations.md)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace

from lockstep.lifecycle.relation import observed_n_grams
from lockstep.relations.catalogue import Declared, controls, declared
from lockstep.relations.observation import Difference, Observation, Subject

EXECUTIONS = 24
"""Of a run, each of one request."""
ALWAYS = {
    "steps": 54, "batches": 48, "rows": 1200, "output_rows": 72, "batch_rows_max": 100,
    "batch_requests_max": 8, "admissions": 24, "decodes": 72, "finishes": 24,
}  # fmt: skip
"""What the executions of every run counted."""
WHERE_NAMED = {
    "shared_batches": 24, "foreign_hit_blocks": 12, "split_rows": 20, "splits_crossed": 2,
    "drawn_tokens": 30, "stopped": 6,
}  # fmt: skip
"""What they counted where the relation asks for it."""
PHASES = {
    "cache_hit": {"cache_hits": 24, "hit_blocks": 24, "published_blocks": 48},
    "evict": {"evictions": 24, "published_blocks": 48},
    "chunk": {"chunks": 24},
    "preempt_rc": {"preemptions": 24, "resumes": 24, "recomputed_rows": 40},
}
"""Counters of what a log has where the relation asks for one of them."""
OWN: dict[str, dict[str, int]] = {
    "MR1": {
        "batches_of_1": 24, "batches_of_2": 6, "batches_of_3": 3, "batches_of_4": 3,
        "batches_of_8": 3, "batches_of_16": 3, "batches_of_31": 3, "batches_of_32": 3,
    },
    "MR6": {"shapes": 8, "replays": 16},
    "MR6-PROCESS": {"processes": 6, "hash_seeds": 6},
    "NEVER-FITS": {"filled_pools": 4, "refused_prompts": 10, "refused_outputs": 10},
    "BLOCK-SIZE": {"block_sizes_compared": 96},
    "PATH-EQ": {
        "served_positions": 72, "whole_positions": 1200, "chunked_positions": 1200,
        "single_positions": 10,
    },
    "KERNEL-EQ": {"kernels": 15, "shapes": 57},
}  # fmt: skip
"""Counters of a relation's own that are not 1."""
IMPLIED = {"MR8": {"cache_hits", "chunks"}}
"""Counters of the engine that a relation's own ones imply."""
REQUESTS = {"MR6": 16, "MR6-PROCESS": 0, "BLOCK-SIZE": 120, "KERNEL-EQ": 0}
POSITIONS = {
    "MR4": 120, "MR4b": 120, "MR6": 116, "MR6-PROCESS": 186, "PATH-EQ": 1354, "BLOCK-SIZE": 480,
    "NEVER-FITS": 116, "NO-STARVATION": 120, "KERNEL-EQ": 57,
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


def holding(relation: Declared, size: int, subject: Subject) -> Observation:
    """Give the record of a run that holds."""
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
    grams = {
        gram: EXECUTIONS * count for n in (2, 3) for gram, count in observed_n_grams(log, n).items()
    }
    return Observation(
        relation=relation.name,
        block_size=size,
        seed=0,
        subject=subject,
        outcome="holds",
        workloads=(_sha256(relation.name),),
        schedules=(_sha256(f"{relation.name} {size}"),),
        executions=EXECUTIONS,
        requests=REQUESTS.get(relation.name, EXECUTIONS),
        positions=POSITIONS.get(relation.name, 96),
        counters=counters | OWN.get(relation.name, {}),
        n_grams=grams,
    )


def runs(subject: Subject) -> list[Observation]:
    """Give a run of every relation at every block size."""
    return [
        holding(relation, size, subject)
        for relation in declared().values()
        for size in relation.block_sizes
    ]


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
