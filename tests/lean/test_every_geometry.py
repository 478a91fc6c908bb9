"""Declared tensors: their steps give the index map at other geometries, and Lean refuses others."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING

import numpy as np
import pytest

from lockstep.errors import LockstepError
from lockstep.layouts.index_map import canonical_to_native
from lockstep.layouts.steps import run
from lockstep.lean import build, every_geometry
from lockstep.lean import certificate_text as text
from lockstep.lean.declared_tensors import COPY, declared_tensors
from lockstep.lean.layout_certificates import Lemma, lemmas
from lockstep.lean.layout_slices import slice_geometry

from .conftest import Tree

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from lockstep.layouts.realise import Realised
    from lockstep.lean.toolchain import Toolchain

pytestmark = pytest.mark.xdist_group("lean")

MODULE = "Lockstep.Cert.EveryGeometry.Lmcache"


def names(lemma: Lemma) -> str:
    return lemma.name


def arrays(realised: Realised, layers: int = 1) -> dict[str, NDArray[np.int64]]:
    """Each component with its copies and layers, an element being its number in all layers."""
    found = {}
    for _, part in realised.components:
        heads = (part.heads,) if part.name in ("K", "V") else ()
        shape = (part.tokens, *heads, part.head_dim)
        copies = (realised.replicas,) if realised.replicas > 1 else ()
        first = part.canonical_base
        numbers = np.arange(first, first + prod(shape), dtype=np.int64).reshape(shape)
        numbers = np.broadcast_to(numbers.reshape(shape + (1,) * len(copies)), shape + copies)
        if layers > 1:
            numbers = numbers[..., None] + realised.canonical_elements * np.arange(layers)
        found[part.name] = numbers
    return found


def flat(realised: Realised, layered: bool = False) -> NDArray[np.int64]:
    """The native tensors, one after another, as the declared tensors' steps give them."""
    found = [step for tensor in declared_tensors(realised, layered) for step in tensor.steps]
    native = run(tuple(found), arrays(realised, realised.geometry.layers if layered else 1))
    return np.concatenate([native[tensor.name].reshape(-1) for tensor in realised.layout.tensors])


@pytest.mark.parametrize("lemma", lemmas(), ids=names)
@pytest.mark.parametrize("more_tokens", [0, 1, 64])
def test_the_steps_of_the_declared_tensors_give_the_index_map(
    lemma: Lemma, more_tokens: int
) -> None:
    given = slice_geometry(lemma.layout)
    realised = text.realised_at(lemma.layout, replace(given, tokens=given.tokens + more_tokens))
    elements = realised.canonical_elements
    positions = canonical_to_native(realised, 0, elements).reshape(elements, realised.replicas)
    native = flat(realised)
    assert native.size == realised.positions
    assert (native[positions] == np.arange(elements)[:, None]).all()


LAYERED = [lemma for lemma in lemmas() if "L" in lemma.layout.tensors[0].opened]


@pytest.mark.parametrize("lemma", LAYERED, ids=names)
def test_a_layer_lies_its_stride_behind_the_one_before(lemma: Lemma) -> None:
    realised = text.realised_at(lemma.layout, replace(slice_geometry(lemma.layout), layers=3))
    (tensor,) = realised.tensors
    native = flat(realised, layered=True)
    assert native.size == 3 * realised.positions
    elements = realised.canonical_elements
    first = np.array([int(np.flatnonzero(native == number)[0]) for number in range(1, elements)])
    for layer in (1, 2):
        there = native[first + layer * tensor.layer_stride]
        assert (there == np.arange(1, elements) + layer * elements).all()


def test_each_layout_has_its_theorems() -> None:
    whole = "".join(every_geometry.files().values())
    for lemma in lemmas():
        assert whole.count(f"theorem {lemma.name}_every_geometry ") == 1
        assert whole.count(f"theorem {lemma.name}_same_map :") == 1
        assert whole.count(f"theorem {lemma.name}_every_layer ") == (lemma in LAYERED)


def test_what_the_declaration_asks_is_asked() -> None:
    given = {lemma.name: every_geometry.theorems(lemma) for lemma in lemmas()}
    assert "(vectors : head_dim % 4 = 0)" in given["vllm_paged_x"]
    assert "(shards : heads % 2 = 0)" in given["vllm_tp2"]
    assert "(_copies : 8 % heads = 0)" in given["vllm_tp8_replicated"]
    assert COPY in given["vllm_mla_tp2"]


@pytest.fixture(scope="module")
def sources(lean: Toolchain, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tree]:
    """The sources of one module of layouts with all that it imports, built."""
    folder = tmp_path_factory.mktemp("every_geometry")
    tree = Tree(folder / "source", folder / "output")
    for module in build.closure(build.source_folder(), (MODULE,)):
        tree.write(module.name, module.source.read_text("utf-8"))
    tree.build(MODULE)
    yield tree


@pytest.mark.slow  # builds a module of layouts first
@pytest.mark.parametrize(
    ("old", "new"),
    [
        # The axes in an order that is not declared.
        ("1 [0] ]", "1 [1] ]"),
        # One row of tokens too many before the first.
        ("(.whole tokens tokens 0)", "(.whole tokens tokens 1)"),
        # Room for half of the heads.
        (".whole heads heads 0", ".whole heads (heads / 2) 0"),
        # An exchange of axes that are not there.
        ("1 [0] ]", "1 [0, 3] ]"),
    ],
)
def test_lean_refuses_what_is_not_declared(sources: Tree, old: str, new: str) -> None:
    right = sources.path(MODULE).read_text("utf-8")
    try:
        sources.replace(MODULE, old, new)
        with pytest.raises(LockstepError) as caught:
            sources.build(MODULE)
        assert caught.value.code == "LEAN_BUILD_FAILED"
    finally:
        sources.write(MODULE, right)


def test_the_committed_modules_are_what_the_generator_gives() -> None:
    folder: Path = build.source_folder()
    for path, made in every_geometry.files().items():
        assert (folder / path).read_text("utf-8") == made
