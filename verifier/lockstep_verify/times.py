"""Times as documents write them (TIME-1)."""

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SHAPE = "0000-00-00T00:00:00Z"


def seconds(text: object) -> int | None:
    """Give a time's seconds since 1970 (no leap seconds), or None for what is no time."""
    if type(text) is not str or len(text) != len(_SHAPE) or not text.isascii():
        return None
    for got, wanted in zip(text, _SHAPE, strict=True):
        if not got.isdigit() if wanted == "0" else got != wanted:
            return None
    fields = [int(text[i:j]) for i, j in ((0, 4), (5, 7), (8, 10), (11, 13), (14, 16), (17, 19))]
    year, month, day, hour, minute, second = fields
    try:
        moment = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        return None
    return (moment - _EPOCH) // timedelta(seconds=1)


def written(moment: int) -> str:
    """Write seconds since 1970 as a time."""
    date = _EPOCH + timedelta(seconds=moment)
    # strftime does not pad years before 1000.
    return f"{date.year:04d}-{date:%m-%dT%H:%M:%SZ}"
