"""Random well-formed declarations: index map, inverse, steps, words and images agree."""

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from lockstep.errors import LockstepError
from lockstep.layouts.declaration import Citation, Component, Geometry, Layout, Tensor
from lockstep.layouts.frontier import frontier_code
from lockstep.layouts.index_map import (
    canonical_to_native,
    image_sha256,
    is_identity,
    native_to_canonical,
    same_image,
)
from lockstep.layouts.realise import Realised, realise
from lockstep.layouts.steps import recipe, run, steps
from lockstep.layouts.words import transformations

EXAMPLES = settings(max_examples=60, deadline=None)

GEOMETRIES = st.builds(
    Geometry,
    tokens=st.integers(1, 11),
    layers=st.integers(1, 3),
    kv_heads=st.sampled_from((1, 2, 4)),
    head_dim=st.sampled_from((2, 4, 6)),
    latent_dim=st.sampled_from((128, 256)),
    rope_dim=st.sampled_from((2, 6, 128)),
    dtype=st.sampled_from(("float16", "float32")),
)


@st.composite
def layouts(draw: st.DrawFn, latent: bool | None = None) -> Layout:
    """A well-formed declaration; not every one is realisable at a geometry."""
    if latent is None:
        latent = draw(st.booleans())
    names = ["K", "V"] if not latent else ["latent", "scale", "rope"]
    quantised = draw(st.booleans()) if latent else False
    if latent and not quantised:
        names.remove("scale")
    ranks, rank_axis = draw(
        st.sampled_from(((1, "none"), (2, "sharded"), (4, "replicated"), (8, "replicated")))
    )
    block = draw(st.sampled_from((0, 1, 3, 4)))
    layer = draw(st.booleans())
    cuts = draw(st.lists(st.booleans(), min_size=len(names) - 1, max_size=len(names) - 1))
    groups = [[names[0]]]
    for name, cut in zip(names[1:], cuts, strict=True):
        groups.append([name]) if cut else groups[-1].append(name)
    bits = {"latent": 8, "scale": 32, "rope": 16}
    tensors = []
    for group in groups:
        axes = ["Tb", "Ti"] if block else ["T"]
        axes += ["H"] if not latent else []
        axes += ["L"] if layer else []
        axes += ["R"] if ranks > 1 else []
        joined = len(group) > 1 and (quantised or draw(st.booleans()))
        x = 0 if joined else draw(st.sampled_from((0, 0, 2)))
        axes += ["C"] if joined else ["Dg", "Dx"] if x else ["D"]
        axes += ["KV"] if len(group) > 1 and not joined else []
        axes += ["1"] * draw(st.integers(0, 1))
        order = draw(st.permutations(axes))
        grouped: list[str] = []
        while order:
            size = draw(st.sampled_from((1, 1, 1, 2)))
            taken, order = order[:size], order[size:]
            grouped.append(taken[0] if len(taken) == 1 else f"({' '.join(taken)})")
        tensors.append(
            Tensor(
                name="-".join(group).lower(),
                components=tuple(
                    Component(name, bits[name] if quantised else None) for name in group
                ),
                axes=tuple(grouped),
                x=x,
                pad_tokens=0 if block else draw(st.sampled_from((0, 4, 16))),
                pad_head_dim=0 if joined or x else draw(st.sampled_from((0, 0, 4))),
                reserve=draw(st.sampled_from((0, 0, 1, 2))),
            )
        )
    return Layout(
        name="random",
        engine="random",
        attention="mla" if latent else "gqa",
        kv_heads=0,
        ranks=ranks,
        rank_axis=rank_axis,
        block=block,
        quantisation="fp8_ds_mla" if quantised else "none",
        tensors=tuple(tensors),
        citation=Citation("a/b", "c", None, "random"),
        source_path="random.toml",
        source_sha256="0" * 64,
    )


def realised(layout: Layout, geometry: Geometry) -> Realised:
    found = realise(layout, geometry)
    assume(found is not None)
    assert found is not None
    return found


def native_index_arrays(one: Realised) -> dict[str, np.ndarray[Any, Any]]:
    """The inverse map, in the native shapes without the layer axis."""
    index = native_to_canonical(one, 0, one.positions)
    arrays = {}
    for tensor, declared in zip(one.tensors, one.layout.tensors, strict=True):
        shape = []
        for group in declared.axes:
            members = [axis for axis in group.strip("()").split() if axis != "L"]
            if members:
                shape.append(int(np.prod([tensor.extent(axis) for axis in members])))
        slots = index[tensor.base : tensor.base + tensor.positions]
        arrays[tensor.name] = slots.reshape(shape)
    return arrays


def canonical_arrays(one: Realised) -> dict[str, np.ndarray[Any, Any]]:
    """Canonical indices in the components' canonical shapes, D in slots."""
    arrays = {}
    for _, part in one.components:
        index = part.canonical_base + np.arange(part.elements).repeat(part.width)
        heads = (part.heads,) if part.name in ("K", "V") else ()
        arrays[part.name] = index.reshape(part.tokens, *heads, part.head_dim * part.width)
    return arrays


