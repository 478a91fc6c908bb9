"""What `lockstep show` prints of payloads about proofs: lemmas of a kernel, answers of solvers."""

from typing import Any

from lockstep.cli.payload_parts import SHOWN_DIGITS, about, counts_table, listed, table
from lockstep.cli.tables import Table


def lean(predicate: dict[str, Any], rows: bool) -> list[Table]:
    """Show a certificate of the lemmas: kernel, observations, theorems, counts."""
    kernel = predicate["kernel"]
    seen = [(name, _seen(value)) for name, value in predicate["observations"].items()]
    theorems = [
        (one["name"], one["statement_sha256"][:SHOWN_DIGITS], listed(one["axioms"]) or "none")
        for one in predicate["theorems"]
    ]
    return [
        about(
            ("kernel", f"Lean {kernel['version']}, from {kernel['builder']}", "/predicate/kernel"),
            ("library", kernel["library_sha256"], "/predicate/kernel/library_sha256"),
            ("host", predicate["host"], "/predicate/host"),
            (
                "axioms allowed",
                listed(predicate["allowed_axioms"]) or "none",
                "/predicate/allowed_axioms",
            ),
        ),
        table(
            "observations",
            ("what", "seen (the signer's word)"),
            seen,
            [f"/predicate/observations/{name}" for name, _ in seen],
        ),
        table(
            "theorems",
            ("theorem", "statement", "axioms"),
            theorems if rows else (),
            "/predicate/theorems",
        ),
        counts_table(predicate),
    ]


def smt(predicate: dict[str, Any], rows: bool) -> list[Table]:
    """Show a certificate of proofs by solver: solvers, cases, what does not apply, counts."""
    solvers = [f"{one['name']} {one['version']}" for one in predicate["solvers"]]
    lifecycle = predicate["lifecycle"]
    cases = [
        (case["layout"], case["tensor"], case["geometry"], case["mode"])
        for case in predicate["cases"]
    ]
    apart = [
        (one["layout"], one["geometry"], one["mode"], one["reason"])
        for one in predicate["not_applicable"]
    ]
    coverage = predicate["coverage"].items()
    return [
        about(
            ("set", predicate["set"], "/predicate/set"),
            ("solvers", ", ".join(solvers), "/predicate/solvers"),
            ("lifecycle", "not made" if lifecycle is None else "made"),
        ),
        table(
            "cases",
            ("layout", "tensor", "geometry", "tokens"),
            cases if rows else (),
            "/predicate/cases",
        ),
        table(
            "not applicable",
            ("layout", "geometry", "tokens", "reason"),
            apart if rows else (),
            "/predicate/not_applicable",
        ),
        counts_table(predicate),
        table(
            "coverage",
            ("what", "number"),
            coverage,
            [f"/predicate/coverage/{name}" for name, _ in coverage],
        ),
    ]


def _seen(value: bool | None) -> str:
    return "not made" if value is None else str(value).lower()
