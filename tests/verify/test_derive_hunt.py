"""Re-derivation of hunts: each rule's mutation and code, in the order of derivation."""

import copy
import hashlib
import itertools
import json
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest

from lockstep_verify import schema, spec
from lockstep_verify.derive import hunt_totals
from lockstep_verify.derive.hunt_lemmas import lemmas_of
from lockstep_verify.derive.hunt_rows import OBSERVATIONS, fold
from lockstep_verify.errors import Refusal
from tests.statements import judge, put, refusal

PUBLISHED = Path(__file__).resolve().parents[2] / "conformance" / "published" / "seed-004.json"
COVERAGE = "COVERAGE_DENOMINATOR_NOT_DERIVED"
BIJECTION = "BIJECTION_NOT_DERIVED"
H2 = "H2_VERDICT_NOT_DERIVED"
H10 = "H10_COUNTS_DO_NOT_RECOMPUTE"
H12 = "H12_PAIR_DECLARED_TWICE"
H13 = "H13_TOKEN_CLAIM_WITHOUT_A_DECODE"
H9 = "H9_GUARD_FAILED_OPEN"
MISMATCH = "LEMMA_STATEMENT_MISMATCH"


@pytest.fixture
def four(by_hand, foils):
    return by_hand.four(foils, spec.digest("hunt"))


@pytest.fixture
def twelve(by_hand, foils):
    document = json.loads(PUBLISHED.read_text("utf-8"))
    return by_hand.published(document, foils, spec.digest("hunt"))


def test_four_layouts(four):
    derivation = judge(four)
    assert derivation.verdict == "DERIVED"
    assert derivation.counts == {
        "layouts": 4,
        "rows": 8,
        "exact_byte": 4,
        "exact_token": 2,
        "not_exact": 0,
        "refused": 2,
        "unproven": 0,
        "positions_checked": 1152,
        "source_positions_checked": 1152,
        "distinct_images": 3,
        "distinct_positions": 576,
        "lemmas": four["predicate"]["counts"]["lemmas"],
        "layouts_enumerated": 3,
        "positions_enumerated": 576,
        "layers_enumerated": 1,
        "rows_composed": 6,
        "rows_decoded": 6,
        "layers_decoded": 3,
    }
    assert judge(four, exhaustive=True).counts == derivation.counts


def test_the_published_layouts_give_the_published_figures(twelve):
    derivation = judge(twelve)
    counts = derivation.counts
    verdicts = ("exact_byte", "exact_token", "not_exact", "refused", "unproven")
    assert [counts[name] for name in verdicts] == [21, 35, 2, 6, 0]
    assert (counts["rows"], counts["distinct_images"]) == (64, 8)
    assert (counts["positions_checked"], counts["source_positions_checked"]) == (90_880, 90_880)
    assert counts["distinct_positions"] == 12_544
    assert "identity map: sglang" in "\n".join(derivation.lines)
    assert counts["lemmas"] == len(spec.load("lemmas.json")["rows"]) + 3 * 8
    said = "\n".join(derivation.lines)
    assert f"lemmas: {counts['lemmas']} named by statement digest" in said
    assert "8 of 8 lossless layouts have some of their own" in said
    assert "lossless_layouts_have_lemmas" not in said


