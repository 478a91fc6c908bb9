"""Layouts from strides against layouts placed element by element (LAY-1 to LAY-18)."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lockstep_verify import limits
from lockstep_verify.derive.hunt import _derived
from lockstep_verify.derive.layout import Layout
from lockstep_verify.derive.layout_form import check_declaration
from lockstep_verify.derive.layout_image import image_sha256, walk
from lockstep_verify.derive.layout_terms import geometry_of, normal
from lockstep_verify.errors import Refusal


def derived(declared, shape):
    """Give what the verifier derives of a declaration, whose form it checks first."""
    geometry = geometry_of(shape)
    check_declaration(declared, 0, geometry.bits)
    layout = Layout(declared, geometry)
    return layout, _derived(layout, image_sha256(layout) if layout.realisable else None)


@st.composite
def shapes(draw, latent):
    return {
        "tokens": draw(st.integers(1, 7)),
        "layers": draw(st.integers(1, 3)),
        "kv_heads": draw(st.sampled_from([1, 2, 3, 4])),
        "head_dim": draw(st.sampled_from([1, 2, 4, 6])),
        "latent_dim": draw(st.sampled_from([1, 2, 4, 128])) if latent else 0,
        "rope_dim": draw(st.sampled_from([1, 2, 4])) if latent else 0,
        "dtype": "float16",
    }


@st.composite
def layouts(draw, by_hand, latent):
    """Draw a well-formed declaration; whether it is realisable is left to chance."""
    scaled = latent and draw(st.booleans())
    names = ["latent", *(["scale"] if scaled else []), "rope"] if latent else ["K", "V"]
    quantisation = "fp8_ds_mla" if scaled else draw(st.sampled_from(["none", "int8"]))
    block = draw(st.sampled_from([0, 1, 2, 3, 8]))
    sort = draw(st.sampled_from(["none", "none", "sharded", "replicated"]))
    ranks = 1 if sort == "none" else draw(st.sampled_from([2, 4]))
    layered = draw(st.booleans())
    together = draw(st.booleans())
    tensors = []
    for held in [names] if together else [[name] for name in names]:
        joined = len(held) > 1 and draw(st.booleans())
        x = 0 if joined else draw(st.sampled_from([0, 0, 1, 2]))
        axes = ["Tb", "Ti"] if block else ["T"]
        axes += ["C"] if joined else ["Dg", "Dx"] if x else ["D"]
        axes += [] if latent else ["H"]
        axes += ["KV"] if len(held) > 1 and not joined else []
        axes += ["R"] if ranks > 1 else []
        axes += ["L"] if layered else []
        axes = draw(st.permutations([*axes, *(["1"] if draw(st.booleans()) else [])]))
        cut = draw(st.integers(1, len(axes)))
        written = " ".join([*axes[:-cut], f"({' '.join(axes[-cut:])})" if cut > 1 else axes[-1]])
        bits = [16] * len(held)
        if quantisation != "none":
            width = draw(st.sampled_from([8, 16]))
            bits = [draw(st.sampled_from([8, 16, 24])) if joined else width for _ in held]
        tensors.append(
            by_hand.tensor(
                "-".join(held).lower(),
                " ".join(held),
                written,
                bits,
                x=x,
                pad_tokens=0 if block else draw(st.sampled_from([0, 1, 4])),
                pad_head_dim=0 if joined or x else draw(st.sampled_from([0, 4])),
                reserve=draw(st.sampled_from([0, 0, 1, 2])),
            )
        )
    return by_hand.declaration(
        "drawn",
        *tensors,
        attention="mla" if latent else "gqa",
        block=block,
        ranks=ranks,
        rank_axis=sort,
        quantisation=quantisation,
        kv_heads=draw(st.sampled_from([0, 0, 0, 2])),
    )


def image(declared, held):
    """All that LAY-17 compares, by enumeration: the slots of each element, width included."""
    widths = {}
    for tensor in declared["tensors"]:
        slot = min(by["bits"] for by in tensor["components"])
        while any(by["bits"] % slot for by in tensor["components"]):
            slot -= 1
        widths |= {by["name"]: by["bits"] // slot for by in tensor["components"]}
    return held["derived"]["positions"], held["names"], held["firsts"], widths


@given(data=st.data())
@settings(max_examples=150)
def test_strides_give_what_enumeration_gives(by_hand, data):
    latent = data.draw(st.booleans())
    shape = data.draw(shapes(latent))
    held = []
    for _ in range(2):
        declared = data.draw(layouts(by_hand, latent))
        layout, found = derived(declared, shape)
        placed = by_hand.place(declared, shape)
        assert found == (placed["derived"] if placed else by_hand.ABSENT)
        if placed:
            assert layout.bijective
            assert walk([layout], True) == layout.positions
            held.append((layout.image, image(declared, placed)))
    for (left, slow_left), (right, slow_right) in pairwise(held):
        assert (left == right) == (slow_left == slow_right)


@given(
    extent=st.integers(1, 9),
    left=st.tuples(st.integers(1, 9), st.integers(0, 6), st.integers(0, 6)),
    right=st.tuples(st.integers(1, 9), st.integers(0, 6), st.integers(0, 6)),
)
@settings(max_examples=500)
def test_terms_have_one_form(extent, left, right):
    plain = [[i // f * o + i % f * n for i in range(extent)] for f, o, n in (left, right)]
    terms = [normal(extent, *digits) for digits in (left, right)]
    assert [term.over(0, extent) for term in terms] == plain
    assert [[term.at(i) for i in range(extent)] for term in terms] == plain
    assert (terms[0] == terms[1]) == (plain[0] == plain[1])


def large(by_hand):
    """Layouts with more elements than a digest takes, and with replicas."""
    shape = by_hand.geometry(tokens=300, kv_heads=4, head_dim=32)
    paged = by_hand.tensor("kv", "K V", "KV Tb H Ti D")
    yield by_hand.declaration("paged", paged, block=16), shape
    shape = by_hand.geometry(tokens=70, kv_heads=1, head_dim=64)
    copied = by_hand.tensor("kv", "K V", "R T KV H D")
    yield by_hand.declaration("copied", copied, ranks=8, rank_axis="replicated"), shape


def test_digests_of_large_images_take_both_ends(by_hand):
    for declared, shape in large(by_hand):
        _, found = derived(declared, shape)
        assert found == by_hand.place(declared, shape)["derived"]


def test_the_walk_is_bounded_and_shared_out(by_hand, monkeypatch):
    built = [derived(declared, shape)[0] for declared, shape in large(by_hand)]
    assert walk(built, True) == sum(layout.positions for layout in built)
    monkeypatch.setattr(limits, "WALKED_POSITIONS", 700)
    assert walk(built, False) == 1400
    assert walk(built, True) == sum(layout.positions for layout in built)
    assert walk([*built, *built], False) == 1400
    monkeypatch.setattr(limits, "WALKED_TOTAL", 800)
    assert walk(built, False) == 800


@pytest.mark.parametrize("field", ["base", "token", "head", "dim"])
def test_the_walk_finds_wrong_strides(by_hand, field):
    declared = by_hand.declaration("paged", by_hand.tensor("kv", "K V", "KV Tb H Ti D"), block=4)
    layout, _ = derived(declared, by_hand.geometry())
    first = layout.components[0]
    value = 1 if field == "base" else normal(9, 1, 3, 0)
    layout.components = (first._replace(**{field: value}), layout.components[1])
    with pytest.raises(Refusal) as caught:
        walk([layout], False)
    assert caught.value.code == "BIJECTION_NOT_DERIVED"


def test_the_walk_counts_what_it_meets(by_hand):
    layout, _ = derived(
        by_hand.declaration("flat", by_hand.tensor("kv", "K V", "T H KV D")), by_hand.geometry()
    )
    layout.covered += 1
    with pytest.raises(Refusal):
        walk([layout], False)


MALFORMED = [
    ("k", "T T H D", {}, 0),
    ("k", "T H D D", {}, 0),
    ("k", "T H", {}, 0),
    ("k", "T D", {}, 0),
    ("k", "H D", {}, 0),
    ("k", "T Tb Ti H D", {}, 0),
    ("k", "T H D", {}, 4),
    ("k", "Tb H D", {}, 4),
    ("k", "T H Dg Dx", {}, 0),
    ("k", "T H D", {"x": 2}, 0),
    ("k", "T H Dg", {"x": 2}, 0),
    ("k", "T H D R", {}, 0),
    ("k", "KV T H D", {}, 0),
    ("k", "T H C", {}, 0),
    ("k", "T H Q", {}, 0),
    ("k", "T H D Z", {}, 0),
    ("k", "Tb Ti H D", {"pad_tokens": 8}, 4),
    ("k", "T H Dg Dx", {"x": 2, "pad_head_dim": 8}, 0),
]


@pytest.mark.parametrize(("name", "axes", "other", "block"), MALFORMED)
def test_malformed_tensors(by_hand, name, axes, other, block):
    value = by_hand.tensor("v", "V", "Tb Ti H D" if block else "T H D")
    declared = by_hand.declaration(
        "bad", by_hand.tensor(name, "K", axes, **other), value, block=block
    )
    with pytest.raises(Refusal) as caught:
        check_declaration(declared, 3, 16)
    assert caught.value.code == "BIJECTION_NOT_DERIVED"
    assert caught.value.pointer == "/predicate/layouts/3/tensors/0"


def test_malformed_stacks(by_hand):
    for components, axes, bits in [
        ("K V", "T H D", [16, 16]),
        ("K V", "KV T H C", [16, 16]),
        ("V K", "KV T H D", [16, 16]),
        ("K K", "KV T H D", [16, 16]),
        ("K V", "KV T H D", [16, 8]),
    ]:
        declared = by_hand.declaration("bad", by_hand.tensor("kv", components, axes, bits))
        with pytest.raises(Refusal) as caught:
            check_declaration(declared, 0, 16)
        assert caught.value.code == "BIJECTION_NOT_DERIVED"
        assert caught.value.pointer == "/predicate/layouts/0/tensors/0"


def test_malformed_layouts(by_hand):
    k, v = by_hand.tensor("k", "K", "T H D"), by_hand.tensor("v", "V", "T H D")
    record = by_hand.tensor("c", "latent scale rope", "T C", [16, 16, 16])
    for tensors, changes in [
        ([k], {}),
        ([k, k], {}),
        ([v, k], {}),
        ([k, {**v, "name": "k"}], {}),
        ([k, by_hand.tensor("v", "V", "L T H D")], {}),
        ([k, by_hand.tensor("r", "rope", "T D")], {}),
        ([k, v], {"rank_axis": "sharded"}),
        ([record], {"attention": "mla"}),
    ]:
        declared = by_hand.declaration("bad", *tensors, **changes)
        with pytest.raises(Refusal) as caught:
            check_declaration(declared, 0, 16)
        assert caught.value.code == "BIJECTION_NOT_DERIVED"
        assert caught.value.pointer == "/predicate/layouts/0"


def test_lossless_elements_have_the_width_of_the_geometry(by_hand):
    tensors = by_hand.tensor("k", "K", "T H D"), by_hand.tensor("v", "V", "T H D", 8)
    declared = by_hand.declaration("narrow", *tensors)
    with pytest.raises(Refusal) as caught:
        check_declaration(declared, 0, 16)
    assert caught.value.code == "COVERAGE_DENOMINATOR_NOT_DERIVED"
    assert caught.value.pointer == "/predicate/layouts/0/tensors/1/components/0/bits"
    check_declaration({**declared, "quantisation": "int8"}, 0, 16)
