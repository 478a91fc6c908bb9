"""Weights of supports: upstream's, chosen ones, and random ones."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from chosen import CHOSEN, SPELLINGS
from vector import HANDED, UPSTREAM, V1, Vector

from lockstep.errors import LockstepError
from lockstep.sampling import resolve, weights
from lockstep.sampling.number import canonical

LONGEST, WIDE = 3000, 100
"""Supports of more tokens would be most of the vectors' bytes; wide ones are asked once."""
NAMES = ("temperature", "top_k", "top_p", "min_p")


def _pairs(one: dict[str, Any]) -> list[list[str]]:
    if "logprobs" in one:
        return [[token, text] for token, text in sorted(one["logprobs"].items())]
    rule = one["logprobs_rule"]
    return [[str(token), rule["value"]] for token in range(rule["n"])]


def _made(support: list[list[str]], given: tuple[Any, ...]) -> dict[str, Any] | None:
    try:
        if len({token for token, _ in support}) != len(support):
            return None
        found = weights(dict(support), resolve(*given))
    except LockstepError:
        return None
    return {"weights": [[token, weight] for token, weight in found.items()]}


def _spelt(text: str | None) -> str | None:
    try:
        return None if text is None else canonical(text)
    except LockstepError:
        return text


def weighed_by_upstream() -> Iterator[Vector]:
    """What upstream's code gave, and what sampling/v1 makes of the same numbers."""
    for one in HANDED["pipeline"]:
        support, name = _pairs(one), one["name"].lower().replace("+", "plus").replace(".", "-")
        if len(support) > LONGEST:
            continue
        given = tuple(one.get(member) for member in NAMES)
        asked = {"support": support, **dict(zip(NAMES, given, strict=True))}
        known = one.get("weights")
        value = known and {"weights": [[t, known[t]] for t in sorted(known)]}
        note = "What upstream's code gave."
        yield Vector(f"weights-upstream-{name}", "SAMP-43", note, "sampling_weights",
                     {"profile": UPSTREAM, **asked}, value)  # fmt: skip
        if len(support) <= WIDE:
            made, note = _made(support, given), "The same texts; one that is misspelt is refused."
            rule = "SAMP-7" if made is None else "SAMP-22"
            yield Vector(f"weights-v1-{name}", rule, note, "sampling_weights",
                         {"profile": V1, **asked}, made)  # fmt: skip
        spelt = [[token, _spelt(text) or ""] for token, text in support]
        again = (_spelt(given[0]), given[1], _spelt(given[2]), _spelt(given[3]))
        if (spelt, again) != (support, given):
            asked = {"profile": V1, "support": spelt, **dict(zip(NAMES, again, strict=True))}
            note = "The same numbers, spelt as they must."
            yield Vector(f"weights-v1-{name}-spelt", "SAMP-22", note, "sampling_weights",
                         asked, _made(spelt, again))  # fmt: skip
    sources = (("apd", "apd_vs_libmpdec_weight_divergences", "python"),
               ("threads", "S2_prec10_vs_prec28", "prec10"))  # fmt: skip
    for word, source, member in sources:
        for n, one in enumerate(HANDED[source][:10]):
            support = sorted([token, _spelt(text) or ""] for token, text in one["logprobs"].items())
            asked = {"support": support, "temperature": _spelt(one["temperature"])}
            asked |= {"top_k": None, "top_p": None, "min_p": None}
            value = {"weights": [[t, one[member][t]] for t in sorted(one[member])]}
            note = "One digit of a power, or of the precision, decides a weight."
            yield Vector(f"weights-{word}-{n}", "SAMP-14", note, "sampling_weights",
                         {"profile": UPSTREAM, **asked}, value)  # fmt: skip
            given = (asked["temperature"], None, None, None)
            yield Vector(f"weights-{word}-{n}-v1", "SAMP-14", note, "sampling_weights",
                         {"profile": V1, **asked}, _made(support, given))  # fmt: skip


def weighed() -> Iterator[Vector]:
    """Chosen supports of sampling/v1, the spellings that it refuses, and random ones."""
    for name, (rule, note, support, given) in CHOSEN.items():
        asked = {"profile": V1, "support": support, **dict(zip(NAMES, given, strict=True))}
        yield Vector(
            f"weights-{name}", rule, note, "sampling_weights", asked, _made(support, given)
        )
    off: dict[str, Any] = {"temperature": "1", "top_k": None, "top_p": None, "min_p": None}
    for n, text in enumerate(SPELLINGS):
        asked = {"profile": V1, "support": [["1", "0"], ["2", text]], **off}
        note = "No text of a log-probability."
        yield Vector(
            f"weights-number-{n}", "SAMP-7", note, "sampling_weights", asked, None, ("number",)
        )
    chosen = random.Random("vectors of weights")  # noqa: S311 - made once, and kept
    for n in range(12):
        tokens = sorted(str(token) for token in chosen.sample(range(150_000), 24))
        support = [[token, canonical(f"-{chosen.expovariate(0.2):.12f}")] for token in tokens]
        given = (chosen.choice(("1", "0.7", "1.3")), chosen.choice((None, 8, 20)),
                 chosen.choice((None, "0.9", "0.5")), chosen.choice((None, "0.02")))  # fmt: skip
        asked = {"profile": V1, "support": support, **dict(zip(NAMES, given, strict=True))}
        note = "As an executor would sign it."
        yield Vector(
            f"weights-random-{n}", "SAMP-22", note, "sampling_weights", asked, _made(support, given)
        )
