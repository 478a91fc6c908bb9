"""The adapter for the published hunt document (spec/published/seed-004.md).

Every test runs on the committed extract; those that take a document run on the
original too, where LOCKSTEP_SEED_004 names it.
"""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from lockstep_verify.derive import Derivation, Options
from lockstep_verify.errors import Refusal, registry
from lockstep_verify.published import seed_004
from lockstep_verify.published.fields import classified
from lockstep_verify.published.layout import Geometry, Layout, frontier_code, transformations
from lockstep_verify.published.profile import FALSIFICATIONS
from lockstep_verify.published.rows import Pair, fold
from lockstep_verify.published.shape import ATTESTED, Field

ROOT = Path(__file__).resolve().parents[2]
EXTRACT = ROOT / "conformance" / "published" / "seed-004.json"
ORIGINAL = os.environ.get("LOCKSTEP_SEED_004", "")
FAST_SAMPLE = 400

Document = dict[str, Any]
Edit = Callable[[Document], object]


def derive(data: bytes) -> Derivation:
    return seed_004.derive(data, Options(exhaustive=False, evidence=None))


def encode(document: Document) -> bytes:
    return json.dumps(document).encode()


def code_of(data: bytes) -> str:
    with pytest.raises(Refusal) as caught:
        derive(data)
    return caught.value.code


@pytest.fixture(params=["extract", "original"], scope="module")
def data(request: pytest.FixtureRequest) -> bytes:
    if request.param == "extract":
        return EXTRACT.read_bytes()
    if not ORIGINAL:
        pytest.skip("LOCKSTEP_SEED_004 does not name the original document")
    return Path(ORIGINAL).read_bytes()


@pytest.fixture
def document(data: bytes) -> Document:
    loaded: Document = json.loads(data)
    return loaded


def row_of(document: Document, pair_id: str) -> Any:
    return next(row for row in document["rows"] if row["pair_id"] == pair_id)


BYTE = "sglang->vllm-fa"
TOKEN = "vllm-fa->sglang"
LOSSY = "vllm-fa->vllm-fp8"
REFUSED = "vllm-fa->vllm-tp2"
EXACT = ("EXACT_BYTE", "EXACT_TOKEN")


def test_the_document_derives_with_its_counts(data: bytes) -> None:
    derivation = derive(data)
    expected = {
        "rows": 64,
        "exact_byte": 21,
        "exact_token": 35,
        "not_exact": 2,
        "refused": 6,
        "unproven": 0,
        "destination_positions_checked": 90_880,
        "source_positions_checked": 90_880,
        "distinct_positions": 12_544,
        "distinct_index_spaces": 8,
        "engines": 12,
        "lossless_engines": 8,
        "checks": 17,
        "falsifications": 32,
        "known_limits": 6,
        "vocabulary": 9,
    }
    assert {name: derivation.counts[name] for name in expected} == expected
    assert any("90,880 destination" in line for line in derivation.lines)


def test_the_extract_differs_from_the_original_in_prose_alone() -> None:
    if not ORIGINAL:
        pytest.skip("LOCKSTEP_SEED_004 does not name the original document")
    pair = [Path(ORIGINAL).read_bytes(), EXTRACT.read_bytes()]
    original, extract = (list(classified(json.loads(data))) for data in pair)
    differing = [b for a, b in zip(original, extract, strict=True) if a != b]
    assert all(field.value == "" for field in differing)
    assert derive(pair[0]).counts == derive(pair[1]).counts
    tool = ROOT / "tools" / "extract_published.py"
    made = subprocess.run([sys.executable, str(tool), ORIGINAL], capture_output=True, check=True)
    assert made.stdout == pair[1]


def test_the_command_line_accepts_the_extract_and_exits_5() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "lockstep_verify", "--unsigned", str(EXTRACT)],
        capture_output=True,
        text=True,
    )
    assert run.returncode == 5, run.stderr
    assert "signature: not checked, the document names no key" in run.stdout
    assert "90,880 source" in run.stdout


# The document's own falsifications of its verifier, each as one or more edits ([PUB-22]).


def _set(pair_id: str, path: str, value: object) -> Edit:
    def edit(document: Document) -> None:
        target = row_of(document, pair_id)
        *parents, last = path.split("/")
        for name in parents:
            target = target[name]
        target[last] = value

    return edit


def _one_position(document: Document, shapes: bool = False) -> None:
    for row in document["rows"]:
        if row["verdict"] in EXACT:
            row["proof"] |= {"positions_checked": 1, "positions_total": 1}
    if shapes:
        for engine in document["engines"]:
            engine["native_shapes"] = {name: [1] for name in engine["native_shapes"]}