@EXAMPLES
@given(layouts(), GEOMETRIES, st.data())
def test_forward_and_inverse_are_each_others(
    layout: Layout, geometry: Geometry, data: st.DataObject
) -> None:
    one = realised(layout, geometry)
    forward = canonical_to_native(one, 0, one.canonical_elements)
    inverse = native_to_canonical(one, 0, one.positions)
    assert forward.shape == (one.canonical_elements, one.replicas)
    assert len(np.unique(forward)) == forward.size
    assert forward.min() >= 0
    assert (np.diff(forward, axis=1) > 0).all()
    assert (inverse[forward] == np.arange(one.canonical_elements)[:, None]).all()
    assert (inverse == -1).sum() == one.padding_positions
    widths = np.concatenate([np.full(part.elements, part.width) for _, part in one.components])
    counts = np.bincount(inverse[inverse >= 0], minlength=one.canonical_elements)
    assert (counts == widths * one.replicas).all()
    identity = forward.shape[1] == 1 and (forward[:, 0] == np.arange(len(forward))).all()
    assert is_identity(one) == bool(identity)
    start = data.draw(st.integers(0, one.positions))
    stop = data.draw(st.integers(start, one.positions))
    assert np.array_equal(native_to_canonical(one, start, stop), inverse[start:stop])
    start = data.draw(st.integers(0, one.canonical_elements))
    stop = data.draw(st.integers(start, one.canonical_elements))
    assert np.array_equal(canonical_to_native(one, start, stop), forward[start:stop])


@EXAMPLES
@given(layouts(), GEOMETRIES)
def test_the_map_agrees_with_coordinates_and_strides(layout: Layout, geometry: Geometry) -> None:
    """[LAY-7] taken literally, one element at a time, layer axis included."""
    one = realised(layout, geometry)
    forward = canonical_to_native(one, 0, one.canonical_elements)
    layer = geometry.layers - 1
    for tensor, part in one.components:
        flat = np.arange(tensor.positions * (tensor.extent("L"))).reshape(tensor.extents)
        for offset in {0, part.elements // 3, part.elements - 1}:
            t, rest = divmod(offset, part.heads * part.head_dim)
            h, d = divmod(rest, part.head_dim)
            share = part.heads // layout.ranks if layout.rank_axis == "sharded" else 1
            coordinate = {
                "1": 0,
                "L": layer,
                "KV": part.place,
                "C": part.joined_at + d * part.width,
                "T": tensor.reserve + t,
                "Tb": tensor.reserve + (t // layout.block if layout.block else 0),
                "Ti": t % layout.block if layout.block else 0,
                "H": h if layout.ranks == 1 else h % share,
                "D": d,
                "Dg": d // tensor.x if tensor.x else 0,
                "Dx": d % tensor.x if tensor.x else 0,
            }
            for copy in range(one.replicas):
                coordinate["R"] = (
                    h // share if layout.rank_axis == "sharded" else h * one.replicas + copy
                )
                slot = int(flat[tuple(coordinate[axis] for axis in tensor.axes)])
                position = forward[part.canonical_base + offset, copy] - tensor.base
                if "L" not in tensor.axes:
                    assert slot == position
                else:
                    at_zero = tuple(0 if a == "L" else coordinate[a] for a in tensor.axes)
                    assert slot == flat[at_zero] + layer * tensor.layer_stride


@EXAMPLES
@given(layouts(), GEOMETRIES)
def test_steps_give_what_strides_give(layout: Layout, geometry: Geometry) -> None:
    one = realised(layout, geometry)
    arrays = canonical_arrays(one)
    padding = {name: np.full(array.shape, -1) for name, array in native_index_arrays(one).items()}
    native = run(steps(layout, geometry), arrays, padding)
    wanted = native_index_arrays(one)
    assert native.keys() == wanted.keys()
    for name, array in wanted.items():
        assert np.array_equal(native[name], array)
    back = run(tuple(step.inverse for step in reversed(steps(layout, geometry))), native)
    for name, array in arrays.items():
        assert np.array_equal(back[name], array)


@EXAMPLES
@given(
    st.booleans().flatmap(lambda latent: st.tuples(layouts(latent), layouts(latent))), GEOMETRIES
)
def test_recipes_words_and_images_agree(pair: tuple[Layout, Layout], geometry: Geometry) -> None:
    src, dst = pair
    one, other = realised(src, geometry), realised(dst, geometry)
    words = transformations(src, dst, geometry)
    assert list(words) == sorted(set(words))
    if same_image(one, other):
        if one.canonical_elements <= 200_000:
            assert image_sha256(one) == image_sha256(other)
    elif src.component_names == dst.component_names:
        assert words, "two images and nothing to do"
    if src.quantisation != dst.quantisation:
        with pytest.raises(LockstepError):
            recipe(src, dst, geometry)
        return
    assume([part.width for _, part in one.components] == [p.width for _, p in other.components])
    assert frontier_code(src, dst, geometry) is None
    wanted = native_index_arrays(other)
    got = run(recipe(src, dst, geometry), native_index_arrays(one))
    for name, array in wanted.items():
        assert np.array_equal(got[name][array >= 0], array[array >= 0])


@EXAMPLES
@given(layouts(latent=False), GEOMETRIES)
def test_a_recipe_to_itself_is_empty(layout: Layout, geometry: Geometry) -> None:
    realised(layout, geometry)
    assert recipe(layout, layout, geometry) == ()
    assert transformations(layout, layout, geometry) == ()
