"""Deliberately wrong verifiers: each is the reference with one thing done as many do it."""

import base64
import json
import re

from lockstep_verify import envelope, lcj, protocol, schema, trust
from lockstep_verify.derive import hunt, hunt_lemmas, hunt_rows, hunt_totals, layout_form, lean
from lockstep_verify.ed25519 import key_id
from lockstep_verify.errors import Refusal

_exact_parse = lcj.parse


def accepts_everything(patch):
    patch.setattr(protocol, "answer", lambda q: {"id": q["id"], "result": "ok", "code": "OK"})


def accepts_any_signature(patch):
    patch.setattr(trust, "verifies", lambda *_: True)


def takes_the_last_of_equal_names(patch):
    def parse(data, noncanonical):
        try:
            return _exact_parse(data, noncanonical)
        except Refusal as refusal:
            if refusal.code != "DUPLICATE_KEY":
                raise
            return json.loads(data)

    patch.setattr(lcj, "parse", parse)


def reads_numbers_as_floats(patch):
    def parse(data, noncanonical):
        whole = re.sub(rb"([0-9])\.0(?![0-9])", rb"\1", data)
        return _exact_parse(whole, noncanonical)

    patch.setattr(lcj, "parse", parse)


def checks_no_canonical_form(patch):
    def parse(data, noncanonical):
        try:
            return _exact_parse(data, noncanonical)
        except Refusal as refusal:
            if refusal.code != noncanonical:
                raise
            return json.loads(data)

    patch.setattr(lcj, "parse", parse)


def sorts_by_code_points(patch):
    patch.setattr(lcj, "encode_text", lcj._ENCODER.encode)


def encodes_again_before_the_signature(patch):
    check = trust.check_signatures

    def check_again(found, policy):
        try:
            again = lcj.encode(json.loads(found.payload))
        except ValueError:
            again = found.payload
        return check(found._replace(payload=again), policy)

    patch.setattr(trust, "check_signatures", check_again)


def signs_the_bare_payload(patch):
    for module in (trust, protocol):
        patch.setattr(module, "pre_authentication_encoding", lambda _, payload: payload)


def counts_key_ids(patch):
    check = trust.check_rule

    def check_keys(policy, predicate_type, known):
        known = tuple(key._replace(owner=key_id(key.public)) for key in known)
        return check(policy, predicate_type, known)

    patch.setattr(trust, "check_rule", check_keys)


def is_content_with_one_good_signature(patch):
    check = trust.check_signatures

    def check_any(found, policy):
        known = []
        for signature in found.signatures:
            try:
                one = check(found._replace(signatures=(signature,)), policy)
            except Refusal as refusal:
                last = refusal
            else:
                known += one.known
        if not known and "last" in locals():
            raise last
        return trust.Signers(tuple(known), len(found.signatures) - len(known))

    patch.setattr(trust, "check_signatures", check_any)


def admits_s_plus_l_and_low_orders(patch):
    for module in (trust, protocol):
        patch.setattr(module, "require_form", lambda *_: None)


def decodes_base64_leniently(patch):
    patch.setattr(envelope, "_base64", lambda text, _: base64.b64decode(text.encode() + b"=="))


def matches_patterns_to_the_dollar(patch):
    class Lenient:
        def __init__(self, text):
            self.text = text

        def fullmatch(self, value):
            return re.search(self.text, value)

    patch.setattr(schema, "_pattern", Lenient)


def ignores_unknown_fields(patch):
    check = schema._check_members

    def check_known(value, described, root):
        known = {name: item for name, item in value.items() if name in described["properties"]}
        check(known, described, root)

    patch.setattr(schema, "_check_members", check_known)


def ignores_critical(patch):
    check = protocol.check_statement

    def check_without(statement):
        predicate = {**statement["predicate"], "critical": []}
        return check({**statement, "predicate": predicate})

    patch.setattr(protocol, "check_statement", check_without)


