"""Faults of the lifecycle: what is refused, what is admitted, what preemption leaves."""

from lockstep.mutation.operator import Edit, Operator

_MACHINE = "lockstep.lifecycle.machine"
_SCHEDULE = "lockstep.schedule.schedule"

OPERATORS = (
    Operator(
        id="never_fitting_accepted",
        subsystem="lifecycle",
        module=_MACHINE,
        edits=(
            Edit(
                'if need > blocks and "never_fitting_accepted" not in self.weakened:',
                "sentinel.ran()\n        sentinel.live(need > blocks)\n        if False:",
            ),
            Edit(
                "        if need > pool.blocks:\n",
                "        if False:\n",
                _SCHEDULE,
            ),
        ),
        cause="A request that can never fit the pool is queued instead of refused.",
        source="seed 000, the oversized-request wedge; vllm#39734",
        black_box="visible",
        reason="The request never gets its first token.",
    ),
)
