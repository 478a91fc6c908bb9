"""Counts, coverage and the lists of guards (HUNT-11 to HUNT-15; steps 7 and 8 of the order)."""

from functools import cache
from typing import Any

from lockstep_verify import spec
from lockstep_verify.derive.hunt_lemmas import Lemmas
from lockstep_verify.derive.hunt_pairs import Group, Pair, require
from lockstep_verify.derive.hunt_rows import EXACT
from lockstep_verify.derive.layout import Layout
from lockstep_verify.errors import Refusal

H9 = "H9_GUARD_FAILED_OPEN"
_PREDICATE = "/predicate"


class Findings:
    """All that was derived, for whatever is counted of it.

    Attributes:
        layouts: the declared layouts, in their order.
        resolved: the groups.
        pairs: the pairs of the rows, in the rows' order.
        words: the words of each row.
        lemmas: those of the layouts, and those that the rows name.
    """

    def __init__(
        self,
        predicate: dict[str, Any],
        layouts: list[Layout],
        resolved: list[Group],
        pairs: list[Pair],
        words: list[list[str]],
        lemmas: Lemmas,
    ) -> None:
        self.predicate = predicate
        self.layouts = layouts
        self.resolved = resolved
        self.pairs = pairs
        self.lemmas = lemmas
        self.realisable = [layout for layout in layouts if layout.realisable]
        members = {layout.name for group in resolved for layout in group.lossless}
        self.lossless = [layout for layout in layouts if layout.name in members]
        self.verdicts: list[str] = [row["verdict"] for row in predicate["rows"]]
        self.vocabulary = sorted({word for row in words for word in row})

    def coverage(self) -> dict[str, int]:
        """Give the coverage, in the schema's order (HUNT-11)."""
        transfer = self.predicate["transfer"]
        return {
            "layouts_enumerated": len(self.realisable),
            "positions_enumerated": sum(layout.positions for layout in self.realisable),
            "layers_enumerated": 1,
            "rows_composed": len(self.proved()),
            "rows_decoded": len(transfer["rows"]),
            "layers_decoded": len(transfer["layers"]),
        }

    def counts(self) -> dict[str, Any]:
        """Give the counts and lists, in the schema's order (HUNT-12)."""
        distinct = {layout.image for layout in self.realisable}
        named = [layout.name for layout in self.lossless]
        codes = {pair.frontier for pair in self.pairs if pair.frontier is not None}
        return {
            "layouts": len(self.layouts),
            "rows": len(self.pairs),
            **{
                verdict.lower(): self.verdicts.count(verdict)
                for verdict in spec.load("hunt.json")["verdicts"]
            },
            "positions_checked": sum(pair.dst.positions for pair in self.proved()),
            "source_positions_checked": sum(pair.src.positions for pair in self.proved()),
            "distinct_images": len({layout.image for layout in self.lossless}),
            "distinct_positions": sum(positions for positions, _ in distinct),
            "lemmas": len(self.lemmas.named),
            "lossless_layouts": named,
            "identity_layouts": [layout.name for layout in self.lossless if layout.identity],
            "frontier_codes": sorted(codes),
            "vocabulary": self.vocabulary,
        }

    def proved(self) -> list[Pair]:
        """Give the pairs of the rows with a proof."""
        return [pair for pair in self.pairs if pair.frontier is None]

    def outcomes(self) -> dict[str, str]:
        """Give the outcomes of derived checks that can be other than passed (HUNT-13)."""
        references = self.predicate["transfer"]["references"]
        declared = self.predicate["layouts"]
        return {
            "both_exactness_classes_occur": self._both_classes(),
            "token_rows_differ_on_padding_only": (
                "passed" if "EXACT_TOKEN" in self.verdicts else "vacuous"
            ),
            "reference_tokens_are_not_degenerate": (
                _passed(all(len(set(reference["tokens"])) > 1 for reference in references))
                if references
                else "not_made"
            ),
            "layouts_carry_pinned_citations": (
                "not_made"
                if any(layout["citation"]["commit"] is None for layout in declared)
                else "passed"
            ),
            "lossless_layouts_have_lemmas": (
                "not_made"
                if not all(self.lemmas.of[layout.name] for layout in self.lossless)
                else "passed"
            ),
            "lossless_images_are_distinct": (
                "passed"
                if all(
                    len({layout.image for layout in group.lossless}) == len(group.lossless)
                    for group in self.resolved
                )
                else "vacuous"
            ),
            "layouts_are_distinct_declarations": _passed(
                len({_declaration(layout) for layout in declared}) == len(declared)
            ),
        }

    def _both_classes(self) -> str:
        """Tell whether both exact verdicts occur, where padding lets them."""
        padded = any(layout.padding for layout in self.lossless)
        tight = any(
            not layout.padding and len(group.lossless) > 1
            for group in self.resolved
            for layout in group.lossless
        )
        return _passed(set(EXACT) <= set(self.verdicts)) if padded and tight else "vacuous"


