"""Made-up records of a campaign that is clean, as seeds could leave them; a test changes some."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any

from lockstep import spec
from lockstep.claims.campaign import predicate
from lockstep.claims.campaign_totals import legal
from lockstep.engine.backends import open_backend
from lockstep.engine.digest import framed
from lockstep.engine.environment import environment
from lockstep.fuzz.lineage import corpora, parent
from lockstep.fuzz.populations import PROBES, populations
from lockstep.fuzz.record import Record

PRODUCER = dict.fromkeys(("name", "version", "python", "numpy", "machine", "command"), "test")
CHECKPOINT = "ab" * 32
SHORTEST = (("QUEUED", "admit"), ("ADMITTED", "decode"), ("DECODING", "finish"))
LITTLE = (("admit", "decode"), ("decode", "finish"), ("admit", "decode", "finish"))
"""Cells and n-grams of a request that emits one token."""


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def clean(population: str, seed: int) -> Record:
    """Give the record of a seed: the third of a population shows all, the fourth is refused."""
    whole = legal()
    base = Record(population, seed, None, sha256(f"case {population} {seed}"), requests=3)
    if seed == 3:
        return replace(
            base,
            outcome="refused",
            reason="REQUEST_NEVER_FITS",
            predicates=whole["predicates"][-1:],
        )
    ran = replace(
        base,
        trajectory_sha256=sha256(f"trajectory {population} {seed}"),
        outcome="clean",
        steps=9,
        events=300,
        twice=True,
        alone=True,
        cells=SHORTEST,
        n_grams=LITTLE,
        predicates=whole["predicates"][:1],
    )
    if seed != 2:
        return ran
    grams = (*whole["pairs"], *whole["triples"])
    return replace(ran, cells=whole["cells"], n_grams=grams, predicates=whole["predicates"][:-1])


def related(population: str, records: list[Record]) -> tuple[Record, ...]:
    """Give records the parents that follow from what they show."""
    size = spec.load("fuzz.json")["round"]
    done: list[Record] = []
    for record in records:
        by_round = corpora((one.seed, one.shown) for one in done)
        corpus = by_round.get(record.seed // size, ())
        done.append(replace(record, parent=parent(population, record.seed, corpus)))
    return tuple(done)


def campaign() -> dict[str, tuple[Record, ...]]:
    """Give the records of every population, as many as the specification demands."""
    return {
        name: related(name, [clean(name, seed) for seed in range(one.seeds)])
        for name, one in populations().items()
    }


def fold(records: dict[str, tuple[Record, ...]]) -> dict[str, Any]:
    """Fold records into a predicate of a model that is named alone."""
    recipe = {"seed": 0, "head_dim": 16, "dtype": "float32", "tied": False}
    return predicate(
        records,
        model={
            "sha256": CHECKPOINT,
            "stored_dtype": "float32",
            "dtype": "float32",
            "vocab_size": 256,
            "recipe": recipe,
        },
        model_digest=framed("lockstep/model/1", bytes.fromhex(CHECKPOINT), b"float32").hex(),
        environment=environment(open_backend("host"), "float32", {}),
        sources_sha256="5" * 64,
        issued_at="2026-11-29T00:00:00Z",
        producer=PRODUCER,
    )


__all__ = ["LITTLE", "PROBES", "campaign", "clean", "fold", "related"]