def _shrink_guards(document: Document, floors: bool = True) -> None:
    for name in ("checks", "falsifications", "known_limits"):
        del document[name][1:]
    if floors:
        document["asserted_counts"] |= {"checks_min": 1, "foils_min": 1, "known_limits_min": 1}


def _drop_rows(document: Document, *verdicts: str) -> None:
    document["rows"] = [row for row in document["rows"] if row["verdict"] not in verdicts]


def _duplicate(document: Document, verdict: str | None = None) -> None:
    twin = copy.deepcopy(row_of(document, TOKEN))
    twin["verdict"] = verdict or twin["verdict"]
    document["rows"].append(twin)


def _thin_rows(document: Document) -> None:
    for row in document["rows"]:
        row["transformations"] = [w for w in row["transformations"] if w != "v_dim_transpose"]


EDITS: dict[str, list[Edit]] = {
    "verdict-relabelled": [
        _set(TOKEN, "verdict", "EXACT_BYTE"),
        _set(BYTE, "verdict", "EXACT_TOKEN"),
        _set(LOSSY, "verdict", "EXACT_TOKEN"),
        _set(REFUSED, "verdict", "EXACT_BYTE"),
        _set(TOKEN, "verdict", "UNPROVEN"),
        _set(TOKEN, "verdict", "SPLENDID"),
    ],
    "observation-withheld": [
        _set(TOKEN, "observations/forward_reproduces_target", None),
        _set(TOKEN, "observations/roundtrip_byte_identical", None),
        _set(LOSSY, "observations/tokens_identical", None),
        lambda d: row_of(d, TOKEN)["observations"].pop("tokens_identical"),
    ],
    "corroboration-nulled": [
        _set(TOKEN, "proof/gather_agrees", None),
        _set(TOKEN, "proof/gather_payloads", None),
        _set(TOKEN, "proof/source_bijective", None),
        _set(TOKEN, "proof/roundtrip_diff_positions", None),
        lambda d: row_of(d, TOKEN)["proof"].pop("gather_agrees"),
    ],
    "one-position-is-the-whole-space": [_one_position, lambda d: _one_position(d, shapes=True)],
    "guard-set-shrunk-to-one-each": [_shrink_guards, lambda d: _shrink_guards(d, floors=False)],
    "unhashable-in-a-signed-list": [
        lambda d: d["vocabulary"].append([]),
        lambda d: d["observed"]["exact_pairs"].append({}),
        lambda d: row_of(d, TOKEN)["transformations"].append(["reblock"]),
        lambda d: d["engines"][0]["k_axes"].append({}),
    ],
    "bijection-denied": [
        _set(TOKEN, "proof/dest_bijective", False),
        _set(LOSSY, "proof/source_bijective", False),
    ],
    "no-kernel-checked-lemma": [
        _set(TOKEN, "proof/lean_lemmas", []),
        _set(TOKEN, "proof/lean_lemmas", None),
        lambda d: row_of(d, TOKEN)["proof"]["lean_lemmas"].pop(0),
        lambda d: row_of(d, TOKEN)["proof"].pop("lean_lemmas"),
    ],
    "proof-deleted": [
        _set(TOKEN, "proof", None),
        _set(TOKEN, "proof", {}),
        lambda d: row_of(d, TOKEN).pop("proof"),
        _set(REFUSED, "proof", None),
    ],
    "sampled-proof": [
        _set(TOKEN, "proof/positions_checked", 64),
        _set(TOKEN, "proof/source_positions_checked", 64),
    ],
    "trivial-transformation": [
        _set(TOKEN, "transformations", []),
        _set("vllm-fa->flashinfer-nhd", "transformations", []),
    ],
    "hunt-emptied": [
        lambda d: d.update(rows=[]),
        lambda d: _drop_rows(d, *EXACT),
        lambda d: d.update(rows=[], vocabulary=[]),
    ],
    "vocabulary-thinned": [
        lambda d: d["vocabulary"].pop(),
        lambda d: d["vocabulary"].append("teleport"),
        lambda d: d["vocabulary"].append("reblock"),
        lambda d: _drop_rows(d, "NOT_EXACT"),
        _thin_rows,
    ],
    "no-frontier": [lambda d: _drop_rows(d, "REFUSED")],
    "floor-above-observation": [
        lambda d: d["asserted_counts"].update(rows_min=65),
        lambda d: d["asserted_counts"].update(exact_byte_min=22),
    ],
    "check-failed-open": [
        lambda d: d["checks"][3].update(passed=False),
        lambda d: d["known_limits"][0].update(passed=False),
        lambda d: d["falsifications"][5].update(guard_ok=False),
        lambda d: d["falsifications"][5].update(actual="EXACT_BYTE"),
    ],
    "counts-do-not-recompute": [
        lambda d: d["observed"]["verdict_counts"].update(EXACT_BYTE=22),
        lambda d: d["observed"].update(distinct_positions=12_545),
        lambda d: d["observed"]["exact_pairs"].pop(),
        lambda d: d["observed"]["lossless_engines"].reverse(),
    ],
    "undeclared-engine": [
        _set(TOKEN, "dst", "made-up"),
        lambda d: row_of(d, TOKEN).update(dst="made-up", pair_id="vllm-fa->made-up"),
        lambda d: d["engines"].pop(),
        lambda d: d["engines"].pop(0),
    ],
    "pair-declared-twice": [
        _duplicate,
        lambda d: _duplicate(d, "EXACT_BYTE"),
        lambda d: d["rows"].pop(7),
        lambda d: d["rows"].reverse(),
    ],
    "token-claim-without-a-decode": [
        _set(TOKEN, "proof/decoded_tokens", None),
        _set(TOKEN, "proof/decoded_tokens", []),
    ],
}

