"""What a row must say, given its two layouts and what was run (HUNT-4 to HUNT-9, HUNT-18)."""

from typing import Any

from lockstep_verify.derive.hunt_lemmas import H3, Lemmas
from lockstep_verify.derive.hunt_pairs import Pair, require
from lockstep_verify.derive.hunt_transfer import H13, Transfer
from lockstep_verify.derive.hunt_words import words
from lockstep_verify.errors import Refusal

H2 = "H2_VERDICT_NOT_DERIVED"
H4 = "H4_PROOF_NOT_EXHAUSTIVE"
H5 = "H5_TRIVIAL_TRANSFORMATION"
OBSERVATIONS = (
    "forward_reproduces_target",
    "roundtrip_byte_identical",
    "roundtrip_diff_is_exactly_unread_padding",
    "tokens_identical",
)
EXACT = ("EXACT_BYTE", "EXACT_TOKEN")
_ROWS = "/predicate/rows"


def fold(frontier: str | None, observations: dict[str, bool | None]) -> str:
    """Give the verdict of a frontier code and four observations (HUNT-7)."""
    forward, byte, diff, tokens = (observations[name] for name in OBSERVATIONS)
    if frontier is not None:
        return "REFUSED"
    if None in (forward, byte, diff, tokens):
        return "UNPROVEN"
    if not (forward and diff and tokens):
        return "NOT_EXACT"
    return "EXACT_BYTE" if byte else "EXACT_TOKEN"


def check_row(
    i: int, row: dict[str, Any], pair: Pair, transfer: Transfer, lemmas: Lemmas
) -> list[str]:
    """Check all that a row says, and give its words (step 5 of the order of derivation).

    Raises:
        Refusal: H2, H3, H4, H5, H13, LEMMA_STATEMENT_MISMATCH,
            COVERAGE_DENOMINATOR_NOT_DERIVED.
    """
    at = f"{_ROWS}/{i}"
    require(H2, f"{at}/frontier_code", pair.frontier, row["frontier_code"])
    proof = row["proof"]
    if pair.frontier is None and proof is None:
        raise Refusal(H3, f"{at}/proof", "a proof", "null")
    if pair.frontier is not None and proof is not None:
        raise Refusal(H2, f"{at}/proof", "null", "a proof")
    if proof is not None:
        for name, count in _positions(pair, transfer.layers).items():
            require(H4, f"{at}/proof/{name}", count, proof[name])
        for name in ("dest_bijective", "source_bijective", "gather_agrees"):
            require(H2, f"{at}/proof/{name}", True, proof[name])
        lemmas.check(f"{at}/proof", proof, pair)
    _check_observations(at, row, pair, transfer)
    verdict = fold(pair.frontier, row["observations"])
    require(H2, f"{at}/verdict", verdict, row["verdict"])
    needed = words(pair.src, pair.dst)
    if verdict in EXACT and not needed:
        raise Refusal(H5, f"{at}/transformations", "layouts that differ", row["transformations"])
    require(H5, f"{at}/transformations", needed, row["transformations"])
    sides = None
    if pair.frontier is None:
        sides = {"src": pair.src.native_bytes, "dst": pair.dst.native_bytes}
    require("COVERAGE_DENOMINATOR_NOT_DERIVED", f"{at}/native_bytes", sides, row["native_bytes"])
    return needed


def _positions(pair: Pair, layers: int) -> dict[str, int]:
    """Give a proof's position fields, in the schema's order (HUNT-9)."""
    src, dst = pair.src, pair.dst
    return {
        "positions_checked": dst.positions,
        "positions_total": dst.positions,
        "source_positions_checked": src.positions,
        "source_positions_total": src.positions,
        "dest_padding_positions": dst.padding,
        "source_padding_positions": src.padding,
        "unread_padding_positions": layers * src.padding,
    }


def _check_observations(at: str, row: dict[str, Any], pair: Pair, transfer: Transfer) -> None:
    """Compare each observation that was made with what layouts and tokens give (HUNT-8)."""
    seen = row["observations"]
    at = f"{at}/observations"
    identical = None
    if seen["tokens_identical"] is not None:
        decoded = transfer.decoded.get(row["pair_id"])
        reference = transfer.references.get(pair.anchor)
        if decoded is None or reference is None:
            got = seen["tokens_identical"]
            raise Refusal(H13, f"{at}/tokens_identical", "decoded tokens and a reference", got)
        identical = decoded == reference
    src, dst = pair.src, pair.dst
    kept = dst.quantisation in ("none", src.quantisation)
    given = (
        src.quantisation in ("none", dst.quantisation),
        kept and src.padding == 0,
        kept,
        identical,
    )
    for name, value in zip(OBSERVATIONS, given, strict=True):
        if pair.frontier is not None:
            require(H2, f"{at}/{name}", None, seen[name])
        elif seen[name] is not None:
            require(H2, f"{at}/{name}", value, seen[name])
    if pair.lossless and identical is False:
        raise Refusal(H2, f"{at}/tokens_identical", "identical tokens in a lossless row", False)
