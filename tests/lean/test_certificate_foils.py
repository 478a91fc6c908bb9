"""Lean refuses a certificate whose tables, steps, copies or counts are wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from lockstep.errors import LockstepError
from lockstep.layouts import steps as layout_steps
from lockstep.layouts.declaration import Layout
from lockstep.layouts.geometry import Geometry
from lockstep.layouts.realise import Realised, realise
from lockstep.lean import (
    build,
    certificate_text,
    emitted_tables,
    layout_certificates,
    layout_terms,
    position_certificates,
    size_certificates,
)
from lockstep.lean.layout_slices import slice_geometry

from .conftest import Tree

if TYPE_CHECKING:
    from lockstep.lean.toolchain import Toolchain

# One process builds what these tests share.
pytestmark = pytest.mark.xdist_group("lean")

LEMMAS = {lemma.name: lemma for lemma in layout_certificates.lemmas()}


def at(layout: Layout, geometry: Geometry) -> Realised:
    realised = realise(layout, geometry)
    assert realised is not None
    return realised


def sliced(name: str) -> Realised:
    return at(LEMMAS[name].layout, slice_geometry(LEMMAS[name].layout))


SMALL = ("lmcache_kv_t2d", "sglang_token", "vllm_mla_tp2")
"""Layouts with a merge, with slots before the first token, with copies."""


RESTS_ON = ("Lockstep.Certificate", "Lockstep.RealSizes")
"""What certificates import."""


@pytest.fixture(scope="module")
def checker(lean: Toolchain, tmp_path_factory: pytest.TempPathFactory) -> Tree:
    """What a certificate rests on, built."""
    folder = tmp_path_factory.mktemp("certificates")
    tree = Tree(folder / "source", folder / "output")
    for module in build.closure(
        build.source_folder(), ("Lockstep.Certificate", "Lockstep.RealSizes")
    ):
        tree.write(module.name, module.source.read_text("utf-8"))
    tree.build(incremental=False)
    return tree


def built_with(tree: Tree, name: str) -> None:
    """Build a module with one certificate, made now."""
    text = certificate_text.certificate(name, "One.", sliced(name))
    tree.write("Lockstep.Made", certificate_text.module("One.", [text]))
    tree.build("Lockstep.Made")


@pytest.mark.parametrize("name", SMALL)
def test_a_certificate_builds(checker: Tree, name: str) -> None:
    built_with(checker, name)
    assert checker.object("Lockstep.Made").is_file()


def exchanged(emit: Callable[..., Any], first: int, second: int) -> Callable[..., Any]:
    """What a map emits, two entries exchanged."""

    def emitted(realised: Realised) -> Any:
        table = emit(realised)
        table[[first, second]] = table[[second, first]]
        return table

    return emitted


def refused(tree: Tree, name: str, said: str) -> None:
    with pytest.raises(LockstepError, match=r"LEAN_BUILD_FAILED at Lockstep\.Made") as caught:
        built_with(tree, name)
    assert said in str(caught.value)
    assert not tree.object("Lockstep.Made").exists()


FALSE = "is false"


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("emit", ["forward", "inverse"])
def test_a_wrong_entry_is_refused(
    checker: Tree, name: str, emit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = exchanged(getattr(emitted_tables, emit), 7, 11)
    monkeypatch.setattr(emitted_tables, emit, wrong)
    refused(checker, name, FALSE)


@pytest.mark.parametrize("name", SMALL)
def test_tables_that_agree_on_a_wrong_map_are_refused(
    checker: Tree, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Forward and inverse undo each other, but the steps give another map."""

    def inverted(realised: Realised) -> Any:
        table = np.full(realised.positions, -1, dtype=np.int64)
        rows = wrong(realised)
        for copy in range(realised.replicas):
            table[rows[:, copy]] = np.arange(realised.canonical_elements)
        return table

    wrong = exchanged(emitted_tables.forward, 7, 11)
    monkeypatch.setattr(emitted_tables, "forward", wrong)
    monkeypatch.setattr(emitted_tables, "inverse", inverted)
    refused(checker, name, FALSE)


