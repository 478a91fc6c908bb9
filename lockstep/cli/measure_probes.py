"""`lockstep measure`: probes of a server, or of several, signed as a measurement."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from lockstep.cli.options import ISSUED_AT, OWN_KEY, certificate, require_output

if TYPE_CHECKING:
    from lockstep.measure.probes import Entry, Probed
    from lockstep.measure.server import Server

OUTPUT = certificate("measurement.cert.json")
DECODER = 16
"""Prompt tokens of the decoder that waits beside a long prefill."""
BEHIND = 4
"""Tokens that it has had when the prefill is sent; half of its answer where that is shorter."""
LONGEST = 4096
"""Tokens of the longest prompt that is chosen without being asked for."""


def register(group: typer.Typer) -> None:
    """Let the group itself be the command that probes."""
    group.callback(invoke_without_command=True)(probe)


def probe(
    context: typer.Context,
    endpoint: str | None = typer.Option(None, "--endpoint", help="URL of a server of your own."),
    controlled: bool = typer.Option(
        False, "--i-control-this-endpoint", help="State that the server is yours to load."
    ),
    launch: list[str] = typer.Option(
        [],
        "--launch",
        metavar="<str>",
        help="Command that starts a server, {port} in it; may be repeated, to compare several.",
    ),
    model: str | None = typer.Option(None, "--model", help="Its model (default: its only one)."),
    adapter: str | None = typer.Option(
        None, help="openai, lockstep, vllm, sglang, llamacpp, transformers, tgi (default: ask)."
    ),
    api_key_env: str | None = typer.Option(None, help="Variable that holds the key for calls."),
    form: str = typer.Option("tokens", help="Of prompts: tokens, or text for words."),
    lengths: str | None = typer.Option(
        None, help="Of prefills, with commas (default: around the batch budget)."
    ),
    new: int = typer.Option(32, "--max-new", min=2, max=65536, help="Tokens that are decoded."),
    blocks: int = typer.Option(3, min=1, max=1024, help="Samples of each kind and server."),
    seed: int = typer.Option(1, min=0, max=(1 << 53) - 1, help="Of prompts and of the order."),
    pin: list[str] = typer.Option(
        [],
        metavar="<str>",
        help="As 'server-0.runtime_version=0.1.0': a recorded constant of an identity; may be "
        "repeated.",
    ),
    output: Path = OUTPUT,
    key: Path | None = OWN_KEY,
    issued_at: str | None = ISSUED_AT,
) -> None:
    """Measure a server: prefills of several lengths, decoding, a decoder beside a long prefill.

    The batch budget is read from a counter of steps, where the server has an honest one. A sample
    with foreign work, a counter that went back or a step of the clock in its window is refused,
    and kept as a receipt. Every prompt is new, so that no cache answers. The commands below
    compare servers, compute figures from records, and show what was signed.

    Example: lockstep measure --launch "lockstep serve --tiny --port {port}"
    """
    if context.invoked_subcommand is not None:
        return
    from lockstep.certificate.times import claimed
    from lockstep.certify.config import Command, key_of
    from lockstep.cli.certify import known_adapter
    from lockstep.cli.certify_result import require_library
    from lockstep.cli.measure_throughput import lengths_of, pinned
    from lockstep.cli.signing import conclude, own_key
    from lockstep.errors import LockstepError
    from lockstep.issue_measurement import issue_measurement
    from lockstep.measure.load import REQUESTED
    from lockstep.measure.probe_claim import measurement_document
    from lockstep.measure.server import Server, Wanted

    require_library()
    require_output(output)
    if form not in ("tokens", "text"):
        raise LockstepError("USAGE", "--form", "tokens or text", form)
    adapter = known_adapter(adapter)
    signer, issued = own_key(key), claimed(issued_at)
    commands: list[Command | None] = [Command(text) for text in launch] or [None]
    arms = [
        Wanted(
            f"server-{place}",
            "subject",
            command,
            endpoint,
            controlled,
            adapter,
            model,
            requested=REQUESTED,
            key=key_of(api_key_env),
            form="text" if form == "text" else None,
        )
        for place, command in enumerate(commands)
    ]
    servers = [Server(arm) for arm in pinned(arms, pin)]
    wanted = None if lengths is None else lengths_of(lengths, "--lengths")
    seen = _probed(servers, form, wanted, new, blocks, seed)
    made = issue_measurement(
        measurement_document(seen, versions(servers)),
        [signer],
        issued_at=issued,
        command="lockstep measure",
    )
    status = conclude(output, made.certificate, summary(seen, made.predicate), signer)
    if status:
        raise typer.Exit(status)


def _probed(
    servers: Sequence[Server],
    form: str,
    wanted: tuple[int, ...] | None,
    new: int,
    blocks: int,
    seed: int,
) -> Probed:
    """Find the batch budgets, choose lengths around them, and take all samples."""
    from lockstep import spec
    from lockstep.certify.signals import run_until_signal
    from lockstep.measure.builtin import LOW, SPAN
    from lockstep.measure.probes import Design, Probing

    words = len(spec.load("certification.json")["words"])
    low, span = (LOW, SPAN) if form == "tokens" else (0, words)
    probing = Probing(servers, Design(form, low, span, seed, blocks), _tell)

    async def run() -> Probed:
        await probing.detect()
        known = probing.seen(())
        if wanted is not None and form == "tokens":
            _require_within(servers, wanted)
        entries = chosen(wanted or _around(servers, known), new)
        await probing.measure(entries)
        return probing.seen(entries)

    return run_until_signal(run())


def _require_within(servers: Sequence[Server], lengths: Sequence[int]) -> None:
    """See that each prompt, and a token of an answer, fits into what a server says it takes.

    Raises:
        LockstepError: USAGE.
    """
    from lockstep.errors import LockstepError

    for server in servers:
        context = None if server.known is None else server.known.found.description.context
        if context is not None and max(lengths) >= context:
            expected = f"below {context}, the context of {server.wanted.name}"
            raise LockstepError("USAGE", "--lengths", expected, max(lengths))


def _tell(line: str) -> None:
    typer.echo(f"lockstep: {line}", err=True)


def _around(servers: Sequence[Server], known: Probed) -> tuple[int, ...]:
    """Give lengths around the budgets that were found; powers of two without one."""
    from lockstep.measure.probe_records import budget_of

    contexts = [
        server.known.found.description.context
        for server in servers
        if server.known is not None and server.known.found.description.context is not None
    ]
    most = min([LONGEST, *(context // 2 for context in contexts)])
    exact = [budget_of(known, arm.name).exact for arm in known.arms]
    found = {
        length
        for size in exact
        if size is not None
        for length in (max(1, size // 2), size, size + 1, 2 * size, 3 * size)
    } or {64, 128, 256, 512}
    return tuple(sorted(length for length in found if length <= most)) or (most,)


def chosen(lengths: Sequence[int], new: int) -> list[Entry]:
    """Give the entries of a run: a prefill of each length, decoding, and the two together."""
    from lockstep.measure.probes import Entry

    longest = max(lengths)
    return [
        *(Entry(f"prefill-{length}", "prefill", (length,), (1,)) for length in lengths),
        Entry("decode", "decode", (DECODER,), (new,)),
        Entry(f"stall-{longest}", "stall", (DECODER, longest), (new, 1), min(BEHIND, new // 2)),
    ]


def versions(servers: Sequence[Server]) -> dict[str, dict[str, str | None]]:
    """Give what each server says it is, by the arm's name."""
    found = {}
    for server in servers:
        if server.known is not None:
            told = server.known.found.description
            found[server.wanted.name] = {
                "model": told.model,
                "runtime": told.version,
                "tokenizer": server.known.tokenizer,
            }
    return found


