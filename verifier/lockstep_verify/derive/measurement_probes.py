"""A run of probes: its design, and its samples in their order (PROBE-15 to PROBE-17)."""

from typing import Any

from lockstep_verify import spec
from lockstep_verify.derive.measurement_samples import probes_by_name
from lockstep_verify.derive.probe_arms import (
    check_arms,
    check_bodies,
    check_settings,
    order,
    require,
)
from lockstep_verify.derive.probe_samples import (
    Bodies,
    check_derived,
    check_request,
    check_window,
)
from lockstep_verify.derive.probe_window import quantities
from lockstep_verify.errors import Refusal

Document = dict[str, Any]

_AT = "/predicate/probes"
_DENOMINATOR = "COVERAGE_DENOMINATOR_NOT_DERIVED"
_STATISTICS = "STATISTICS_DO_NOT_RECOMPUTE"


def check_probes(predicate: Document) -> None:
    """Derive the member `probes`, where there is a run of probes.

    Raises:
        Refusal: the first offence in the order of derivation.
    """
    probes = predicate["probes"]
    if probes is None:
        return
    _check_entries(probes)
    check_arms(probes["arms"], f"{_AT}/arms")
    check_bodies(probes["bodies"], f"{_AT}/bodies")
    run = _Run(probes)
    run.check_detections()
    run.check_samples()
    run.bodies.close(f"{_AT}/bodies")
    every = [*probes["detections"], *probes["samples"]]
    arms, bodies = probes["arms"], probes["bodies"]
    check_settings(probes["settings"], arms, every, bodies, f"{_AT}/settings")
    _check_budgets(probes)


def _check_entries(probes: Document) -> None:
    if probes["form"] == "text":
        words = len(spec.load("certification.json")["words"])
        require("BAD_VALUE", f"{_AT}/low", 0, probes["low"])
        require("BAD_VALUE", f"{_AT}/span", words, probes["span"])
    known = {one["name"]: one["requests"] for one in spec.load("probe.json")["probes"]}
    names: set[str] = set()
    for i, entry in enumerate(probes["entries"]):
        here = f"{_AT}/entries/{i}"
        if entry["name"] in names:
            raise Refusal("BAD_VALUE", f"{here}/name", "a name of its own", entry["name"])
        names.add(entry["name"])
        if entry["probe"] not in known:
            raise Refusal("BAD_VALUE", f"{here}/probe", sorted(known), entry["probe"])
        count = known[entry["probe"]]
        require("BAD_VALUE", f"{here}/prompts", count, len(entry["prompts"]))
        require("BAD_VALUE", f"{here}/max_new", count, len(entry["max_new"]))
        if (entry["behind"] == 0) != (count == 1):
            due = "0 for one request alone"
            raise Refusal("BAD_VALUE", f"{here}/behind", due, entry["behind"])