# Rows of `four`: 0 flat->heads, 1 flat->paged, 2 half->paged (refused), 3 heads->flat,
# 4 heads->paged, 5 paged->flat (EXACT_TOKEN), 6 paged->half (refused), 7 paged->heads.
# Layouts: 0 paged, 1 flat, 2 heads, 3 half. Each entry stands after those that come before it in
# the order of derivation: step, pointer, value, code, and the refusal's pointer if another.
P = "/predicate"
ORDER = [
    (1, f"{P}/geometry/latent_dim", 4, "BAD_VALUE", None),
    (1, f"{P}/geometry/tokens", 1 << 24, None, None),
    (2, f"{P}/layouts/1/name", "paged", "BAD_VALUE", None),
    (2, f"{P}/layouts/0/tensors/0/axes", ["KV", "Tb", "H", "H", "D"], BIJECTION, "tensors/0"),
    (2, f"{P}/layouts/0/tensors/0/axes", ["KV", "Tb", "H", "D"], BIJECTION, "tensors/0"),
    (2, f"{P}/layouts/0/rank_axis", "sharded", BIJECTION, ""),
    (2, f"{P}/layouts/1/tensors/0/components/0/bits", 8, COVERAGE, None),
    (2, f"{P}/layouts/1/derived/realisable", False, COVERAGE, None),
    (2, f"{P}/layouts/1/derived/native_shapes/0/extents/0", 4, COVERAGE, "derived/native_shapes"),
    (2, f"{P}/layouts/1/derived/positions", 159, COVERAGE, None),
    (2, f"{P}/layouts/1/derived/padding_positions", 1, COVERAGE, None),
    (2, f"{P}/layouts/1/derived/replicas", 2, COVERAGE, None),
    (2, f"{P}/layouts/1/derived/native_bytes", 319, COVERAGE, None),
    (2, f"{P}/layouts/1/derived/bijective", False, BIJECTION, None),
    (2, f"{P}/layouts/1/derived/identity", False, BIJECTION, None),
    (2, f"{P}/layouts/1/derived/image_sha256", "0" * 64, BIJECTION, None),
    (2, f"{P}/layouts/3/derived/bijective", False, BIJECTION, None),
    (3, f"{P}/groups/0/anchor", "nobody", "H11_ENGINE_UNDECLARED", None),
    (3, f"{P}/groups/0/members/1", "nobody", "H11_ENGINE_UNDECLARED", None),
    (3, f"{P}/groups/0/members/1", "paged", "BAD_VALUE", None),
    (3, f"{P}/groups/0/anchor", "half", "BAD_VALUE", None),
    (4, f"{P}/rows/2/src", "nobody", "H11_ENGINE_UNDECLARED", None),
    (4, f"{P}/rows/2/dst", "nobody", "H11_ENGINE_UNDECLARED", None),
    (4, f"{P}/rows/2/pair_id", "half->flat", H12, None),
    (5, f"{P}/rows/2/frontier_code", "X1_LATENT_KV", H2, None),
    (5, f"{P}/rows/5/proof", None, "H3_PROOF_MISSING", None),
    (5, f"{P}/rows/5/proof/positions_checked", 1, "H4_PROOF_NOT_EXHAUSTIVE", None),
    (5, f"{P}/rows/5/proof/positions_total", 1, "H4_PROOF_NOT_EXHAUSTIVE", None),
    (5, f"{P}/rows/5/proof/source_positions_checked", 1, "H4_PROOF_NOT_EXHAUSTIVE", None),
    (5, f"{P}/rows/5/proof/source_positions_total", 1, "H4_PROOF_NOT_EXHAUSTIVE", None),
    (5, f"{P}/rows/5/proof/dest_padding_positions", 1, "H4_PROOF_NOT_EXHAUSTIVE", None),
    (5, f"{P}/rows/5/proof/source_padding_positions", 1, "H4_PROOF_NOT_EXHAUSTIVE", None),
    (5, f"{P}/rows/5/proof/unread_padding_positions", 1, "H4_PROOF_NOT_EXHAUSTIVE", None),
    (5, f"{P}/rows/5/proof/dest_bijective", False, H2, None),
    (5, f"{P}/rows/5/proof/source_bijective", None, H2, None),
    (5, f"{P}/rows/5/proof/gather_agrees", False, H2, None),
    (5, f"{P}/rows/5/proof/lemmas", [], "H3_PROOF_MISSING", None),
    (5, f"{P}/rows/5/proof/lemmas/0/name", "Nobody.made", "H3_PROOF_MISSING", "proof/lemmas"),
    (5, f"{P}/rows/5/proof/lemmas/1/statement_sha256", "0" * 64, MISMATCH, None),
    (5, f"{P}/transfer/rows/4/pair_id", "paged->g", H13, "/rows/5/observations/tokens_identical"),
    (5, f"{P}/transfer/references/0/anchor", "flat", H13, "/rows/0/observations/tokens_identical"),
    (5, f"{P}/rows/2/observations/tokens_identical", False, H13, None),
    (5, f"{P}/rows/5/observations/forward_reproduces_target", False, H2, None),
    (5, f"{P}/rows/5/observations/roundtrip_byte_identical", True, H2, None),
    (5, f"{P}/rows/5/observations/roundtrip_diff_is_exactly_unread_padding", False, H2, None),
    (5, f"{P}/rows/5/observations/tokens_identical", False, H2, None),
    (5, f"{P}/rows/2/observations/forward_reproduces_target", True, H2, None),
    (5, f"{P}/rows/5/verdict", "EXACT_BYTE", H2, None),
    (5, f"{P}/rows/5/transformations", [], "H5_TRIVIAL_TRANSFORMATION", None),
    (5, f"{P}/rows/2/transformations", ["pitch"], "H5_TRIVIAL_TRANSFORMATION", None),
    (5, f"{P}/rows/5/native_bytes", None, COVERAGE, None),
    (5, f"{P}/rows/5/native_bytes/src", 1, COVERAGE, "/rows/5/native_bytes"),
    (6, f"{P}/transfer/layers", [0, 2, 1], H13, None),
    (6, f"{P}/transfer/layers", [0, 1, 3], H13, None),
    (6, f"{P}/transfer/gather_payloads", 0, H13, None),
    (6, f"{P}/transfer/references/0/tokens", [7, 3, 7], H13, "rows/0"),
    (6, f"{P}/transfer/steps", 5, H13, "/transfer/references/0/tokens"),
    (6, f"{P}/transfer/rows/0/roundtrip_diff_positions", 1, H13, None),
    (6, f"{P}/transfer/rows/0/roundtrip_diff_positions", None, H13, None),
    (7, f"{P}/counts/vocabulary", ["reblock"], "H7_VOCABULARY_NOT_EXERCISED", None),
    *[
        (7, f"{P}/coverage/{name}", 9, H10, None)
        for name in (
            "layouts_enumerated",
            "positions_enumerated",
            "layers_enumerated",
            "rows_composed",
            "rows_decoded",
            "layers_decoded",
        )
    ],
    *[
        (7, f"{P}/counts/{name}", 9, H10, None)
        for name in (
            "layouts",
            "rows",
            "exact_byte",
            "exact_token",
            "not_exact",
            "refused",
            "unproven",
            "positions_checked",
            "source_positions_checked",
            "distinct_images",
            "distinct_positions",
            "lemmas",
        )
    ],
    (7, f"{P}/counts/lossless_layouts", ["flat", "paged", "heads"], H10, None),
    (7, f"{P}/counts/identity_layouts", [], H10, None),
    (7, f"{P}/counts/frontier_codes", [], H10, None),
    (8, f"{P}/checks/0/name", "vocabulary_is_exercised", H9, None),
    (8, f"{P}/checks/0/outcome", "not_made", H9, None),
    (8, f"{P}/checks/3/outcome", "vacuous", H9, None),
    (8, f"{P}/checks/6/outcome", "vacuous", H9, None),
    (8, f"{P}/checks/6/outcome", "failed", H9, None),
    (8, f"{P}/checks/13/outcome", "passed", H9, None),
    (8, f"{P}/known_limits/0/name", "exactness_depends_on_the_geometry", H9, None),
    (8, f"{P}/known_limits/5/holds", False, H9, None),
    (8, f"{P}/falsifications/1/name", "unheard-of", "FOIL_NOT_DISTINCT", None),
    (8, f"{P}/falsifications/1/name", "a-verdict-relabelled", "FOIL_NOT_DISTINCT", None),
    (8, f"{P}/falsifications/1/expected", "H5_X", "FOIL_NOT_DISTINCT", None),
    (8, f"{P}/falsifications", [], "FLOOR_NOT_MET", None),
    (8, f"{P}/falsifications/1/actual", "H5_X", H9, None),
    (9, f"{P}/layouts/0/source/path", "../paged.toml", "BAD_VALUE", None),
    (9, f"{P}/layouts/1/source/path", "layouts/paged.toml", "SUBJECT_MISMATCH", "source/sha256"),
    (9, "/subject/1/digest/sha256", "0" * 64, "SUBJECT_MISMATCH", None),
    (9, "/subject/1/name", "sources", "SUBJECT_MISMATCH", "/subject"),
]


