"""Falsifications of what a certificate says: the mutant is signed by a trusted key.

Each mutation changes a copy of a draft statement in place. It finds its target by the first row of
a wanted verdict, so that it applies to every hunt with an exact row and a REFUSED one.
"""

from collections.abc import Callable
from typing import Any

Statement = dict[str, Any]
Row = dict[str, Any]
Mutation = Callable[[Statement], None]

EXACT = ("EXACT_TOKEN", "EXACT_BYTE")
NOBODY = "made-up"


def row_of(statement: Statement, *verdicts: str) -> Row:
    """Give the first row that has the first of these verdicts that any row has."""
    rows: list[Row] = statement["predicate"]["rows"]
    for verdict in verdicts:
        for row in rows:
            if row["verdict"] == verdict:
                return row
    raise LookupError(f"no row of verdict {' or '.join(verdicts)}")


def verdict_relabelled(statement: Statement) -> None:
    """Raise EXACT_TOKEN to EXACT_BYTE; where no row has it, the reverse."""
    row = row_of(statement, *EXACT)
    row["verdict"] = EXACT[row["verdict"] == EXACT[0]]


def observation_withheld(statement: Statement) -> None:
    """Take an observation back and keep the verdict."""
    row_of(statement, *EXACT)["observations"]["forward_reproduces_target"] = None


def corroboration_nulled(statement: Statement) -> None:
    """Take back that the gathers agree."""
    row_of(statement, *EXACT)["proof"]["gather_agrees"] = None


def one_position_is_the_whole_space(statement: Statement) -> None:
    """Check one position, and call that all."""
    proof = row_of(statement, *EXACT)["proof"]
    for name in ("positions_checked", "positions_total"):
        proof[name] = 1


def guard_set_shrunk(statement: Statement) -> None:
    """Keep one falsification for each code."""
    kept: dict[str, Any] = {}
    for foil in statement["predicate"]["falsifications"]:
        kept.setdefault(foil["expected"], foil)
    statement["predicate"]["falsifications"] = list(kept.values())


def unhashable_in_a_list(statement: Statement) -> None:
    """Put a list where a name belongs."""
    statement["predicate"]["counts"]["lossless_layouts"][0] = []


def bijection_denied(statement: Statement) -> None:
    """Deny that the destination's map is a bijection."""
    row_of(statement, *EXACT)["proof"]["dest_bijective"] = False


def lemmas_emptied(statement: Statement) -> None:
    """Name no lemma."""
    row_of(statement, *EXACT)["proof"]["lemmas"] = []


def lemma_of_another_statement(statement: Statement) -> None:
    """Keep a lemma's name, and give it another statement."""
    row_of(statement, *EXACT)["proof"]["lemmas"][0]["statement_sha256"] = "0" * 64


def lemma_added(statement: Statement) -> None:
    """Name a lemma that nobody has made beside the others."""
    added = {"name": NOBODY.title().replace("-", ""), "statement_sha256": "0" * 64}
    row_of(statement, *EXACT)["proof"]["lemmas"].append(added)


def proof_deleted(statement: Statement) -> None:
    """Claim exactness without a proof."""
    row_of(statement, *EXACT)["proof"] = None


def sampled_proof(statement: Statement) -> None:
    """Leave one position out."""
    row_of(statement, *EXACT)["proof"]["positions_checked"] -= 1


def trivial_transformation(statement: Statement) -> None:
    """Let an exact row need no transformation."""
    row_of(statement, *EXACT)["transformations"] = []


def hunt_emptied(statement: Statement) -> None:
    """Remove every row, and with them what demands them: all members but the first anchor."""
    predicate, transfer = statement["predicate"], statement["predicate"]["transfer"]
    anchor = predicate["groups"][0]["anchor"]
    predicate["groups"] = [{"anchor": anchor, "members": [anchor]}]
    predicate["rows"] = transfer["rows"] = []
    transfer["references"] = [one for one in transfer["references"] if one["anchor"] == anchor]


def vocabulary_thinned(statement: Statement) -> None:
    """Leave a word out that rows use."""
    statement["predicate"]["counts"]["vocabulary"].pop(0)


def no_frontier(statement: Statement) -> None:
    """Remove the REFUSED rows, and the members that demand them."""
    predicate = statement["predicate"]
    refused = {row["pair_id"] for row in predicate["rows"] if row["verdict"] == "REFUSED"}
    for group in predicate["groups"]:
        anchor = group["anchor"]
        group["members"] = [
            member
            for member in group["members"]
            if not refused & {f"{anchor}->{member}", f"{member}->{anchor}"}
        ]
    predicate["rows"] = [row for row in predicate["rows"] if row["pair_id"] not in refused]


