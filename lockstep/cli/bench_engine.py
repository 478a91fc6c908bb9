"""`lockstep bench-engine`: what invariance costs, pair by pair, and what kernels achieve."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from lockstep.engine.benchmark import Spread


def register(app: typer.Typer) -> None:
    """Add the command `bench-engine`."""
    app.command("bench-engine")(bench_engine)


def bench_engine(
    model: Path | None = typer.Option(None, help="A model's folder (default: a tiny one)."),
    pairs: int = typer.Option(7, min=1, max=1000, help="Pairs of each comparison."),
    against: str = typer.Option("fast", help="A backend that claims nothing: fast, fast_torch."),
    dtype: str = typer.Option("float32", help="float32 or float16."),
) -> None:
    """Time the invariant backend host against a fast one, in turn, and the kernels of a GPU.

    Ratios are host / the other: 1 is as fast, 2 takes twice as long. They hold for this machine,
    model and load, and are no claim.

    Example: lockstep bench-engine --pairs 15
    """
    from lockstep.cli import say
    from lockstep.cli.progress import bar
    from lockstep.cli.tables import Table, show_table
    from lockstep.engine.backends import open_backend
    from lockstep.engine.benchmark import cases, execution, ratios, spread, workloads
    from lockstep.engine.opening import open_model
    from lockstep.engine.tiny import TinyModel

    if against not in ("fast", "fast_torch"):
        raise typer.BadParameter(f"fast or fast_torch, not {against}", param_hint="--against")
    source = model or TinyModel()
    host, fast = (open_model(source, name, dtype).model for name in ("host", against))
    rows: list[tuple[str, str, str]] = []
    executed = workloads(host.config.vocab_size)
    kernels = cases()
    with bar("timing", len(executed) + len(kernels)) as tell:
        for name, workload in executed.items():
            found = ratios(execution(host, workload), execution(fast, workload), pairs)
            rows.append(("execution", name, _told(spread(found))))
            tell(len(rows))
        one, other = open_backend("host", dtype), open_backend(against, dtype)
        for case in kernels:
            found = ratios(case.prepare(one), case.prepare(other), pairs)
            rows.append(("kernel", case.name, _told(spread(found))))
            tell(len(rows))
    title = f"host / {against}, {dtype}, {pairs} pairs: least, median, greatest"
    show_table(Table(title, ("what", "of", "ratio"), tuple(rows)))
    say()
    for line in _on_a_gpu(dtype):
        say(line)


def _told(found: Spread) -> str:
    return f"{found.least:.2f}  {found.median:.2f}  {found.greatest:.2f}"


def _on_a_gpu(dtype: str) -> list[str]:
    """Tell what the kernels achieve on a GPU, or why none of them ran."""
    from lockstep.engine.device import open_device
    from lockstep.errors import LockstepError

    try:
        device = open_device()
    except LockstepError as fault:
        if fault.code not in ("DEVICE_MISSING", "LIBRARY_MISSING"):
            raise
        return [f"kernels on a GPU: not run here ({fault.expected} wanted, {fault.got})"]
    from lockstep.engine.backends import open_backend
    from lockstep.engine.benchmark import achieved

    lines = [
        f"kernels on {device.name}, {dtype}; peaks measured here: "
        f"{device.bandwidth / 1e9:,.0f} GB/s by a copy, {device.rate / 1e12:,.1f} TFLOP/s by a "
        "product in float32"
    ]
    for one in achieved(
        open_backend("triton", dtype), device.synchronise, device.bandwidth, device.rate
    ):
        lines.append(
            f"  {one.name:<32} {one.seconds * 1e6:9.1f} us  {one.bandwidth:7.1%} of bandwidth  "
            f"{one.rate:7.1%} of FLOP/s"
        )
    return lines
