"""Refusals over HTTP: a status, and OpenAI's error form with the code of spec/errors.json."""

from __future__ import annotations

from typing import Any

from lockstep.errors import LockstepError, registry

STATUSES = {
    "KEY_REFUSED": 401,
    "MODEL_UNKNOWN": 404,
    "ROUTE_UNKNOWN": 404,
    "LIMIT_SIZE": 413,
    "REQUEST_NEVER_FITS": 422,
    "SEQUENCE_TOO_LONG": 422,
    "TOKEN_OUT_OF_RANGE": 422,
    "QUEUE_FULL": 429,
    "SERVER_STOPPING": 503,
}
"""Status of a code; of every other that a call can bring about it is 400."""

_TYPES = {
    401: "authentication_error",
    404: "not_found_error",
    405: "not_found_error",
    429: "rate_limit_error",
    500: "server_error",
    503: "server_error",
}


def status_of(fault: LockstepError) -> int:
    """Give the status of what a call brought about itself."""
    return STATUSES.get(fault.code, 400)


def engine_status(fault: LockstepError) -> int:
    """Give the status of what the engine ran into while it computed."""
    return STATUSES.get(fault.code, 500)


def document(fault: LockstepError, status: int) -> dict[str, Any]:
    """Give the body of a refusal."""
    entry = registry()[fault.code]
    message = str(entry["meaning"])
    if fault.expected is not None:
        message += f" Expected {fault.expected}"
        message += f", got {fault.got}." if fault.got is not None else "."
    elif fault.got is not None:
        message += f" {fault.got}."
    message += f" {fault.hint or entry['action']}"
    return {
        "error": {
            "message": message,
            "type": _TYPES.get(status, "invalid_request_error"),
            "param": fault.pointer.lstrip("/") or None,
            "code": fault.code,
        }
    }
