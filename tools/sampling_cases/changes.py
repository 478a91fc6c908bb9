"""What is done to an honest sequence, and the reason that each change has to lead to."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple


class Change(NamedTuple):
    """An edit of a parent, and what it has to lead to: written by hand, and compared."""

    name: str
    rule: str
    reason: str
    note: str
    at: str
    value: Any


AT, ARTIFACT = "/artifact/positions/1", "/artifact"
BAD_TOKENS = ("07", "+7", "7 ", "60", "", "7.0")
BAD_NUMBERS = (
    "-1.0", "-0", "0.5", "-1e2", "-Infinity", "NaN", "-1e-99999999999", "-123456", "",
)  # fmt: skip
COPIES = (
    ("version", "1.0.0"), ("seed_domain", "another"), ("inference_id", "chain-abd"),
    ("user_seed", "-8"), ("user_seed", "-07"), ("beacon", ""), ("choice", 1),
    ("temperature", "0.80"), ("temperature", "0"), ("top_k", 7), ("top_k", None), ("top_p", "1"),
    ("min_p", "0"), ("support", "whole"), ("model_sha256", "0" * 64), ("tokenizer_sha256", ""),
)  # fmt: skip


def edit(at: str, value: Any) -> dict[str, Any]:
    """Write one edit of a case; what TOML cannot write goes as JSON."""
    text = json.dumps(value)
    if "null" in text:
        return {"op": "set", "at": at, "json": text}
    return {"op": "set", "at": at, "value": value}


def of_support(one: dict[str, Any]) -> Iterator[Change]:
    """Changes of the second position's support and token."""
    signed = one["artifact"]["positions"][1]
    support, token = signed["support"], signed["token"]
    held = dict(support)
    free = next(str(n) for n in range(60) if str(n) not in held)
    other = next(name for name in held if name != token)
    bent = [[name, "-0.001" if name == other else text] for name, text in support]
    size, at = "support_size", f"{AT}/support"
    rows: tuple[tuple[str, str, str, str, str, Any], ...] = (
        ("another-token", "24", "token_differs", "Another one of them.", f"{AT}/token", other),
        ("chosen-alone", "30", size, "The token with its number.", at, [[token, held[token]]]),
        ("chosen-alone-certain", "30", size, "The token, made certain.", at, [[token, "0"]]),
        ("narrowed", "33", size, "One token fewer than top_k.", at, support[:-1]),
        ("widened", "33", size, "One token more.", at, sorted([*support, [free, "-9"]])),
        ("no-pair", "33", size, "An empty support.", at, []),
        ("null", "33", "support_missing", "Missing data is no excuse.", at, None),
        ("bent", "31", "mass_above", "One number raised until the draw lands on its token.", AT,
         {"token": other, "support": bent}),
        ("low", "31", "mass_below", "All lowered.", at, [[name, "-12"] for name in held]),
        ("reversed", "33", "support_order", "Not in string order.", at, support[::-1]),
        ("twice", "33", "support_order", "One token twice.", at, [support[0], *support[:-1]]),
        ("sampled-no-token", "33", "token_id", "No token.", f"{AT}/token", f"0{token}"),
    )  # fmt: skip
    for name, rule, reason, note, place, value in rows:
        yield Change(name, f"SAMP-{rule}", reason, note, place, value)
    for n, text in enumerate(BAD_TOKENS):
        note = "No token of the vocabulary."
        yield Change(f"token-{n}", "SAMP-9", "token_id", note, f"{at}/0/0", text)
    for n, text in enumerate(BAD_NUMBERS):
        note = "No text of a log-probability."
        yield Change(f"number-{n}", "SAMP-7", "logprob", note, f"{at}/2/1", text)


