"""Which view draws which kind of claim, in the order of the page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from lockstep.report import fits, kills, ladder, matrix, servers, strip, transitions
from lockstep.report.figures import Judged
from lockstep.report.markup import Markup


@dataclass(frozen=True)
class View:
    """A section of the report, and how it draws each kind of certificate that it is about."""

    name: str
    title: str
    about: str
    kinds: dict[str, Callable[[Judged], Markup]]


VIEWS = (
    View(
        "layouts",
        "Layouts of KV caches",
        "Which declared layouts convert into each other without loss, pair by pair.",
        {"hunt": matrix.draw},
    ),
    View(
        "invariance",
        "Invariance",
        "The same requests under other batches and schedules, compared byte for byte.",
        {"invariance": strip.draw},
    ),
    View(
        "mutation",
        "Who notices a fault",
        "Faults put into the engine's sources one at a time, and the observers that saw them.",
        {"mutation": kills.draw},
    ),
    View(
        "coverage",
        "Coverage of the lifecycle",
        "The transitions of a request, and how many events in a row were seen of all legal ones.",
        {"campaign": transitions.draw, "invariance": transitions.draw},
    ),
    View(
        "servers",
        "Certified servers",
        "The same request under conditions that must not matter, all answers compared in pairs.",
        {"certification": servers.draw},
    ),
    View(
        "precision",
        "Precision",
        "How far computations of one model lie from each other, and from binary64.",
        {"distance-calibration": ladder.distances, "fidelity": ladder.fidelity},
    ),
    View(
        "measurement",
        "Measurements",
        "Records, the laws fitted to them, and what each fit leaves over.",
        {"measurement": fits.draw},
    ),
)
"""Every view, in the order of the page."""

VIEWED = frozenset(kind for view in VIEWS for kind in view.kinds)
"""Kinds that a view draws."""

DRAWN = {
    "hunt": ("layouts",),
    "invariance": ("claims", "controls", "coverage"),
    "mutation": ("observers",),
    "campaign": ("coverage",),
    "certification": ("controls", "server", "not shown"),
    "distance-calibration": ("rungs", "thresholds"),
    "fidelity": ("measures",),
    "measurement": ("fits", "published figures"),
}
"""By kind, tables of `lockstep show` whose rows a view shows already."""
