"""What a run of the certifier ends with: its verdict, its files, its exit status."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lockstep.certify.adapters.adapter import Adapter
    from lockstep.certify.config import Config
    from lockstep.certify.observation import Seen

DOWN = 6
"""Exit status where the endpoint went down before the plan was done, and nothing differed."""


@dataclass(frozen=True)
class Outputs:
    """Files to write, each None for none; and whether standard output gets JSON."""

    certificate: Path | None
    junit: Path | None
    sarif: Path | None
    reproducers: Path | None
    as_json: bool


def require_library() -> None:
    """Refuse to go on without httpx.

    Raises:
        LockstepError: LIBRARY_MISSING.
    """
    import importlib.util

    from lockstep.errors import LockstepError

    if importlib.util.find_spec("httpx") is None:
        hint = "Install the extra 'certify'."
        raise LockstepError("LIBRARY_MISSING", "lockstep certify", "httpx", "no such library", hint)


def conclude(
    config: Config,
    outputs: Outputs,
    records: Path,
    fresh: bool,
    plan_only: bool,
    key: Path | None,
    issued_at: str | None,
) -> int:
    """Run, tell the verdict, write the files, and give the exit status.

    Raises:
        LockstepError: as `observe`; nothing is written then but the records.
    """
    from lockstep.certificate import times
    from lockstep.certify.adapters.catalogue import ADAPTERS
    from lockstep.certify.issue import issue_certification
    from lockstep.cli import options, signing
    from lockstep.cli.hunt import now
    from lockstep.errors import LockstepError

    for option, path in (
        ("--certificate", outputs.certificate),
        ("--junit", outputs.junit),
        ("--sarif", outputs.sarif),
        ("--records", records),
    ):
        if path is not None:
            options.require_output(path, option)
    if outputs.reproducers is not None:
        options.require_folder(outputs.reproducers, "--reproducers")
    if config.score is not None and config.prompts is None:
        raise LockstepError("USAGE", "--score", "beside --prompts, whose answers it scores", None)
    # A time that is none is told before the run; without one it is that of the run's end.
    issued_at = None if issued_at is None else times.claimed(issued_at)
    signer = signing.own_key(key)
    made = _seen(config, outputs, records, fresh, plan_only)
    if made is None:
        return 0
    seen, model = made
    command = f"lockstep certify --adapter {seen.adapter.name}"
    issued = issue_certification(seen, [signer], issued_at=issued_at or now(), command=command)
    predicate = issued.predicate
    _write_reports(outputs, predicate, config, ADAPTERS[seen.adapter.name](model))
    faulty = 0
    if outputs.certificate is not None:
        faulty = _certificate(outputs.certificate, issued.certificate, outputs.as_json, signer)
    if outputs.as_json:
        print(json.dumps(summary(predicate), indent=1, sort_keys=True))
    else:
        tell(predicate)
    return faulty or status(predicate)


def _seen(
    config: Config, outputs: Outputs, records: Path, fresh: bool, plan_only: bool
) -> tuple[Seen, str] | None:
    """Run, and give what was seen with the model that was asked; None for the plan alone."""
    from lockstep.certify.config import digest_of
    from lockstep.certify.results import Records
    from lockstep.certify.run import observe
    from lockstep.certify.signals import run_until_signal
    from lockstep.certify.watch import PlanOnly
    from lockstep.cli.certify_watch import Progress

    kept = Records(None if plan_only else records, digest_of(config), fresh)
    watch = Progress(plan_only, outputs.as_json, kept)
    try:
        with watch.shown():
            seen = run_until_signal(observe(config, kept, watch))
        watch.ended()
        return seen, watch.model
    except PlanOnly:
        return None
    except KeyboardInterrupt:
        made = len(kept.rounds)
        print(
            f"lockstep: {made} rounds are in {records}; the same command goes on", file=sys.stderr
        )
        raise


def _certificate(path: Path, certificate: bytes, as_json: bool, signer: Any) -> int:
    """Write the certificate and have it verified; gives an exit status."""
    from lockstep.certificate.write import write_file
    from lockstep.cli import signing
    from lockstep.cli.hunt import verified_with

    if not as_json:
        return 4 if signing.conclude(path, certificate, (), signer) else 0
    write_file(path, certificate)
    result = verified_with(path, signer, None, path.parent)
    return 4 if result["exit"] else 0


def _write_reports(
    outputs: Outputs, predicate: Mapping[str, Any], config: Config, adapter: Adapter
) -> None:
    from lockstep.certificate.write import write_file
    from lockstep.certify.junit import junit
    from lockstep.certify.reproducer import scripts
    from lockstep.certify.sarif import sarif

    if outputs.junit is not None:
        write_file(outputs.junit, junit(predicate))
    if outputs.sarif is not None:
        write_file(outputs.sarif, sarif(predicate))
    if outputs.reproducers is not None:
        outputs.reproducers.mkdir(parents=True, exist_ok=True)
        url = config.endpoint or "http://127.0.0.1:8000"
        made = scripts(predicate, adapter, config.overrides, url, config.key_variable)
        for name, text in made.items():
            write_file(outputs.reproducers / name, text.encode("utf-8"))


def status(predicate: Mapping[str, Any]) -> int:
    """Give the exit status of a run [CERT-22]."""
    from lockstep.certify.issue import exit_status

    if predicate["verdict"] != "DIVERGENT" and any(
        cell["reason"] == "down" for cell in predicate["cells"]
    ):
        return DOWN
    return exit_status(predicate["verdict"])


def summary(predicate: Mapping[str, Any]) -> dict[str, Any]:
    """Give a result without its observations."""
    told = {name: value for name, value in predicate.items() if name not in ("outputs", "cells")}
    kept = ("rounds", "requests_sha256")
    told["cells"] = [
        {name: value for name, value in cell.items() if name not in kept}
        for cell in predicate["cells"]
    ]
    prompts = predicate["prompts"]
    if prompts is not None:
        conditions = [
            {name: value for name, value in one.items() if name != "rounds"}
            for one in prompts["conditions"]
        ]
        told["prompts"] = {**prompts, "conditions": conditions}
    return told


def tell(predicate: Mapping[str, Any]) -> None:
    """Print a table of cells, controls and limits, and the verdict last."""
    from lockstep import spec
    from lockstep.certify.prompts import lines
    from lockstep.cli import say
    from lockstep.cli.tables import Table, show_table

    columns = ("case", "condition", "verdict", "width", "cache", "rate", "first difference")
    rows = tuple(_row(cell) for cell in predicate["cells"])
    show_table(Table("cells", columns, rows))
    controls = ", ".join(f"{one['name']} {one['status']}" for one in predicate["controls"])
    say(f"controls: {controls}")
    for name in predicate["turned_off"]:
        say(f"turned off though nobody asked: {name}")
    for name in predicate["overridden"]:
        say(f"resolved to something else than was requested: {name}")
    if predicate["prompts"] is not None:
        for line in lines(predicate["prompts"]):
            say(line)
    said = {one["id"]: one["says"] for one in spec.load("certification.json")["limits"]}
    for limit in predicate["limits"]:
        say(f"limit {limit}: {said[limit]}")
    say(f"{predicate['verdict']}: {_sum(predicate['counts'])}")


def _sum(counts: Mapping[str, int]) -> str:
    from lockstep import spec

    kinds = reversed(spec.load("certification.json")["cell_verdicts"])
    told = [f"{counts[f'cells_{kind}']} {kind}" for kind in kinds if counts[f"cells_{kind}"]]
    return (
        f"{counts['cells_planned']} cells, {', '.join(told)}; {counts['rounds_scored']:,} rounds "
        f"scored, {counts['requests']:,} requests, {counts['pairs']:,} pairs compared"
    )


def _row(cell: Mapping[str, Any]) -> tuple[str, ...]:
    condition = f"{cell['cache']} {cell['filler']} {cell['order']}"
    first = cell["first"]
    shown = ""
    if first is not None:
        place = "" if first["position"] is None else f" at {first['position']}"
        delta = f", by {first['delta']}" if first["delta"] else ""
        shown = f"{first['scope']}: {first['kind']}{place}, request {first['request']}{delta}"
    verdict = cell["verdict"] + (f" ({', '.join(cell['kinds'])})" if cell["kinds"] else "")
    verdict += f" ({cell['reason']})" if cell["reason"] else ""
    return (
        cell["case"],
        f"[{cell['control']}]" if cell["control"] else condition,
        verdict,
        f"{cell['width']} {cell['witness']}",
        cell["cache_witness"],
        _rate(cell["statistics"]),
        shown,
    )


def _rate(told: Mapping[str, Any] | None) -> str:
    if told is None or not told["rounds"]:
        return ""
    if told["missed_ppm"] is not None:
        return f"0/{told['rounds']}, misses up to {told['missed_ppm'] / 10000:.1f} %"
    low, high = told["low_ppm"] / 10000, told["high_ppm"] / 10000
    return f"{told['differing']}/{told['rounds']}, {low:.1f} to {high:.1f} %"
