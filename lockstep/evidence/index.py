"""The index of published figures: each maps to a certificate's file and a JSON pointer.

A README table whose last column holds a figure's id, in back quotes, publishes that figure.
"""

import base64
import json
import re
from pathlib import Path
from typing import Any

FIGURES: dict[str, tuple[tuple[str, str], ...]] = {
    "exact-transformations.cert.json": (
        ("hunt-rows", "/predicate/counts/rows"),
        ("hunt-exact-byte", "/predicate/counts/exact_byte"),
        ("hunt-exact-token", "/predicate/counts/exact_token"),
        ("hunt-not-exact", "/predicate/counts/not_exact"),
        ("hunt-refused", "/predicate/counts/refused"),
        ("hunt-unproven", "/predicate/counts/unproven"),
        ("hunt-positions", "/predicate/counts/positions_checked"),
        ("hunt-source-positions", "/predicate/counts/source_positions_checked"),
        ("hunt-distinct-positions", "/predicate/counts/distinct_positions"),
        ("hunt-lemmas", "/predicate/counts/lemmas"),
    ),
    "engine-layouts.cert.json": (
        ("engines-layouts", "/predicate/counts/layouts"),
        ("engines-rows", "/predicate/counts/rows"),
        ("engines-exact-byte", "/predicate/counts/exact_byte"),
        ("engines-exact-token", "/predicate/counts/exact_token"),
        ("engines-not-exact", "/predicate/counts/not_exact"),
        ("engines-refused", "/predicate/counts/refused"),
        ("engines-distinct-images", "/predicate/counts/distinct_images"),
        ("engines-positions", "/predicate/counts/positions_checked"),
        ("engines-lemmas", "/predicate/counts/lemmas"),
    ),
    "lean.cert.json": (
        ("lean-theorems", "/predicate/counts/theorems"),
        ("lean-accepted", "/predicate/counts/accepted"),
        ("lean-axiom-free", "/predicate/counts/axiom_free"),
        ("lean-layout-lemmas", "/predicate/counts/layout_lemmas"),
        ("lean-modules", "/predicate/counts/modules"),
    ),
    "smt.cert.json": (
        ("smt-layouts", "/predicate/coverage/layouts_proved"),
        ("smt-any-tokens", "/predicate/coverage/layouts_proved_for_any_tokens"),
        ("smt-cases", "/predicate/counts/cases"),
        ("smt-not-applicable", "/predicate/counts/not_applicable"),
        ("smt-proofs", "/predicate/counts/proofs"),
        ("smt-guards", "/predicate/counts/guards"),
        ("smt-lifecycle-proofs", "/predicate/counts/lifecycle_proofs"),
        ("smt-lifecycle-traces", "/predicate/counts/lifecycle_traces"),
        ("smt-queries", "/predicate/counts/queries"),
    ),
    "invariance.cert.json": (
        ("relations-demanded", "/predicate/counts/demanded"),
        ("relations-held", "/predicate/counts/holds"),
        ("relations-not-run", "/predicate/counts/not_run"),
        ("relations-executions", "/predicate/counts/executions"),
        ("relations-positions", "/predicate/counts/positions"),
        ("relations-controls-shown", "/predicate/counts/controls_shown"),
        ("relations-controls-not-comparable", "/predicate/counts/controls_not_comparable"),
        ("relations-pairs", "/predicate/counts/two_grams"),
        ("relations-pairs-legal", "/predicate/counts/two_grams_legal"),
        ("relations-triples", "/predicate/counts/three_grams"),
        ("relations-triples-legal", "/predicate/counts/three_grams_legal"),
        ("relations-kernels-equal", "/predicate/counts/kernels_equal"),
    ),
    "fidelity.cert.json": (
        ("fidelity-prompts", "/predicate/counts/prompts"),
        ("fidelity-prompts-past-split", "/predicate/counts/prompts_past_split"),
        ("fidelity-rows", "/predicate/counts/logit_rows"),
        ("fidelity-rows-past-split", "/predicate/counts/logit_rows_past_split"),
        ("fidelity-top-agreements", "/predicate/counts/top_agreements"),
        ("fidelity-near-ties", "/predicate/counts/near_ties"),
        ("fidelity-bounds", "/predicate/counts/bounds"),
    ),
    "replay.cert.json": (
        ("replay-steps", "/predicate/counts/steps"),
        ("replay-events", "/predicate/counts/events"),
        ("replay-tokens", "/predicate/counts/tokens"),
        ("replay-preemptions", "/predicate/counts/preemptions"),
        ("replay-evictions", "/predicate/counts/evictions"),
        ("replay-hit-blocks", "/predicate/counts/hit_blocks"),
        ("replay-split-rows", "/predicate/counts/split_rows"),
    ),
    "campaign.cert.json": (
        ("campaign-records", "/predicate/counts/records"),
        ("campaign-failed", "/predicate/counts/failed"),
        ("campaign-events", "/predicate/counts/events"),
        ("campaign-altered", "/predicate/counts/altered"),
        ("campaign-cells", "/predicate/counts/cells"),
        ("campaign-explored-pairs", "/predicate/counts/explored_pairs"),
        ("campaign-pairs-legal", "/predicate/counts/pairs_legal"),
        ("campaign-explored-triples", "/predicate/counts/explored_triples"),
        ("campaign-triples", "/predicate/counts/triples"),
        ("campaign-triples-legal", "/predicate/counts/triples_legal"),
        ("campaign-probes-shown", "/predicate/counts/probes_shown"),
        ("campaign-predicates", "/predicate/counts/predicates"),
        ("campaign-predicates-declared", "/predicate/counts/predicates_declared"),
    ),
    "finding-wedge.cert.json": (
        ("wedge-units", "/predicate/origin/units"),
        ("wedge-requests", "/predicate/counts/requests"),
        ("wedge-prompt-tokens", "/predicate/counts/prompt_tokens"),
        ("wedge-new-tokens", "/predicate/counts/new_tokens"),
        ("wedge-removals", "/predicate/counts/removals"),
        ("wedge-checks", "/predicate/reduction/checks"),
    ),
}
"""Which figures each certificate backs: (id, pointer into its statement)."""

