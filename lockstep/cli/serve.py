"""`lockstep serve`: the engine behind HTTP, in OpenAI's form."""

from __future__ import annotations

import sys
from pathlib import Path

import typer

TINY_NAME = "lockstep-tiny"
"""The name of the tiny model, for calls."""


def register(app: typer.Typer) -> None:
    """Add the command `serve`."""
    app.command("serve")(serve)


def serve(
    model: Path | None = typer.Option(None, "--model", help="The model's folder."),
    tiny: bool = typer.Option(False, "--tiny", help="Serve a tiny seeded model, made here."),
    name: str | None = typer.Option(
        None, "--served-name", help=f"Of the model in calls (default: the folder's, {TINY_NAME})."
    ),
    mode: str = typer.Option(
        "invariant", help="invariant, or fast: a control whose bits depend on the batch."
    ),
    fault: str | None = typer.Option(
        None, "--fault", help="A mutation operator to serve under; /version says so."
    ),
    host: str = typer.Option("127.0.0.1", help="Address to listen at."),
    port: int = typer.Option(8000, min=0, max=65535, help="0 takes one that is free."),
    dtype: str | None = typer.Option(None, help="float32 or float16 (default: the backend's)."),
    block_size: int = typer.Option(16, min=1, max=4096, help="Token slots of a block."),
    pool_blocks: int = typer.Option(1024, min=1, max=1 << 20, help="Blocks of the pool."),
    max_batch: int = typer.Option(256, min=1, max=1024, help="Requests that are active at once."),
    chunk_tokens: int = typer.Option(
        512, min=1, max=1 << 18, help="Tokens that a step computes; prefills are cut there."
    ),
    policy: str = typer.Option("continuous", help="continuous, adversarial or swarm."),
    seed: int = typer.Option(0, min=0, help="Of the policy swarm."),
    prefix_cache: bool = typer.Option(
        True, "--prefix-cache/--no-prefix-cache", help="Whether prompts look the cache up."
    ),
    max_waiting: int = typer.Option(4096, min=1, help="Requests that may wait; more get 429."),
    metrics_compat: str | None = typer.Option(
        None, help="vllm: give its names at /metrics besides."
    ),
    api_key_env: str | None = typer.Option(
        None, help="The variable that holds the key which calls must carry."
    ),
    record: Path | None = typer.Option(
        None, help="Folder for executions, which `lockstep run` repeats; absent or empty."
    ),
    drain_seconds: int = typer.Option(30, min=1, help="For running requests, after a signal."),
    default_seed: int | None = typer.Option(
        None, min=0, max=(1 << 53) - 1, help="Of calls that have none (default: drawn for each)."
    ),
    log: str = typer.Option("text", help="text or json, on standard error."),
) -> None:
    """Serve a model by OpenAI's API: completions, chat completions, models.

    Paths: /v1/completions, /v1/chat/completions, /v1/models, /health, /version, /metrics, and POST
    /reset_prefix_cache. When requests are taken, a line on standard output tells the URL. SIGTERM
    and Ctrl-C let running requests end, and then end the server.

    Example: lockstep serve --tiny --port 0
    """
    from lockstep.errors import LockstepError

    if (model is None) != tiny:
        raise typer.BadParameter("either a folder, or --tiny", param_hint="--model")
    for option, value, allowed in (
        ("--mode", mode, ("invariant", "fast")),
        ("--log", log, ("text", "json")),
        ("--metrics-compat", metrics_compat, (None, "vllm")),
    ):
        if value not in allowed:
            known = ", ".join(word for word in allowed if word)
            raise LockstepError("USAGE", option, f"one of {known}", value)
    if record is not None and record.exists() and (not record.is_dir() or any(record.iterdir())):
        raise LockstepError("USAGE", "--record", "a folder that is absent or empty", str(record))
    if fault is not None:
        from lockstep.mutation import load

        # First of all: what is imported before stays as it is.
        load.install(fault)
    from lockstep.cli import _commit
    from lockstep.lifecycle import Pool
    from lockstep.serve import run
    from lockstep.serve.policy import Driving

    run.require_libraries()
    settings = run.Settings(
        folder=model,
        mode=mode,
        fault=fault,
        commit=_commit(),
        name=name or (TINY_NAME if model is None else model.resolve().name),
        dtype=dtype,
        pool=Pool(pool_blocks, block_size),
        driving=Driving(policy, max_batch, chunk_tokens, prefix_cache, seed),
        max_waiting=max_waiting,
        compatible=metrics_compat,
        key=run.key_from(api_key_env),
        record=record,
        json_log=log == "json",
        drain_seconds=drain_seconds,
        default_seed=default_seed,
    )
    bound = run.listen(host, port)
    if fault is not None or mode != "invariant":
        _warn(f"mode {mode}, fault {fault or 'none'}: not batch-invariant, by intent")
    if settings.key is None and not run.is_loopback(bound):
        _warn("whoever reaches this address may call: no --api-key-env is given")
    run.serve(settings, bound)


def _warn(text: str) -> None:
    """Say something on standard error: on the other one stands where to call, and nothing else."""
    print(f"lockstep: {text}", file=sys.stderr, flush=True)
