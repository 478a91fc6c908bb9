"""Supports and parameters, each chosen for one rule of the sampler."""

from __future__ import annotations

from typing import Any

FOUR = [["1", "-0.5"], ["10", "-1.5"], ["2", "-1.5"], ["3", "-4"]]
CHOSEN: dict[str, tuple[str, str, list[list[str]], tuple[Any, ...]]] = {
    "order-handed-over": (
        "SAMP-16",
        "The order of the input changes nothing.",
        FOUR[::-1],
        ("1", 2, None, None),
    ),
    "top-k-tie": (
        "SAMP-19",
        "Of equal ones the first in string order is kept: 10 before 2.",
        FOUR,
        ("1", 2, None, None),
    ),
    "top-k-zero": ("SAMP-12", "0 is off.", FOUR, ("1", 0, None, None)),
    "top-k-minus-one": ("SAMP-12", "-1 is off.", FOUR, ("1", -1, None, None)),
    "top-k-minus-two": ("SAMP-11", "Nothing below -1 means anything.", FOUR, ("1", -2, None, None)),
    "top-k-of-all": ("SAMP-19", "As many as there are.", FOUR, ("1", 4, None, None)),
    "top-p-one": (
        "SAMP-12",
        "1 is off, though a sum of ten digits may reach it early.",
        FOUR,
        ("1", None, "1", None),
    ),
    "top-p-above-one": ("SAMP-12", "So is more.", FOUR, ("1", None, "1.5", None)),
    "top-p-zero": ("SAMP-11", "No nucleus holds nothing.", FOUR, ("1", None, "0", None)),
    "top-p-equal": (
        "SAMP-20",
        "A sum that is equal ends it.",
        [["1", "0"], ["2", "0"]],
        ("1", None, "0.5", None),
    ),
    "top-p-crossing": (
        "SAMP-20",
        "The token that crosses is kept.",
        [["1", "0"], ["2", "0"]],
        ("1", None, "0.5000000001", None),
    ),
    "top-p-after-top-k": (
        "SAMP-18",
        "Nothing is made to sum to 1 between filters.",
        FOUR,
        ("1", 3, "0.9", None),
    ),
    "min-p-zero": ("SAMP-12", "0 is off.", FOUR, ("1", None, None, "0")),
    "min-p-one": ("SAMP-21", "Only those as likely as the largest.", FOUR, ("1", None, None, "1")),
    "min-p-above-one": ("SAMP-11", "Nothing is kept above 1.", FOUR, ("1", None, None, "1.1")),
    "all-filters": ("SAMP-18", "In this order.", FOUR, ("0.7", 3, "0.95", "0.05")),
    "gap-of-64": (
        "SAMP-17",
        "A gap of 64 still counts.",
        [["1", "0"], ["2", "-64"]],
        ("1", None, None, None),
    ),
    "gap-above-64": (
        "SAMP-17",
        "Past it, nothing.",
        [["1", "0"], ["2", "-64.0000001"]],
        ("1", None, None, None),
    ),
    "cold": (
        "SAMP-17",
        "Where another's exponential underflows.",
        [["1", "0"], ["2", "-2.3"]],
        ("0.0001", None, None, None),
    ),
    "greedy-edge": (
        "SAMP-12",
        "The least temperature that is drawn at.",
        [["1", "0"], ["2", "0"]],
        ("0.00001", None, None, None),
    ),
    "greedy": ("SAMP-12", "Below it there is no draw.", FOUR, ("0.000009", None, None, None)),
    "temperature-zero": ("SAMP-12", "Nor at 0.", FOUR, ("0", None, None, None)),
    "temperature-negative": (
        "SAMP-11",
        "It would turn the distribution round.",
        FOUR,
        ("-1", None, None, None),
    ),
    "temperature-infinite": ("SAMP-11", "Not a decimal.", FOUR, ("Infinity", None, None, None)),
    "temperature-spelt": ("SAMP-11", "Each number has one text.", FOUR, ("0.70", None, None, None)),
    "temperature-of-a-float": (
        "SAMP-11",
        "0.7 that went through binary32 is another number.",
        FOUR,
        ("0.699999988079071", None, None, None),
    ),
    "temperature-request": ("SAMP-11", "The request's own 0.7.", FOUR, ("0.7", None, None, None)),
    "extras-tie": (
        "SAMP-22",
        "The one that is left goes to the first in string order.",
        [["10", "0"], ["2", "0"], ["3", "0"]],
        ("1", None, None, None),
    ),
    "no-token": ("SAMP-16", "Nothing to draw from.", [], ("1", None, None, None)),
    "twice": ("SAMP-16", "One token twice.", [["7", "0"], ["7", "-1"]], ("1", None, None, None)),
    "token-07": (
        "SAMP-9",
        "7 and 07 would be one token split in two.",
        [["07", "-1"], ["7", "-1"]],
        ("1", None, None, None),
    ),
    "token-plus": ("SAMP-9", "No sign.", [["+7", "-1"]], ("1", None, None, None)),
    "token-wide-digit": (
        "SAMP-9",
        "Digits of ASCII alone.",
        [["\uff17", "-1"]],
        ("1", None, None, None),
    ),
    "token-long": (
        "SAMP-9",
        "Ten digits at most.",
        [["12345678901", "-1"]],
        ("1", None, None, None),
    ),
}
SPELLINGS = (
    "0.1", "-0", "-1.0", "-01", "-.5", "-1.", "+0", "", " ", " -1", "-1_0", "-1e2", "-1e-400000",
    "-1E999999999999999999", "-Infinity", "NaN", "-123456", "-0." + "1" * 25, "-\u0661",
)  # fmt: skip
