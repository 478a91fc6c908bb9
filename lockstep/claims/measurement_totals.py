"""The totals of a claim about measurements, and its verdict [MEAS-14]."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from lockstep.measure.document import guarded


def counts(folded: Mapping[str, Any], recorded: Callable[[str], bool]) -> dict[str, int]:
    """Count what a predicate has.

    Args:
        folded: its sections.
        recorded: whether the reading of a name rests on a record.
    """
    agreeing = [one["reading"] for one in folded["published"] if one["outcome"] == "agrees"]
    settings = [setting for arm in folded["arms"] for setting in arm["settings"]]
    outcomes = [one["outcome"] for one in folded["published"]]
    return {
        "sources": len(folded["sources"]),
        "profiles": len(folded["profiles"]),
        "arms": len(folded["arms"]),
        "settings": len(settings),
        "settings_unchosen": len([one for one in settings if not one["chosen"]]),
        "records": len(folded["records"]),
        "records_refused": len([one for one in folded["records"] if one["refusal"] is not None]),
        "direct": len(folded["direct"]),
        "fits": len(folded["fits"]),
        "derived": len(folded["derived"]),
        "predicted": len(folded["predicted"]),
        "routes": len(folded["routes"]),
        "published": len(outcomes),
        "published_agreeing": outcomes.count("agrees"),
        "published_contradicted": outcomes.count("contradicted"),
        "published_not_rederivable": outcomes.count("not_rederivable"),
        "published_unrecorded": len([name for name in agreeing if not recorded(name)]),
        "gates": len(folded["gates"]),
        "gates_interchangeable": len(
            [one for one in folded["gates"] if one["verdict"] == "interchangeable"]
        ),
        "tables": len(folded["tables"]),
        **_probes(folded["probes"]),
    }


def _probes(probes: Mapping[str, Any] | None) -> dict[str, int]:
    """Count what a run of probes has, nothing without one."""
    if probes is None:
        return dict.fromkeys(("samples", "samples_guarded", "pins_differing", "sent_altered"), 0)
    pins = [pin["agrees"] for arm in probes["arms"] for pin in arm["pins"]]
    causes = [entry["cause"] for one in probes["settings"] for entry in one["entries"]]
    return {
        "samples": len(probes["samples"]),
        "samples_guarded": sum(map(guarded, probes["samples"])),
        "pins_differing": pins.count(False),
        "sent_altered": causes.count("altered") + causes.count("dropped"),
    }


def verdict(found: Mapping[str, int]) -> str:
    """Sum up a claim in a word: one contradicted figure is what a reader must hear of."""
    if found["pins_differing"]:
        return "IDENTITY_DIFFERS"
    if found["sent_altered"]:
        return "SETTING_ALTERED"
    return "CONTRADICTED" if found["published_contradicted"] else "MEASURED"
