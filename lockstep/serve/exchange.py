"""A call's way through the engine: its requests out, its pieces back, nobody left waiting."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from itertools import count

from lockstep.errors import LockstepError
from lockstep.schedule.workload import Request
from lockstep.serve.call import Call
from lockstep.serve.choice import Choice, Piece
from lockstep.serve.engine import Engine
from lockstep.serve.served import Updates
from lockstep.serve.text import Texts
from lockstep.serve.ticket import Ticket, Update


class EngineFault(Exception):
    """Thrown when a request fails after the engine took it; `fault` says why."""

    def __init__(self, fault: LockstepError) -> None:
        super().__init__(str(fault))
        self.fault = fault


class Exchange:
    """The calls between an event loop and an engine.

    Args:
        loop: in which calls are answered.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._serial = count(1)

    def deliver(self, updates: Updates) -> None:
        """Hand updates over from the engine's thread; nobody is left once the loop is closed."""
        if updates and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(_hand_out, updates)

    def choices(self, call: Call, texts: Texts) -> tuple[list[Choice], asyncio.Queue[Arrived]]:
        """Give the choices of a call, and the queue in which their updates will be.

        The k-th choice of a prompt is named `ID.k.N`, N being the server's own count: what is
        drawn follows from the call and k [SERVE-3].
        """
        arrived: asyncio.Queue[Arrived] = asyncio.Queue()
        choices: list[Choice] = []
        for number, prompt in enumerate(call.prompts):
            for k in range(call.n):
                place = len(choices)

                def deliver(update: Update, place: int = place) -> None:
                    arrived.put_nowait((place, update))

                request = Request(
                    id=f"{call.name}.{k}.{next(self._serial)}",
                    prompt=prompt,
                    max_new=max(1, call.max_new[number]),
                    salt=call.salt,
                    ignore_eos=call.ignore_eos,
                    sampling=call.sampling,
                )
                ticket = Ticket(request, deliver, call.top, call.prompt_top)
                choices.append(Choice(place, number, ticket, call, texts))
        return choices, arrived


Arrived = tuple[int, Update]
"""Number of a choice, and what became known of it."""


async def pieces(
    engine: Engine, choices: list[Choice], arrived: asyncio.Queue[Arrived]
) -> AsyncGenerator[tuple[Choice, Piece], None]:
    """Give the pieces of all choices as they come, until each has ended.

    Whatever ends this early, a client that has gone among it, lets the engine forget the rest.

    Raises:
        EngineFault: a request failed in the engine.
    """
    open_choices = len(choices)
    try:
        while open_choices:
            place, update = await arrived.get()
            choice = choices[place]
            if update.fault is not None:
                raise EngineFault(update.fault)
            if choice.reason is not None:
                continue
            piece = choice.take(update)
            if piece.reason is not None:
                open_choices -= 1
                if not update.last:
                    engine.drop(choice.ticket)
            yield choice, piece
    finally:
        for choice in choices:
            if choice.reason is None:
                engine.drop(choice.ticket)


def _hand_out(updates: Updates) -> None:
    for ticket, update in updates:
        ticket.deliver(update)
