"""What `lockstep show` prints of a payload: one function a kind, each gives tables."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from lockstep.cli.tables import Table

SHOWN_DIGITS = 16
"""Hex digits of a digest that a table shows; the certificate has all of them."""


def describe(statement: dict[str, Any], rows: bool) -> list[Table]:
    """Give the tables that show a statement of a known kind.

    Args:
        statement: as it stands in the payload, judged or not.
        rows: whether the long lists are shown.

    Raises:
        KeyError, TypeError, ValueError, AttributeError: it has not the shape of one.
    """
    kind = statement["predicateType"].split(":")[-2]
    about, *tables = _KINDS[kind](statement["predicate"], rows)
    head = (
        ("kind", statement["predicateType"]),
        ("issued at", f"{statement['predicate']['issued_at']} (the signer's claim)"),
    )
    first = Table(about.title, about.columns, (*head, *about.rows))
    return [table for table in (first, *tables) if table.rows]


def hunt(predicate: dict[str, Any], rows: bool) -> list[Table]:
    """Show a hunt: layouts, rows, counts, checks."""
    outcomes = predicate["falsifications"]
    held = sum(1 for entry in outcomes if entry["actual"] == entry["expected"])
    geometry = ", ".join(f"{name} {value}" for name, value in predicate["geometry"].items())
    found = [
        (
            row["verdict"],
            row["pair_id"],
            row["frontier_code"] or _listed(row["transformations"]),
        )
        for row in predicate["rows"]
    ]
    checks = [(check["outcome"], check["name"]) for check in predicate["checks"]]
    return [
        _about(
            ("set", predicate["set"]),
            ("geometry", geometry),
            ("falsifications", f"{held} of {len(outcomes)} as registered"),
        ),
        _table(
            "layouts", ("layout", "native shapes", "padding"), map(_layout, predicate["layouts"])
        ),
        _table(
            "rows",
            ("verdict", "pair", "transformations or frontier code"),
            found if rows else (),
        ),
        _counts(predicate),
        _table("checks", ("outcome", "check"), checks),
    ]


def lean(predicate: dict[str, Any], rows: bool) -> list[Table]:
    """Show a certificate of the lemmas: kernel, observations, theorems, counts."""
    kernel = predicate["kernel"]
    seen = [(name, _seen(value)) for name, value in predicate["observations"].items()]
    theorems = [
        (one["name"], one["statement_sha256"][:SHOWN_DIGITS], _listed(one["axioms"]) or "none")
        for one in predicate["theorems"]
    ]
    return [
        _about(
            ("kernel", f"Lean {kernel['version']}, from {kernel['builder']}"),
            ("library", kernel["library_sha256"]),
            ("host", predicate["host"]),
            ("axioms allowed", _listed(predicate["allowed_axioms"]) or "none"),
        ),
        _table("observations", ("what", "seen (the signer's word)"), seen),
        _table("theorems", ("theorem", "statement", "axioms"), theorems if rows else ()),
        _counts(predicate),
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
        _about(
            ("set", predicate["set"]),
            ("solvers", ", ".join(solvers)),
            ("lifecycle", "not made" if lifecycle is None else "made"),
        ),
        _table("cases", ("layout", "tensor", "geometry", "tokens"), cases if rows else ()),
        _table("not applicable", ("layout", "geometry", "tokens", "reason"), apart if rows else ()),
        _counts(predicate),
        _table("coverage", ("what", "number"), coverage),
    ]


def invariance(predicate: dict[str, Any], rows: bool) -> list[Table]:
    """Show relations between executions: claims, runs, controls, coverage, counts."""
    model = predicate["model"]
    claims = [
        (one["name"], one["verdict"], f"{one['held']} of {one['demanded']}")
        for one in predicate["claims"]
    ]
    runs = [(*_run(run), f"{run['positions']:,}", _why(run)) for run in predicate["runs"]]
    controls = [
        (one["backend"], one["shown"], *_run(one), _why(one)) for one in predicate["controls"]
    ]
    coverage = [
        (row["population"], row["n"], f"{row['observed']} of {row['legal']}")
        for row in predicate["coverage"]["n_grams"]
    ]
    return [
        _about(
            ("verdict", predicate["verdict"]),
            ("model", f"{model['sha256'][:SHOWN_DIGITS]}, stored {model['stored_dtype']}"),
            *_environment(predicate["environment"]),
        ),
        _table("claims", ("claim", "verdict", "held"), claims),
        _table("runs", ("outcome", "relation", "block size", "positions", "why"),
               runs if rows else ()),
        _table("controls", ("backend", "shown", "outcome", "relation", "block size", "why"),
               controls),
        _table("coverage", ("population", "events", "seen"), coverage),
        _table("unseen", ("events",), [(" ".join(one),) for one in predicate["coverage"]["unseen"]]
               if rows else ()),
        _counts(predicate),
    ]  # fmt: skip


def fidelity(predicate: dict[str, Any], rows: bool) -> list[Table]:
    """Show a comparison with binary64: measures and bounds, prompts, counts."""
    model = predicate["model"]
    measures = [
        (one["name"], f"{one['value']:,}", f"{one['limit']} {one['bound']:,}")
        for one in predicate["measures"]
    ]
    prompts = [
        (one["id"], one["tokens"], len(one["records"]), one["logits_sha256"][:SHOWN_DIGITS])
        for one in predicate["prompts"]
    ]
    return [
        _about(
            ("model", f"{model['sha256'][:SHOWN_DIGITS]}, stored {model['stored_dtype']}"),
            *_environment(predicate["environment"]),
        ),
        _table("measures", ("measure", "value", "bound"), measures),
        _table("prompts", ("prompt", "tokens", "rows", "logits"), prompts if rows else ()),
        _counts(predicate),
    ]


def replay(predicate: dict[str, Any], rows: bool) -> list[Table]:
    """Show one execution: trajectory, coverage, outputs, counts."""
    model = predicate["model"]
    outputs = [
        (one["request"], one["reason"], len(one["tokens"]), " ".join(map(str, one["tokens"][:8])))
        for one in predicate["outputs"]
    ]
    coverage = [
        (one["n"], f"{one['shown']} of {one['legal']}") for one in predicate["coverage"]["covered"]
    ]
    return [
        _about(
            ("trajectory", predicate["trajectory"]["sha256"]),
            ("model", f"{model['sha256'][:SHOWN_DIGITS]}, stored {model['stored_dtype']}"),
            *_environment(predicate["environment"]),
            ("not run", "; ".join(predicate["not_run"]) or "nothing"),
        ),
        _table("outputs", ("request", "ended by", "tokens", "first"), outputs if rows else ()),
        _table("coverage", ("events", "seen"), coverage),
        _counts(predicate),
    ]


def campaign(predicate: dict[str, Any], rows: bool) -> list[Table]:
    """Show a fuzzing campaign: verdict, coverage by population, failures, counts."""
    model, told = predicate["model"], predicate["coverage"]
    coverage = [
        (row["population"], *(f"{row[what]} of {legal}" for what, legal in told["legal"].items()))
        for row in told["rows"]
    ]
    records = [
        (one["name"], record) for one in predicate["populations"] for record in one["records"]
    ]
    failed = [
        (name, record["seed"], *(record["failure"][part] for part in ("kind", "code", "where")))
        for name, record in records
        if record["failure"] is not None
    ]
    cases = [
        (name, one["seed"], one["outcome"], (one["trajectory_sha256"] or "")[:SHOWN_DIGITS])
        for name, one in records
    ]
    return [
        _about(
            ("verdict", predicate["verdict"]),
            ("model", f"{model['sha256'][:SHOWN_DIGITS]}, stored {model['stored_dtype']}"),
            *_environment(predicate["environment"]),
        ),
        _table("coverage", ("population", *told["legal"]), coverage),
        _table("failures", ("population", "seed", "kind", "code", "where"), failed),
        _table("cases", ("population", "seed", "outcome", "trajectory"), cases if rows else ()),
        _counts(predicate),
    ]


def finding(predicate: dict[str, Any], rows: bool) -> list[Table]:
    """Show a finding: failure, case, removals by outcome, counts."""
    failure, mutation = predicate["failure"], predicate["mutation"]
    pool, unmutated = predicate["case"]["pool"], predicate["unmutated"]
    requests = [
        (one["id"], len(one["prompt"]), one["max_new"], one["arrival"])
        for one in predicate["case"]["workload"]["requests"]
    ]
    steps = [
        (number, ", ".join(f"{one['event']} {one['request']}" for one in actions) or "nothing")
        for number, actions in enumerate(predicate["case"]["steps"])
    ]
    dimensions = [
        (
            one["name"],
            sum(row["dimension"] == one["name"] for row in predicate["removals"]),
            one["held"] or "reduced",
        )
        for one in predicate["dimensions"]
    ]
    removals = [
        (one["dimension"], _listed([str(n) for n in one["place"]]), one["outcome"], one["code"])
        for one in predicate["removals"]
    ]
    told = "" if unmutated is None else f"{unmutated['outcome']} {unmutated['code']}".rstrip()
    return [
        _about(
            ("failure", f"{failure['kind']} {failure['code']} {failure['part']}"),
            ("at", f"{failure['where']}: {failure['detail']}"),
            ("mutation", "none" if mutation is None else mutation["name"]),
            ("without the mutation", told or "does not apply"),
            ("closed by", predicate["closed_by"] or "no commit"),
            ("pool", f"{pool['blocks']} blocks of {pool['block_size']}"),
            ("case", predicate["case_sha256"]),
            ("found", predicate["origin"]["source"]),
            *_environment(predicate["environment"]),
        ),
        _table("requests", ("request", "prompt", "max_new", "arrival"), requests),
        _table("steps", ("step", "actions"), steps),
        _table("dimensions", ("dimension", "removals", "held"), dimensions),
        _table("removals", ("dimension", "place", "outcome", "code"), removals if rows else ()),
        _counts(predicate),
    ]


_KINDS: dict[str, Callable[[dict[str, Any], bool], list[Table]]] = {
    "hunt": hunt,
    "lean": lean,
    "smt": smt,
    "invariance": invariance,
    "fidelity": fidelity,
    "replay": replay,
    "finding": finding,
    "campaign": campaign,
}


def _run(run: dict[str, Any]) -> tuple[str, str, str]:
    return run["outcome"], run["relation"], str(run["block_size"])


def _why(run: dict[str, Any]) -> str:
    """Say where a run first differs, or why it says nothing; empty where it holds."""
    first = run["first_difference"]
    if first is None:
        return str(run["reason"])
    place = "" if first["position"] is None else f", position {first['position']}"
    return f"{run['differences']} differ, first {first['part']} in {first['execution']}{place}"


def _environment(environment: dict[str, Any]) -> list[tuple[str, str]]:
    """Give the settings that bind, and what was asked for."""
    resolved = [one for one in environment["resolved"] if one["binds"]]
    return [
        ("requested", ", ".join(map(_setting, environment["requested"]))),
        ("bound to", ", ".join(map(_setting, resolved))),
    ]


def _setting(one: dict[str, Any]) -> str:
    digest = one["name"].endswith("_sha256")
    return f"{one['name']} {one['value'][:SHOWN_DIGITS] if digest else one['value']}"


def _layout(layout: dict[str, Any]) -> tuple[str, str, str]:
    derived = layout["derived"]
    shapes = [f"{shape['tensor']} {shape['extents']}" for shape in derived["native_shapes"]]
    if not derived["realisable"]:
        return layout["name"], "not at this geometry", ""
    return layout["name"], "; ".join(shapes), f"padding {derived['padding_positions']}"


def _seen(value: bool | None) -> str:
    return "not made" if value is None else str(value).lower()


def _listed(value: Any) -> str:
    return ", ".join(value) if isinstance(value, list) else str(value)


def _about(*rows: tuple[str, Any]) -> Table:
    return _table("certificate", ("what", "value"), rows)


def _counts(predicate: dict[str, Any]) -> Table:
    counts = [(name, _listed(value)) for name, value in predicate["counts"].items()]
    return _table("counts", ("count", "value"), counts)


def _table(title: str, columns: tuple[str, ...], rows: Iterable[Sequence[Any]]) -> Table:
    return Table(title, columns, tuple(tuple(str(cell) for cell in row) for row in rows))
