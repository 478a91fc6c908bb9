"""Plainer requests: as many tokens, of which one is like another [FIND-9]."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from lockstep.fuzz.case import Case
from lockstep.schedule.workload import GREEDY, Request, Workload

TOKEN = 0
"""A token of every vocabulary."""


def plain_cases(case: Case, number: int | None = None) -> Iterator[Case]:
    """Give a case with plain requests, the plainest first; none that equals it.

    Args:
        case: a case of steps.
        number: of the one request that is made plain, by its place; None for all.
    """
    given = case.workload.requests
    if number is not None and len(given) == 1:
        return
    seen = {case}
    for plainer in (_plain_request, _plain_prompt):
        requests = tuple(
            plainer(request) if number in (None, place) else request
            for place, request in enumerate(given)
        )
        made = replace(case, workload=Workload(requests))
        if made not in seen:
            seen.add(made)
            yield made


def _plain_prompt(request: Request) -> Request:
    """Give a request with one token throughout its prompt."""
    return replace(request, prompt=(TOKEN,) * len(request.prompt))


def _plain_request(request: Request) -> Request:
    """Give such a request that draws nothing and shares its prefixes with all others."""
    return replace(_plain_prompt(request), sampling=GREEDY, salt="")
