"""Write the parent of the conformance vectors of one of the engine's kinds.

Usage: python tools/engine_parent.py NAME > spec/cases/documents/NAME.json

NAME is fidelity, invariance, invariance-seeds, replay or replay-split.

The environment and the records are made up; the execution of the replay is one of the tiny model.
The documents are reviewed and committed; they are made anew where the rules of their kind change.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import json
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from lockstep import spec
from lockstep.certificate import lcj
from lockstep.certificate.statement import statement, subject
from lockstep.engine.environment import binding_of, binding_sha256
from lockstep.schedule.schedule import Action

if TYPE_CHECKING:
    from lockstep.lifecycle import Pool
    from lockstep.schedule.workload import Request

PRODUCER = dict(
    zip(
        ("name", "version", "python", "numpy", "machine", "command"),
        ("conformance vectors", "1", *["none"] * 4),
        strict=True,
    )
)
ISSUED_AT = "2026-05-01T00:00:00Z"
MODEL = {
    "sha256": "5" * 64,
    "stored_dtype": "float32",
    "dtype": "float32",
    "vocab_size": 256,
    "recipe": {"seed": 0, "head_dim": 16, "dtype": "float32", "tied": False},
}


def made_up(backend: str, dtype: str) -> dict[str, Any]:
    """Give an environment tuple of a backend, in which nothing but names has a meaning."""
    data = spec.load("environment.json")
    declared = data["backends"][backend]
    values = {name: f"some {name}" for name in (*data["always"], *declared["also"])}
    values |= {
        "backend": backend,
        "dtype": dtype,
        "kernels_sha256": hashlib.sha256(backend.encode()).hexdigest(),
        "subnormals": "kept",
    }
    binds = declared.get("binds", [name for name in values if name not in data["unbound"]])
    asked = {"OMP_NUM_THREADS": "2", "backend": backend, "dtype": "default"}
    return {
        "requested": [{"name": name, "value": asked[name]} for name in sorted(asked)],
        "resolved": [
            {"name": name, "value": values[name], "binds": name in binds} for name in sorted(values)
        ],
        "binding_sha256": binding_sha256({name: values[name] for name in binds}),
    }


def fidelity() -> dict[str, Any]:
    """Give records of the whole corpus: some near ties, and a top that differs at one of them."""
    from lockstep.claims.fidelity import FidelitySeen, predicate
    from lockstep.fidelity.corpus import corpus
    from lockstep.fidelity.measure import Measured, Record

    tie = 520
    measured = [
        Measured(
            prompt,
            tuple(
                Record(
                    position,
                    kl=1000 + 7 * position,
                    error=2_000_001 + position,
                    scale=10**13 + position,
                    margin=4_000_000 if position == tie else 10**12,
                    top=9 if position == tie else 8,
                    reference_top=8,
                )
                for position in prompt.positions
            ),
            hashlib.sha256(prompt.id.encode()).hexdigest(),
        )
        for prompt in corpus(256)
    ]
    seen = FidelitySeen(
        MODEL, made_up("host", "float32"), made_up("float64", "float64"), tuple(measured)
    )
    return predicate(seen, issued_at=ISSUED_AT, producer=PRODUCER)


def invariance(seeds: bool = False) -> dict[str, Any]:
    """Give runs that all hold, and controls of which one is shown and one is not comparable.

    With seeds: two of each combination, of which one alone was run.
    """
    from relation_records import control_runs, controlled_runs, runs

    from lockstep.claims.invariance import predicate
    from lockstep.engine.digest import framed
    from lockstep.relations.catalogue import controls
    from lockstep.relations.observation import Subject

    here = made_up("host", "float32")
    digest = framed("lockstep/model/1", bytes.fromhex(str(MODEL["sha256"])), b"float32").hex()
    subject = Subject("host", "float32", digest, here["binding_sha256"], "5" * 64)
    made = {one.backend: made_up(one.backend, "float32") for one in controls()}
    return predicate(
        controlled_runs(subject) if seeds else runs(subject),
        control_runs(subject, {name: one["binding_sha256"] for name, one in made.items()}),
        model=MODEL,
        model_digest=digest,
        environment=here,
        bindings={name: binding_of(one) for name, one in made.items()},
        issued_at=ISSUED_AT,
        producer=PRODUCER,
    )


_STOPS = 335
"""A seed with which the last request's second token is the end of sequence."""