def expected_pointer(pointer, at):
    if at is None or at == "/subject":
        return at or pointer
    if at.startswith("/"):
        return P + at
    layout = "/".join(pointer.split("/")[:4])
    return f"{layout}/{at}" if at else layout


@pytest.mark.parametrize(
    ("step", "pointer", "value", "code", "at"), ORDER, ids=[f"{o[0]}-{o[1]}" for o in ORDER]
)
def test_each_rule_refuses(four, step, pointer, value, code, at):
    put(four, pointer, value)
    found = refusal(four)
    if code is None:
        assert found[0] in (COVERAGE, "BAD_VALUE")
    elif at == "rows/0":
        # The token lists differ before their lengths are looked at.
        assert found == (H2, f"{P}/rows/0/observations/tokens_identical")
    else:
        assert found == (code, expected_pointer(pointer, at))


def test_earlier_steps_come_first(four):
    firsts = {step: entry for entry in reversed(ORDER) for step in [entry[0]]}
    for early, late in itertools.combinations(sorted(firsts), 2):
        statement = copy.deepcopy(four)
        for step in (late, early):
            put(statement, firsts[step][1], firsts[step][2])
        assert refusal(statement)[0] == firsts[early][3]


def test_limits_of_a_geometry(four):
    geometry = four["predicate"]["geometry"]
    geometry.update(tokens=1 << 24, kv_heads=1024, head_dim=4096)
    assert refusal(four) == ("BAD_VALUE", f"{P}/geometry")
    geometry.update(tokens=1 << 24, kv_heads=256, head_dim=8)
    tensor = four["predicate"]["layouts"][1]["tensors"][0]
    tensor.update(pad_head_dim=4096)
    for layout in four["predicate"]["layouts"]:
        layout["derived"]["positions"] = None
    four["predicate"]["layouts"] = four["predicate"]["layouts"][1:]
    assert refusal(four) == ("BAD_VALUE", f"{P}/layouts/0")


