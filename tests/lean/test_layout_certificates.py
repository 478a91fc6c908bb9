"""Every lossless layout has its lemma, slices tell maps apart, and the text holds the tables."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lockstep import spec
from lockstep.errors import LockstepError
from lockstep.layouts import index_map
from lockstep.layouts import steps as layout_steps
from lockstep.layouts.declaration import Layout
from lockstep.layouts.geometry import Geometry
from lockstep.layouts.index_map import canonical_to_native, native_to_canonical, same_image
from lockstep.layouts.realise import Realised, realise
from lockstep.layouts.sets import load_set
from lockstep.lean import certificate_text, emitted_tables, layout_terms, packed_tables
from lockstep.lean import layout_certificates as certificates
from lockstep.lean.layout_slices import slice_geometry

LEMMAS = {lemma.name: lemma for lemma in certificates.lemmas()}
SHARED_MAPS = {
    frozenset({"flashinfer_nhd", "vllm_cross_layer_nhd"}),
    frozenset({"hf_dynamic_cache", "hf_dynamic"}),
    frozenset({"hicache_page_head", "lmdeploy_turbomind"}),
    frozenset({"sglang", "hicache_layer_first", "hicache_page_first"}),
    frozenset({"trtllm", "trtllm_pool"}),
    frozenset({"vllm_bhlnc", "vllm_lbhnc"}),
    frozenset({"vllm_blnhc", "vllm_lbnhc"}),
}
"""Layouts of one map at every geometry: they differ in the layer axis, a unit axis, or in whether
K and V that follow one another are one tensor."""


def at(layout: Layout, geometry: Geometry) -> Realised:
    realised = realise(layout, geometry)
    assert realised is not None
    return realised


def sliced(name: str) -> Realised:
    return at(LEMMAS[name].layout, slice_geometry(LEMMAS[name].layout))


def wide(layout: Layout, tokens: int) -> Geometry:
    """A geometry at which every lossless layout exists and maps that differ show it."""
    latent = layout.holds_latent
    return Geometry(tokens, 3, 4, 16, 24 if latent else 0, 8 if latent else 0, "float16")


# Which layouts have lemmas.


def test_each_declaration_of_both_sets_has_one_lemma() -> None:
    declared: dict[str, set[str]] = {}
    for set_name in certificates.SETS:
        given = load_set(set_name)
        for layout in certificates.lossless(set_name):
            stated = layout.as_json(given.geometry)
            for field in ("name", "engine", "citation", "source"):
                del stated[field]
            text = json.dumps(stated, sort_keys=True, separators=(",", ":"))
            digest = hashlib.sha256(text.encode()).hexdigest()
            declared.setdefault(digest, set()).add(f"{set_name}/{layout.name}")
    registered = certificates.registered()
    assert {digest: registered[digest] for digest in declared} == {
        digest: [
            f"ExactTransformCert.{lemma.name}{ending}"
            for ending in ("", "_same_map", "_every_geometry")
        ]
        for digest, members in declared.items()
        for lemma in LEMMAS.values()
        if set(lemma.layouts) == members
    }
    assert len(LEMMAS) == len(declared)
    widths = set(spec.load("hunt.json")["dtypes"].values())
    assert len(registered) == len(declared) * len(widths)


@pytest.mark.parametrize("name", ["exact-transformations", "engine-layouts"])
def test_the_committed_certificates_layouts_are_registered(name: str) -> None:
    path = spec.root().parent / "evidence" / f"{name}.cert.json"
    envelope = json.loads(path.read_text("utf-8"))
    predicate = json.loads(base64.b64decode(envelope["payload"]))["predicate"]
    registered = certificates.registered()
    lossless = set(predicate["counts"]["lossless_layouts"])
    for layout in predicate["layouts"]:
        kept = {field: layout[field] for field in certificates.DECLARED}
        text = json.dumps(kept, sort_keys=True, separators=(",", ":"))
        known = hashlib.sha256(text.encode()).hexdigest() in registered
        assert known or layout["name"] not in lossless
        lossless.discard(layout["name"])
    assert not lossless


def test_the_modules_state_each_lemma_once() -> None:
    texts = certificates.files().values()
    names = [name for text in texts for name in re.findall(r"^theorem (\w+) :", text, re.M)]
    assert sorted(names) == sorted(LEMMAS)


def test_a_name_that_is_taken_is_followed_by_its_set() -> None:
    assert LEMMAS["vllm_paged_x"].layouts == ("seed-004/vllm-paged-x",)
    assert LEMMAS["vllm_paged_x_engines"].layouts == ("engines/vllm-paged-x",)
    assert LEMMAS["vllm_fa"].layouts == ("seed-004/vllm-fa", "engines/vllm-0.22-nhd")


def test_a_name_that_lean_cannot_write_is_refused() -> None:
    with pytest.raises(LockstepError, match=r"BAD_VALUE at 2nd: .*begins with a letter"):
        certificate_text.identifier("2nd")


def test_tables_are_the_same_at_each_width() -> None:
    for lemma in LEMMAS.values():
        narrow = sliced(lemma.name)
        for dtype in spec.load("hunt.json")["dtypes"]:
            assert same_image(narrow, at(lemma.layout, replace(narrow.geometry, dtype=dtype)))


# Slices.


@pytest.mark.parametrize("name", LEMMAS)
def test_a_slice_is_degenerate_nowhere(name: str) -> None:
    realised = sliced(name)
    layout = realised.layout
    held_alone = "H" if layout.rank_axis == "replicated" else ""
    for tensor in realised.tensors:
        for axis, extent in zip(tensor.axes, tensor.extents, strict=True):
            assert extent > 1 or axis in ("1", held_alone)
    if layout.rank_axis == "replicated":
        assert realised.replicas > 1
    if layout.block:
        assert realised.geometry.tokens % layout.block
        assert realised.geometry.tokens > 2 * layout.block


def test_extents_differ_where_stacks_have_small_blocks() -> None:
    seen = 0
    for name in LEMMAS:
        realised = sliced(name)
        tensor = realised.tensors[0]
        if "KV" in tensor.axes and realised.layout.block <= 16 and realised.layout.ranks == 1:
            axes = zip(tensor.axes, tensor.extents, strict=True)
            extents = [extent for axis, extent in axes if axis not in ("1", "L")]
            assert len(set(extents)) == len(extents), name
            seen += 1
    assert seen > 0


@pytest.mark.parametrize("kind", ["K", "latent"])
def test_slices_tell_all_maps_apart(kind: str) -> None:
    """At each layout's slice every other layout has another map, or the same at every geometry."""
    found = set()
    names = [name for name, one in LEMMAS.items() if kind in one.layout.component_names]
    for name, other in permutations(names, 2):
        layout, against = LEMMAS[name].layout, LEMMAS[other].layout
        realised = realise(against, slice_geometry(layout))
        if realised is None or not same_image(sliced(name), realised):
            continue
        for tokens in (37, 260, 1300):
            geometry = wide(layout, tokens)
            assert same_image(at(layout, geometry), at(against, geometry)), (name, other)
        found |= {frozenset({name, other})}
    assert found == {
        frozenset(pair)
        for group in SHARED_MAPS
        if group <= set(names)
        for pair in permutations(group, 2)
    }