def check_failed_open(statement: Statement) -> None:
    """Carry a check that failed."""
    checks = statement["predicate"]["checks"]
    next(c for c in checks if c["name"] == "token_leg_is_not_vacuous")["outcome"] = "failed"


def count_raised(statement: Statement) -> None:
    """Claim one exact row more."""
    statement["predicate"]["counts"]["exact_byte"] += 1


def undeclared_engine(statement: Statement) -> None:
    """Let a row come from a layout that nobody declared."""
    row = row_of(statement, *EXACT)
    row["src"], row["pair_id"] = NOBODY, f"{NOBODY}->{row['dst']}"


def pair_declared_twice(statement: Statement) -> None:
    """List a row twice."""
    rows = statement["predicate"]["rows"]
    rows.insert(0, rows[0])


def token_claim_without_a_decode(statement: Statement) -> None:
    """Remove a row's decode and keep its claim."""
    name, transfer = row_of(statement, *EXACT)["pair_id"], statement["predicate"]["transfer"]
    transfer["rows"] = [entry for entry in transfer["rows"] if entry["pair_id"] != name]


def verdict_in_capitals(statement: Statement) -> None:
    """Add a member whose name differs in case alone."""
    row_of(statement, *EXACT)["Verdict"] = "EXACT_BYTE"


def unknown_critical(statement: Statement) -> None:
    """Demand an extension that no verifier knows."""
    statement["predicate"]["critical"] = ["x-new-rule"]


def null_removed(statement: Statement) -> None:
    """Leave an observation out that was not made."""
    del row_of(statement, "REFUSED")["observations"]["tokens_identical"]


def _byte_observation(statement: Statement, value: Any) -> None:
    row_of(statement, *EXACT)["observations"]["roundtrip_byte_identical"] = value


def false_as_a_string(statement: Statement) -> None:
    """Write an observation as a string."""
    _byte_observation(statement, "false")


def zero_for_false(statement: Statement) -> None:
    """Write an observation as a number."""
    _byte_observation(statement, 0)


def guards_emptied(statement: Statement) -> None:
    """Carry no falsification."""
    statement["predicate"]["falsifications"] = []


def guard_unregistered(statement: Statement) -> None:
    """Carry a falsification that nobody registered in the place of one."""
    statement["predicate"]["falsifications"][0]["name"] = NOBODY


def guard_twice(statement: Statement) -> None:
    """Carry a falsification in its own place and in that of the next."""
    foils = statement["predicate"]["falsifications"]
    foils[1] = foils[0]


def guard_under_another_code(statement: Statement) -> None:
    """Expect less of a falsification than was registered."""
    statement["predicate"]["falsifications"][0] |= {"expected": "OK", "actual": "OK"}


def guard_that_failed_open(statement: Statement) -> None:
    """Carry a falsification that nothing caught."""
    statement["predicate"]["falsifications"][0]["actual"] = "OK"


def rows_removed(statement: Statement) -> None:
    """Remove every row, and leave the groups that demand them."""
    predicate = statement["predicate"]
    predicate["rows"] = predicate["transfer"]["rows"] = []


MUTATIONS: dict[str, Mutation] = {
    "verdict-relabelled": verdict_relabelled,
    "observation-withheld": observation_withheld,
    "corroboration-nulled": corroboration_nulled,
    "one-position-is-the-whole-space": one_position_is_the_whole_space,
    "guard-set-shrunk-to-one-each": guard_set_shrunk,
    "unhashable-in-a-signed-list": unhashable_in_a_list,
    "bijection-denied": bijection_denied,
    "no-kernel-checked-lemma": lemmas_emptied,
    "lemma-that-proves-another-statement": lemma_of_another_statement,
    "lemma-that-nobody-asked-for": lemma_added,
    "proof-deleted": proof_deleted,
    "sampled-proof": sampled_proof,
    "trivial-transformation": trivial_transformation,
    "hunt-emptied": hunt_emptied,
    "vocabulary-thinned": vocabulary_thinned,
    "no-frontier": no_frontier,
    "check-failed-open": check_failed_open,
    "counts-do-not-recompute": count_raised,
    "undeclared-engine": undeclared_engine,
    "pair-declared-twice": pair_declared_twice,
    "token-claim-without-a-decode": token_claim_without_a_decode,
    "verdict-in-capitals-beside-it": verdict_in_capitals,
    "unknown-critical-entry": unknown_critical,
    "null-removed": null_removed,
    "false-as-a-string": false_as_a_string,
    "zero-for-false": zero_for_false,
    "guards-emptied": guards_emptied,
    "guard-unregistered": guard_unregistered,
    "guard-twice": guard_twice,
    "guard-under-another-code": guard_under_another_code,
    "guard-that-failed-open": guard_that_failed_open,
    "rows-removed-under-their-groups": rows_removed,
}
"""Mutations of a statement, by the name of their falsification."""