def test_rows_are_sorted_each_once_and_all_there(four):
    rows = four["predicate"]["rows"]
    for changed, pointer in [
        ([rows[1], rows[0], *rows[2:]], "/predicate/rows/1/pair_id"),
        ([rows[0], *rows], "/predicate/rows/1/pair_id"),
        (rows[1:], "/predicate/rows"),
        ([], "/predicate/rows"),
    ]:
        statement = copy.deepcopy(four)
        statement["predicate"]["rows"] = copy.deepcopy(changed)
        assert refusal(statement) == (H12, pointer)
    extra = {**rows[2], "src": "half", "dst": "flat", "pair_id": "half->flat"}
    rows.insert(2, extra)
    assert refusal(four) == (H12, "/predicate/rows/2/pair_id")


def test_a_refused_row_has_no_proof(four):
    rows = four["predicate"]["rows"]
    rows[2]["proof"] = rows[1]["proof"]
    assert refusal(four) == (H2, f"{P}/rows/2/proof")
    rows[2]["proof"], rows[2]["native_bytes"] = None, rows[1]["native_bytes"]
    assert refusal(four) == (COVERAGE, f"{P}/rows/2/native_bytes")


def test_shapes_that_shrink_with_their_counts(four):
    predicate = four["predicate"]
    derived = predicate["layouts"][1]["derived"]
    derived["native_shapes"][0]["extents"][0] -= 1
    derived["positions"] -= 16
    for row in predicate["rows"]:
        for side, prefix in (("dst", ""), ("src", "source_")):
            if row["proof"] and row[side] == "flat":
                row["proof"][f"{prefix}positions_checked"] -= 16
                row["proof"][f"{prefix}positions_total"] -= 16
    predicate["coverage"]["positions_enumerated"] -= 16
    predicate["counts"]["distinct_positions"] -= 16
    predicate["counts"]["positions_checked"] -= 32
    predicate["counts"]["source_positions_checked"] -= 32
    assert refusal(four) == (COVERAGE, f"{P}/layouts/1/derived/native_shapes")


def test_an_exact_row_between_two_names_of_one_layout(four):
    layouts = four["predicate"]["layouts"]
    twin = {**copy.deepcopy(layouts[1]), "name": "heads"}
    layouts[2] = twin
    for row in four["predicate"]["rows"]:
        for side, prefix in (("dst", "dest"), ("src", "source")):
            if row["proof"] and row[side] == "heads":
                row["transformations"] = [
                    word for word in row["transformations"] if "transpose" not in word
                ]
                assert row["proof"][f"{prefix}_padding_positions"] == 0
    expected = ("H5_TRIVIAL_TRANSFORMATION", f"{P}/rows/0/transformations")
    assert refusal(four) == expected


