"""KERNEL-EQ: the kernels of two backends give the same bits [REL-25]."""

from lockstep.relations.context import Context, NotRun
from lockstep.relations.kernel_sweep import compare

BACKEND = "host"
"""The backend whose kernels are compared with Triton's."""


def run(context: Context) -> None:
    """Compare every kernel at some shapes, over caches of the run's block size.

    Raises:
        NotRun: the model computes on another backend, or Triton's interpreter is not at hand.
    """
    if context.model.backend.name != BACKEND:
        raise NotRun(f"it is about the kernels of the backend {BACKEND}")
    try:
        equality = compare(context.block_size, context.seed)
    except RuntimeError as fault:
        context.compare("sweep of kernels", "", None, "fault", "none", str(fault))
        return
    if equality.not_run:
        raise NotRun(equality.not_run)
    for entry in equality.compared:
        execution = f"{entry.kernel} {entry.shape}"
        context.compare(execution, "", None, "bits", entry.expected, entry.got)
    context.counters["kernels"] += len(equality.kernels)
    context.counters["shapes"] += len(equality.compared)
