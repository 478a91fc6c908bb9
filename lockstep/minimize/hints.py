"""What a failure's pointer says of where to cut a case [FUZZ-6]."""

from __future__ import annotations

import re

from lockstep.fuzz.case import Case
from lockstep.minimize.dimensions import steps_of


def request_at(where: str) -> str | None:
    """Give the id of the request at which a failure shows, None where the pointer names none."""
    named = re.match(r"/(?:outputs|alone)/([^/]+)", where)
    return named[1] if named else None


def steps_until(case: Case, where: str) -> int | None:
    """Give the number of steps up to the place of a failure, None where it names none."""
    if found := re.match(r"/steps/([0-9]+)", where):
        return int(found[1]) + 1
    if found := re.match(r"/outputs/([^/]+)/([0-9]+)", where):
        emitted = -1
        for step, actions in enumerate(steps_of(case)):
            emitted += sum(a.event == "decode" and a.request == found[1] for a in actions)
            if emitted == int(found[2]):
                return step + 1
    return None