def test_a_lossless_row_has_the_reference_tokens(four):
    row = four["predicate"]["rows"][0]
    four["predicate"]["transfer"]["rows"][0]["decoded_tokens"][1] += 1
    at = f"{P}/rows/0/observations/tokens_identical"
    assert refusal(four) == (H2, at)
    row["observations"]["tokens_identical"] = False
    row["verdict"] = "NOT_EXACT"
    assert refusal(four) == (H2, at)


def unobserve(statement, index, *names):
    """Take observations of a row back, consistently."""
    predicate = statement["predicate"]
    row = predicate["rows"][index]
    before = row["verdict"].lower()
    row["observations"].update(dict.fromkeys(names))
    row["verdict"] = "UNPROVEN"
    predicate["counts"][before] -= 1
    predicate["counts"]["unproven"] += 1
    entries = predicate["transfer"]["rows"]
    entry = next(entry for entry in entries if entry["pair_id"] == row["pair_id"])
    if "tokens_identical" in names:
        entries.remove(entry)
        predicate["coverage"]["rows_decoded"] -= 1
    elif "roundtrip_diff_is_exactly_unread_padding" in names:
        entry["roundtrip_diff_positions"] = None


@pytest.mark.parametrize("name", OBSERVATIONS)
def test_an_observation_that_was_not_made(four, name):
    unobserve(four, 0, name)
    assert judge(four).counts["unproven"] == 1


def test_nothing_was_run(four):
    predicate = four["predicate"]
    for index, row in enumerate(predicate["rows"]):
        if row["proof"]:
            unobserve(four, index, *OBSERVATIONS)
            row["proof"]["unread_padding_positions"] = 0
    predicate["transfer"]["references"] = []
    predicate["transfer"]["layers"] = []
    predicate["coverage"]["layers_decoded"] = 0
    assert refusal(four) == ("H6_HUNT_FOUND_NOTHING", f"{P}/rows")


def test_no_row_is_refused(by_hand, foils):
    statement = by_hand.four(foils, spec.digest("hunt"))
    predicate = statement["predicate"]
    predicate["groups"][0]["members"].remove("half")
    predicate["rows"] = [row for row in predicate["rows"] if row["proof"]]
    assert refusal(statement) == ("H14_NO_FRONTIER", f"{P}/rows")


def test_transfer_rows_are_sorted_and_needed(four):
    entries = four["predicate"]["transfer"]["rows"]
    entries.append(entries.pop(0))
    assert refusal(four)[0] == H13
    entries.insert(0, entries.pop())
    entries.append({**entries[-1], "pair_id": "paged->zero"})
    assert refusal(four) == (H13, f"{P}/transfer/rows/6/pair_id")
    entries[-1]["pair_id"] = entries[-2]["pair_id"]
    assert refusal(four) == (H13, f"{P}/transfer/rows/6/pair_id")


def test_lossy_destinations_differ_beyond_padding(twelve):
    entries = twelve["predicate"]["transfer"]["rows"]
    at = next(i for i, e in enumerate(entries) if e["pair_id"] == "vllm-fa->vllm-fp8")
    entries[at]["roundtrip_diff_positions"] = 768
    assert refusal(twelve) == (H13, f"{P}/transfer/rows/{at}/roundtrip_diff_positions")
    entries[at]["roundtrip_diff_positions"] = 4603
    judge(twelve)


def test_checks_that_a_hunt_can_fail(four):
    predicate = four["predicate"]
    predicate["transfer"]["references"][0]["tokens"] = [5, 5, 5, 5]
    for entry in predicate["transfer"]["rows"]:
        entry["decoded_tokens"] = [5, 5, 5, 5]
    assert refusal(four) == (H9, f"{P}/checks/7/outcome")