_SCHEDULE = """
admit a; chunk a 5; admit c; decode c :5,4,3
decode c; decode a

preempt_rc c; decode a
decode a; resume c; cache_hit c :5; chunk c 2 :4
finish a; admit b; cache_hit b; decode b; decode c
decode c; decode b
finish b; finish c
admit d; evict d; evict d :5; chunk d 9
evict d; evict d; decode d
decode d
finish d
"""
"""A step a line: event, request, tokens of a chunk, and after a colon the blocks that it names."""


def replay() -> dict[str, Any]:
    """Give an execution with every event, blocks named and left open, a stop and an empty step."""
    from lockstep.engine.sampling import Sampling
    from lockstep.lifecycle import Pool
    from lockstep.schedule.workload import Request

    shared = tuple(range(40, 49))
    drawn = Sampling(temperature="4", top_p="0.99", min_p="0.001", seed=_STOPS)
    requests = (
        Request("b", (*shared, 7), 2, arrival=3, salt="x"),
        Request("a", shared, 3, salt="x", ignore_eos=True),
        Request("c", tuple(range(9, 15)), 4),
        Request("d", tuple(range(100, 117)), 5, arrival=8, sampling=drawn),
    )
    return _executed(requests, Pool(6, 4), _SCHEDULE)


def split() -> dict[str, Any]:
    """Give an execution past the first split of attention: rows at 511, 512 and 513."""
    from lockstep.lifecycle import Pool
    from lockstep.schedule.workload import Request

    request = Request("a", tuple(1 + n % 9 for n in range(514)), 1)
    return _executed(
        (request,), Pool(3, 256), "\nadmit a; chunk a 511\nchunk a 2\ndecode a\nfinish a\n"
    )


def _executed(requests: tuple[Request, ...], pool: Pool, schedule: str) -> dict[str, Any]:
    """Let the tiny model execute a schedule, and fold what came of it."""
    from lockstep.claims.replay import predicate
    from lockstep.engine.opening import open_model
    from lockstep.engine.tiny import TinyModel
    from lockstep.replay.observe import observe
    from lockstep.schedule.schedule import Schedule
    from lockstep.schedule.workload import Workload

    steps = tuple(
        tuple(map(_action, filter(None, line.split("; ")))) for line in schedule[1:-1].split("\n")
    )
    seen = observe(open_model(TinyModel()), Workload(requests), Schedule(pool, steps))
    environment = made_up("host", "float32")
    return predicate(
        dataclasses.replace(seen, environment=environment), issued_at=ISSUED_AT, producer=PRODUCER
    )


def _action(text: str) -> Action:
    """Read an action of the schedule."""
    words, _, named = text.partition(" :")
    event, request, *tokens = words.split()
    return Action(
        event, request, int(*tokens), tuple(int(block) for block in named.split(",") if block)
    )


MAKERS = {
    "fidelity": fidelity,
    "invariance": invariance,
    "invariance-seeds": lambda: invariance(seeds=True),
    "replay": replay,
    "replay-split": split,
}
SUBJECTS = {
    "fidelity": ("spec", "model"),
    "invariance": ("spec", "model"),
    "replay": ("spec", "model", "workload", "schedule"),
}


def document(name: str) -> dict[str, Any]:
    """Fold, and put placeholders where the vectors' builder fills in digests."""
    kind = name.partition("-")[0]
    return placed(kind, MAKERS[name](), SUBJECTS[kind])


def placed(
    kind: str, predicate: dict[str, Any], names: Sequence[str], **digests: str
) -> dict[str, Any]:
    """Give the statement; a digest that is neither given nor the model's is a placeholder."""
    folded = json.loads(lcj.encode(predicate))
    held = {"spec": f"$spec:{kind}", **digests}
    if "model" in names:
        held["model"] = folded["model"]["sha256"]
    subjects = [subject(name, held.get(name, f"${name}")) for name in names]
    return statement(kind, subjects, folded)


def chosen(names: Iterable[str]) -> str:
    """Give the name on the command line; usage is told where it is none of these."""
    parser = argparse.ArgumentParser()
    parser.add_argument("name", choices=sorted(names))
    return str(parser.parse_args().name)


if __name__ == "__main__":
    json.dump(document(chosen(MAKERS)), sys.stdout, indent=1, ensure_ascii=False)
    sys.stdout.write("\n")
