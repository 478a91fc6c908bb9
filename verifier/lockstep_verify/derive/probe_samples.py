"""The form of samples: times that go on, bodies and metrics that are there (spec/probe.md)."""

from itertools import pairwise
from typing import Any

from lockstep_verify import spec
from lockstep_verify.derive import probe_window
from lockstep_verify.derive.probe_arms import metrics, require
from lockstep_verify.errors import Refusal

Document = dict[str, Any]


class Bodies:
    """Sees that bodies are used in the order in which they stand, and all of them.

    Args:
        count: their number.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._used = 0

    def use(self, place: int, at: str) -> None:
        """Take the use of a body.

        Raises:
            Refusal: BAD_VALUE, it is not there, or one before it was not used.
        """
        if place >= self._count or place > self._used:
            raise Refusal("BAD_VALUE", at, f"at most {min(self._used, self._count - 1)}", place)
        self._used = max(self._used, place + 1)

    def close(self, at: str) -> None:
        """Refuse a body that nothing used: BAD_VALUE at it."""
        if self._used < self._count:
            raise Refusal("BAD_VALUE", f"{at}/{self._used}", "a body that was sent", "unused")


def check_request(request: Document, bodies: Bodies, at: str) -> None:
    """See that a request's times go on, that its first token is its first, and its body."""
    moments = [("start_us", request["start_us"])]
    arrivals = request["arrivals_us"]
    if request["first_us"] is not None:
        moments.append(("first_us", request["first_us"]))
    moments += [(f"arrivals_us/{i}", time) for i, time in enumerate(arrivals)]
    moments.append(("end_us", request["end_us"]))
    for (_, before), (name, time) in pairwise(moments):
        if time < before:
            raise Refusal("BAD_VALUE", f"{at}/{name}", f"at least {before}", time)
    if arrivals and request["first_us"] != arrivals[0]:
        raise Refusal("BAD_VALUE", f"{at}/first_us", arrivals[0], request["first_us"])
    bodies.use(request["body"], f"{at}/body")


def check_window(sample: Document, adapter: str, known: dict[str, list[Document]], at: str) -> None:
    """See that a window holds its requests, and that its counters are those of the questions.

    Args:
        sample: any.
        adapter: of its arm.
        known: metrics of earlier samples by arm; a new arm's are entered.
        at: where the sample stands.
    """
    window = sample["window"]
    last = max((one["end_us"] for one in sample["requests"]), default=0)
    if window["monotonic_us"] < last:
        here = f"{at}/window/monotonic_us"
        raise Refusal("BAD_VALUE", here, f"at least {last}", window["monotonic_us"])
    questions = spec.load("probe.json")["questions"]
    stated = [one["question"] for one in window["counters"]]
    require("BAD_VALUE", f"{at}/window/counters", questions, stated)
    declared = metrics(adapter) or {}
    before = known.setdefault(sample["arm"], window["counters"])
    for i, one in enumerate(window["counters"]):
        here = f"{at}/window/counters/{i}"
        if one["metric"] not in (None, declared[one["question"]]):
            raise Refusal("BAD_VALUE", f"{here}/metric", declared[one["question"]], one["metric"])
        require("BAD_VALUE", f"{here}/metric", before[i]["metric"], one["metric"])
        if one["metric"] is None:
            for name in ("before", "after"):
                require("BAD_VALUE", f"{here}/{name}", None, one[name])


def check_derived(sample: Document, at: str) -> None:
    """See that refusal and wall follow from a sample's own requests and window."""
    refusal = probe_window.refusal(sample)
    require("OUTCOME_NOT_DERIVED", f"{at}/refusal", refusal, sample["refusal"])
    wall = probe_window.wall(sample)
    require("STATISTICS_DO_NOT_RECOMPUTE", f"{at}/wall_us", wall, sample["wall_us"])
