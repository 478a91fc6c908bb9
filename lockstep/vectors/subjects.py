"""Subjects of statements whose digest follows from what the predicate holds."""

import hashlib
from collections.abc import Callable
from typing import Any

from lockstep.certificate import lcj


def _layout_sources(statement: dict[str, Any]) -> str:
    sources = {
        layout["source"]["path"]: layout["source"]["sha256"]
        for layout in statement["predicate"]["layouts"]
    }
    return hashlib.sha256(lcj.encode(sources)).hexdigest()


def _lemma_sources(statement: dict[str, Any]) -> str:
    modules = statement["predicate"]["modules"]
    sources = {module["path"]: module["sha256"] for module in modules}
    return hashlib.sha256(lcj.encode(sources)).hexdigest()


def _declarations(statement: dict[str, Any]) -> str:
    held = {"layouts": statement["predicate"]["layouts"]}
    return hashlib.sha256(lcj.encode(held)).hexdigest()


def _held_document(name: str) -> Callable[[dict[str, Any]], str]:
    return lambda statement: hashlib.sha256(lcj.encode(statement["predicate"][name])).hexdigest()


def _records(statement: dict[str, Any]) -> str:
    held = {"records": statement["predicate"]["records"]}
    return hashlib.sha256(lcj.encode(held)).hexdigest()


def _requests(statement: dict[str, Any]) -> str:
    requests = [one["request"] for one in statement["predicate"]["sequences"]]
    by_id = {request["inference_id"]: request for request in requests}
    return hashlib.sha256(lcj.encode(list(by_id.values()))).hexdigest()


def _calibration(statement: dict[str, Any]) -> str:
    unbound = ("issued_at", "critical", "producer", "not_run")
    told = statement["predicate"].items()
    return hashlib.sha256(lcj.encode({n: v for n, v in told if n not in unbound})).hexdigest()


def _observations(statement: dict[str, Any]) -> str:
    held = {name: statement["predicate"][name] for name in ("model", "series", "distances")}
    return hashlib.sha256(lcj.encode(held)).hexdigest()


SUBJECTS: dict[str, Callable[[dict[str, Any]], str]] = {
    "$layouts": _layout_sources,
    "$sources": _lemma_sources,
    "$declarations": _declarations,
    "$workload": _held_document("workload"),
    "$schedule": _held_document("schedule"),
    "$case": _held_document("case"),
    "$requests": _requests,
    "$records": _records,
    "$engine": _held_document("engine"),
    "$calibration": _calibration,
    "$observations": _observations,
}
"""By the placeholder that stands in a document for the digest."""
