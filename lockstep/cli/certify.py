"""`lockstep certify`: certify a server by conditions that must not matter."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from lockstep.cli.options import ISSUED_AT, OWN_KEY

RECORDS = Path("certification.records.jsonl")
"""Where rounds are kept as they come, unless a file is named."""

EPILOG = (
    "Exit status: 0 clean, 2 usage, 3 inconclusive, 4 a fault of Lockstep itself, 6 the endpoint "
    "is down, 10 a divergence. docs/certify.md of the sources explains lockstep.toml and results."
)


def register(app: typer.Typer) -> None:
    """Add the command `certify`."""
    app.command("certify", epilog=EPILOG)(certify)


def certify(
    endpoint: str | None = typer.Option(None, "--endpoint", help="URL of a server of your own."),
    model: str | None = typer.Option(None, "--model", help="Its model (default: its only one)."),
    controlled: bool = typer.Option(
        False, "--i-control-this-endpoint", help="State that the server is yours to load."
    ),
    launch: str | None = typer.Option(
        None, "--launch", help="Command that starts the server; {port} stands for a free port."
    ),
    positive: str | None = typer.Option(
        None, "--positive", help="Command of a server that is meant to differ."
    ),
    adapter: str | None = typer.Option(
        None, help="openai, lockstep, vllm, sglang, llamacpp, transformers, tgi (default: ask)."
    ),
    config: Path | None = typer.Option(
        None, "--config", help="Configuration (default: lockstep.toml here, where it is)."
    ),
    api_key_env: str | None = typer.Option(None, help="Variable that holds the key for calls."),
    cases: str | None = typer.Option(None, help="Names with commas (default: all on offer)."),
    cache: str | None = typer.Option(None, help="Of warm, cold, off."),
    filler: str | None = typer.Option(None, help="Of none, fixed, varying."),
    order: str | None = typer.Option(None, help="Of fixed, rotated."),
    design: str | None = typer.Option(None, help="star or factorial."),
    observable: str | None = typer.Option(None, help="logprobs, tokens or text."),
    repeats: int | None = typer.Option(None, min=2, max=256, help="Rounds of a cell."),
    lifetimes: int | None = typer.Option(None, min=1, max=256, help="Starts of the server."),
    priming: int | None = typer.Option(None, min=0, max=16, help="Rounds before those."),
    max_new: int | None = typer.Option(None, min=1, max=1024, help="Tokens of an answer."),
    top: int | None = typer.Option(None, min=0, max=20, help="Likeliest tokens compared."),
    block_size: int | None = typer.Option(None, min=2, max=4096, help="Of the server's cache."),
    chunk: int | None = typer.Option(None, min=2, max=16384, help="Tokens of its steps."),
    context: int | None = typer.Option(None, min=1, help="Most tokens of a request."),
    seed: int | None = typer.Option(None, min=0, help="Of the prompts."),
    timeout: int | None = typer.Option(None, min=1, max=3600, help="Seconds for a request."),
    budget: str | None = typer.Option(None, help="90s, 10m, 1h: fits the plan, and ends the run."),
    plan_only: bool = typer.Option(False, "--plan", help="Print the plan and stop."),
    prompts: Path | None = typer.Option(None, help="Your own prompts, as JSON lines."),
    score: str | None = typer.Option(None, help="Command that scores their answers."),
    certificate: Path | None = typer.Option(None, help="Signed certificate to write."),
    key: Path | None = OWN_KEY,
    issued_at: str | None = ISSUED_AT,
    junit: Path | None = typer.Option(None, help="JUnit XML to write."),
    sarif: Path | None = typer.Option(None, help="SARIF 2.1.0 to write."),
    reproducers: Path | None = typer.Option(
        None, help="Folder for scripts that show what differs."
    ),
    records: Path = typer.Option(RECORDS, help="Rounds as they come; an interrupted run goes on."),
    fresh: bool = typer.Option(False, "--fresh", help="Begin anew whatever the records have."),
    as_json: bool = typer.Option(False, "--json", help="Print the result as JSON."),
) -> None:
    """Send a server the same requests under conditions that must not matter, and compare.

    Ask only a server that is yours; it is loaded heavily. Nothing is ever sent twice for one
    answer. Options stand over lockstep.toml.

    Example: lockstep certify --launch "lockstep serve --tiny --port {port}"
    """
    from dataclasses import replace

    from lockstep.certify.config import Command, Config, duration, read_config
    from lockstep.cli.certify_result import Outputs, conclude, require_library

    require_library()
    default = Path("lockstep.toml")
    stated = Config()
    if config is not None or default.is_file():
        stated = read_config(config or default)
    chosen = {
        "cases": _names(cases),
        "cache": _names(cache),
        "filler": _names(filler),
        "order": _names(order),
        "design": design,
        "observable": observable,
        "repeats": repeats,
        "lifetimes": lifetimes,
        "priming": priming,
        "max_new": max_new,
        "top": top,
        "block_size": block_size,
        "chunk": chunk,
        "context": context,
        "seed": seed,
    }
    given: dict[str, Any] = {
        "endpoint": endpoint,
        "model": model,
        "adapter": known_adapter(adapter),
        "key_variable": api_key_env,
        "timeout": timeout,
        "budget": duration(budget, "--budget"),
        "prompts": prompts,
        "score": score,
        "launch": _command(stated.launch, launch, Command),
        "positive": _command(stated.positive, positive, Command),
    }
    asked = replace(
        stated,
        **{name: value for name, value in given.items() if value is not None},
        controlled=controlled or stated.controlled,
        plan=_checked({**stated.plan, **{k: v for k, v in chosen.items() if v is not None}}),
    )
    outputs = Outputs(certificate, junit, sarif, reproducers, as_json)
    status = conclude(asked, outputs, records, fresh, plan_only, key, issued_at)
    if status:
        raise typer.Exit(status)


def _names(text: str | None) -> tuple[str, ...] | None:
    return None if text is None else tuple(name.strip() for name in text.split(","))


def known_adapter(name: str | None) -> str | None:
    """Give the name of an adapter back; None is to be found out.

    Raises:
        LockstepError: USAGE, there is none of this name.
    """
    from lockstep.certify.adapters.catalogue import ADAPTERS
    from lockstep.errors import LockstepError

    if name is not None and name not in ADAPTERS:
        raise LockstepError("USAGE", "--adapter", f"one of {', '.join(ADAPTERS)}", name)
    return name


def _command(stated: Any, text: str | None, make: type) -> Any:
    """Give the command of an option, with what the file says of it besides."""
    from dataclasses import replace

    if text is None:
        return None
    return make(text) if stated is None else replace(stated, text=text)


def _checked(plan: dict[str, Any]) -> dict[str, Any]:
    """Refuse words that no plan has; names of cases and axes are looked at with the plan."""
    from lockstep import spec
    from lockstep.errors import LockstepError

    data = spec.load("certification.json")
    for name in ("design", "observable"):
        known = data[f"{name}s"]
        if name in plan and plan[name] not in known:
            raise LockstepError("USAGE", f"--{name}", f"one of {', '.join(known)}", plan[name])
    return plan
