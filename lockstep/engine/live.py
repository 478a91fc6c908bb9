"""An execution whose workload grows while it goes on, as a server's does [SERVE-2].

What arrives becomes part of the workload, with the open step as its arrival. So workload and
schedule, kept, are an execution like any other, and give the same run again.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from lockstep.engine.batch import pack
from lockstep.engine.events import Work
from lockstep.engine.execute import Execution, Float32, Observer
from lockstep.engine.model import Model
from lockstep.errors import LockstepError
from lockstep.lifecycle import Pool
from lockstep.limits import WORKLOAD_REQUESTS
from lockstep.schedule.schedule import require_fit
from lockstep.schedule.workload import Request, Workload, require_model


class PromptRow(NamedTuple):
    """Logits of a prompt's position, from which its next token would have been chosen.

    Attributes:
        number: the request's number.
        position: of the row; its logits are about the token at position + 1.
        logits: [vocabulary].
    """

    number: int
    position: int
    logits: Float32


class LiveExecution(Execution):
    """An execution that begins with one request, and takes others as they come.

    Args:
        model: what computes.
        first: the request that it begins with; its arrival becomes 0.
        pool: the pool's constants.
        observer: sees each step after its end.

    Attributes:
        prompt_rows: what the last step gave for the prompts that are scored.

    Raises:
        LockstepError: as `Execution`.
    """

    def __init__(
        self, model: Model, first: Request, pool: Pool, observer: Observer | None = None
    ) -> None:
        super().__init__(model, Workload((replace(first, arrival=0),)), pool, observer)
        self.prompt_rows: tuple[PromptRow, ...] = ()
        self._scored: set[int] = set()

    def arrive(self, request: Request) -> int:
        """Submit a request with the open step, in which nothing has happened yet; give its number.

        Raises:
            LockstepError: REQUEST_NEVER_FITS, TOKEN_OUT_OF_RANGE or SEQUENCE_TOO_LONG, it cannot
                be served; DUPLICATE_REQUEST; LIMIT_SIZE, the workload is full; STEP_ORDER, the
                step has begun. Nothing has changed then.
        """
        if len(self._events) > self._step_begins:
            expected = f"the beginning of step {self.ledger.step}"
            raise LockstepError("STEP_ORDER", f"request {request.id}", expected, "an open step")
        if len(self.workload.requests) >= WORKLOAD_REQUESTS:
            raise LockstepError("LIMIT_SIZE", "/requests", f"at most {WORKLOAD_REQUESTS}")
        arrived = replace(request, arrival=self.ledger.step)
        alone = Workload((arrived,))
        require_model(
            alone, self.model.config.vocab_size, self.model.config.max_position_embeddings
        )
        require_fit(alone, self.ledger.state.pool)
        grown = Workload((*self.workload.requests, arrived))
        number = self.ledger.submit(arrived)
        self._digests.append([])
        self.workload = self.view.workload = grown
        return number

    def score(self, number: int) -> None:
        """Ask for the logits of a request's prompt from now on.

        They are those of rows that are computed anyway: rows granted by a prefix hit have none.
        """
        self._scored.add(number)

    def _forward(self, work: Sequence[Work]) -> Float32:
        self.prompt_rows = ()
        if not any(item.number in self._scored for item in work):
            return super()._forward(work)
        batch = pack(work, self.ledger.pool.size)
        hidden = self.model.hidden(batch, self.caches)
        numpy = self.model.backend.numpy
        # Two calls of the head: the first has the rows that it has without any scoring, so that
        # a backend whose bits depend on the number of rows emits what it would emit then.
        logits: Float32 = numpy(self.model.head(hidden, batch.output_rows))
        places, rows = self._prompt_places(work)
        if rows:
            found = numpy(self.model.head(hidden, np.array(rows, dtype=np.int64)))
            self.prompt_rows = tuple(
                PromptRow(number, position, row)
                for (number, position), row in zip(places, found, strict=True)
            )
        return logits

    def _prompt_places(self, work: Sequence[Work]) -> tuple[list[tuple[int, int]], list[int]]:
        """Give the scored rows of a step: request and position, and the place in the batch."""
        places, rows, start = [], [], 0
        for item in work:
            if item.number in self._scored:
                last = len(self.ledger.request(item.number).prompt) - 1
                for row in range(len(item.tokens)):
                    if item.first + row < last:
                        places.append((item.number, item.first + row))
                        rows.append(start + row)
            start += len(item.tokens)
        return places, rows
