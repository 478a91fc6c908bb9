"""Which lemmas a row names, and under which statement digests (HUNT-18)."""

import hashlib
from functools import cache
from typing import Any

from lockstep_verify import lcj, spec
from lockstep_verify.derive.hunt_pairs import Pair, require
from lockstep_verify.derive.layout import Layout
from lockstep_verify.errors import Refusal

H3 = "H3_PROOF_MISSING"
_DECLARATION = (
    "attention", "block", "kv_heads", "quantisation", "rank_axis", "ranks", "tensors",
)  # fmt: skip


@cache
def statements() -> dict[str, str]:
    """Give the statement digest of each registered lemma, by name."""
    lemmas = spec.load("lemmas.json")["lemmas"]
    return {lemma["name"]: lemma["statement_sha256"] for lemma in lemmas}


def lemmas_of(layout: Layout) -> list[str]:
    """Name the lemmas of a layout's declaration, in their order; none where none is registered."""
    declared = {field: layout.declared[field] for field in _DECLARATION}
    key = hashlib.sha256(lcj.encode(declared)).hexdigest()
    names: list[str] = spec.load("lemmas.json")["layouts"].get(key, [])
    return names


class Lemmas:
    """The lemmas of a hunt's layouts, looked up once for all rows.

    Attributes:
        of: the lemmas of each layout's declaration, by the layout's name.
        named: every lemma that a checked row names.
    """

    def __init__(self, layouts: list[Layout]) -> None:
        self.of = {layout.name: lemmas_of(layout) for layout in layouts}
        self.named: set[str] = set()
        self._general: list[str] = spec.load("lemmas.json")["rows"]

    def check(self, at: str, proof: dict[str, Any], pair: Pair) -> None:
        """Check the lemmas that a row's proof names, given the pointer to the proof.

        Raises:
            Refusal: H3, LEMMA_STATEMENT_MISMATCH.
        """
        # Two names of one declaration have the same lemmas, which stand once.
        own = dict.fromkeys([*self.of[pair.src.name], *self.of[pair.dst.name]])
        names = [*self._general, *own]
        stated = proof["lemmas"]
        held = [lemma["name"] for lemma in stated]
        if held != names:
            raise Refusal(H3, f"{at}/lemmas", names, held)
        digests = statements()
        for i, lemma in enumerate(stated):
            require(
                "LEMMA_STATEMENT_MISMATCH",
                f"{at}/lemmas/{i}/statement_sha256",
                digests[lemma["name"]],
                lemma["statement_sha256"],
            )
        self.named.update(names)
