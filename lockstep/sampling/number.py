"""The texts of numbers and tokens, each with one spelling [SAMP-7] to [SAMP-11].

Who reads a number takes it exactly: no binary float comes between a text and its value. Only
`written` begins from a float, once, at the executor.
"""

import re
from decimal import Decimal
from fractions import Fraction

from lockstep import spec
from lockstep.errors import LockstepError

_LOGPROB = re.compile(r"0|-0\.[0-9]{0,23}[1-9]|-[1-9][0-9]{0,4}(\.[0-9]{0,23}[1-9])?")
_LOGPROB_CHARACTERS = 32
_TOKEN = re.compile(r"0|[1-9][0-9]{0,9}")
_PARAMETER = re.compile(r"0|(0|[1-9][0-9]{0,2})\.[0-9]{0,15}[1-9]|[1-9][0-9]{0,2}")
_LAX = re.compile(r"([+-]?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]{1,6}))?")
_LAX_CHARACTERS = 64
_SHOWN_CHARACTERS = 60


def is_logprob(text: object) -> bool:
    """Tell whether a text is a log-probability in its one spelling [SAMP-7]."""
    return (
        type(text) is str
        and len(text) <= _LOGPROB_CHARACTERS
        and _LOGPROB.fullmatch(text) is not None
    )


def logprob(text: str, pointer: str = "/logprob") -> Decimal:
    """Read a log-probability [SAMP-7].

    Raises:
        LockstepError: WRONG_TYPE, BAD_VALUE at `pointer`.
    """
    _require_text(text, pointer)
    if not is_logprob(text):
        raise LockstepError("BAD_VALUE", pointer, "a canonical log-probability", _shown(text))
    return Decimal(text)


def is_token(text: object, vocab_size: int) -> bool:
    """Tell whether a text is a token of a vocabulary in its one spelling [SAMP-9]."""
    return type(text) is str and _TOKEN.fullmatch(text) is not None and int(text, 10) < vocab_size


def require_token(text: str, pointer: str = "/token", vocab_size: int = 10**10) -> str:
    """Give a token back if it is one [SAMP-9].

    Raises:
        LockstepError: WRONG_TYPE, BAD_VALUE at `pointer`.
    """
    _require_text(text, pointer)
    if not is_token(text, vocab_size):
        raise LockstepError("BAD_VALUE", pointer, "a canonical token id", _shown(text))
    return text


def parameter(text: str, pointer: str) -> Decimal:
    """Read a temperature, top_p or min_p in its one spelling [SAMP-11].

    Raises:
        LockstepError: WRONG_TYPE, BAD_VALUE at `pointer`.
    """
    _require_text(text, pointer)
    if _PARAMETER.fullmatch(text) is None:
        raise LockstepError("BAD_VALUE", pointer, "a canonical decimal from 0", _shown(text))
    return Decimal(text)


def written(value: float) -> str:
    """Write a binary log-probability as an executor signs it [SAMP-8].

    Raises:
        LockstepError: BAD_VALUE, the value is infinite or none.
    """
    return of_units(units(value))


def units(value: float) -> int:
    """Give a binary log-probability in units of 10^-12, as it is written [SAMP-8].

    Raises:
        LockstepError: BAD_VALUE, the value is infinite or none.
    """
    least: int = spec.load("sampling.json")["logprob_least"]
    unit: int = 10 ** int(spec.load("sampling.json")["logprob_digits"])
    if not (value == value and abs(value) != float("inf")):
        raise LockstepError("BAD_VALUE", "/logprob", "a finite number", value)
    # Rounding a fraction to an integer is exact, and takes a tie to the even one.
    return min(0, max(round(Fraction(value) * unit), least * unit))


def of_units(units: int) -> str:
    """Write a log-probability that is given in units of 10^-12, from -99999 to 0 [SAMP-7]."""
    return _plain(units, -int(spec.load("sampling.json")["logprob_digits"]))


def canonical(text: str, pointer: str = "/number") -> str:
    """Give the one spelling of a finite decimal that is spelt in another way.

    For callers whose numbers come from elsewhere, with an exponent or needless zeros. What is
    signed is judged as it stands, and never goes through here.

    Raises:
        LockstepError: WRONG_TYPE, BAD_VALUE at `pointer`.
    """
    _require_text(text, pointer)
    found = _LAX.fullmatch(text) if len(text) <= _LAX_CHARACTERS else None
    digits = (found[2] + (found[3] or "")) if found else ""
    exponent = int(found[4] or 0) if found else 0
    if found is None or not digits or abs(exponent) > _LAX_CHARACTERS:
        raise LockstepError("BAD_VALUE", pointer, "a finite decimal", _shown(text))
    value = int(digits) * (-1 if found[1] == "-" else 1)
    return _plain(value, exponent - len(found[3] or ""))


def _plain(value: int, exponent: int) -> str:
    """Write value · 10^exponent without exponent and without needless zeros."""
    if exponent >= 0:
        return str(value * 10**exponent)
    digits = str(abs(value)).rjust(1 - exponent, "0")
    whole, part = digits[:exponent], digits[exponent:].rstrip("0")
    text = f"{whole}.{part}" if part else whole
    return f"-{text}" if value < 0 else text


def _require_text(text: object, pointer: str) -> None:
    if type(text) is not str:
        raise LockstepError("WRONG_TYPE", pointer, "a string", type(text).__name__)


def _shown(text: str) -> str:
    return repr(text[:_SHOWN_CHARACTERS])
