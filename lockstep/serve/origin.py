"""What the draws and the cached blocks of a call are kept apart by."""

from __future__ import annotations

import re

from lockstep.serve.body import Body

_NAMELESS = "c"
"""What choices of a call without an id are named by."""

_NAME = re.compile(r"([A-Za-z0-9][A-Za-z0-9_-]{0,39})?")
_BEACON = re.compile(r"([0-9a-f]{64})?")
_SALT = re.compile(r"[ -~]{0,64}")


def name(body: Body) -> str:
    """Give what the choices of a call are named by: its `inference_id` [SERVE-3]."""
    given = body.text("inference_id")
    if not _NAME.fullmatch(given):
        body.refuse(
            "BAD_VALUE", "inference_id", "1 to 40 of A to Z, a to z, 0 to 9, _ and -", given
        )
    return given or _NAMELESS


def beacon(body: Body) -> str:
    """Give the beacon of a call, empty where it has none [SAMP-4]."""
    given = body.text("beacon")
    if not _BEACON.fullmatch(given):
        body.refuse("BAD_VALUE", "beacon", "64 hex digits", given)
    return given


def salt(body: Body) -> str:
    """Give what parts prefix caches."""
    given = body.text("cache_salt")
    if not _SALT.fullmatch(given):
        body.refuse("BAD_VALUE", "cache_salt", "at most 64 printable ASCII characters", None)
    return given
