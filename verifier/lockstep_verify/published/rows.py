"""What each row of the published document must say, given its two layouts.

``check_names`` comes first, then ``check_evidence`` row by row, then the rest:
the order in which the document's own falsifications meet their codes ([PUB-22]).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lockstep_verify.errors import Refusal

from . import profile
from .fields import OBSERVATIONS
from .layout import Layout, frontier_code, transformations

Row = dict[str, Any]

_H2 = "H2_VERDICT_NOT_DERIVED"
_H3 = "H3_PROOF_MISSING"
_H4 = "H4_PROOF_NOT_EXHAUSTIVE"
_H5 = "H5_TRIVIAL_TRANSFORMATION"
_H12 = "H12_PAIR_DECLARED_TWICE"
_H13 = "H13_TOKEN_CLAIM_WITHOUT_A_DECODE"
NOT_DERIVED = "PUBLISHED_FIELD_NOT_DERIVED"


def require(code: str, pointer: str, expected: object, got: object) -> None:
    """Refuse with ``code`` unless the two values are equal and of one type."""
    if type(expected) is not type(got) or expected != got:
        raise Refusal(code, pointer, expected, got)


@dataclass(frozen=True)
class Pair:
    """A row's source and destination, and what follows from them alone."""

    src: Layout
    dst: Layout

    @property
    def frontier(self) -> str | None:
        """Why no exact map exists, if none does ([PUB-12])."""
        return frontier_code(self.src, self.dst)

    @property
    def lossy(self) -> bool:
        """Whether the element type changes."""
        return self.src.quant != self.dst.quant

    @property
    def words(self) -> list[str]:
        """The transformations between the two declarations ([PUB-11])."""
        return transformations(self.src, self.dst)

    @property
    def verdict(self) -> str:
        """The verdict that the declarations alone allow ([PUB-14])."""
        if self.frontier:
            return "REFUSED"
        if self.lossy:
            return "NOT_EXACT"
        return "EXACT_TOKEN" if self.src.padding else "EXACT_BYTE"

    @property
    def lemmas(self) -> list[str]:
        """Names of the lemmas that the row must carry, in order ([PUB-16])."""
        if self.frontier:
            return [profile.FRONTIER_LEMMAS[self.frontier]]
        own = [roundtrip_lemma(layout) for layout in (self.src, self.dst)]
        return [lemma for lemma in own if lemma] + profile.COMMON_LEMMAS


def roundtrip_lemma(layout: Layout) -> str | None:
    """The lemma that a lossless engine declares, None for others ([PUB-9])."""
    if not layout.lossless:
        return None
    return profile.ROUNDTRIP_LEMMA + layout.name.replace("-", "_")


def fold(frontier: str | None, observations: dict[str, bool | None]) -> str:
    """The verdict that the four observations give ([PUB-14]).

    An observation that was not made weighs more than one that failed.
    """
    if frontier is not None:
        return "REFUSED"
    if any(observations[name] is None for name in OBSERVATIONS):
        return "UNPROVEN"
    if not all(observations[n] for n in OBSERVATIONS if n != "roundtrip_byte_identical"):
        return "NOT_EXACT"
    return "EXACT_BYTE" if observations["roundtrip_byte_identical"] else "EXACT_TOKEN"


def check_names(rows: list[Row], layouts: dict[str, Layout]) -> list[Pair]:
    """Resolve each row's engines; each pair stands once, under its own name ([PUB-15])."""
    for index, row in enumerate(rows):
        for side in ("src", "dst"):
            if row[side] not in layouts:
                raise Refusal(
                    "H11_ENGINE_UNDECLARED",
                    f"/rows/{index}/{side}",
                    "a declared engine",
                    row[side],
                )
    seen: set[str] = set()
    for index, row in enumerate(rows):
        pair_id = f"{row['src']}->{row['dst']}"
        require(_H12, f"/rows/{index}/pair_id", pair_id, row["pair_id"])
        if pair_id in seen:
            raise Refusal(_H12, f"/rows/{index}/pair_id", "each pair once", pair_id)
        seen.add(pair_id)
    return [Pair(layouts[row["src"]], layouts[row["dst"]]) for row in rows]


def check_evidence(row: Row, pair: Pair, pointer: str) -> None:
    """Compare verdict, observations, lemmas and positions ([PUB-14], [PUB-16] to [PUB-18]).

    Raises:
        Refusal: H3, H13, H2, H4 or H5, in that order but for single lemmas,
            which come after the verdict.
    """
    proof = row["proof"]
    if proof is None:
        raise Refusal(_H3, f"{pointer}/proof", "a proof", None)
    _check_decode(row, pair, pointer)
    _check_verdict(row, pair, pointer)
    named = proof["lean_lemmas"] or []
    for lemma in pair.lemmas:
        if lemma not in named:
            raise Refusal(_H3, f"{pointer}/proof/lean_lemmas", lemma, named)
    for name, count in _positions(pair).items():
        require(_H4, f"{pointer}/proof/{name}", count, proof[name])
    if row["verdict"] in profile.EXACT and not row["transformations"]:
        raise Refusal(_H5, f"{pointer}/transformations", "at least one word", [])


