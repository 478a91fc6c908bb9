"""EOS: an end of sequence ends its request, there and with these bits, and no other [REL-20]."""

from __future__ import annotations

from dataclasses import replace

from lockstep.engine.model import Model
from lockstep.engine.run import Output
from lockstep.relations.context import Context
from lockstep.relations.requests import requests
from lockstep.schedule.policies import ADVERSARIAL, CONTINUOUS, Batching
from lockstep.schedule.workload import Request, Workload

REQUESTS = 6
OUTPUTS = 8


def run(context: Context) -> None:
    """Declare tokens that requests emit the end of sequence; compare with where they should end."""
    draws, size = context.draws, context.block_size
    lengths = tuple(1 + draws.below(2 * size) for _ in range(REQUESTS))
    members = requests(context, lengths, max_new=OUTPUTS)
    # Of the same requests half heed an end of sequence; then the other half does.
    endless = [context.reference(member).tokens for member in members]
    heeding = (members[0], members[1], members[2])
    for name, heeded in (
        ("first", {m.id for m in heeding}),
        ("second", {m.id for m in members[3:]}),
    ):
        chosen = tuple(replace(m, ignore_eos=m.id not in heeded) for m in members)
        # The first, middle and last token of some requests: one ends at once, one late.
        stops = {endless[0][0], endless[1][OUTPUTS // 2], endless[3][2], endless[4][0]}
        model = context.with_stop_tokens(stops)
        for settings in (CONTINUOUS, ADVERSARIAL):
            execution = f"{name} half heeds, {'chunks' if settings.chunks else 'continuous'}"
            _finish(context, execution, model, chosen, Batching(settings))


def _finish(
    context: Context, execution: str, model: Model, members: tuple[Request, ...], policy: Batching
) -> None:
    workload = Workload(members)
    _, done = context.drive(execution, workload, context.pool(members), policy, model=model)
    stops = set(model.config.eos_token_ids)
    for member in members:
        endless = context.reference(replace(member, ignore_eos=True))
        expected = endless if member.ignore_eos else _ended(endless, stops)
        context.compare_outputs(execution, member, expected, done.outputs[member.id])
        ended = expected.reason == "eos"
        context.counters["stopped_early"] += ended and len(expected.tokens) < member.max_new
        context.counters["stopped_at_first"] += ended and len(expected.tokens) == 1
        went_past = member.ignore_eos and not stops.isdisjoint(endless.tokens[:-1])
        context.counters["went_past"] += went_past


def _ended(endless: Output, stops: set[int]) -> Output:
    """Give what is left of an output up to and with its first end of sequence."""
    for place, token in enumerate(endless.tokens):
        if token in stops:
            count = place + 1
            return Output(endless.tokens[:count], endless.logit_digests[:count], "eos")
    return endless
