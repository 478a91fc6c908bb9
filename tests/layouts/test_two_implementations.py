"""The producer's layouts against the verifier's, which shares the specification only."""

import itertools

import pytest

from lockstep.layouts.declaration import Geometry
from lockstep.layouts.derived import derived_json
from lockstep.layouts.frontier import frontier_code
from lockstep.layouts.index_map import same_image
from lockstep.layouts.realise import realise
from lockstep.layouts.sets import load_set
from lockstep.layouts.words import transformations
from lockstep_verify.derive import hunt_words
from lockstep_verify.derive.layout import Layout
from lockstep_verify.derive.layout_form import check_declaration
from lockstep_verify.derive.layout_image import image_sha256
from lockstep_verify.derive.layout_terms import geometry_of


@pytest.mark.parametrize(
    ("name", "geometry"),
    [
        ("seed-004", Geometry(40, 3, 2, 8, 0, 0, "float16")),
        ("engines", Geometry(260, 3, 4, 16, 256, 64, "bfloat16")),
        # One token, one layer, D extents that x does not divide, latent and rope of one extent.
        ("engines", Geometry(1, 1, 8, 12, 128, 128, "float32")),
        ("engines", Geometry(8192, 32, 8, 128, 512, 64, "bfloat16")),
    ],
)
def test_both_derive_the_same(name: str, geometry: Geometry) -> None:
    layouts = load_set(name).layouts
    theirs = {}
    for layout in layouts.values():
        declared = layout.as_json(geometry)
        check_declaration(declared, 0, geometry.element_bits)
        other = theirs[layout.name] = Layout(declared, geometry_of(geometry.as_json()))
        one = realise(layout, geometry)
        assert (one is not None) == other.realisable
        if one is None:
            assert derived_json(None)["positions"] is None
            continue
        assert derived_json(one) == {
            "realisable": True,
            "native_shapes": other.native_shapes,
            "positions": other.positions,
            "padding_positions": other.padding,
            "replicas": other.replicas,
            "native_bytes": other.native_bytes,
            "bijective": other.bijective,
            "identity": other.identity,
            "image_sha256": image_sha256(other),
        }
    for src, dst in itertools.permutations(layouts.values(), 2):
        pair = theirs[src.name], theirs[dst.name]
        assert list(transformations(src, dst, geometry)) == hunt_words.words(*pair)
        assert frontier_code(src, dst, geometry) == hunt_words.frontier_code(*pair)
    for src, dst in itertools.combinations(layouts.values(), 2):
        one, second = realise(src, geometry), realise(dst, geometry)
        if geometry.tokens < 1000 and one is not None and second is not None:
            images = theirs[src.name].image == theirs[dst.name].image
            assert same_image(one, second) == images