class _Run:
    """Goes through the samples of a run in their order; windows and processes only go on."""

    def __init__(self, probes: Document) -> None:
        self._probes = probes
        self._arms = {arm["name"]: arm for arm in probes["arms"]}
        self._ended = 0
        self._process = -1
        self._visit: tuple[str, int, str] | None = None
        self._metrics: dict[str, list[Document]] = {}
        self.bodies = Bodies(len(probes["bodies"]))

    def check_detections(self) -> None:
        """See that detections stand arm by arm, each counted, and ask for one token (PROBE-17)."""
        names, at, counted = list(self._arms), 0, 0
        for place, sample in enumerate(self._probes["detections"]):
            here = f"{_AT}/detections/{place}"
            if sample["arm"] not in names[at:]:
                raise Refusal(_DENOMINATOR, f"{here}/arm", names[at:], sample["arm"])
            if sample["arm"] != names[at]:
                at, counted = names.index(sample["arm"]), 0
            due = {"name": f"{names[at]}-budget-{counted}", "place": place, "block": 0}
            for member, value in due.items():
                require(_DENOMINATOR, f"{here}/{member}", value, sample[member])
            require("BAD_VALUE", f"{here}/warm_ups", 0, sample["warm_ups"])
            counted += 1
            self._check(sample, ("detections", 0, names[at]), None, here)

    def check_samples(self) -> None:
        """See that samples are those of the design, in its order (PROBE-16)."""
        probes = self._probes
        entries = {entry["name"]: entry for entry in probes["entries"]}
        due = [
            (block, arm, name)
            for block in range(probes["blocks"])
            for arm in order(probes["seed"], block, list(self._arms))
            for name in order(probes["seed"], block, [f"{arm}-{one}" for one in entries])
        ]
        samples = probes["samples"]
        named: set[str] = set()
        require(_DENOMINATOR, f"{_AT}/samples", len(due), len(samples))
        for place, ((block, arm, name), sample) in enumerate(zip(due, samples, strict=True)):
            here = f"{_AT}/samples/{place}"
            told = {"place": place, "block": block, "arm": arm, "name": f"{name}-{block}"}
            for member, value in told.items():
                require(_DENOMINATOR, f"{here}/{member}", value, sample[member])
            if sample["name"] in named:
                raise Refusal("BAD_VALUE", f"{here}/name", "a name of its own", sample["name"])
            named.add(sample["name"])
            if sample["warm_ups"] < 1:
                raise Refusal("BAD_VALUE", f"{here}/warm_ups", "at least 1", 0)
            entry = entries[name.removeprefix(f"{arm}-")]
            self._check(sample, ("samples", block, arm), entry, here)

    def _check(
        self, sample: Document, visit: tuple[str, int, str], entry: Document | None, at: str
    ) -> None:
        arm = self._arms[sample["arm"]]
        self._check_process(sample, visit, arm["launch"] is not None, at)
        if sample["begin_us"] < self._ended:
            raise Refusal(
                "BAD_VALUE", f"{at}/begin_us", f"at least {self._ended}", sample["begin_us"]
            )
        self._ended = sample["begin_us"] + sample["window"]["monotonic_us"]
        requests = sample["requests"]
        count = 1 if entry is None else len(entry["prompts"])
        require("BAD_VALUE", f"{at}/requests", count, len(requests))
        for i, request in enumerate(requests):
            here = f"{at}/requests/{i}"
            if self._probes["form"] == "text":
                require("BAD_VALUE", f"{here}/prompt_tokens", None, request["prompt_tokens"])
            else:
                told = request["prompt_tokens"]
                due = entry["prompts"][i] if entry is not None else told or 0
                require("BAD_VALUE", f"{here}/prompt_tokens", due, told)
            max_new = 1 if entry is None else entry["max_new"][i]
            require("BAD_VALUE", f"{here}/max_new", max_new, request["max_new"])
            check_request(request, self.bodies, here)
        check_window(sample, arm["adapter"], self._metrics, at)
        check_derived(sample, at)
        if entry is not None and sample["refusal"] is None and len(requests) > 1:
            _check_behind(requests, entry["behind"], f"{at}/requests/1/start_us")

    def _check_process(
        self, sample: Document, visit: tuple[str, int, str], launched: bool, at: str
    ) -> None:
        process, here = sample["process"], f"{at}/process"
        if not launched:
            require("BAD_VALUE", here, None, process)
        elif visit == self._visit:
            require("BAD_VALUE", here, self._process, process)
        elif process is None or process <= self._process:
            raise Refusal("BAD_VALUE", here, f"above {self._process}", process)
        else:
            self._process = process
        self._visit = visit


def _check_behind(requests: list[Document], behind: int, at: str) -> None:
    """See that the second request was sent when the first had come so far, or had ended."""
    arrivals = requests[0]["arrivals_us"]
    due = arrivals[behind - 1] if len(arrivals) >= behind else requests[0]["end_us"]
    if requests[1]["start_us"] < due:
        raise Refusal("BAD_VALUE", at, f"at least {due}", requests[1]["start_us"])


def _check_budgets(probes: Document) -> None:
    names = [arm["name"] for arm in probes["arms"]]
    require(_DENOMINATOR, f"{_AT}/budgets", names, [one["arm"] for one in probes["budgets"]])
    kinds = probes_by_name(probes)
    prefills = [one for one in probes["samples"] if kinds[one["name"]] == "prefill"]
    counted = [*probes["detections"], *prefills]
    for i, (name, stated) in enumerate(zip(names, probes["budgets"], strict=True)):
        derived = _budget([one for one in counted if one["arm"] == name])
        for member, value in derived.items():
            require(_STATISTICS, f"{_AT}/budgets/{i}/{member}", value, stated[member])


def _budget(samples: list[Document]) -> dict[str, int | None]:
    """Give what fits the steps of prompts of several lengths (PROBE-17)."""
    points = []
    for sample in samples:
        if sample["refusal"] is None:
            told = quantities(sample)
            if told["tokens"] is not None and told["steps"] is not None:
                points.append((told["tokens"], told["steps"]))
    short = [steps for tokens, steps in points if tokens == 1]
    if not short:
        return {"overhead": None, "least": None, "greatest": None}
    overhead = min(short) - 1
    least, greatest = 0, None
    for tokens, steps in points:
        chunks = steps - overhead
        if chunks >= 1:
            least = max(least, (tokens + chunks - 1) // chunks)
        if chunks >= 2:
            most = (tokens - 1) // (chunks - 1)
            greatest = most if greatest is None else min(greatest, most)
    return {"overhead": overhead, "least": least, "greatest": greatest}
