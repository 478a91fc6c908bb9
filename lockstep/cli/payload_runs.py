"""What `lockstep show` prints of payloads about executions of the engine."""

from typing import Any

from lockstep.cli.payload_parts import (
    SHOWN_DIGITS,
    about,
    counts_table,
    environment_rows,
    listed,
    table,
)
from lockstep.cli.tables import Table


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
        about(
            ("trajectory", predicate["trajectory"]["sha256"], "/predicate/trajectory/sha256"),
            ("model", f"{model['sha256'][:SHOWN_DIGITS]}, stored {model['stored_dtype']}"),
            *environment_rows(predicate["environment"]),
            ("not run", "; ".join(predicate["not_run"]) or "nothing", "/predicate/not_run"),
        ),
        table(
            "outputs",
            ("request", "ended by", "tokens", "first"),
            outputs if rows else (),
            "/predicate/outputs",
        ),
        table("coverage", ("events", "seen"), coverage, "/predicate/coverage/covered"),
        counts_table(predicate),
    ]


def campaign(predicate: dict[str, Any], rows: bool) -> list[Table]:
    """Show a fuzzing campaign: verdict, coverage by population, failures, counts."""
    model, told = predicate["model"], predicate["coverage"]
    coverage = [
        (row["population"], *(f"{row[what]} of {legal}" for what, legal in told["legal"].items()))
        for row in told["rows"]
    ]
    records = [
        (f"/predicate/populations/{place}/records/{number}", one["name"], record)
        for place, one in enumerate(predicate["populations"])
        for number, record in enumerate(one["records"])
    ]
    failed = [
        (name, record["seed"], *(record["failure"][part] for part in ("kind", "code", "where")))
        for _, name, record in records
        if record["failure"] is not None
    ]
    cases = [
        (name, one["seed"], one["outcome"], (one["trajectory_sha256"] or "")[:SHOWN_DIGITS])
        for _, name, one in records
    ]
    return [
        about(
            ("verdict", predicate["verdict"], "/predicate/verdict"),
            ("model", f"{model['sha256'][:SHOWN_DIGITS]}, stored {model['stored_dtype']}"),
            *environment_rows(predicate["environment"]),
        ),
        table("coverage", ("population", *told["legal"]), coverage, "/predicate/coverage/rows"),
        table(
            "failures",
            ("population", "seed", "kind", "code", "where"),
            failed,
            [place for place, _, record in records if record["failure"] is not None],
        ),
        table(
            "cases",
            ("population", "seed", "outcome", "trajectory"),
            cases if rows else (),
            [place for place, _, _ in records] if rows else (),
        ),
        counts_table(predicate),
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
        (one["dimension"], listed([str(n) for n in one["place"]]), one["outcome"], one["code"])
        for one in predicate["removals"]
    ]
    told = "" if unmutated is None else f"{unmutated['outcome']} {unmutated['code']}".rstrip()
    return [
        about(
            (
                "failure",
                f"{failure['kind']} {failure['code']} {failure['part']}",
                "/predicate/failure",
            ),
            ("at", f"{failure['where']}: {failure['detail']}", "/predicate/failure/where"),
            ("mutation", "none" if mutation is None else mutation["name"], "/predicate/mutation"),
            ("without the mutation", told or "does not apply", "/predicate/unmutated"),
            ("closed by", predicate["closed_by"] or "no commit", "/predicate/closed_by"),
            ("pool", f"{pool['blocks']} blocks of {pool['block_size']}", "/predicate/case/pool"),
            ("case", predicate["case_sha256"], "/predicate/case_sha256"),
            ("found", predicate["origin"]["source"], "/predicate/origin/source"),
            *environment_rows(predicate["environment"]),
        ),
        table(
            "requests",
            ("request", "prompt", "max_new", "arrival"),
            requests,
            "/predicate/case/workload/requests",
        ),
        table("steps", ("step", "actions"), steps, "/predicate/case/steps"),
        table("dimensions", ("dimension", "removals", "held"), dimensions, "/predicate/dimensions"),
        table(
            "removals",
            ("dimension", "place", "outcome", "code"),
            removals if rows else (),
            "/predicate/removals",
        ),
        counts_table(predicate),
    ]


def mutation(predicate: dict[str, Any], rows: bool) -> list[Table]:
    """Show a campaign of mutations: verdict, observers, operators, counts."""
    control = {cell["observer"]: cell["seen"] for cell in predicate["control"]}
    observers = [
        (one["name"], control[one["name"]], one["killed"], one["alone"])
        for one in predicate["observers"]
    ]
    chosen = [
        (number, one)
        for number, one in enumerate(predicate["rows"])
        if rows or one["verdict"] != "killed"
    ]
    operators = [
        (one["verdict"], one["operator"], ", ".join(one["killed_by"]) or "none")
        for _, one in chosen
    ]
    return [
        about(
            ("verdict", predicate["verdict"], "/predicate/verdict"),
            ("block size", str(predicate["block_size"]), "/predicate/block_size"),
            *environment_rows(predicate["environment"]),
        ),
        table(
            "observers",
            ("observer", "engine as it is", "killed", "alone"),
            observers,
            "/predicate/observers",
        ),
        table(
            "operators",
            ("verdict", "operator", "killed by"),
            operators,
            [f"/predicate/rows/{number}" for number, _ in chosen],
        ),
        counts_table(predicate),
    ]


def sampling(predicate: dict[str, Any], rows: bool) -> list[Table]:
    """Show judged sequences: verdict, each sequence's, and counts."""
    judged = [
        (
            one["request"]["inference_id"],
            one["choice"],
            one["verdict"],
            one["reason"],
            "" if one["position"] is None else one["position"],
            f"{one['covered']} of {one['positions']}",
        )
        for one in predicate["sequences"]
    ]
    columns = ("request", "choice", "verdict", "reason", "position", "covered")
    tokens = [
        (one["request"]["inference_id"], place, signed["token"], len(signed["support"] or ()))
        for one in predicate["sequences"]
        for place, signed in enumerate(one["artifact"]["positions"])
    ]
    places = [
        f"/predicate/sequences/{number}/artifact/positions/{place}"
        for number, one in enumerate(predicate["sequences"])
        for place, _ in enumerate(one["artifact"]["positions"])
    ]
    return [
        about(
            ("verdict", predicate["verdict"], "/predicate/verdict"),
            ("sampler", predicate["version"], "/predicate/version"),
            ("not run", "; ".join(predicate["not_run"]), "/predicate/not_run"),
        ),
        table("sequences", columns, judged, "/predicate/sequences"),
        table(
            "positions",
            ("request", "position", "token", "support"),
            tokens if rows else (),
            places if rows else (),
        ),
        counts_table(predicate),
    ]
