"""Draws, seeds, powers and scans."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from vector import HANDED, UPSTREAM, V1, Vector

from lockstep.sampling import rng
from lockstep.sampling.categorical import draw
from lockstep.sampling.exp import exp
from lockstep.sampling.number import canonical
from lockstep.sampling.seed import Origin, derive_seed

SEED = "reference_seed_v1"


def draws() -> Iterator[Vector]:
    """Streams and bounded draws."""

    def of(seed: str, counter: int, below: int | None, count: int) -> dict[str, Any]:
        n, values = counter, []
        for _ in range(count):
            value, n = (rng.u64(seed, n), n + 1) if below is None else rng.below(seed, below, n)
            values.append(str(value))
        return {"values": values, "counter": str(n % 2**64)}

    def asked(seed: str, counter: str, below: str | None, count: int) -> dict[str, Any]:
        return {"seed": seed, "counter": counter, "below": below, "count": count}

    for n, one in enumerate(HANDED["rng"]):
        count, start = len(one["u64"]), int(one["counter_start"])
        value = {"values": one["u64"], "counter": str(start + count)}
        yield Vector(
            f"draws-{n}", "SAMP-2" if n == 0 else "SAMP-1", "Draws that upstream's code gave.",
            "sampling_draws", asked(one["seed"], str(start), None, count), value,
        )  # fmt: skip
    for one in HANDED["uint64_below"]:
        value = {"values": one["values"], "counter": str(one["counter_after"])}
        yield Vector(
            f"below-{one['n']}", "SAMP-3", "Bounded draws that upstream's code gave.",
            "sampling_draws", asked(one["seed"], "0", one["n"], len(one["values"])), value,
        )  # fmt: skip
    last = 2**64 - 1
    yield Vector(
        "draws-wrap", "SAMP-1", "After the last draw comes draw 0.", "sampling_draws",
        asked(SEED, str(last), None, 2), of(SEED, last, None, 2), ("overflow",),
    )  # fmt: skip
    yield Vector(
        "draws-of-text", "SAMP-1", "A seed's bytes are its UTF-8.", "sampling_draws",
        asked("é\U0001f600", "0", None, 2), of("é\U0001f600", 0, None, 2), ("encoding",),
    )  # fmt: skip
    yield Vector(
        "draws-of-nothing", "SAMP-1", "The empty seed is one.", "sampling_draws",
        asked("", "0", None, 1), of("", 0, None, 1), ("empty",),
    )  # fmt: skip
    for n in (2**64, 2**63 + 1):
        yield Vector(
            f"below-{n}", "SAMP-3", "Nothing is passed over below 2^64, half is just above 2^63.",
            "sampling_draws", asked(SEED, "0", str(n), 6), of(SEED, 0, n, 6), ("overflow",),
        )  # fmt: skip
    for name, n in (("zero", "0"), ("negative", "-1"), ("above", str(2**64 + 1))):
        yield Vector(
            f"below-{name}", "SAMP-3", "There is no draw below this.", "sampling_draws",
            asked(SEED, "0", n, 1), None, ("off-by-one",),
        )  # fmt: skip


def seeds() -> Iterator[Vector]:
    """Seeds of both profiles."""
    names = ("user_seed", "inference_id", "beacon", "choice", "position")
    beacon = "ab" * 32
    good = {
        "golden": ("7", "chain-abc", "", 0, 0),
        "beacon": ("7", "chain-abc", beacon, 0, 0),
        "choice": ("7", "chain-abc", "", 1, 0),
        "position": ("7", "chain-abc", "", 0, 1),
        "zero": ("0", "!", "", 0, 0),
        "least": (str(-(2**63)), "~", beacon, 65535, 2**31 - 1),
        "most": (str(2**63 - 1), "x" * 256, "", 0, 16383),
        "frame": ("7", "a\\nbeacon_len=0", "", 0, 0),
        "joined-a": ("4", "2x", "", 0, 0),
        "joined-b": ("42", "x", "", 0, 0),
    }
    bad = {
        "user-seed-above": (str(2**63), "x", "", 0, 0),
        "user-seed-below": (str(-(2**63) - 1), "x", "", 0, 0),
        "user-seed-minus-zero": ("-0", "x", "", 0, 0),
        "user-seed-zero-first": ("07", "x", "", 0, 0),
        "user-seed-plus": ("+7", "x", "", 0, 0),
        "user-seed-space": (" 7", "x", "", 0, 0),
        "user-seed-empty": ("", "x", "", 0, 0),
        "user-seed-digits-of-another-script": ("\u0667", "x", "", 0, 0),
        "id-empty": ("7", "", "", 0, 0),
        "id-long": ("7", "x" * 257, "", 0, 0),
        "id-space": ("7", "a b", "", 0, 0),
        "id-line": ("7", "a\nb", "", 0, 0),
        "id-delete": ("7", "a\u007f", "", 0, 0),
        "id-accent": ("7", "chain-é", "", 0, 0),
        "id-nul": ("7", "a\u0000b", "", 0, 0),
        "beacon-short": ("7", "x", beacon[:-1], 0, 0),
        "beacon-upper": ("7", "x", beacon.upper(), 0, 0),
        "choice-above": ("7", "x", "", 65536, 0),
        "choice-below": ("7", "x", "", -1, 0),
        "position-above": ("7", "x", "", 0, 2**31),
        "position-below": ("7", "x", "", 0, -1),
    }
    for name, given in good.items():
        asked = {"profile": V1, **dict(zip(names, given, strict=True))}
        value = derive_seed(Origin(int(given[0]), given[1], given[2]), *given[3:])
        note = "Each part is framed by its length, so that no two inputs share a seed."
        yield Vector(f"seed-{name}", "SAMP-5", note, "sampling_seed", asked, {"seed": value})
    for name, given in bad.items():
        asked = {"profile": V1, **dict(zip(names, given, strict=True))}
        note = "A seed is made of nothing else than this."
        yield Vector(f"seed-{name}", "SAMP-4", note, "sampling_seed", asked, None, ("range",))
    for n, one in enumerate(HANDED["seed_chain_bound"]):
        known = one["v2_10655b21_and_go_b5372539"]
        if one.get("user_seed_is_python_literal") or one["inference_id"] is None:
            continue
        given = (one["user_seed"], one["inference_id"], "", 0, 3)
        asked = {"profile": UPSTREAM, **dict(zip(names, given, strict=True))}
        value = None if known.startswith("REJECT") else {"seed": f"{known}|3"}
        name = f"seed-upstream-{n}"
        note = f"Upstream, second form: {one['why']}."
        yield Vector(name, "SAMP-42", note, "sampling_seed", asked, value)


def _number(value: Any) -> dict[str, Any]:
    sign, digits, exponent = value.normalize().as_tuple()
    assert not sign  # noqa: S101 - a power is above 0
    return {"mantissa": "".join(map(str, digits)), "exponent": exponent}


def powers() -> Iterator[Vector]:
    """Exponentials: zero, the ends, near ties, and where libraries in use are wrong."""
    known = {canonical(one["x"].lower()): one["python_correct"]
             for one in HANDED["apd_vs_libmpdec_exp_last_digit"]}  # fmt: skip
    for n, (text, answer) in enumerate(known.items()):
        value = _number(Decimal(answer))
        assert value == _number(exp(Decimal(text)))  # noqa: S101 - two sources agree
        note = "An exponential in use gives another last digit."
        yield Vector(f"exp-last-digit-{n}", "SAMP-15", note, "sampling_exp", {"d": text}, value)
    chosen = {
        "zero": "0", "clamp": "-64", "ln10": "-2.302585093", "ln10-above": "-2.302585092",
        "ln2": "-0.6931471806", "tiny": "-0.00000000001", "half-a-place": "-0.00000000005",
        "above-half-a-place": "-0.000000000050000001", "a-place": "-0.0000000001",
        "least-digit": "-0.000000000000000000000001", "one": "-1", "token-flip": "-4.509225607",
        "carry": "-0.00000000015", "far": "-2302000", "underflow-elsewhere": "-23000",
    }  # fmt: skip
    for name, text in chosen.items():
        value = _number(exp(Decimal(text)))
        note = "The number of ten digits nearest to the power."
        yield Vector(f"exp-{name}", "SAMP-14", note, "sampling_exp", {"d": text}, value)
    for name, text in (
        ("above-zero", "0.1"),
        ("exponent", "-1e2"),
        ("minus-zero", "-0"),
        ("no", ""),
    ):
        note = "No text of a number of 0 or less."
        yield Vector(f"exp-{name}", "SAMP-7", note, "sampling_exp", {"d": text}, None)


def scans() -> Iterator[Vector]:
    """Scans over weights; a sum of 0 is refused, as upstream's later form does."""
    for n, one in enumerate(HANDED["categorical"]):
        pairs = [[str(token), weight] for token, weight in enumerate(one["weights"])]
        known = one.get("ac849ddc_and_go", one["dump_v011_merged_10655b21"])
        value = None if isinstance(known, str) else {"token": str(known[0])}
        asked = {"weights": pairs, "seed": one["seed"], "counter": "0"}
        note = "What upstream's code gave; a sum of 0 takes no draw."
        yield Vector(f"scan-{n}", "SAMP-23", note, "sampling_scan", asked, value)
    pairs = [["1", 0], ["10", 30000], ["2", 0], ["3", 35536]]
    for counter in range(4):
        value = {"token": draw(dict((t, w) for t, w in pairs), SEED, counter)}
        asked = {"weights": pairs, "seed": SEED, "counter": str(counter)}
        note = "A token of weight 0 is never drawn."
        yield Vector(f"scan-zero-{counter}", "SAMP-23", note, "sampling_scan", asked, value)