def summary(seen: Probed, predicate: dict[str, Any]) -> list[str]:
    """Give the lines that sum up probes for people."""
    from lockstep.cli.payload_measurement import ranged, values_of
    from lockstep.measure.probe_records import budget_of

    counts = predicate["counts"]
    lines = [
        f"verdict: {predicate['verdict']}; {counts['samples']} samples, "
        f"{counts['records_refused']} refused"
    ]
    for arm in seen.arms:
        found = budget_of(seen, arm.name)
        if found.least is None:
            told = "not told by any honest counter of steps"
        elif found.exact is not None:
            told = f"{found.exact} tokens a step"
        elif found.greatest is None:
            told = f"at least {found.least} tokens a step"
        else:
            told = f"from {found.least} to {found.greatest} tokens a step"
        lines.append(f"{arm.name} ({arm.adapter}): batch budget {told}")
        if arm.kv_pool is not None:
            lines.append(f"{arm.name}: KV pool, as printed: {arm.kv_pool.printed}")
    values = values_of(predicate)
    for one in (*predicate["direct"], *predicate["derived"]):
        value = int(one["value"]["num"]) / int(one["value"]["den"])
        told = ranged(one, values) if "quantity" in one else ""
        lines.append(f"  {one['name']}: {value:,.3f}".removesuffix(".000") + told)
    return lines
