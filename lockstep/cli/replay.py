"""`lockstep record` and `lockstep replay`: certify one execution, and repeat one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from lockstep.cli import options

if TYPE_CHECKING:
    from lockstep.fuzz.again import CampaignAgain
    from lockstep.minimize.again import FindingAgain
    from lockstep.replay.again import Again
    from lockstep.replay.observe import ReplaySeen


OUTPUT = options.certificate("replay.cert.json")


def register(app: typer.Typer) -> None:
    """Add the commands `record` and `replay`."""
    app.command("record")(record)
    app.command("replay")(replay)


def record(
    workload: Path = options.WORKLOAD,
    schedule: Path | None = options.SCHEDULE,
    policy: str | None = options.POLICY,
    seed: int | None = options.SEED,
    block_size: int | None = options.BLOCK_SIZE,
    model: Path | None = options.MODEL,
    backend: str = options.BACKEND,
    dtype: str | None = options.DTYPE,
    output: Path = OUTPUT,
    key: Path | None = options.OWN_KEY,
    issued_at: str | None = options.ISSUED_AT,
) -> None:
    """Execute a workload, and sign the execution in full, so that anybody can repeat it.

    Example: lockstep record --workload workload.json --policy adversarial -o run.cert.json
    """
    from lockstep.certificate import times
    from lockstep.cli.signing import conclude, own_key
    from lockstep.issue import issue_replay

    issued_at = times.claimed(issued_at)
    options.require_output(output)
    signer = own_key(key)
    seen = _observe(workload, schedule, policy, seed, block_size, (model, backend, dtype))
    issued = issue_replay(seen, [signer], issued_at=issued_at, command="lockstep record")
    if conclude(output, issued.certificate, summary(issued.predicate), signer):
        raise typer.Exit(3)


def _observe(
    workload: Path,
    schedule: Path | None,
    policy: str | None,
    seed: int | None,
    block_size: int | None,
    subject: tuple[Path | None, str, str | None],
) -> ReplaySeen:
    from lockstep.cli.schedule import choose_policy
    from lockstep.engine.opening import open_model
    from lockstep.engine.tiny import TinyModel
    from lockstep.replay.observe import observe, observe_driven
    from lockstep.schedule.document import located
    from lockstep.schedule.schedule import read_schedule
    from lockstep.schedule.workload import read_workload, require_model
    from lockstep.schedule.workloads import pool_for

    if schedule is not None:
        options.refuse_beside_schedule(
            {"--policy": policy, "--seed": seed, "--block-size": block_size}
        )
    requests = read_workload(workload)
    given = None if schedule is None else read_schedule(schedule)
    chosen = choose_policy(policy or "continuous", seed)
    folder, backend, dtype = subject
    opened = open_model(folder or TinyModel(), backend, dtype)
    config = opened.model.config
    require_model(requests, config.vocab_size, config.max_position_embeddings, str(workload))
    if given is None:
        return observe_driven(opened, requests, pool_for(requests, block_size or 16), chosen)
    with located(str(schedule)):
        return observe(opened, requests, given)


def summary(predicate: dict[str, Any]) -> list[str]:
    """Give the lines that sum up an execution for people."""
    counts = predicate["counts"]
    covered = ", ".join(
        f"{entry['shown']} of {entry['legal']} {what}"
        for what, entry in zip(
            ("cells", "pairs", "triples"), predicate["coverage"]["covered"], strict=True
        )
    )
    return [
        f"{counts['requests']} requests, {counts['steps']} steps, {counts['events']} events, "
        f"{counts['rows']} rows, {counts['tokens']} tokens",
        f"preemptions {counts['preemptions']}, evictions {counts['evictions']}, blocks granted by "
        f"hits {counts['hit_blocks']}, rows past the first split {counts['split_rows']}",
        f"coverage of the lifecycle by this execution: {covered}",
        f"trajectory {predicate['trajectory']['sha256']}",
    ]


def replay(
    certificate: Path = typer.Argument(..., help="Certificate of a replay, finding or campaign."),
    model: Path | None = typer.Option(
        None, "--model", help="The model's folder, if it has no recipe."
    ),
    removals: bool = typer.Option(
        False, "--removals", help="Of a finding: test every single removal again, too."
    ),
    every: bool = typer.Option(
        False, "--every", help="Of a campaign: run every case again, not each eighth alone."
    ),
    jobs: int = typer.Option(1, min=1, max=64, help="Of a campaign: processes at once."),
    as_json: bool = typer.Option(False, "--json", help="Print the outcome as one line of JSON."),
) -> None:
    """Execute again what a certificate, or its bare statement, says was executed.

    Judges no signature: that is for lockstep-verify. Exit status 0: nothing differs, or a finding
    that is closed does not show; 3: REPLAY_DIFFERS, with the first step and part,
    FINDING_NOT_REPRODUCED, FINDING_REOPENED, FINDING_OUTCOME_NOT_DERIVED, or NOT_COMPARABLE, with
    what differs.

    Example: lockstep replay evidence/replay.cert.json
    """
    import json
    from dataclasses import asdict

    from lockstep.cli import say
    from lockstep.replay.read import read_stated

    kind, predicate = read_stated(certificate)
    found: Again | FindingAgain | CampaignAgain
    if removals and kind != "finding":
        raise typer.BadParameter(f"a {kind} has none", param_hint="--removals")
    if kind == "campaign":
        from lockstep.fuzz.again import replay as run_again

        found = run_again(predicate, model, every, jobs)
    elif kind == "finding":
        from lockstep.minimize.again import show_again

        found = show_again(predicate, None if model is None else str(model), removals)
    else:
        from lockstep.replay.again import replay as execute_again

        found = execute_again(predicate, model)
    if as_json:
        say(json.dumps(asdict(found), sort_keys=True, separators=(",", ":")))
        if found.outcome not in ("same", "closed"):
            raise typer.Exit(3)
        return
    _require_same(found, str(certificate))
    for line in _told(found, predicate):
        say(line)


def _require_same(found: Again | FindingAgain | CampaignAgain, certificate: str) -> None:
    """Refuse where something differs, or nothing could be compared."""
    from lockstep.errors import LockstepError

    if found.outcome == "not_comparable":
        hint = "Nothing was executed. Compare under the binding of the certificate."
        raise LockstepError("NOT_COMPARABLE", certificate, "an equal binding", found.reason, hint)
    places = {
        "differs": ("REPLAY_DIFFERS", _place(found)),
        "not_reproduced": ("FINDING_NOT_REPRODUCED", "/failure"),
        "reopened": ("FINDING_REOPENED", "/closed_by"),
        "another_outcome": ("FINDING_OUTCOME_NOT_DERIVED", _place(found)),
    }
    if found.outcome in places:
        code, place = places[found.outcome]
        raise LockstepError(code, f"{certificate}:{place}", found.expected, found.got)


def _place(found: Again | FindingAgain | CampaignAgain) -> str:
    from lockstep.fuzz.again import CampaignAgain
    from lockstep.replay.again import Again

    if isinstance(found, CampaignAgain):
        return f" {found.population}, seed {found.seed}, {found.part}"
    if isinstance(found, Again):
        return f" step {found.step}, {found.part}"
    if found.outcome == "differs":
        return "/trajectory_sha256"
    return f"/removals/{found.removal}" if found.removal >= 0 else "/unmutated"


def _told(found: Again | FindingAgain | CampaignAgain, predicate: dict[str, Any]) -> list[str]:
    """Give the lines that say what agrees."""
    from lockstep.fuzz.again import CampaignAgain
    from lockstep.replay.again import Again

    if isinstance(found, CampaignAgain):
        return [f"ran {found.records} cases again: nothing differs"]
    if isinstance(found, Again):
        told = f"executed {found.steps} steps again: nothing differs"
        return [told, f"trajectory {predicate['trajectory']['sha256']}"]
    if found.outcome == "closed":
        return [f"closed by {predicate['closed_by']}: the case gives {found.got} here"]
    failure, mutation = predicate["failure"], predicate["mutation"]
    under = f" under the mutation {mutation['name']}" if mutation else ""
    lines = [
        f"the failure shows again{under}: {failure['kind']} {failure['code']}".rstrip(),
        f"trajectory {predicate['trajectory_sha256']}",
    ]
    if found.tested:
        lines.append(f"{found.tested} other cases were tested again and give what is said")
    return lines
