"""Attacks on the payload's text: bytes that no encoder would write, signed by a trusted key."""

import re
from collections.abc import Callable

Edit = Callable[[bytes], bytes]

_VERDICT = re.compile(rb'"verdict":"[A-Z_]+"')
_STEPS = re.compile(rb'"steps":\d+')
_MACHINE = re.compile(rb'"machine":"')
_DEPTH = 100_000


def _verdict_again(name: bytes) -> Edit:
    """Repeat the first row's verdict under a name that may be spelled otherwise."""
    return lambda payload: _VERDICT.sub(
        lambda found: found[0] + b"," + name + found[0].removeprefix(b'"verdict"'), payload, 1
    )


def _steps(lexeme: bytes) -> Edit:
    """Write the number of decoded tokens as another lexeme."""
    return lambda payload: _STEPS.sub(b'"steps":' + lexeme, payload, 1)


def _machine(raw: bytes) -> Edit:
    """Begin the name of the producer's machine with these bytes."""
    return lambda payload: _MACHINE.sub(lambda found: found[0] + raw, payload, 1)


EDITS: dict[str, Edit] = {
    "payload-with-a-space": lambda payload: payload.replace(b"{", b"{ ", 1),
    "verdict-twice": _verdict_again(b'"verdict"'),
    "verdict-twice-through-an-escape": _verdict_again(b'"verdic\\u0074"'),
    "integer-above-2-to-53": _steps(b"9007199254740993"),
    "integer-with-a-fraction": _steps(b"8.0"),
    "integer-with-an-exponent": _steps(b"0.8e1"),
    "minus-zero": _steps(b"-0"),
    "not-a-number": _steps(b"NaN"),
    "number-beyond-a-double": _steps(b"1e400"),
    "lone-surrogate": _machine(b"\\ud800"),
    "cesu-8": _machine(b"\xed\xa0\xbd\xed\xb8\x80"),
    "overlong": _machine(b"\xc0\xaf"),
    "depth-100000": lambda payload: b'{"_type":' + b"[" * _DEPTH,
    # By code units U+10000, which is a pair of surrogates, comes before U+E000.
    "names-in-code-point-order": lambda payload: (
        payload[:-1] + ',"\ue000":0,"\U00010000":0}'.encode()
    ),
    "second-document": lambda payload: payload + payload,
}
"""Edits of a payload, by the name of their falsification."""