def test_images_that_the_geometry_does_not_tell_apart(by_hand, foils):
    # At 4 tokens in blocks of 4 and of 2, K and V apart, both lie as the tokens do.
    shape = by_hand.geometry(tokens=4)
    layouts = [
        by_hand.declaration(name, *tensors, **changes)
        for name, tensors, changes in [
            ("four", [by_hand.tensor("kv", "K V", "KV Tb Ti H D")], {"block": 4}),
            ("two", [by_hand.tensor("kv", "K V", "KV Tb Ti H D")], {"block": 2}),
            ("half", [by_hand.tensor("kv", "K V", "KV Tb Ti H D")], {"block": 4, "kv_heads": 1}),
        ]
    ]
    rows = {
        "four->two": (None, ["reblock"]),
        "two->four": (None, ["reblock"]),
        "four->half": ("X2_HEAD_GATHER", []),
        "half->four": ("X2_HEAD_GATHER", []),
    }
    group = {"anchor": "four", "members": ["four", "two", "half"]}
    digest = spec.digest("hunt")
    statement = by_hand.statement(shape, layouts, [group], rows, [0, 1, 2], foils, digest)
    assert refusal(statement) == (H9, f"{P}/checks/11/outcome")
    statement["predicate"]["checks"][11]["outcome"] = "vacuous"
    assert judge(statement).counts["distinct_images"] == 1


def test_registered_falsifications_are_those_of_the_file():
    text = spec.read("falsifications.toml").decode("utf-8")
    entries = tomllib.loads(text)["falsification"]
    hunt_totals.registered.cache_clear()
    expected = [(entry["name"], entry["expected"]) for entry in entries]
    assert list(hunt_totals.registered().items()) == expected
    assert len({name for name, _ in expected}) == len(expected) > 32


def test_layouts_without_a_pinned_commit(four):
    four["predicate"]["layouts"][0]["citation"]["commit"] = None
    assert refusal(four) == (H9, f"{P}/checks/12/outcome")
    four["predicate"]["checks"][12]["outcome"] = "not_made"
    assert "check layouts_carry_pinned_citations: not made" in judge(four).lines


def test_two_declarations_of_one_refused_layout(by_hand, foils):
    statement = by_hand.four(foils, spec.digest("hunt"))
    predicate = statement["predicate"]
    predicate["layouts"].append({**copy.deepcopy(predicate["layouts"][3]), "name": "quarter"})
    predicate["counts"]["layouts"] = 5
    assert refusal(statement) == (H9, f"{P}/checks/10/outcome")


def toml(layout, **changes):
    """Write a declaration as the TOML file that it could have been read from."""
    said = {**layout, **changes}
    names = ("engine", "attention", "kv_heads", "ranks", "rank_axis", "block", "quantisation")
    lines = [f"{name} = {json.dumps(said[name])}" for name in names]
    for tensor in said["tensors"]:
        lines.append("[[tensors]]")
        lines += [f"{n} = {json.dumps(v)}" for n, v in tensor.items() if n != "components"]
        lines.append(f"components = {json.dumps([c['name'] for c in tensor['components']])}")
    lines.append("[citation]")
    lines += [f"{n} = {json.dumps(v)}" for n, v in said["citation"].items() if v is not None]
    return "\n".join(lines).encode()


def supply(statement, folder, texts):
    """Write source files, and bind them in the statement."""
    bound = {}
    (folder / "layouts").mkdir(exist_ok=True)
    for layout, text in zip(statement["predicate"]["layouts"], texts, strict=True):
        source = layout["source"]
        (folder / source["path"]).write_bytes(text)
        bound[source["path"]] = source["sha256"] = hashlib.sha256(text).hexdigest()
    text = json.dumps(bound, sort_keys=True, separators=(",", ":"))
    digest = hashlib.sha256(text.encode()).hexdigest()
    statement["subject"][1] = {"name": "layouts", "digest": {"sha256": digest}}


def test_evidence_is_compared(four, tmp_path):
    layouts = four["predicate"]["layouts"]
    assert refusal(four, evidence=tmp_path)[0] == "EVIDENCE_MISSING"
    supply(four, tmp_path, [toml(layout) for layout in layouts])
    assert "layout sources: as declared" in judge(four, evidence=tmp_path).lines
    path = tmp_path / layouts[2]["source"]["path"]
    path.write_bytes(b"another")
    expected = ("EVIDENCE_DIGEST_MISMATCH", f"{P}/layouts/2/source/sha256")
    assert refusal(four, evidence=tmp_path) == expected
    path.write_bytes(b" " * ((1 << 14) + 1))
    assert refusal(four, evidence=tmp_path)[0] == "LIMIT_SIZE"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("engine", "other"),
        ("kv_heads", 2),
        ("block", 5),
        ("quantisation", "int8"),
        ("tensors", []),
    ],
)
def test_declarations_are_those_of_their_sources(four, tmp_path, field, value):
    layouts = four["predicate"]["layouts"]
    texts = [toml(layout) for layout in layouts]
    texts[1] = toml(layouts[1], **{field: value})
    if field == "tensors":
        texts[1] = b"tensors = []\n" + texts[1]
    supply(four, tmp_path, texts)
    judge(four)
    code, pointer = refusal(four, evidence=tmp_path)
    assert code == "BAD_VALUE"
    assert pointer in (f"{P}/layouts/1/{field}", f"{P}/layouts/1/attention")