def _passed(holds: bool) -> str:
    return "passed" if holds else "failed"


def _declaration(layout: dict[str, Any]) -> str:
    """Give what tells declarations apart, all but name, engine, citation, source and results."""
    names = ("attention", "kv_heads", "ranks", "rank_axis", "block", "quantisation", "tensors")
    return repr([layout[name] for name in names])


def check_findings(findings: Findings) -> None:
    """Compare what was found with the coverage and counts that the predicate gives (step 7).

    Raises:
        Refusal: H6, H14, H7, H10.
    """
    predicate = findings.predicate
    if not set(EXACT) & set(findings.verdicts):
        raise Refusal("H6_HUNT_FOUND_NOTHING", f"{_PREDICATE}/rows", "an exact row", "none")
    if "REFUSED" not in findings.verdicts:
        raise Refusal("H14_NO_FRONTIER", f"{_PREDICATE}/rows", "a REFUSED row", "none")
    counts = findings.counts()
    require(
        "H7_VOCABULARY_NOT_EXERCISED",
        f"{_PREDICATE}/counts/vocabulary",
        findings.vocabulary,
        predicate["counts"]["vocabulary"],
    )
    for name, found in (("coverage", findings.coverage()), ("counts", counts)):
        for field, value in found.items():
            at = f"{_PREDICATE}/{name}/{field}"
            require("H10_COUNTS_DO_NOT_RECOMPUTE", at, value, predicate[name][field])


def check_guards(findings: Findings) -> None:
    """Check the lists of checks, known limits and falsifications (step 8).

    Raises:
        Refusal: H9, FOIL_NOT_DISTINCT, FLOOR_NOT_MET.
    """
    data, predicate = spec.load("hunt.json"), findings.predicate
    outcomes = findings.outcomes()
    at = f"{_PREDICATE}/checks"
    for i, (check, known) in enumerate(zip(predicate["checks"], data["checks"], strict=True)):
        require(H9, f"{at}/{i}/name", known["name"], check["name"])
        outcome = check["outcome"]
        if known["basis"] == "attested":
            if outcome not in ("passed", "not_made"):
                raise Refusal(H9, f"{at}/{i}/outcome", "passed or not_made", outcome)
            continue
        derived = outcomes.get(known["name"], "passed")
        if derived == "failed":
            raise Refusal(H9, f"{at}/{i}/outcome", "a check that passes", derived)
        require(H9, f"{at}/{i}/outcome", derived, outcome)
    at = f"{_PREDICATE}/known_limits"
    for i, (limit, name) in enumerate(
        zip(predicate["known_limits"], data["known_limits"], strict=True)
    ):
        require(H9, f"{at}/{i}/name", name, limit["name"])
        require(H9, f"{at}/{i}/holds", True, limit["holds"])
    _check_falsifications(predicate["falsifications"])


@cache
def registered() -> dict[str, str]:
    """Give the expected code of each registered falsification, in the registered order."""
    # Only two plain strings of each entry are asked for; a TOML reader costs more than all rows.
    codes = {}
    for entry in spec.read("falsifications.toml").decode("utf-8").split("[[falsification]]\n")[1:]:
        own = entry.partition("\n[")[0]
        fields = dict(line.split(" = ", 1) for line in own.splitlines() if " = " in line)
        codes[fields["name"].strip('"')] = fields["expected"].strip('"')
    return codes


def _check_falsifications(falsifications: list[dict[str, str]]) -> None:
    """Compare the falsifications with those that are registered (HUNT-15)."""
    known = registered()
    at = f"{_PREDICATE}/falsifications"
    seen: set[str] = set()
    for i, foil in enumerate(falsifications):
        name = foil["name"]
        if name not in known or name in seen:
            raise Refusal("FOIL_NOT_DISTINCT", f"{at}/{i}/name", "a registered name, once", name)
        seen.add(name)
        require("FOIL_NOT_DISTINCT", f"{at}/{i}/expected", known[name], foil["expected"])
    names = [foil["name"] for foil in falsifications]
    if names != list(known):
        expected = [name for name in known if name not in seen] or "the registered order"
        hint = "Run every registered falsification, and list each once in the registered order."
        raise Refusal("FLOOR_NOT_MET", at, expected, f"{len(names)} of {len(known)}", hint)
    for i, foil in enumerate(falsifications):
        require(H9, f"{at}/{i}/actual", foil["expected"], foil["actual"])
