"""`lockstep bench-verify` and `lockstep bench-hunt`: ratios measured in one run."""

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from lockstep.layouts.geometry import Geometry
    from lockstep.layouts.sets import LayoutSet

COLD_RATIO = 3.0
"""The most that a cold verification may cost, as a multiple of a bare Ed25519 import."""
LARGE: dict[str, Any] = {"tokens": 8192, "layers": 32, "kv_heads": 8, "head_dim": 128}
"""The large geometry of the benchmarks."""
BARE = "import cryptography.hazmat.primitives.asymmetric.ed25519"


def register(app: typer.Typer) -> None:
    """Add the benchmarks."""

    @app.command("bench-verify")
    def bench_verify(
        runs: int = typer.Option(15, min=1, help="Interleaved runs of each command."),
        evidence: Path = typer.Option(Path("evidence"), help="Folder of the certificates."),
        large: bool = typer.Option(True, help="Also a certificate at 32 layers, 8,192 tokens."),
    ) -> None:
        """Time a cold verification against a bare Ed25519 import, in turn.

        Example: lockstep bench-verify --runs 25
        """
        from lockstep.cli import say

        with tempfile.TemporaryDirectory() as place:
            state = ["--state", place]
            trust = ["--trust", str(evidence / "trust.json")]
            certificate = str(evidence / "exact-transformations.cert.json")
            if not Path(certificate).is_file():
                raise typer.BadParameter(f"{certificate} is no file", param_hint="--evidence")
            verify = [sys.executable, "-m", "lockstep_verify", *trust, *state]
            bare = [sys.executable, "-c", BARE]
            ratios = paired([*verify, certificate], bare, runs)
            # Whatever else this machine does slows the two of a pair alike.
            say(f"cold verification / bare import: {spread(ratios)}, at most {COLD_RATIO} allowed")
            if large:
                folder = Path(place)
                _large_certificate(folder)
                trust = ["--trust", str(folder / "trust.json")]
                verify = [sys.executable, "-m", "lockstep_verify", *trust, *state]
                name = str(folder / "large.cert.json")
                ratios_large = paired([*verify, name], bare, max(3, runs // 3))
                say(f"large geometry / bare import: {spread(ratios_large)}")
                walked, wall, floor = _walk(verify, name)
                say(
                    f"large geometry: {wall:.2f} s cold, {walked:,} positions walked, at least "
                    f"{walked / (wall - floor) / 1e6:.1f} million a second"
                )
        if statistics.median(ratios) > COLD_RATIO:
            say(f"the median is above {COLD_RATIO}")
            raise typer.Exit(3)

    @app.command("bench-hunt")
    def bench_hunt() -> None:
        """Time the exhaustive probe, in positions a second on one core, and the peak memory.

        Example: lockstep bench-hunt
        """
        import resource

        from lockstep.cli import say
        from lockstep.hunt.probe import probe
        from lockstep.layouts.realise import realise

        layouts, geometry = _large_set()
        positions, seconds = 0, 0.0
        for layout in layouts.layouts.values():
            realised = realise(layout, geometry)
            if realised is None:
                continue
            started = time.process_time()
            probe(realised)
            spent = time.process_time() - started
            positions += realised.positions
            seconds += spent
            say(f"{layout.name:<24} {realised.positions / spent / 1e6:6.1f} million a second")
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        say(f"{'all':<24} {positions / seconds / 1e6:6.1f} million a second, peak {peak:.2f} GiB")


def paired(one: Sequence[str], other: Sequence[str], runs: int) -> list[float]:
    """Run two commands in turn and give the ratios of their wall times, pair by pair.

    Raises:
        CalledProcessError: a command failed; a failing run has no time.
    """
    seconds(one)
    seconds(other)
    return [seconds(one) / seconds(other) for _ in range(runs)]


def _walk(verify: Sequence[str], name: str) -> tuple[int, float, float]:
    """Give how many positions a verification walks, its wall time, and that of a bare start."""
    import json
    import re

    started = time.perf_counter()
    done = subprocess.run([*verify, "--json", name], check=True, capture_output=True)
    wall = time.perf_counter() - started
    lines = " ".join(json.loads(done.stdout)["lines"])
    found = re.search(r"cross-check: ([0-9,]+) positions", lines)
    walked = int(found[1].replace(",", "")) if found else 0
    return walked, wall, seconds([*verify[:3], "--version"])


def seconds(command: Sequence[str]) -> float:
    """Give the wall time of one run of a command."""
    started = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - started


def spread(ratios: Sequence[float]) -> str:
    """Give median, least and greatest."""
    return f"median {statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"


def _large_set() -> "tuple[LayoutSet, Geometry]":
    import dataclasses

    from lockstep.layouts.sets import load_set

    layouts = load_set("seed-004")
    return layouts, dataclasses.replace(layouts.geometry, **LARGE)


def _large_certificate(folder: Path) -> None:
    """Make a certificate at the large geometry, with a policy for its throwaway key."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from lockstep.certificate import keys, lcj, times
    from lockstep.cli.hunt import now, progress
    from lockstep.cli.keys import YEARS
    from lockstep.issue import issue_hunt

    layouts, geometry = _large_set()
    key = Ed25519PrivateKey.generate()
    policy = keys.sole_policy(key.public_key(), "bench", "bench", times.period(YEARS))
    (folder / "trust.json").write_bytes(lcj.encode(policy))
    issued = issue_hunt(
        layouts,
        geometry,
        [key],
        issued_at=now(),
        command="lockstep bench-verify",
        progress=progress(),
    )
    (folder / "large.cert.json").write_bytes(issued.certificate)
