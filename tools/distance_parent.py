"""Write a parent of the conformance vectors of kind distance-calibration.

Usage: python tools/distance_parent.py NAME > spec/cases/documents/NAME.json

NAME is distance-calibration, distance-calibration-overlapping or distance-calibration-small.

No model computed these log-probabilities: they are made up, and folded by the claim of the kind.
The documents are reviewed and committed; they are made anew where the rules or the data of the kind
change.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from engine_parent import chosen, placed
from fault_parent import written
from server_parent import ISSUED_AT, PRODUCER

if TYPE_CHECKING:
    from lockstep.sampling.ladder import Ladder, Pairs

LIKELY = ("-0.5", "-1.4", "-2.3", "-3.1")
"""Log-probabilities of the four tokens of a vocabulary, the likeliest first."""
TEXTS, TOKENS = 4, 32


def support(tokens: str, numbers: tuple[str, ...]) -> Pairs:
    """Give a support in string order: tokens, the likeliest first, and their numbers."""
    return tuple(sorted(zip(tokens, numbers, strict=False)))


def moved(number: str, digits: str) -> str:
    """Make a number less likely, by digits behind those that it has."""
    whole, _, fraction = number.partition(".")
    return f"{whole}.{fraction}{digits}"


def position(text: int, at: int) -> dict[str, Pairs]:
    """Give at a token of a text what each computation has.

    `same` is the reference but at every eighth token; `near` is off by about 10^-6 nat and `far` by
    a tenth, or has another third token.
    """
    order = "0123"[at % 4 :] + "0123"[: at % 4]
    third = (order[:2] + order[3], (*LIKELY[:2], "-2.1"))
    near = tuple(moved(one, f"0000{1 + (text + at) % 9}") for one in LIKELY[:3])
    far = support(*third) if at % 2 else support(order, ("-0.6", *LIKELY[1:3]))
    likely = support(order, LIKELY[:3])
    slight = support(order, (moved(LIKELY[0], f"0000000{1 + text}"), *LIKELY[1:3]))
    return {
        "recomputed": support(order, LIKELY) if at % 2 else likely,
        "likely": likely,
        "same": likely if at % 8 else slight,
        "near": support(order, near),
        "far": far,
    }


def ladder(names: tuple[str, ...], texts: int, tokens: int, size: int = 3) -> Ladder:
    """Give what was observed of some rungs."""
    from lockstep.sampling.forced import Text
    from lockstep.sampling.ladder import ALONE, Ladder, Rung, Signed

    seen = [[position(text, at) for at in range(tokens)] for text in range(texts)]
    if "far" not in names:
        # The reference holds what some rung signs, and no more.
        seen = [[{**one, "recomputed": one["likely"]} for one in row] for row in seen]

    def held(name: str) -> tuple[tuple[Pairs, ...], ...]:
        return tuple(tuple(one[name] for one in row) for row in seen)

    rungs = [Signed(Rung(name, schedule=ALONE), "5" * 64, held(name)) for name in names]
    prompts = [
        Text(f"t{at}", (1, at % 4), tuple(i % 4 for i in range(tokens))) for at in range(texts)
    ]
    return Ladder(
        "5" * 64,
        "float32",
        len(LIKELY),
        size,
        Rung("reference", schedule=ALONE),
        tuple(prompts),
        held("recomputed"),
        tuple(rungs),
    )


def small() -> Ladder:
    """Give two texts of two tokens and two rungs, of which every number can be followed by hand.

    `edge` at the first token leaves out token 0, the likeliest; at the second it ties: tokens 1 and
    2 are equally likely to the reference, which takes 1, and it signs 2. The exponential of -92 has
    one digit, that of -99999 none, and their difference is more than is told.
    """
    from dataclasses import replace

    base = ladder(("same", "far"), 2, 2, size=2)
    first = (("0", "-0.7"), ("1", "-1.4"), ("2", "-1.5"))
    tied = (("0", "-0.1"), ("1", "-3"), ("2", "-3"))
    deep = (("0", "0"), ("1", "-92"))
    edge = (("1", "-0.25"), ("2", "-1.75")), (("0", "-0.1"), ("2", "-3"))
    likely = first[:2], tied[:2]
    flat = deep, (("0", "0"), ("1", "-99999"))
    rungs = (
        base.rungs[0]._replace(supports=(likely, flat)),
        base.rungs[1]._replace(supports=(edge, (deep, deep))),
    )
    recomputed = ((first, tied), (deep, deep))
    return replace(base, recomputed=recomputed, rungs=rungs)


MAKERS = {
    "distance-calibration": lambda: (ladder(("same", "near", "far"), TEXTS, TOKENS), 2),
    "distance-calibration-overlapping": lambda: (ladder(("near", "same"), TEXTS, TOKENS), 1),
    "distance-calibration-small": lambda: (small(), 1),
}


def document(name: str) -> dict[str, Any]:
    """Fold, and put placeholders where the vectors' builder fills in digests."""
    from lockstep.claims.distance_calibration import predicate

    observed, accepts = MAKERS[name]()
    made = predicate(observed, accepts, issued_at=ISSUED_AT, producer=PRODUCER)
    return placed("distance-calibration", made, ("spec", "model", "calibration"))


if __name__ == "__main__":
    sys.stdout.write(written(document(chosen(MAKERS))) + "\n")