# What no adapter can see: the document names no key ([PUB-5]).
SIGNATURE_FALSIFICATIONS = {"forged-signer", "mutated-document"}
PREFIX = "verifier:"


def test_every_falsification_of_the_verifier_is_run_or_excepted() -> None:
    named = {name.removeprefix(PREFIX) for name in FALSIFICATIONS if name.startswith(PREFIX)}
    assert named == set(EDITS) | SIGNATURE_FALSIFICATIONS | {"torn-document"}


@pytest.mark.parametrize(
    ("name", "variant"), [(n, i) for n, edits in EDITS.items() for i in range(len(edits))]
)
def test_a_falsification_meets_its_declared_code_first(
    document: Document, name: str, variant: int
) -> None:
    EDITS[name][variant](document)
    code, _, exit_status = FALSIFICATIONS[PREFIX + name].partition("@exit")
    assert code_of(encode(document)) == code
    assert registry()[code]["exit"] == int(exit_status)


@pytest.mark.parametrize("keep", [0.0, 0.1, 0.5, 0.999])
def test_a_torn_document_is_unreadable(data: bytes, keep: float) -> None:
    assert code_of(data.rstrip()[: int(len(data) * keep) - 1]) == "H0_DOCUMENT_UNREADABLE"


def test_a_mutated_document_meets_the_code_of_the_field(document: Document) -> None:
    document["geometry"]["tokens"] = 41
    assert code_of(encode(document)) == "H2_VERDICT_NOT_DERIVED"


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"[]",
        b'{"rows": NaN}',
        b'{"a": 1, "a": 1}',
        b'{"a": 1.0}',
        b"\xff",
        b"{}{}",
        b"[" * 9999,
        b'{"a":[' + b"0," * 400_000 + b"0]}",
    ],
    ids=["empty", "list", "nan", "duplicate", "real", "bytes", "two", "deep", "long"],
)
def test_what_is_no_strict_object_is_unreadable(text: bytes) -> None:
    assert code_of(text) == "H0_DOCUMENT_UNREADABLE"


@pytest.mark.parametrize(
    ("edit", "code"),
    [
        (lambda d: d.update(extra=1), "PUBLISHED_SHAPE"),
        (lambda d: d.pop("boundary"), "PUBLISHED_SHAPE"),
        (lambda d: d.update(schema="other/v1"), "PUBLISHED_SHAPE"),
        (lambda d: d["engines"][0].pop("cite"), "PUBLISHED_SHAPE"),
        (lambda d: d["engines"][0].update(block=10**9), "PUBLISHED_SHAPE"),
        (lambda d: d["geometry"].update(tokens=19_999), "PUBLISHED_SHAPE"),
        (lambda d: d["engines"].extend(d["engines"] * 9), "PUBLISHED_SHAPE"),
        (lambda d: d["geometry"].update(dtype="float64"), "PUBLISHED_SHAPE"),
        (lambda d: d["engines"][0]["native_shapes"].update(kw=[1]), "PUBLISHED_SHAPE"),
        (lambda d: d["rows"][1].update(verdict=None), "H0_DOCUMENT_UNREADABLE"),
        (lambda d: d["rows"][1]["proof"].update(gather_agrees=1), "H0_DOCUMENT_UNREADABLE"),
        (lambda d: d.update(signature="00"), "H1_SIGNATURE_INVALID"),
        (lambda d: d["engines"][0]["k_axes"].__setitem__(0, "H"), "BIJECTION_NOT_DERIVED"),
        (lambda d: d["engines"][3]["native_shapes"].update(k=[1]), "PUBLISHED_FIELD_NOT_DERIVED"),
        (lambda d: d["vocabulary"].reverse(), "PUBLISHED_FIELD_NOT_DERIVED"),
        (lambda d: d["checks"].reverse(), "PUBLISHED_FIELD_NOT_DERIVED"),
        (lambda d: d["falsifications"].reverse(), "FOIL_NOT_DISTINCT"),
    ],
)
def test_other_edits_meet_a_named_code(document: Document, edit: Edit, code: str) -> None:
    edit(document)
    assert code_of(encode(document)) == code


