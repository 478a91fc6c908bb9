"""The commands by the job that they are for, as `lockstep --help` lists them."""

from __future__ import annotations

from typing import Any

import typer.core

SECTIONS: dict[str, tuple[str, ...]] = {
    "Start here": ("demo", "doctor", "init", "show", "report", "keys"),
    "Certify a server": ("certify", "serve", "measure", "withdraw"),
    "Layouts of KV caches": ("layouts", "hunt"),
    "The engine and its schedules": (
        "run", "record", "replay", "relations", "fidelity", "golden", "fuzz", "minimize",
        "mutation", "workload", "schedule", "model",
    ),
    "Sampled tokens": ("sampling",),
    "Proofs": ("lean", "smt"),
    "Evidence and conformance": (
        "evidence", "vectors", "certify-faults", "gpu-evidence", "fuzz-verify", "bench-verify",
        "bench-hunt", "bench-engine", "bench-minimize", "bench-convert", "bench-sampling",
    ),
}  # fmt: skip
"""Every command stands in exactly one."""


class BySection(typer.core.TyperGroup):
    """A group whose help lists its commands under headings."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write one list of commands for each heading, with the first sentence of each."""
        widest = max(len(name) for names in SECTIONS.values() for name in names)
        for heading, names in SECTIONS.items():
            known = [(name, self.get_command(ctx, name)) for name in names]
            limit = formatter.width - 6 - widest
            rows = [
                (name.ljust(widest), command.get_short_help_str(limit))
                for name, command in known
                if command is not None
            ]
            with formatter.section(heading):
                formatter.write_dl(rows)