@pytest.mark.parametrize("text", [b"", b"\xff", b"tensors = 1", b"a = " + b"[" * 9000])
def test_sources_that_declare_nothing(four, tmp_path, text):
    supply(four, tmp_path, [text] + [toml(x) for x in four["predicate"]["layouts"][1:]])
    assert refusal(four, evidence=tmp_path) == ("BAD_VALUE", f"{P}/layouts/0/source/path")


@pytest.mark.parametrize("value", [b"0.0", b"false"])
def test_sources_are_compared_by_type_too(four, tmp_path, value):
    texts = [toml(layout) for layout in four["predicate"]["layouts"]]
    assert b"reserve = 0" in texts[0]
    texts[0] = texts[0].replace(b"reserve = 0", b"reserve = " + value)
    supply(four, tmp_path, texts)
    assert refusal(four, evidence=tmp_path) == ("BAD_VALUE", f"{P}/layouts/0/tensors")


@pytest.mark.parametrize("where", ["engine.", "[other]\n", "other = {", "[other."])
def test_sources_with_endless_names_are_not_read(four, tmp_path, where):
    texts = [toml(layout) for layout in four["predicate"]["layouts"]]
    texts[0] = f"{where}{'a.' * 7000}a = 1\n".encode() + texts[0]
    supply(four, tmp_path, texts)
    assert refusal(four, evidence=tmp_path) == ("BAD_VALUE", f"{P}/layouts/0/source/path")


def test_a_refusal_over_null_says_so(four):
    row = next(row for row in four["predicate"]["rows"] if row["verdict"] == "REFUSED")
    row["observations"]["tokens_identical"] = True
    row["frontier_code"] = None
    with pytest.raises(Refusal) as caught:
        judge(four)
    assert (caught.value.expected, caught.value.got) == ("X2_HEAD_GATHER", "null")


def test_missing_falsifications_are_no_matter_of_policy(four):
    del four["predicate"]["falsifications"][0]
    with pytest.raises(Refusal) as caught:
        judge(four)
    assert caught.value.code == "FLOOR_NOT_MET"
    assert "falsification" in str(caught.value.hint)


def test_layouts_that_no_group_holds_are_named(four):
    assert "rows: 8, demanded by groups of 4 layouts around paged" in judge(four).lines
    predicate = four["predicate"]
    apart = copy.deepcopy(predicate["layouts"][3])
    apart |= {"name": "apart", "engine": "apart", "kv_heads": 4}
    predicate["layouts"].append(apart)
    predicate["counts"]["layouts"] = 5
    assert "declared and in no group, so not hunted: apart" in judge(four).lines


def test_subject_binds_sources_as_lcj(four):
    sources = {
        layout["source"]["path"]: layout["source"]["sha256"]
        for layout in four["predicate"]["layouts"]
    }
    text = ",".join(f'"{path}":"{sources[path]}"' for path in sorted(sources))
    digest = hashlib.sha256(f"{{{text}}}".encode()).hexdigest()
    assert four["subject"][1] == {"name": "layouts", "digest": {"sha256": digest}}


def leaves(value, node, root, inherited, pointer):
    """Give each leaf's pointer, value, schema node and class."""
    node_class = node.get("x-class")
    target = schema.resolve(node, root)
    inherited = node_class or target.get("x-class") or inherited
    if isinstance(value, dict):
        for name, member in value.items():
            at = f"{pointer}/{name}"
            yield from leaves(member, target["properties"][name], root, inherited, at)
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from leaves(item, target["items"], root, inherited, f"{pointer}/{i}")
    else:
        yield pointer, value, target, inherited