def takes_revocation_from_the_date_of_issue(patch):
    check = trust.check_time

    def check_issued(known, rule, issued_at, clock):
        known = tuple(
            key._replace(revoked_at=None) if (key.revoked_at or 0) > issued_at else key
            for key in known
        )
        check(known, rule, issued_at, clock)

    patch.setattr(trust, "check_time", check_issued)


def forgets_the_last_version(patch):
    check = trust.check_current
    patch.setattr(trust, "check_current", lambda policy, clock, _: check(policy, clock, None))


def trusts_counts(patch):
    patch.setattr(hunt, "check_findings", lambda _: None)


def trusts_verdicts(patch):
    def fold(frontier, observations):
        return fold.row["verdict"]

    check = hunt_rows.check_row

    def check_row(i, row, *given):
        fold.row = row
        return check(i, row, *given)

    patch.setattr(hunt_rows, "fold", fold)
    patch.setattr(hunt, "check_row", check_row)


def takes_null_for_false(patch):
    fold = hunt_rows.fold
    patch.setattr(
        hunt_rows,
        "fold",
        lambda frontier, seen: fold(frontier, {name: seen[name] is True for name in seen}),
    )


def takes_null_for_true(patch):
    fold = hunt_rows.fold
    patch.setattr(
        hunt_rows,
        "fold",
        lambda frontier, seen: fold(frontier, {name: seen[name] is not False for name in seen}),
    )


def looks_before_the_frontier(patch):
    fold = hunt_rows.fold
    patch.setattr(
        hunt_rows,
        "fold",
        lambda frontier, seen: fold(None, seen) if True in seen.values() else fold(frontier, seen),
    )


def trusts_bijections(patch):
    patch.setattr(hunt, "check_declaration", lambda *_: None)
    patch.setattr(layout_form, "check_declaration", lambda *_: None)


def names_any_lemma(patch):
    patch.setattr(hunt_lemmas.Lemmas, "check", lambda *_: None)


def compares_lemmas_by_name_alone(patch):
    patch.setattr(hunt_lemmas, "require", lambda *_: None)


def believes_any_theorem(patch):
    patch.setattr(lean, "_check_theorems", lambda _: None)


def takes_a_lemma_for_accepted(patch):
    fold = lean.fold
    patch.setattr(lean, "fold", lambda seen: fold({**seen, "kernel_accepted": True}))


def trusts_foils(patch):
    patch.setattr(hunt_totals, "_check_falsifications", lambda _: None)


def reads_no_floors(patch):
    patch.setattr(trust, "check_floors", lambda *_: None)


def reads_deeper(patch):
    patch.setattr("lockstep_verify.limits.DEPTH", 65)


ZOO = {
    accepts_everything: "always-accept",
    accepts_any_signature: "always-accept",
    takes_the_last_of_equal_names: "last-wins",
    reads_numbers_as_floats: "float-parser",
    checks_no_canonical_form: "re-serialise",
    sorts_by_code_points: "key-order",
    encodes_again_before_the_signature: "re-serialise",
    signs_the_bare_payload: "no-pae",
    counts_key_ids: "keyid-threshold",
    is_content_with_one_good_signature: "any-signature",
    admits_s_plus_l_and_low_orders: "malleable",
    decodes_base64_leniently: "base64",
    matches_patterns_to_the_dollar: "dollar-newline",
    ignores_unknown_fields: "ignore-unknown",
    ignores_critical: "critical",
    takes_revocation_from_the_date_of_issue: "back-dated",
    forgets_the_last_version: "rollback",
    trusts_counts: "counts-trusting",
    trusts_verdicts: "verdict-trusting",
    takes_null_for_false: "absent-null",
    takes_null_for_true: "absent-null",
    looks_before_the_frontier: "frontier-last",
    trusts_bijections: "bijection-trusting",
    names_any_lemma: "lemma-trusting",
    compares_lemmas_by_name_alone: "lemma-trusting",
    believes_any_theorem: "lemma-trusting",
    takes_a_lemma_for_accepted: "truthy",
    trusts_foils: "foil-trusting",
    reads_no_floors: "floor-trusting",
    reads_deeper: "depth",
}
"""Each wrong verifier, and the flag of the vectors one of which must kill it."""
