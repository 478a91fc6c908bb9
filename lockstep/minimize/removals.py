"""A case without some of its units [FIND-5].

A removal takes with it whatever has no meaning without what it removes: a request its actions, a
prompt's token its place in the chunk that computes it, an admission all that follows from it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import replace

from lockstep.fuzz.case import Case, Steps
from lockstep.lifecycle import Pool
from lockstep.minimize.dimensions import Removal, steps_of
from lockstep.schedule.schedule import Action
from lockstep.schedule.workload import Request, Workload

Gone = dict[str, Counter[tuple[int, ...]]]
"""Of each dimension, how many units go at each place."""


def without(case: Case, removed: Iterable[Removal]) -> Case:
    """Give a case without some of its units, all of which are named by their place in it.

    Raises:
        ValueError: a prompt or the workload would be empty, or an amount is more than there is.
    """
    gone: Gone = defaultdict(Counter)
    for removal in removed:
        gone[removal.dimension][removal.place] += removal.amount
    requests = case.workload.requests
    left = [
        _smaller(request, number, gone)
        for number, request in enumerate(requests)
        if (number,) not in gone["requests"]
    ]
    if not left or any(min(len(r.prompt), r.max_new) < 1 or r.arrival < 0 for r in left):
        raise ValueError("nothing would be left of a workload or a request")
    pool = Pool(
        case.pool.blocks - gone["pool_blocks"][()], case.pool.block_size - gone["block_size"][()]
    )
    if min(pool.blocks, pool.block_size) < 1:
        raise ValueError("nothing would be left of the pool")
    by_id = {request.id: request for request in left}
    edited = _edited(case, gone, by_id)
    _drop_late_decodes(edited, by_id)
    steps, moved = _joined(edited, {place[0] for place in gone["steps"]})
    lost = len(moved) - len(steps)
    workload = Workload(tuple(_moved_up(request, moved, lost) for request in left))
    return Case(workload, pool, steps)


def _smaller(request: Request, number: int, gone: Gone) -> Request:
    lost = gone["prompt_tokens"]
    prompt = tuple(
        token for place, token in enumerate(request.prompt) if (number, place) not in lost
    )
    return replace(
        request,
        prompt=prompt,
        max_new=request.max_new - gone["new_tokens"][number,],
        arrival=request.arrival - gone["arrivals"][number,],
    )


def _edited(case: Case, gone: Gone, left: dict[str, Request]) -> list[list[Action]]:
    """Give the steps without removed actions, with smaller chunks and fewer names."""
    steps = steps_of(case)
    dropped = _dependent(steps, set(gone["actions"]))
    lost: dict[str, set[int]] = defaultdict(set)
    for number, position in gone["prompt_tokens"]:
        lost[case.workload.requests[number].id].add(position)
    smaller = _shrunk(case, lost)
    edited: list[list[Action]] = []
    for step, actions in enumerate(steps):
        edited.append([])
        for index, action in enumerate(actions):
            place = step, index
            if place in dropped or action.request not in left:
                continue
            blocks = () if place in gone["named_blocks"] else action.blocks
            tokens = action.tokens - smaller[place] - gone["chunk_tokens"][place]
            if action.event == "chunk" and tokens < 1:
                continue
            edited[-1].append(replace(action, tokens=tokens, blocks=blocks))
    return edited


def _dependent(steps: Steps, removed: set[tuple[int, ...]]) -> set[tuple[int, int]]:
    """Give the places of removed actions and of those that cannot be without them."""
    gone: set[tuple[int, int]] = set()
    until: dict[str, tuple[str, ...]] = {}
    for step, actions in enumerate(steps):
        for index, action in enumerate(actions):
            ends = until.get(action.request)
            if ends is not None and action.event in ends:
                del until[action.request]
                ends = None
            if ends is not None:
                gone.add((step, index))
            if (step, index) in removed:
                gone.add((step, index))
                if action.event in ("admit", "resume"):
                    until[action.request] = ()
                elif action.event == "preempt_rc" and until.get(action.request) != ():
                    until[action.request] = ("decode", "preempt_rc")
    return gone


def _shrunk(case: Case, lost: dict[str, set[int]]) -> Counter[tuple[int, int]]:
    """Give how many removed tokens of its prompt each chunk computes."""
    smaller: Counter[tuple[int, int]] = Counter()
    computed: Counter[str] = Counter()
    for step, actions in enumerate(steps_of(case)):
        for index, action in enumerate(actions):
            name, first = action.request, computed[action.request]
            if action.event in ("admit", "resume"):
                computed[name] = 0
            elif action.event == "cache_hit":
                computed[name] = len(action.blocks) * case.pool.block_size
            elif action.event == "chunk":
                computed[name] = first + action.tokens
                here = range(first, first + action.tokens)
                smaller[step, index] = sum(place in here for place in lost.get(name, ()))
    return smaller


def _drop_late_decodes(edited: list[list[Action]], requests: dict[str, Request]) -> None:
    """Take away the last decodes of requests that may no longer emit so many tokens."""
    decodes: Counter[str] = Counter()
    for entries in edited:
        kept = []
        for entry in entries:
            name = entry.request
            decodes[name] += entry.event == "decode"
            if entry.event != "decode" or decodes[name] <= requests[name].max_new:
                kept.append(entry)
        entries[:] = kept


def _joined(edited: list[list[Action]], boundaries: set[int]) -> tuple[Steps, list[int]]:
    """Join steps with those after them; give the steps, and of each old step its new number."""
    steps: list[tuple[Action, ...]] = []
    moved: list[int] = []
    open_step: list[Action] = []
    for step, entries in enumerate(edited):
        moved.append(len(steps))
        open_step += entries
        if step not in boundaries or (step == len(edited) - 1 and open_step):
            steps.append(tuple(open_step))
            open_step = []
    return tuple(steps), moved


def _moved_up(request: Request, moved: list[int], lost: int) -> Request:
    """Give a request whose arrival follows the steps, of which some were lost."""
    arrival = request.arrival
    return replace(request, arrival=moved[arrival] if arrival < len(moved) else arrival - lost)
