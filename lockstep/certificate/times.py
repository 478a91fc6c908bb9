"""Times as certificates write them [TIME-1]."""

import re
from datetime import UTC, datetime, timedelta

from lockstep.errors import LockstepError

SHAPE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z", re.ASCII)
FORM = "%Y-%m-%dT%H:%M:%SZ"


def written(moment: datetime) -> str:
    """Write a moment, which knows its time zone, in whole seconds."""
    moment = moment.astimezone(UTC)
    # strftime does not pad years before 1000.
    return f"{moment.year:04d}-{moment:%m-%dT%H:%M:%SZ}"


def period(years: int) -> tuple[str, str]:
    """Give the present second and the same moment some years later, of 365 days each."""
    now = datetime.now(UTC)
    return written(now), written(now + timedelta(days=365 * years))


def claimed(text: str | None) -> str:
    """Give the time that a user asked for, or the present second where none was.

    Raises:
        LockstepError: USAGE, the text is no time, or names one that has not come: no verifier
            accepts such a claim yet [TIME-4].
    """
    if text is None:
        return written(datetime.now(UTC))
    try:
        if SHAPE.fullmatch(text):
            datetime.strptime(text, FORM)
            now = written(datetime.now(UTC))
            if text <= now:
                return text
            raise LockstepError("USAGE", "--issued-at", f"at most {now}", text, "Leave it out.")
    except ValueError:
        pass
    hint = "Write it as 2026-01-31T12:00:00Z."
    raise LockstepError("USAGE", "--issued-at", "YYYY-MM-DDTHH:MM:SSZ", text, hint)
