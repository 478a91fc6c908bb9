"""What `lockstep show` prints of a payload: one function a kind, each gives tables."""

from collections.abc import Callable
from typing import Any

from lockstep.cli.payload_certification import certification
from lockstep.cli.payload_detection import detection
from lockstep.cli.payload_distance import distance_calibration
from lockstep.cli.payload_experiments import sampling_experiments
from lockstep.cli.payload_measurement import measurement, withdrawal
from lockstep.cli.payload_parts import (
    SHOWN_DIGITS,
    about,
    counts_table,
    environment_rows,
    listed,
    table,
)
from lockstep.cli.payload_proofs import lean, smt
from lockstep.cli.payload_runs import campaign, finding, mutation, replay, sampling
from lockstep.cli.payload_throughput import throughput
from lockstep.cli.tables import Table


def describe(statement: dict[str, Any], rows: bool) -> list[Table]:
    """Give the tables that show a statement of a known kind.

    Args:
        statement: as it stands in the payload, judged or not.
        rows: whether the long lists are shown.

    Raises:
        KeyError, TypeError, ValueError, AttributeError: it has not the shape of one.
    """
    kind = statement["predicateType"].split(":")[-2]
    head_table, *rest = _KINDS[kind](statement["predicate"], rows)
    head = (
        ("kind", statement["predicateType"]),
        ("issued at", f"{statement['predicate']['issued_at']} (the signer's claim)"),
    )
    places = ("/predicateType", "/predicate/issued_at", *head_table.pointers)
    first = Table(head_table.title, head_table.columns, (*head, *head_table.rows), places)
    return [shown for shown in (first, *rest) if shown.rows]


def hunt(predicate: dict[str, Any], rows: bool) -> list[Table]:
    """Show a hunt: layouts, rows, counts, checks."""
    outcomes = predicate["falsifications"]
    held = sum(1 for entry in outcomes if entry["actual"] == entry["expected"])
    geometry = ", ".join(f"{name} {value}" for name, value in predicate["geometry"].items())
    found = [
        (
            row["verdict"],
            row["pair_id"],
            row["frontier_code"] or listed(row["transformations"]),
        )
        for row in predicate["rows"]
    ]
    checks = [(check["outcome"], check["name"]) for check in predicate["checks"]]
    return [
        about(
            ("set", predicate["set"], "/predicate/set"),
            ("geometry", geometry, "/predicate/geometry"),
            (
                "falsifications",
                f"{held} of {len(outcomes)} as registered",
                "/predicate/falsifications",
            ),
        ),
        table(
            "layouts",
            ("layout", "native shapes", "positions of padding"),
            map(_layout, predicate["layouts"]),
            "/predicate/layouts",
        ),
        table(
            "rows",
            ("verdict", "pair", "transformations or frontier code"),
            found if rows else (),
            "/predicate/rows",
        ),
        counts_table(predicate),
        table("checks", ("outcome", "check"), checks, "/predicate/checks"),
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
        about(
            ("verdict", predicate["verdict"], "/predicate/verdict"),
            ("model", f"{model['sha256'][:SHOWN_DIGITS]}, stored {model['stored_dtype']}"),
            *environment_rows(predicate["environment"]),
        ),
        table("claims", ("claim", "verdict", "held"), claims, "/predicate/claims"),
        table("runs", ("outcome", "relation", "block size", "positions", "why"),
               runs if rows else (), "/predicate/runs"),
        table("controls", ("backend", "shown", "outcome", "relation", "block size", "why"),
               controls, "/predicate/controls"),
        table("coverage", ("population", "events", "seen"), coverage,
               "/predicate/coverage/n_grams"),
        table("unseen", ("events",), [(" ".join(one),) for one in predicate["coverage"]["unseen"]]
               if rows else (), "/predicate/coverage/unseen"),
        counts_table(predicate),
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
        about(
            ("model", f"{model['sha256'][:SHOWN_DIGITS]}, stored {model['stored_dtype']}"),
            *environment_rows(predicate["environment"]),
            ("not run", "; ".join(predicate["not_run"]), "/predicate/not_run"),
        ),
        table("measures", ("measure", "value", "bound"), measures, "/predicate/measures"),
        table(
            "prompts",
            ("prompt", "tokens", "rows", "logits"),
            prompts if rows else (),
            "/predicate/prompts",
        ),
        counts_table(predicate),
    ]


def layout_observation(predicate: dict[str, Any], rows: bool) -> list[Table]:
    """Show what an engine's memory had: verdict by declared layout, and runs."""
    engine = predicate["engine"]
    seen = [
        (declared["name"], one["verdict"], ", ".join(run["dtype"] for run in one["runs"]),
         " ".join(one["explanation"][0]) if one["explanation"] else "")
        for one, declared in zip(predicate["observations"], predicate["layouts"], strict=True)
    ]  # fmt: skip
    runs = [
        (declared["name"], run["dtype"], len(run["buffers"]), run["wrong"], run["stray"])
        for one, declared in zip(predicate["observations"], predicate["layouts"], strict=True)
        for run in one["runs"]
    ]
    return [
        about(
            ("engine", f"{engine['name']} {engine['version']}", "/predicate/engine"),
            ("written by", engine["written_by"], "/predicate/engine/written_by"),
            ("cited alone", f"{len(predicate['cited'])} declared layouts", "/predicate/cited"),
            ("not run", "; ".join(predicate["not_run"]), "/predicate/not_run"),
        ),
        table(
            "observations",
            ("layout", "verdict", "types", "as if its axes were"),
            seen,
            "/predicate/observations",
        ),
        table(
            "runs",
            ("layout", "type", "buffers", "wrong", "stray"),
            runs if rows else (),
            [
                f"/predicate/observations/{place}/runs/{number}"
                for place, one in enumerate(predicate["observations"])
                for number, _ in enumerate(one["runs"] if rows else ())
            ],
        ),
        counts_table(predicate),
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
    "mutation": mutation,
    "certification": certification,
    "sampling": sampling,
    "distance-calibration": distance_calibration,
    "sampling-experiments": sampling_experiments,
    "throughput": throughput,
    "detection": detection,
    "measurement": measurement,
    "withdrawal": withdrawal,
    "layout-observation": layout_observation,
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


def _layout(layout: dict[str, Any]) -> tuple[str, str, str]:
    derived = layout["derived"]
    shapes = [f"{shape['tensor']} {shape['extents']}" for shape in derived["native_shapes"]]
    if not derived["realisable"]:
        return layout["name"], "not at this geometry", ""
    return layout["name"], "; ".join(shapes), str(derived["padding_positions"])
