"""The certificate of caches that engines wrote themselves."""

from __future__ import annotations

from lockstep.evidence.making import COMMAND, Making


def caches(making: Making) -> bytes:
    """Observe the caches of transformers, and sign what was seen."""
    from lockstep.issue_observation import issue_observation
    from lockstep.observation.observe import observe

    making.progress("observing engines' caches", 0, 1)
    return issue_observation(
        observe("transformers"), [making.key], issued_at=making.issued_at, command=COMMAND
    ).certificate
