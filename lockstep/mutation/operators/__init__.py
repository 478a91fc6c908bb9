"""The operators, by id, in the order of spec/mutation.json [MUT-2]."""

from functools import cache

from lockstep.mutation.operator import Operator
from lockstep.mutation.operators import (
    allocator,
    attention,
    batch,
    drawing,
    kernels,
    lifecycle,
    model,
    prefix_cache,
    sampling,
    triton,
)

_BY_SUBSYSTEM = (
    lifecycle.OPERATORS,
    allocator.OPERATORS,
    prefix_cache.OPERATORS,
    sampling.OPERATORS,
    drawing.OPERATORS,
    batch.OPERATORS,
    model.OPERATORS,
    attention.OPERATORS,
    kernels.OPERATORS,
    triton.OPERATORS,
)


@cache
def operators() -> dict[str, Operator]:
    """Give every operator by its id."""
    found: dict[str, Operator] = {}
    for group in _BY_SUBSYSTEM:
        for operator in group:
            if operator.id in found:
                raise ValueError(f"two operators of the id {operator.id}")
            found[operator.id] = operator
    return found