def test_all_rows_may_share_other_reference_tokens_and_the_digest_shows_it(
    document: Document,
) -> None:
    # Attested jointly: no rule says what the harness decodes.
    before = derive(encode(document))
    for row in document["rows"]:
        if row["verdict"] != "REFUSED":
            for name in ("reference_tokens", "decoded_tokens"):
                row["proof"][name][0] += 1
    assert derive(encode(document)).lines != before.lines


# Every leaf, one at a time ([PUB-3]).


def slots(value: Any) -> Iterator[tuple[Any, Any]]:
    """Each leaf's container and key, in the order in which ``classified`` yields fields."""
    members = value.items() if isinstance(value, dict) else enumerate(value)
    for key, member in list(members):
        if isinstance(member, dict | list):
            yield from slots(member)
        else:
            yield value, key


def changes(value: object) -> list[object]:
    """Other values of the same type first, then one of another type."""
    if isinstance(value, bool):
        return [not value, None]
    if isinstance(value, int):
        return [value + 1, value - 1, -value or 7, None]
    if isinstance(value, str):
        return [value + "x", value[:-1] or "y", None]
    return [1, True, "x"]


def outcome(document: Document) -> tuple[str, str]:
    """The first code, or DERIVED with the digest of the attested fields."""
    try:
        fields = list(classified(document))
        seed_004.rederive(document)
    except Refusal as refusal:
        return refusal.code, ""
    return "DERIVED", seed_004.attested_digest(fields)


def survivors(document: Document, wanted: Callable[[int, Field], list[object]]) -> list[str]:
    """Changed leaves that neither refuse nor, if attested, show in the digest."""
    found = []
    intact = outcome(document)
    assert intact[0] == "DERIVED"
    fields = list(classified(document))
    for index, (field, (holder, key)) in enumerate(zip(fields, slots(document), strict=True)):
        assert holder[key] is field.value
        for value in wanted(index, field):
            holder[key] = value
            code, digest = outcome(document)
            if code == "DERIVED" and (field.field_class != ATTESTED or digest == intact[1]):
                found.append(f"{field.pointer}: {field.value!r} -> {value!r}")
        holder[key] = field.value
    return found


def test_a_sample_of_changed_leaves_refuses(document: Document) -> None:
    step = sum(1 for _ in slots(document)) // FAST_SAMPLE
    # Rows and engines repeat with a period; a prime offset walks through their columns.
    assert not survivors(document, lambda i, f: changes(f.value)[:1] if i % step == 5 else [])


@pytest.mark.parametrize("section", ["engines", "geometry", "observed", "asserted_counts"])
def test_each_changed_leaf_of_a_small_section_refuses(document: Document, section: str) -> None:
    prefix = f"/{section}/"
    assert not survivors(document, lambda _, f: changes(f.value) * f.pointer.startswith(prefix))


@pytest.mark.slow
def test_each_changed_leaf_refuses(document: Document) -> None:
    assert not survivors(document, lambda _, f: changes(f.value))


def test_many_edits_at_once_meet_a_registered_code_and_nothing_else(data: bytes) -> None:
    random = Random(4)
    values: list[Any] = [None, True, -1, 0, 2**53 - 1, "", "sglang", [], {}, [[]], {"k": [0]}]
    for _ in range(200):
        document = json.loads(data)
        for _ in range(random.randint(1, 4)):
            holder, key = random.choice(list(containers(document)))
            if random.random() < 0.2:
                del holder[key]
            else:
                holder[key] = copy.deepcopy(random.choice(values))
        try:
            derive(encode(document))
        except Refusal as refusal:
            assert refusal.code in registry()


