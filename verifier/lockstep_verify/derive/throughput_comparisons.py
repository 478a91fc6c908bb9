"""One comparison of two arms: its pairs, its interval, what is flagged (THR-5 to THR-12)."""

from fractions import Fraction
from typing import Any

from lockstep_verify import spec
from lockstep_verify.derive.probe_arms import require
from lockstep_verify.derive.probe_window import guarded
from lockstep_verify.derive.throughput_ratios import Interval, interval, stated

Document = dict[str, Any]

_COUNTS = "H10_COUNTS_DO_NOT_RECOMPUTE"
_OUTCOME = "OUTCOME_NOT_DERIVED"
_STATISTICS = "STATISTICS_DO_NOT_RECOMPUTE"


class Comparisons:
    """What comparisons are made of: arms, samples by arm, settings and spreads, all derived.

    Args:
        predicate: whose samples, settings and spreads have been derived.

    Attributes:
        arms: by name.
        blocks: number.
    """

    def __init__(self, predicate: Document) -> None:
        self.arms = {arm["name"]: arm for arm in predicate["arms"]}
        self.blocks: int = predicate["blocks"]
        self._samples = {(one["arm"], one["block"]): one for one in predicate["samples"]}
        self._settings = {one["arm"]: one["entries"] for one in predicate["settings"]}
        self._wide = {one["arm"]: one["flagged"] for one in predicate["spreads"]}

    def both(self, a: str, b: str, block: int) -> tuple[Document, Document]:
        """Give the two samples of a block."""
        return self._samples[a, block], self._samples[b, block]

    def guarded(self, name: str) -> bool:
        """Tell whether each sample of an arm shows whose prompts it holds."""
        return all(guarded(one) for (arm, _), one in self._samples.items() if arm == name)

    def unlike(self, a: str, b: str) -> list[str]:
        """Give the names of settings that resolve to different values."""
        pairs = zip(self._settings[a], self._settings[b], strict=True)
        return [one["name"] for one, other in pairs if one["resolved"] != other["resolved"]]

    def wide(self, name: str) -> bool:
        """Tell whether an arm's walls lie further apart than they should."""
        return bool(self._wide[name])


def check_comparison(run: Comparisons, one: Document, at: str) -> Interval | None:
    """Derive a comparison, and give its interval.

    Raises:
        Refusal: at the first member that does not follow.
    """
    a, b = one["a"], one["b"]
    pairs: list[tuple[Fraction, int]] = []
    excluded: list[Document] = []
    a_first = 0
    for block in range(run.blocks):
        left, right = run.both(a, b, block)
        ordered = [left, right] if left["place"] < right["place"] else [right, left]
        refused = [sample for sample in ordered if sample["refusal"] is not None]
        if refused:
            first = refused[0]
            told = {"block": block, "arm": first["arm"], "refusal": first["refusal"]}
            excluded.append(told)
            continue
        pairs.append((Fraction(left["wall_us"], right["wall_us"]), block))
        a_first += left["place"] < right["place"]
    require(_COUNTS, f"{at}/pairs", len(pairs), one["pairs"])
    require(_COUNTS, f"{at}/a_first", a_first, one["a_first"])
    require(_OUTCOME, f"{at}/excluded", excluded, one["excluded"])
    found = interval(pairs, spec.load("throughput.json")["confidence_permille"])
    for member, value in stated(found).items():
        require(_STATISTICS, f"{at}/{member}", value, one[member])
    unlike = run.unlike(a, b)
    require(_OUTCOME, f"{at}/unlike", unlike, one["unlike"])
    flags = _flags(run, one, found, bool(unlike), a_first in (0, len(pairs)))
    require(_OUTCOME, f"{at}/flags", flags, one["flags"])
    require(_OUTCOME, f"{at}/verdict", _verdict(found, flags), one["verdict"])
    return found


def _flags(
    run: Comparisons, one: Document, found: Interval | None, unlike: bool, one_sided: bool
) -> list[str]:
    a, b = run.arms[one["a"]], run.arms[one["b"]]
    flags = []
    if run.wide(one["a"]) or run.wide(one["b"]):
        flags.append("spread")
    if a["launch"] is None or b["launch"] is None:
        flags.append("shared")
    if not (run.guarded(one["a"]) and run.guarded(one["b"])):
        flags.append("unguarded")
    if unlike:
        flags.append("unlike")
    if found is not None and _constrained_faster((a["role"], b["role"]), found):
        flags.append("implausible")
    if one_sided:
        flags.append("one_sided")
    return flags


def _constrained_faster(roles: tuple[str, str], found: Interval) -> bool:
    """Tell whether the whole interval says that the invariant arm takes less time (THR-11)."""
    if roles == ("invariant", "fast"):
        return found.high[0] < 1
    return roles == ("fast", "invariant") and found.low[0] > 1


def _verdict(found: Interval | None, flags: list[str]) -> str:
    if "unlike" in flags:
        return "UNLIKE"
    if found is None:
        return "UNMEASURED"
    return "IMPLAUSIBLE" if "implausible" in flags else "MEASURED"