WORDS = {
    "exact-transformations.cert.json": "published set",
    "engine-layouts.cert.json": "engines",
    "lean.cert.json": "lemmas",
    "smt.cert.json": "solvers",
    "invariance.cert.json": "relations",
    "fidelity.cert.json": "fidelity",
    "replay.cert.json": "one execution",
    "campaign.cert.json": "fuzzing",
    "records": "cases drawn from seeds, each run twice and its requests alone",
    "failed": "of these failed",
    "altered": "of these altered from others that had shown something new",
    "cells": "transitions of the lifecycle taken",
    "explored_pairs": "pairs of events explored",
    "pairs_legal": "pairs of events that it admits",
    "explored_triples": "triples of events explored",
    "triples": "triples of events seen with probes",
    "triples_legal": "triples of events that the lifecycle admits",
    "probes_shown": "probes that show their targets",
    "predicates": "boundary predicates that held",
    "predicates_declared": "boundary predicates declared",
    "finding-wedge.cert.json": "the oversized request",
    "units": "units of the case that the fuzzer found",
    "prompt_tokens": "tokens of prompts left",
    "new_tokens": "new tokens left",
    "removals": "single removals, none of which shows it any more",
    "checks": "cases tested to get there",
    "layouts": "declared layouts",
    "rows": "ordered pairs judged",
    "exact_byte": "of these `EXACT_BYTE`",
    "exact_token": "of these `EXACT_TOKEN`",
    "not_exact": "of these `NOT_EXACT`",
    "refused": "of these `REFUSED`",
    "unproven": "of these `UNPROVEN`",
    "positions_checked": "destination positions checked",
    "source_positions_checked": "source positions checked",
    "distinct_positions": "distinct positions",
    "distinct_images": "distinct images of lossless layouts",
    "lemmas": "lemmas that its rows name",
    "theorems": "theorems registered",
    "accepted": "of these accepted by the Lean kernel",
    "axiom_free": "of these without any axiom",
    "layout_lemmas": "about one declared layout each",
    "modules": "modules that they were built from",
    "layouts_proved": "layouts proved at real sizes",
    "layouts_proved_for_any_tokens": "of these for any number of tokens",
    "cases": "cases proved, each a tensor at a geometry, for its tokens or for any",
    "not_applicable": "combinations that do not apply, each with its reason",
    "proofs": "statements about layouts proved",
    "guards": "planted wrong strides, each with a counterexample that was replayed",
    "lifecycle_proofs": "statements about the lifecycle proved",
    "lifecycle_traces": "traces of the lifecycle found and replayed",
    "queries": "queries, each answered as expected by both",
    "demanded": "combinations of relation and block size",
    "holds": "of these held, each with every mechanism exercised",
    "not_run": "of these not run",
    "executions": "executions of the engine",
    "positions": "positions compared bit for bit",
    "controls_shown": "controls that claim nothing, and were caught",
    "controls_not_comparable": "controls that cannot be caught on the CPU at hand",
    "two_grams": "pairs of events seen",
    "two_grams_legal": "pairs of events that the lifecycle admits",
    "three_grams": "triples of events seen",
    "three_grams_legal": "triples of events that it admits",
    "kernels_equal": "kernels of the backend host equal to Triton's",
    "prompts": "prompts of the corpus",
    "prompts_past_split": "of these longer than one split of attention",
    "logit_rows": "rows of logits compared with those of binary64, over the full vocabulary",
    "logit_rows_past_split": "of these past the first split of attention",
    "top_agreements": "of these with the same top token",
    "near_ties": "of these near ties, which an admitted error could turn",
    "bounds": "bounds, each of which holds",
    "steps": "steps, each with five digests, of which four follow without a model",
    "events": "events of the lifecycle",
    "tokens": "tokens emitted",
    "preemptions": "preemptions",
    "evictions": "evictions",
    "hit_blocks": "blocks granted by prefix hits",
    "split_rows": "rows past the first split of attention",
}
"""What files and counts are called in a table for people; others are called by their names."""