def test_tables_of_different_maps_differ() -> None:
    tables: dict[str, set[str]] = {}
    for name in LEMMAS:
        realised = sliced(name)
        tables.setdefault(
            str(canonical_to_native(realised, 0, realised.canonical_elements).tolist()), set()
        ).add(name)
    for names in tables.values():
        assert len(names) == 1 or any(names <= group for group in SHARED_MAPS), names


def test_tables_are_taken_in_ranges_of_several_lengths(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, int]] = []
    emit = index_map.native_to_canonical

    def noted(realised: Realised, start: int, stop: int) -> Any:
        asked.append((start, stop))
        return emit(realised, start, stop)

    monkeypatch.setattr(index_map, "native_to_canonical", noted)
    emitted_tables.inverse(sliced("exllamav3_fp16"))
    assert [stop for _, stop in asked[:-1]] == [start for start, _ in asked[1:]]
    assert len({stop - start for start, stop in asked}) > 3


# Tables as text.


def read(text: str) -> list[int]:
    """Read segments as their text says, without the reader that Lean has."""
    entries: list[int] = []
    for padding, count, filled, pitch, length, rows in re.findall(
        r"\.padding (\d+)|\.rows (\d+) (\d+) (\d+) ⟨\d+, \d+, (\d+),\n((?: +[\d_]+ ::\n)+)", text
    ):
        if padding:
            entries += [-1] * int(padding)
            continue
        held = [int(entry) for entry in re.findall(r"(?<![\d])\d+(?=_| ::)", rows)]
        assert len(held) == int(length) == int(count) * int(filled)
        for row in range(int(count)):
            entries += held[row * int(filled) : (row + 1) * int(filled)]
            entries += [-1] * (int(pitch) - int(filled))
    return entries


@pytest.mark.parametrize("name", LEMMAS)
def test_the_text_holds_the_tables(name: str) -> None:
    realised = sliced(name)
    text = certificate_text.certificate(name, "", realised)
    forward, inverse = text.split("def inverse")
    wanted = canonical_to_native(realised, 0, realised.canonical_elements).reshape(-1)
    assert read(forward) == wanted.tolist()
    assert read(inverse) == native_to_canonical(realised, 0, realised.positions).tolist()


@pytest.mark.parametrize("most", [1, 2, 5, 2048])
def test_any_entries_can_be_read_again(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed_tables, "_TABLE_ENTRIES", most)
    random = np.random.default_rng(4)
    for _ in range(200):
        entries = random.integers(-3, 12, random.integers(1, 60)).clip(-1).tolist()
        assert read(packed_tables.segments(entries, "")) == entries


def test_a_step_that_the_model_does_not_know_is_refused() -> None:
    realised = sliced("lmcache_kv_t2d")
    translation = layout_terms._Translation(realised)
    with pytest.raises(LockstepError, match="INTERNAL at crop"):
        translation.follow(layout_steps.Step("crop", ("K",), ("K",), 0, (1, 2)))


def test_elements_of_several_slots_are_refused() -> None:
    layout = load_set("engines").layouts["vllm-fp8-ds-mla"]
    with pytest.raises(LockstepError, match="INTERNAL at vllm-fp8-ds-mla"):
        layout_terms.lean_layout(at(layout, load_set("engines").geometry))


def test_the_sources_hold_no_path_of_this_machine() -> None:
    for text in certificates.files().values():
        assert str(Path.home()) not in text
