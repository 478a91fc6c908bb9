"""What the answers of a cell show, and its verdict [CERT-14] to [CERT-18]."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, combinations, product
from typing import Any

from lockstep.certify.cells import PlannedCell
from lockstep.certify.observation import CellSeen, Output, Round, Seen
from lockstep.claims import certification_answers as answers
from lockstep.claims import certification_rounds as witness
from lockstep.claims.certification_statistics import statistics

SCORED = ("divergent", "first_run_only", "missing", "clean")


@dataclass(frozen=True, order=True)
class Sight:
    """One output of a probe: in which round of which cell, at which place, which output."""

    lifetime: int
    number: int
    place: int
    cell: int
    output: int

    def where(self) -> dict[str, int]:
        """Give the member that says so."""
        return {"cell": self.cell, "lifetime": self.lifetime, "number": self.number}


@dataclass(frozen=True)
class Comparison:
    """Two outputs that must be equal.

    Attributes:
        scope: `repeats`, `lifetimes`, `alone` or `rescoring`.
        probe: its first place in the cell.
        a: the one.
        b: the other.
        settled: whether both are of settled rounds.
        kind: what differs; None where nothing does.
    """

    scope: str
    probe: int
    a: Sight
    b: Sight
    settled: bool
    kind: str | None


@dataclass(frozen=True)
class Cell:
    """A cell of a run: planned, and seen.

    Attributes:
        index: in the plan.
        planned: what was to be sent.
        seen: what was seen.
        run: all that was seen.
        alone: the cell whose settled outputs are compared with this one's; None for none.
    """

    index: int
    planned: PlannedCell
    seen: CellSeen
    run: Seen
    alone: Cell | None = None

    @property
    def rounds(self) -> tuple[Round, ...]:
        """The rounds, in order."""
        return self.seen.rounds

    @cached_property
    def probes(self) -> dict[int, int]:
        """The place of each probe, with the first place at which the same is sent."""
        first: dict[Any, int] = {}
        return {
            place: first.setdefault(replace(one, wave=0), place)
            for place, one in enumerate(self.planned.requests)
            if one.role == "probe"
        }

    def sights(self, rounds: Sequence[Round], place: int) -> list[Sight]:
        """Give the outputs at a place."""
        return [
            Sight(one.lifetime, one.number, place, self.index, output)
            for one in rounds
            if (output := one.outputs[place]) is not None
        ]

    @cached_property
    def calm(self) -> tuple[Round, ...]:
        """The settled rounds."""
        return witness.settled(self.rounds, self.run.plan["priming"])

    @cached_property
    def counterparts(self) -> dict[int, list[int]]:
        """Of each probe, the places at which the cell `alone` sends it."""
        found: dict[int, list[int]] = {}
        if self.alone is not None:
            plain = [p for p in self.probes if self.planned.requests[p].rescores is None]
            size = len(self.alone.planned.requests)
            for other, place in enumerate(plain[:size]):
                found.setdefault(self.probes[place], []).append(other)
        return found

    @cached_property
    def comparisons(self) -> tuple[Comparison, ...]:
        """Every pair of outputs that must be equal."""
        return tuple(chain(self._pairs(), self._rescorings()))

    def _kind(self, a: Sight, b: Sight) -> str | None:
        if a.output == b.output:
            return None
        left, right = self.run.outputs[a.output], self.run.outputs[b.output]
        return answers.kind(left, right, self.run.plan["observable"])

    def _pairs(self) -> Iterator[Comparison]:
        calm = {(one.lifetime, one.number) for one in self.calm}
        for probe in dict.fromkeys(self.probes.values()):
            places = [place for place, first in self.probes.items() if first == probe]
            own = sorted(chain.from_iterable(self.sights(self.rounds, p) for p in places))
            quiet = {one: (one.lifetime, one.number) in calm for one in own}
            for a, b in combinations(own, 2):
                scope = "repeats" if a.lifetime == b.lifetime else "lifetimes"
                both = quiet[a] and quiet[b]
                yield Comparison(scope, probe, a, b, both, self._kind(a, b))
            if self.alone is not None:
                others = [
                    self.alone.sights(self.alone.calm, place)
                    for place in self.counterparts.get(probe, ())
                ]
                for a, b in product(own, chain.from_iterable(others)):
                    yield Comparison("alone", probe, a, b, quiet[a], self._kind(a, b))

    def _rescorings(self) -> Iterator[Comparison]:
        if self.run.plan["observable"] != "logprobs":
            return
        again = [
            (place, one.rescores)
            for place, one in enumerate(self.planned.requests)
            if one.rescores is not None
        ]
        for one in self.rounds:
            for place, rescored in again:
                told, wanted = self._output(one, place), self._output(one, rescored)
                if told is None or told.prompt_logprobs is None:
                    continue
                if wanted is None or wanted.logprobs is None:
                    continue
                sight = self.sights([one], place)[0]
                same = tail(told, wanted) == wanted.logprobs
                kind = None if same else "logprobs"
                yield Comparison("rescoring", place, sight, sight, one in self.calm, kind)

    def _output(self, one: Round, place: int) -> Output | None:
        output = one.outputs[place]
        return None if output is None else self.run.outputs[output]

    @cached_property
    def kinds(self) -> list[str]:
        """What differs, the gravest first."""
        found = {one.kind for one in self.comparisons}
        return [kind for kind in answers.KINDS if kind in found]

    @cached_property
    def batched(self) -> tuple[Round, ...]:
        """The rounds that formed a batch and are no priming."""
        plan, adapter = self.run.plan, self.run.adapter
        return tuple(one for one in self._measured if witness.is_batched(one, plan, adapter))

    @property
    def _measured(self) -> tuple[Round, ...]:
        return tuple(one for one in self.rounds if one.number >= self.run.plan["priming"])

    @cached_property
    def cache(self) -> str:
        """What reports of cached tokens show."""
        return witness.cache_witness(self.planned, self.rounds, self.run.plan)

    @cached_property
    def verdict(self) -> str:
        """The first verdict that applies [CERT-16]."""
        failures = {failure.kind for one in self.rounds for failure in one.failures}
        holds = {
            "not_run": self.seen.reason != "",
            "hang": "timeout" in failures,
            "error": bool(failures),
            "malformed": any(map(self._malformed, self.rounds)),
            "not_batched": not self.planned.alone and len(self.batched) < 2,
            "not_cached": self.cache == "contradicted",
            "divergent": any(one.kind and one.settled for one in self.comparisons),
            "first_run_only": bool(self.kinds),
            "missing": any(map(self._lacking, self.rounds)),
            "clean": True,
        }
        return next(name for name, applies in holds.items() if applies)

    @property
    def scored(self) -> bool:
        """Whether its rounds count."""
        return self.verdict in SCORED

    def _malformed(self, one: Round) -> bool:
        for place, request in enumerate(self.planned.present(one.number)):
            output, prompt = self._output(one, place), None
            if output is None:
                continue
            if self.run.plan["form"] == "tokens":
                prompt = len(request.prompt)
                if request.rescores is not None:
                    said = self._output(one, request.rescores)
                    added = None if said is None else answers.size(said)
                    before = len(self.planned.requests[request.rescores].prompt)
                    prompt = None if added is None else before + added
            if answers.malformed(output, request, one.number, prompt):
                return True
        return False

    def _lacking(self, one: Round) -> bool:
        observable = self.run.plan["observable"]
        for place in self.probes:
            output = self._output(one, place)
            again = self.planned.requests[place].rescores is not None
            if output is not None and answers.lacks(output, observable, again):
                return True
        return False

    def statistics(self) -> dict[str, Any] | None:
        """Give rates over rounds and lifetimes, of a cell that is scored [CERT-18]."""
        if not self.scored:
            return None
        counted = self._measured if self.planned.alone else self.batched
        groups: list[list[Round]] = []
        for one in counted:
            alike = next((group for group in groups if self._agree(group[0], one)), None)
            if alike is None:
                groups.append([one])
            else:
                alike.append(one)
        usual = max(groups, key=len)
        apart = {one.lifetime for group in groups if group is not usual for one in group}
        lifetimes = Counter(one.lifetime for one in counted)
        return statistics(len(counted), len(counted) - len(usual), len(lifetimes), len(apart))

    def _agree(self, one: Round, other: Round) -> bool:
        observable = self.run.plan["observable"]
        for place in self.probes:
            left, right = self._output(one, place), self._output(other, place)
            if left is None or right is None or answers.kind(left, right, observable):
                return False
        return True


def tail(told: Output, wanted: Output) -> tuple[str | None, ...]:
    """Give the last numbers of a prompt, as many as an output has."""
    numbers = told.prompt_logprobs or ()
    return numbers[max(len(numbers) - len(wanted.logprobs or ()), 0) :]