def _check_decode(row: Row, pair: Pair, pointer: str) -> None:
    """A row that ran carries both token lists, of the declared length ([PUB-17])."""
    steps = pair.src.geometry.decode_steps
    for name in ("decoded_tokens", "reference_tokens"):
        tokens = row["proof"][name]
        if pair.frontier:
            continue
        if tokens is None or len(tokens) != steps:
            raise Refusal(
                _H13,
                f"{pointer}/proof/{name}",
                f"{steps} tokens",
                "null" if tokens is None else f"{len(tokens)} tokens",
            )


def _check_verdict(row: Row, pair: Pair, pointer: str) -> None:
    """Verdict, observations and flags against layouts and against each other ([PUB-14])."""
    proof, seen = row["proof"], row["observations"]
    ran = None if pair.frontier else True
    require(_H2, f"{pointer}/frontier_code", pair.frontier, row["frontier_code"])
    require(_H2, f"{pointer}/verdict", fold(pair.frontier, seen), row["verdict"])
    for name, expected in _observations(proof, pair).items():
        require(_H2, f"{pointer}/observations/{name}", expected, seen[name])
    require(_H2, f"{pointer}/verdict", pair.verdict, row["verdict"])
    bijective = ran and pair.src.bijective and pair.dst.bijective
    for name in ("source_bijective", "dest_bijective"):
        require(_H2, f"{pointer}/proof/{name}", bijective, proof[name])
    require(_H2, f"{pointer}/proof/gather_agrees", ran, proof["gather_agrees"])
    payloads = proof["gather_payloads"]
    if ran and (payloads is None or payloads < 1):
        raise Refusal(_H2, f"{pointer}/proof/gather_payloads", "at least 1", payloads)


def _observations(proof: Row, pair: Pair) -> dict[str, bool | None]:
    """The four observations that layouts, tokens and differences give ([PUB-14])."""
    if pair.frontier:
        return dict.fromkeys(OBSERVATIONS)
    difference = proof["roundtrip_diff_positions"]
    slots = pair.src.geometry.layers * pair.src.positions
    sane = difference is not None and 0 <= difference <= slots
    return {
        "forward_reproduces_target": not pair.lossy or pair.src.quant == "none",
        "roundtrip_byte_identical": sane and difference == 0,
        "roundtrip_diff_is_exactly_unread_padding": sane and difference == unread(pair),
        "tokens_identical": bool(proof["decoded_tokens"] == proof["reference_tokens"]),
    }


def unread(pair: Pair) -> int:
    """Padding slots of the source over all layers, which no decode reads ([PUB-18])."""
    return pair.src.geometry.layers * pair.src.padding


def _positions(pair: Pair) -> dict[str, int | None]:
    """The position and padding counts of a row ([PUB-18])."""
    src, dst = pair.src, pair.dst
    counts = {
        "positions_checked": dst.positions,
        "positions_total": dst.positions,
        "source_positions_checked": src.positions,
        "source_positions_total": src.positions,
        "dest_padding_positions": dst.padding,
        "source_padding_positions": src.padding,
        "unread_padding_positions": unread(pair),
    }
    return {name: None if pair.frontier else count for name, count in counts.items()}


def check_rest(row: Row, pair: Pair, payloads: object, tokens: object, pointer: str) -> None:
    """The row's remaining derived fields ([PUB-16] to [PUB-18]).

    ``payloads`` and ``tokens`` are those of the first row that ran.
    """
    proof, frontier = row["proof"], pair.frontier is not None
    element = profile.ELEMENT_BYTES["float16"]
    kind, command = profile.PROOF_ORIGIN[frontier]
    expected = {
        "kind": kind,
        "command": command,
        "lean_lemmas": pair.lemmas,
        "layers": None if frontier else pair.src.geometry.layers,
        "gather_payloads": None if frontier else payloads,
        "reference_tokens": None if frontier else tokens,
    }
    if frontier:
        expected |= {"decoded_tokens": None, "roundtrip_diff_positions": None}
    elif pair.dst.quant == "none":
        expected["roundtrip_diff_positions"] = unread(pair)
    for name, value in expected.items():
        require(NOT_DERIVED, f"{pointer}/proof/{name}", value, proof[name])
    for side, layout in (("src", pair.src), ("dst", pair.dst)):
        size = None if frontier else element * layout.positions
        require(NOT_DERIVED, f"{pointer}/native_bytes/{side}", size, row["native_bytes"][side])
    # Comments stand where there is something to say: on refusals twice, on lossy rows once.
    reason = proof["detail"] if frontier else None
    require(NOT_DERIVED, f"{pointer}/frontier_reason", reason, row["frontier_reason"])
    silent = row["verdict"] in profile.EXACT
    if silent != (proof["detail"] is None):
        raise Refusal(
            NOT_DERIVED,
            f"{pointer}/proof/detail",
            "null" if silent else "text",
            proof["detail"],
        )