def test_padding_that_is_called_an_element_is_refused(
    checker: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    emit = emitted_tables.inverse
    monkeypatch.setattr(emitted_tables, "inverse", lambda realised: np.maximum(emit(realised), 0))
    refused(checker, "sglang_token", FALSE)


def test_an_element_that_is_called_padding_is_refused(
    checker: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    emit = emitted_tables.inverse

    def emptied(realised: Realised) -> Any:
        table = emit(realised)
        table[-1] = -1
        return table

    monkeypatch.setattr(emitted_tables, "inverse", emptied)
    refused(checker, "lmcache_kv_t2d", FALSE)


def test_copies_that_are_not_there_are_refused(checker: Tree) -> None:
    text = certificate_text.certificate("made", "One.", sliced("vllm_mla_tp2"))
    assert text.count("⟨layout, 2, forward") == 1
    wrong = text.replace("⟨layout, 2, forward", "⟨layout, 1, forward")
    checker.write("Lockstep.Made", certificate_text.module("One.", [wrong]))
    with pytest.raises(LockstepError, match="LEAN_BUILD_FAILED") as caught:
        checker.build("Lockstep.Made")
    assert FALSE in str(caught.value)


@pytest.mark.parametrize("name", SMALL)
def test_a_wrong_step_is_refused(checker: Tree, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Heads and dimensions, or blocks and ranks, change places once more and stay so."""

    def wrong(layout: Layout, geometry: Geometry) -> tuple[layout_steps.Step, ...]:
        found = layout_steps.steps(layout, geometry)
        key = found[-1].inputs[0]
        return (*found[:-1], layout_steps.Step("exchange", (key,), (key,), 1), found[-1])

    monkeypatch.setattr(layout_terms, "steps", wrong)
    refused(checker, name, FALSE)


def test_a_map_that_the_steps_do_not_give_is_refused(
    checker: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The term of a component's map is compared with the steps, not believed."""
    emit = layout_terms.lean_layout

    def wrong(realised: Realised) -> layout_terms.LeanLayout:
        layout = emit(realised)
        return replace(layout, maps=(layout.maps[1], layout.maps[1]))

    monkeypatch.setattr(certificate_text, "lean_layout", wrong)
    refused(checker, "lmcache_kv_t2d", "Type mismatch")


def positions_of(
    tree: Tree, names: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, more: int = 0
) -> None:
    """Build the theorem over the layouts' positions at one slice, of which it claims some more."""
    geometry = slice_geometry(LEMMAS[names[0]].layout)
    images = tuple(at(LEMMAS[name].layout, geometry) for name in names)
    monkeypatch.setattr(position_certificates, "distinct_images", lambda: images)
    (text,) = position_certificates.files().values()
    total = sum(image.positions for image in images)
    claim = f"allPositions publishedImages = {total}"
    assert text.count(claim) == 1
    tree.write("Lockstep.Made", text.replace(claim, f"{claim[: -len(str(total))]}{total + more}"))
    tree.build("Lockstep.Made")


def test_positions_are_counted(checker: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("sglang", "lmcache_kv_t2d", "hf_dynamic")
    positions_of(checker, names, monkeypatch)
    with pytest.raises(LockstepError, match="LEAN_BUILD_FAILED"):
        positions_of(checker, names, monkeypatch, more=1)


def test_images_that_are_the_same_are_not_counted_twice(
    checker: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(LockstepError, match="LEAN_BUILD_FAILED") as caught:
        positions_of(checker, ("sglang", "hicache_layer_first"), monkeypatch)
    assert "allDiffer" in str(caught.value)
    assert FALSE in str(caught.value)


def test_a_layout_that_is_larger_than_its_steps_say_is_refused(
    checker: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    lemma = LEMMAS["vllm_lbnhc"]
    monkeypatch.setattr(size_certificates, "lemmas", lambda: (lemma,))
    (text,) = size_certificates.files().values()
    checker.write("Lockstep.Made", text)
    checker.build("Lockstep.Made")
    padding = f".Lossless {2 * 131071 * 8 * 128} {2 * 8 * 128}"
    assert text.count(padding) == 1
    checker.write("Lockstep.Made", text.replace(padding, f"{padding[:-1]}9"))
    with pytest.raises(LockstepError, match="LEAN_BUILD_FAILED") as caught:
        checker.build("Lockstep.Made")
    assert FALSE in str(caught.value)
