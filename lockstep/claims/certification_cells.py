"""What the answers of a cell show, and its verdict [CERT-14] to [CERT-18]."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, combinations, product
from typing import Any

from lockstep.certify.cells import PlannedCell
from lockstep.certify.observation import CellSeen, Output, Round, Seen
from lockstep.certify.requests import Request
from lockstep.claims import certification_answers as answers
from lockstep.claims import certification_rounds as witness
from lockstep.claims.certification_differences import Difference, Found, Sight
from lockstep.claims.certification_statistics import statistics

SCORED = ("divergent", "first_run_only", "missing", "clean")


@dataclass(frozen=True)
class Cell:
    """A cell of a run: planned, and seen.

    Attributes:
        index: in the plan.
        planned: what was to be sent.
        seen: what was seen.
        run: all that was seen.
        partners: the cells whose settled outputs are compared with this one's, by scope.
    """

    index: int
    planned: PlannedCell
    seen: CellSeen
    run: Seen
    partners: Mapping[str, Cell] = field(default_factory=dict)

    @property
    def rounds(self) -> tuple[Round, ...]:
        """The rounds, in order."""
        return self.seen.rounds

    @cached_property
    def calm(self) -> tuple[Round, ...]:
        """The settled rounds."""
        return witness.settled(self.rounds, self.run.plan["priming"])

    @cached_property
    def sights(self) -> dict[str, list[Sight]]:
        """The outputs of requests that are alike, by what is equal for them."""
        found: dict[str, list[Sight]] = {}
        for one in self.rounds:
            for place, request in enumerate(self.planned.present(one.number)):
                output, key = one.outputs[place], self._like(place, request, one.number)
                if output is not None and key is not None:
                    sight = Sight(one.lifetime, one.number, place, self.index, output)
                    found.setdefault(key, []).append(sight)
        return found

    @cached_property
    def _known(self) -> dict[tuple[int, int], str | None]:
        return {}

    def _like(self, place: int, request: Request, number: int) -> str | None:
        # A text keeps its hash, a request of thousands of units is hashed anew at each look.
        values = 1 if request.varying is None else len(request.varying.values)
        key = place, number % values
        if key not in self._known:
            like = request.like(number)
            self._known[key] = None if like is None else repr(like)
        return self._known[key]

    @cached_property
    def found(self) -> Found:
        """What the pairs of outputs that must be equal, and are not, come to.

        They can be millions where a server never answers alike: none is kept but the first.
        """
        kinds, count, settled, first = set(), 0, False, None
        for one in chain(self._pairs(), self._rescorings()):
            kinds.add(one.kind)
            count += 1
            settled = settled or one.settled
            if first is None or one.order < first.order:
                first = one
        return Found([kind for kind in answers.KINDS if kind in kinds], count, settled, first)

    @cached_property
    def pairs(self) -> int:
        """How many pairs of outputs must be equal, rescorings among them."""
        count = len(self._rescored)
        for key, own in self.sights.items():
            others = sum(len(partner.settled(key)) for partner in self.partners.values())
            count += len(own) * (len(own) - 1) // 2 + len(own) * others
        return count

    def settled(self, key: str) -> list[Sight]:
        """Give the outputs of requests that are alike, of settled rounds."""
        return [one for one in self.sights.get(key, ()) if self.is_calm(one)]

    def _kind(self, a: Sight, b: Sight) -> str | None:
        if a.output == b.output:
            return None
        return answers.kind(self.run.outputs[a.output], self.run.outputs[b.output])

    def is_calm(self, sight: Sight) -> bool:
        """Whether an output of this cell is of a settled round."""
        return (sight.lifetime, sight.number) in self._calm

    @cached_property
    def _calm(self) -> set[tuple[int, int]]:
        return {(one.lifetime, one.number) for one in self.calm}

    def _pairs(self) -> Iterator[Difference]:
        for key, own in self.sights.items():
            place, sent = min(one.place for one in own), own[0]
            for a, b in combinations(own, 2):
                kind = self._kind(a, b)
                if kind is not None:
                    scope = "repeats" if a.lifetime == b.lifetime else "lifetimes"
                    quiet = self.is_calm(a) and self.is_calm(b)
                    yield Difference(scope, place, sent, a, b, quiet, kind)
            for scope, partner in self.partners.items():
                for a, b in product(own, partner.settled(key)):
                    kind = self._kind(a, b)
                    if kind is not None:
                        yield Difference(scope, place, sent, a, b, self.is_calm(a), kind)

    @cached_property
    def _rescored(self) -> list[tuple[Sight, Output, Output]]:
        """The outputs of requests that rescore, each with what it is, and what it rescores."""
        found = []
        for one in self.rounds:
            for place, request in enumerate(self.planned.requests):
                if request.rescores is None:
                    continue
                told, wanted = self.output(one, place), self.output(one, request.rescores)
                if None in (told and told.prompt_logprobs, wanted and wanted.logprobs):
                    continue
                if told is not None and wanted is not None:
                    output = one.outputs[place] or 0
                    sight = Sight(one.lifetime, one.number, place, self.index, output)
                    found.append((sight, told, wanted))
        return found

    def _rescorings(self) -> Iterator[Difference]:
        for one, told, wanted in self._rescored:
            if tail(told, wanted) != wanted.logprobs:
                quiet = self.is_calm(one)
                yield Difference("rescoring", one.place, one, one, one, quiet, "logprobs")

    def output(self, one: Round, place: int) -> Output | None:
        """Give what a round got at a place."""
        output = one.outputs[place]
        return None if output is None else self.run.outputs[output]

    @property
    def kinds(self) -> list[str]:
        """What differs, the gravest first."""
        return self.found.kinds

    @cached_property
    def batched(self) -> tuple[Round, ...]:
        """The rounds that formed a batch and are no priming."""
        cell, plan, adapter = self.planned, self.run.plan, self.run.adapter
        return tuple(
            one
            for one in self._measured
            if witness.is_batched(cell, one, plan, adapter) and witness.took_place(cell, one)
        )

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
            "malformed": any(True for one in self.rounds for _ in self.malformed(one)),
            "not_batched": not self.planned.alone and len(self.batched) < 2,
            "not_alone": self.planned.alone and not self._is_alone,
            "not_cached": self.cache == "contradicted",
            "divergent": self.found.settled,
            "first_run_only": bool(self.kinds),
            "missing": any(map(self._lacking, self.rounds)) or self._is_empty,
            "clean": True,
        }
        return next(name for name, applies in holds.items() if applies)

    @property
    def _is_alone(self) -> bool:
        return all(witness.is_alone(one, self.run.adapter) for one in self.rounds)

    @property
    def scored(self) -> bool:
        """Whether its rounds count."""
        return self.verdict in SCORED

    def malformed(self, one: Round) -> Iterator[int]:
        """Give the places of a round's answers that cannot be answers to their requests."""
        for place, request in enumerate(self.planned.present(one.number)):
            output, prompt = self.output(one, place), None
            if output is None:
                continue
            if self.run.plan["form"] == "tokens":
                prompt = len(request.prompt)
                if request.rescores is not None:
                    said = self.output(one, request.rescores)
                    added = None if said is None else answers.size(said)
                    before = len(self.planned.requests[request.rescores].prompt)
                    prompt = None if added is None else before + added
            if answers.malformed(output, request, one.number, prompt):
                yield place

    def _lacking(self, one: Round) -> bool:
        observable = self.run.plan["observable"]
        for place, request in enumerate(self.planned.present(one.number)):
            output = self.output(one, place)
            if output is None or request.role not in ("probe", "filler"):
                continue
            if answers.lacks(output, observable, request.rescores is not None):
                return True
        return False

    @property
    def _is_empty(self) -> bool:
        """Whether no probe got an answer in which anything stands."""
        told = [
            output
            for one in self.rounds
            for place, request in enumerate(self.planned.present(one.number))
            if request.role == "probe" and (output := self.output(one, place)) is not None
        ]
        return bool(told) and all(map(answers.is_empty, told))

    def statistics(self) -> dict[str, Any] | None:
        """Give rates over rounds and lifetimes, of a cell that is scored [CERT-18]."""
        if not self.scored:
            return None
        counted = self._measured if self.planned.alone else self.batched
        rounds = {(one.lifetime, one.number) for one in counted}
        apart = set()
        for own in self.sights.values():
            classes: list[list[Sight]] = []
            for one in own:
                if (one.lifetime, one.number) in rounds:
                    alike = [held for held in classes if not self._kind(held[0], one)]
                    (alike[0] if alike else _appended(classes)).append(one)
            usual = max(classes, key=len, default=[])
            odd = chain.from_iterable(held for held in classes if held is not usual)
            apart |= {(one.lifetime, one.number) for one in odd}
        lifetimes = (len({lifetime for lifetime, _ in several}) for several in (rounds, apart))
        return statistics(len(rounds), len(apart), *lifetimes)


def _appended(classes: list[list[Sight]]) -> list[Sight]:
    classes.append([])
    return classes[-1]


def tail(told: Output, wanted: Output) -> tuple[str | None, ...]:
    """Give the last numbers of a prompt, as many as an output has."""
    numbers = told.prompt_logprobs or ()
    return numbers[max(len(numbers) - len(wanted.logprobs or ()), 0) :]