_ROW = re.compile(r"^\|(?P<text>[^|]+)\|(?P<value>[^|]+)\|\s*`(?P<id>[a-z0-9-]+)`\s*\|$", re.M)


def statement_of(certificate: bytes) -> dict[str, Any]:
    """Give the statement that a certificate carries, without judging it."""
    found = json.loads(base64.b64decode(json.loads(certificate)["payload"]))
    if not isinstance(found, dict):
        raise ValueError("the payload is no object")
    return found


def kind_of(certificate: bytes) -> str:
    """Name the kind of claim that a certificate makes, without judging it."""
    kind: str = statement_of(certificate)["predicateType"].split(":")[-2]
    return kind


def at_pointer(document: Any, pointer: str) -> Any:
    """Give the value at an RFC 6901 pointer.

    Raises:
        KeyError: nothing is there.
    """
    value = document
    for step in pointer.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(value, list):
            if not name.isdigit() or int(name) >= len(value):
                raise KeyError(pointer)
            value = value[int(name)]
        else:
            value = value[name]
    return value


def build_index(folder: Path, before: Path | None = None) -> dict[str, Any]:
    """Give the index over the certificates of a folder: id → {file, pointer, value}.

    Args:
        folder: the certificates.
        before: the index until now; its figures of certificates made elsewhere are kept, their
            values read anew.
    """
    chosen = {
        name: (file, pointer) for file, entries in FIGURES.items() for name, pointer in entries
    }
    if before is not None and before.is_file():
        for name, entry in json.loads(before.read_bytes())["figures"].items():
            if entry["file"] not in FIGURES and (folder / entry["file"]).is_file():
                chosen[name] = (entry["file"], entry["pointer"])
    statements = {
        file: statement_of((folder / file).read_bytes()) for file in {f for f, _ in chosen.values()}
    }
    figures = {
        name: {"file": file, "pointer": pointer, "value": at_pointer(statements[file], pointer)}
        for name, (file, pointer) in chosen.items()
    }
    return {"version": 1, "figures": figures}


def markdown(index: dict[str, Any]) -> str:
    """Give the table of an index's figures as a README publishes it: figure, value, id."""
    order = [name for entries in FIGURES.values() for name, _ in entries]
    names = [name for name in order if name in index["figures"]]
    names += sorted(index["figures"].keys() - set(names))
    lines = ["| figure | value | id |", "|---|---|---|"]
    for name in names:
        entry = index["figures"][name]
        last = entry["pointer"].rpartition("/")[2]
        what = WORDS.get(last, last.replace("_", " "))
        of = WORDS.get(entry["file"], entry["file"])
        lines.append(f"| {of}: {what} | {printed(entry['value'])} | `{name}` |")
    return "\n".join(lines)


def published_figures(text: str) -> dict[str, str]:
    """Give the figures of a README's tables: id → the value as printed."""
    return {row["id"]: row["value"].strip() for row in _ROW.finditer(text)}


def printed(value: object) -> str:
    """Give a figure as a README prints it: thousands set off by commas."""
    return f"{value:,}" if type(value) is int else str(value)


def faults(folder: Path, readme: str) -> list[str]:
    """List what disagrees between index, certificates and README; nothing if all is well."""
    index = json.loads((folder / "index.json").read_bytes())
    figures = index["figures"]
    found: list[str] = []
    for name, entry in figures.items():
        try:
            value = at_pointer(
                statement_of((folder / entry["file"]).read_bytes()), entry["pointer"]
            )
        except (OSError, KeyError, ValueError) as fault:
            found.append(f"{name}: {entry['file']}{entry['pointer']}: {fault!r}")
            continue
        if value != entry["value"] or type(value) is not type(entry["value"]):
            found.append(f"{name}: index {entry['value']}, certificate {value}")
    files = {entry["file"] for entry in figures.values()}
    for certificate in sorted(folder.glob("*.cert.json")):
        if certificate.name not in files:
            found.append(f"{certificate.name}: backs no figure of the index")
    shown = published_figures(readme)
    for name, text in shown.items():
        if name not in figures:
            found.append(f"README: {name} is not in the index")
        elif printed(figures[name]["value"]) != text:
            found.append(f"README: {name} is {text}, the index says {figures[name]['value']}")
    found += [f"{name}: in the index, not in the README" for name in figures if name not in shown]
    return found
