"""What seeds a position's stream: framed bytes of the request's own data [SAMP-4] to [SAMP-6].

Nothing of it is an executor's choice. Each field stands behind its length, so that no two
different requests, choices or positions give the same bytes.
"""

import hashlib
import re
from collections.abc import Sequence
from typing import NamedTuple

from lockstep import spec
from lockstep.errors import LockstepError

_CHARACTERS = re.compile(r"[!-~]*")
_BEACON = re.compile(r"([0-9a-f]{64})?")
_ID_CHARACTERS = 256
_INT64 = 1 << 63
_CHOICES = 1 << 16
_POSITIONS = 1 << 31


class Origin(NamedTuple):
    """Where the seeds of a request come from.

    Attributes:
        user_seed: from -2^63 to 2^63 - 1.
        inference_id: the chain's id of the request.
        beacon: 64 hex digits of a value that nobody could choose, or empty.
    """

    user_seed: int
    inference_id: str
    beacon: str = ""


def derive_seed(origin: Origin, choice: int, position: int) -> str:
    """Give the seed of a position, 64 hex digits [SAMP-5].

    Args:
        origin: the request's own data.
        choice: index of the sequence among those of the request.
        position: index of the token among those sampled for the sequence.

    Raises:
        LockstepError: MISSING_FIELD, WRONG_TYPE, BAD_VALUE, LIMIT_SIZE at the field.
    """
    return derive_seeds(origin, choice, (position,))[0]


def derive_seeds(origin: Origin, choice: int, positions: Sequence[int]) -> list[str]:
    """Give the seeds of positions of a sequence; what they have in common is hashed once.

    Raises:
        LockstepError: as `derive_seed`.
    """
    _require_id(origin.inference_id)
    _require_seed(origin.user_seed)
    if type(origin.beacon) is not str:
        raise LockstepError("WRONG_TYPE", "/beacon", "a string", type(origin.beacon).__name__)
    if not _BEACON.fullmatch(origin.beacon):
        raise LockstepError("BAD_VALUE", "/beacon", "64 hex digits, or nothing", len(origin.beacon))
    _require_index("/choice", choice, _CHOICES)
    fields = {
        "user_seed": str(origin.user_seed),
        "inference_id": origin.inference_id,
        "beacon": origin.beacon,
        "choice": str(choice),
    }
    common = hashlib.sha256(material(spec.load("sampling.json")["seed_domain"], fields))
    seeds = []
    for position in positions:
        _require_index("/position", position, _POSITIONS)
        hashed, text = common.copy(), str(position)
        hashed.update(b"\n" + _framed("position", text).encode("ascii"))
        seeds.append(hashed.hexdigest())
    return seeds


def upstream_seed(user_seed: int, inference_id: str) -> str:
    """Give the base seed of a request in profile upstream-1.0.0, 64 hex digits [SAMP-42].

    Raises:
        LockstepError: as `derive_seed`.
    """
    _require_id(inference_id)
    _require_seed(user_seed)
    fields = {"user_seed": str(user_seed), "inference_id": inference_id}
    domain: str = spec.load("sampling.json")["upstream"]["seed_domain"]
    return hashlib.sha256(material(domain, fields)).hexdigest()


def upstream_position_seed(base: str, position: int) -> str:
    """Give the seed of a position in profile upstream-1.0.0 [SAMP-42]."""
    return f"{base}|{position}"


def material(domain: str, fields: dict[str, str]) -> bytes:
    """Frame fields of ASCII text behind a domain's tag: the bytes that are hashed."""
    lines = [domain, *(_framed(name, text) for name, text in fields.items())]
    return "\n".join(lines).encode("ascii")


def _framed(name: str, text: str) -> str:
    return f"{name}_len={len(text)}\n{text}"


def _require_id(inference_id: object) -> None:
    at = "/inference_id"
    if inference_id is None:
        raise LockstepError("MISSING_FIELD", at, "the chain's id of the request")
    if type(inference_id) is not str:
        raise LockstepError("WRONG_TYPE", at, "a string", type(inference_id).__name__)
    if not inference_id:
        raise LockstepError("BAD_VALUE", at, "1 character or more", "none")
    if len(inference_id) > _ID_CHARACTERS:
        raise LockstepError("LIMIT_SIZE", at, f"{_ID_CHARACTERS} characters", len(inference_id))
    if not _CHARACTERS.fullmatch(inference_id):
        raise LockstepError("BAD_VALUE", at, "characters from U+0021 to U+007E", "another one")


def _require_seed(user_seed: object) -> None:
    # Exactly int: a truth value is one in Python, and has no decimal text.
    if type(user_seed) is not int:
        raise LockstepError("WRONG_TYPE", "/user_seed", "an integer", type(user_seed).__name__)
    if not -_INT64 <= user_seed < _INT64:
        raise LockstepError("BAD_VALUE", "/user_seed", "-2^63 to 2^63 - 1", user_seed)


def _require_index(pointer: str, index: object, most: int) -> None:
    if type(index) is not int:
        raise LockstepError("WRONG_TYPE", pointer, "an integer", type(index).__name__)
    if not 0 <= index < most:
        raise LockstepError("BAD_VALUE", pointer, f"0 to {most - 1}", index)