def of_artifact(one: dict[str, Any]) -> Iterator[Change]:
    """Changes of what else the executor signs: copies, the length and the end."""
    artifact, positions = one["artifact"], one["artifact"]["positions"]
    for n, (name, value) in enumerate(COPIES):
        note = f"A copy is compared, and never used: {name}."
        place = f"{ARTIFACT}/{name}"
        yield Change(f"copy-{n}", "SAMP-27", "copy_differs", note, place, value)
    bare = [{"token": each["token"], "support": None} for each in positions]
    none = {**artifact, "positions": [], "length": 0}
    short = {**artifact, "positions": positions[:2], "length": 2}
    rows: tuple[tuple[str, str, str, str, Any], ...] = (
        ("all-null", "support_missing", "No support anywhere.", f"{ARTIFACT}/positions", bare),
        ("length-other", "length", "Not the number of positions.", f"{ARTIFACT}/length", 4),
        ("nothing-sampled", "length", "No position at all.", ARTIFACT, none),
        ("truncated", "finish", "Ended early, and said to be full.", ARTIFACT, short),
        ("truncated-as-stopped", "finish", "Ended early, and said to have stopped.", ARTIFACT,
         {**short, "finish": "stop"}),
        ("finish-unknown", "finish", "Another word.", f"{ARTIFACT}/finish", "error"),
    )  # fmt: skip
    for name, reason, note, place, value in rows:
        yield Change(name, "SAMP-34", reason, note, place, value)


def of_request(one: dict[str, Any]) -> Iterator[Change]:
    """Changes of the request, which alone can leave a sequence uncovered."""
    first = int(one["artifact"]["positions"][0]["token"])
    unbounded = {**one["request"], "top_k": 1025, "vocab_size": 5000}
    rows: tuple[tuple[str, str, str, str, str, Any], ...] = (
        ("past-max-tokens", "34", "length", "More than were asked for.", "/max_tokens", 2),
        ("past-a-stop", "34", "past_stop", "Another token after a stop.", "/stop_tokens", [first]),
        ("version", "34", "version_unknown", "Not this version.", "/version", "sampling/v2"),
        ("seed-domain", "34", "seed_domain_unknown", "Another domain.", "/seed_domain", "x"),
        ("masks", "37", "feature", "A request that uses masks.", "/features", ["masks"]),
        ("greedy", "37", "greedy", "Nothing is drawn at temperature 0.", "/temperature", "0"),
        ("nearly-greedy", "12", "greedy", "Nor just above.", "/temperature", "0.0000099"),
        ("unbounded", "28", "support_unbounded", "A nucleus bounds nothing.", "", unbounded),
    )
    for name, rule, reason, note, place, value in rows:
        yield Change(f"request-{name}", f"SAMP-{rule}", reason, note, f"/request{place}", value)


def of_sequence(one: dict[str, Any]) -> Iterator[Change]:
    """All changes of a sequence."""
    yield from of_support(one)
    yield from of_artifact(one)
    yield from of_request(one)


def of_whole(one: dict[str, Any]) -> Iterator[Change]:
    """Changes of a sequence whose whole vocabulary is signed, but for masked stop tokens."""
    at, stop = "/artifact/positions/0/support", str(one["request"]["stop_tokens"][0])
    support = one["artifact"]["positions"][0]["support"]
    unmasked = sorted([[stop, support[0][1]], *support[1:]])
    note = "A stop token, before it may be sampled."
    yield Change("whole-stop", "SAMP-29", "stop_not_masked", note, at, unmasked)
    note = "A vocabulary with a token left out."
    yield Change("whole-narrowed", "SAMP-30", "support_size", note, at, support[:-1])


def of_min_p(one: dict[str, Any]) -> Iterator[Change]:
    """Changes of a sequence whose supports end one below the cut."""
    at = "/artifact/positions/0/support"
    support = one["artifact"]["positions"][0]["support"]
    least = max(support, key=lambda pair: float(pair[1].removeprefix("-")))
    held = dict(support)
    free = next(str(n) for n in range(1200) if str(n) not in held)
    note = "Nothing shows where the cut is."
    without = [pair for pair in support if pair != least]
    yield Change("min-p-without-cut", "SAMP-30", "support_cut", note, at, without)
    note = "Two below the cut, where one shows it."
    more = sorted([*support, [free, least[1]]])
    yield Change("min-p-past-cut", "SAMP-30", "support_cut", note, at, more)