def containers(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every container's members, inner ones included."""
    members = value.items() if isinstance(value, dict) else enumerate(value)
    for key, member in list(members):
        yield value, key
        if isinstance(member, dict | list):
            yield from containers(member)


def test_edits_of_attested_fields_derive_and_show_in_the_digest(document: Document) -> None:
    intact = outcome(document)
    fields = list(classified(document))
    tried = 0
    for field, (holder, key) in zip(fields, slots(document), strict=True):
        if field.field_class != ATTESTED:
            continue
        value = field.value
        if field.pointer == "/signature":
            holder[key] = "0" * 128
        else:
            holder[key] = value + 1 if isinstance(value, int) else "said otherwise"
        code, digest = outcome(document)
        assert (code, digest != intact[1]) == ("DERIVED", True), field.pointer
        holder[key] = value
        tried += 1
    assert tried == derive(encode(document)).counts["fields_attested"]


# The rules where the 64 rows alone would not tell them from simpler ones ([PUB-11]).

GEOMETRY = Geometry(tokens=40, layers=3, kv_heads=2, head_dim=8, decode_steps=8)
PLAIN = Layout(GEOMETRY, "plain", "gqa", "none", "separate", 0, 0, (("T", "H", "D"),) * 2, (0, 0))


def test_axis_permute_keeps_kv_when_both_sides_interleave() -> None:
    first = replace(PLAIN, kv="interleaved", axes=(("KV", "T", "H", "D"),) * 2)
    second = replace(first, axes=(("T", "KV", "H", "D"),) * 2)
    assert first.image != second.image
    assert transformations(first, second) == ["axis_permute"]


def test_axis_permute_looks_at_v_too() -> None:
    other = replace(PLAIN, axes=(("T", "H", "D"), ("T", "D", "H")))
    assert PLAIN.image != other.image
    assert transformations(PLAIN, other) == ["axis_permute"]


def test_axis_permute_speaks_where_another_tensor_has_its_own_word() -> None:
    other = replace(PLAIN, axes=(("T", "D", "H"), ("H", "T", "D")))
    assert transformations(PLAIN, other) == ["axis_permute", "head_order_transpose"]


def test_adjacent_factors_are_joined_before_kv_is_dropped() -> None:
    blocked = replace(PLAIN, block=16, axes=(("Tb", "Ti", "H", "D"),) * 2)
    around = replace(PLAIN, kv="interleaved", block=16, axes=(("Tb", "KV", "Ti", "H", "D"),) * 2)
    assert transformations(blocked, around) == ["axis_permute", "kv_merge"]


def test_reblock_and_vectorize_count_zero_as_a_value() -> None:
    vector = replace(PLAIN, x=(4, 0), axes=(("T", "H", "Dg", "Dx"), ("T", "H", "D")))
    wider = replace(vector, x=(8, 0))
    assert transformations(PLAIN, vector) == ["head_dim_vectorize"]
    assert transformations(vector, PLAIN) == ["head_dim_devectorize"]
    assert transformations(vector, wider) == ["head_dim_devectorize", "head_dim_vectorize"]


def test_a_padded_source_decides_byte_against_token_exactness() -> None:
    padded = replace(PLAIN, block=16, axes=(("Tb", "Ti", "H", "D"),) * 2)
    whole = replace(PLAIN, block=8, axes=(("Tb", "Ti", "H", "D"),) * 2)
    assert Pair(padded, PLAIN).verdict == "EXACT_TOKEN"
    assert Pair(PLAIN, padded).verdict == "EXACT_BYTE"
    assert Pair(whole, PLAIN).verdict == "EXACT_BYTE"
    assert whole.is_identity and not padded.is_identity


def test_an_unrepresentable_layout_has_no_shape_for_either_cause() -> None:
    rank = replace(PLAIN, declared_heads=1)
    vector = replace(PLAIN, x=(16, 0), axes=(("T", "H", "Dg", "Dx"), ("T", "H", "D")))
    latent = replace(PLAIN, attention="mla")
    assert rank.shapes == vector.shapes == {}
    assert frontier_code(PLAIN, rank) == "X2_HEAD_GATHER"
    assert frontier_code(vector, PLAIN) == "X4_GEOMETRY_UNREPRESENTABLE"
    assert frontier_code(latent, vector) == "X1_LATENT_KV"


def test_withholding_an_observation_never_raises_a_verdict() -> None:
    rank = ["UNPROVEN", "NOT_EXACT", "EXACT_TOKEN", "EXACT_BYTE"]
    weaker: dict[object, list[bool | None]] = {True: [False, None], False: [None], None: []}
    names = seed_004.rows.OBSERVATIONS
    states: list[dict[str, bool | None]] = [{}]
    for name in names:
        states = [{**state, name: value} for state in states for value in (True, False, None)]
    for state in states:
        for name in names:
            for value in weaker[state[name]]:
                lowered = fold(None, {**state, name: value})
                assert rank.index(lowered) <= rank.index(fold(None, state))