def mutants(value, node):
    """Give other values that the schema admits, where it is easy."""
    if "enum" in node:
        yield from (other for other in node["enum"] if other != value)
    elif isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield from (value + 1, value - 1, value + 100)
    elif isinstance(value, str):
        yield from (value[:-1] + ("0" if value[-1] != "0" else "1"), value + "0")
    if value is not None and isinstance(node.get("type"), list):
        yield None
    if value is None and isinstance(node.get("type"), list):
        yield from {"integer": (0, 1), "boolean": (True, False)}.get(node["type"][0], ())


def _own(statement, name):
    layouts = statement["predicate"]["layouts"]
    return lemmas_of(SimpleNamespace(declared=next(one for one in layouts if one["name"] == name)))


def test_rows_name_the_lemmas_of_their_own_layouts(twelve):
    rows = {row["pair_id"]: row for row in twelve["predicate"]["rows"]}
    general = spec.load("lemmas.json")["rows"]
    for src, dst in (("vllm-fa", "sglang"), ("sglang", "vllm-fa"), ("sglang", "trtllm")):
        named = [lemma["name"] for lemma in rows[f"{src}->{dst}"]["proof"]["lemmas"]]
        assert named == [*general, *_own(twelve, src), *_own(twelve, dst)]
        assert len(named) == len(set(named)) == len(general) + 6
    lossy = [lemma["name"] for lemma in rows["vllm-fa->vllm-fp8"]["proof"]["lemmas"]]
    assert lossy == [*general, *_own(twelve, "vllm-fa")]


@pytest.mark.parametrize(
    "change",
    [
        lambda lemmas: lemmas.pop(0),
        lambda lemmas: lemmas.pop(),
        lambda lemmas: lemmas.insert(0, lemmas[0]),
        lambda lemmas: lemmas.append(lemmas.pop(-2)),
        # The slices alone, which say nothing of this geometry.
        lambda lemmas: lemmas.pop(5),
        lambda lemmas: lemmas.pop(4),
        lambda lemmas: lemmas.append({"name": "Lifecycle.other", "statement_sha256": "0" * 64}),
    ],
)
def test_lemmas_missing_surplus_or_out_of_order(twelve, change):
    rows = twelve["predicate"]["rows"]
    i = [row["pair_id"] for row in rows].index("sglang->trtllm")
    change(rows[i]["proof"]["lemmas"])
    assert refusal(twelve) == ("H3_PROOF_MISSING", f"/predicate/rows/{i}/proof/lemmas")


@pytest.mark.parametrize("fixture", ["four", "twelve"])
def test_every_derived_leaf_refuses_a_change(fixture, request):
    statement = request.getfixturevalue(fixture)
    root = spec.load("schemas/hunt.schema.json")
    text = json.dumps(statement)
    tried = 0
    derived = [
        leaf[:3]
        for leaf in leaves(statement["predicate"], root, root, "attested", "/predicate")
        if leaf[3] == "derived"
    ]
    # The larger certificate has more of the same: a fifth of its leaves, one change each.
    step, changes = (5, 1) if fixture == "twelve" else (1, 3)
    for pointer, value, node in derived[::step]:
        for other in itertools.islice(mutants(value, node), changes):
            mutant = json.loads(text)
            put(mutant, pointer, other)
            with pytest.raises(Refusal):
                judge(mutant)
                pytest.fail(f"{pointer}: {value} -> {other}")
            tried += 1
    assert tried > 300


def test_weakening_an_observation_never_raises_a_verdict():
    order = ["UNPROVEN", "NOT_EXACT", "EXACT_TOKEN", "EXACT_BYTE"]
    weaker = {True: (False, None), False: (None,), None: ()}
    for values in itertools.product((True, False, None), repeat=4):
        verdict = fold(None, dict(zip(OBSERVATIONS, values, strict=True)))
        for i, value in enumerate(values):
            for other in weaker[value]:
                weakened = [*values[:i], other, *values[i + 1 :]]
                after = fold(None, dict(zip(OBSERVATIONS, weakened, strict=True)))
                assert order.index(after) <= order.index(verdict)
        assert fold("X1_LATENT_KV", dict(zip(OBSERVATIONS, values, strict=True))) == "REFUSED"
