"""What a hunt ran, against its rows (HUNT-10)."""

from typing import Any

from lockstep_verify.derive.hunt_pairs import Group, Pair, require
from lockstep_verify.errors import Refusal

H13 = "H13_TOKEN_CLAIM_WITHOUT_A_DECODE"


class Transfer:
    """What was run, looked up by row.

    Attributes:
        layers: the number of layers that were run.
        decoded: the first entry's tokens by pair_id.
        references: the first reference by anchor.
    """

    def __init__(self, declared: dict[str, Any]) -> None:
        self.layers = len(declared["layers"])
        self.decoded: dict[str, list[int]] = {}
        for row in declared["rows"]:
            self.decoded.setdefault(row["pair_id"], row["decoded_tokens"])
        self.references: dict[str, list[int]] = {}
        for reference in declared["references"]:
            self.references.setdefault(reference["anchor"], reference["tokens"])


def check_transfer(
    declared: dict[str, Any],
    rows: list[dict[str, Any]],
    pairs: list[Pair],
    resolved: list[Group],
    layers: int,
) -> None:
    """Check what was run against the rows (HUNT-10; step 6 of the order of derivation).

    Raises:
        Refusal: H13.
    """
    at = "/predicate/transfer"
    run = declared["layers"]
    made = any(value is not None for row in rows for value in row["observations"].values())
    ends = [run[0], run[-1]] == [0, layers - 1] if run else not made
    if not ends or run != sorted(set(run)):
        raise Refusal(H13, f"{at}/layers", f"0 to {layers - 1}, ascending", run)
    if declared["gather_payloads"] < 1 and any(row["proof"] is not None for row in rows):
        raise Refusal(H13, f"{at}/gather_payloads", "at least 1", declared["gather_payloads"])
    anchors = list(dict.fromkeys(group.anchor.name for group in resolved))
    named = [reference["anchor"] for reference in declared["references"]]
    if named != anchors and (named or declared["rows"]):
        raise Refusal(H13, f"{at}/references", anchors, named)
    steps = declared["steps"]
    for i, reference in enumerate(declared["references"]):
        require(H13, f"{at}/references/{i}/tokens", steps, len(reference["tokens"]))
    before = ""
    for i, entry in enumerate(declared["rows"]):
        if entry["pair_id"] <= before:
            raise Refusal(H13, f"{at}/rows/{i}/pair_id", f"above {before}", entry["pair_id"])
        before = entry["pair_id"]
    by_name = {row["pair_id"]: (row, pair) for row, pair in zip(rows, pairs, strict=True)}
    for i, entry in enumerate(declared["rows"]):
        row, pair = by_name.get(entry["pair_id"], (None, None))
        if row is None or pair is None or row["observations"]["tokens_identical"] is None:
            expected = "a row whose tokens were observed"
            raise Refusal(H13, f"{at}/rows/{i}/pair_id", expected, entry["pair_id"])
        require(H13, f"{at}/rows/{i}/decoded_tokens", steps, len(entry["decoded_tokens"]))
        _check_difference(f"{at}/rows/{i}/roundtrip_diff_positions", entry, row, pair)


def _check_difference(at: str, entry: dict[str, Any], row: dict[str, Any], pair: Pair) -> None:
    """Compare the number of differing slots with the padding that nobody reads."""
    got = entry["roundtrip_diff_positions"]
    if row["observations"]["roundtrip_diff_is_exactly_unread_padding"] is None:
        require(H13, at, None, got)
        return
    unread = row["proof"]["unread_padding_positions"]
    if got is not None and pair.dst.quantisation not in ("none", pair.src.quantisation):
        if got <= unread:
            raise Refusal(H13, at, f"more than {unread}", got)
        return
    require(H13, at, unread, got)
