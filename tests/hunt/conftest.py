from __future__ import annotations

import pytest

from lockstep.hunt import HuntObservations, hunt
from lockstep.hunt.small_layouts import GEOMETRY, TOKEN_MAJOR
from lockstep.layouts.declaration import Citation, Component, Layout, Tensor
from lockstep.layouts.geometry import Geometry
from lockstep.layouts.sets import Group, LayoutSet, load_set

CITATION = Citation("none/none", "none", None, "Made up.")


def declare(
    name: str,
    *tensors: Tensor,
    attention: str = "gqa",
    ranks: int = 1,
    rank_axis: str = "none",
    block: int = 0,
    quantisation: str = "none",
) -> Layout:
    return Layout(
        name, "none", attention, 0, ranks, rank_axis, block, quantisation, tensors, CITATION,
        f"{name}.toml", "0" * 64,
    )  # fmt: skip


def as_set(geometry: Geometry, *layouts: Layout) -> LayoutSet:
    names = tuple(layout.name for layout in layouts)
    return LayoutSet(
        "made-up", geometry, (Group(names[0], names),), {layout.name: layout for layout in layouts}
    )


@pytest.fixture(scope="session")
def seed_set() -> LayoutSet:
    return load_set("seed-004")


@pytest.fixture(scope="session")
def observed(seed_set: LayoutSet) -> HuntObservations:
    return hunt(seed_set)


@pytest.fixture(scope="session")
def latent_set() -> LayoutSet:
    """Two lossless latent layouts and the quantised record, which joins uneven components."""
    whole = (Component("latent"), Component("rope"))
    record = (Component("latent", 8), Component("scale", 32), Component("rope", 16))
    return as_set(
        Geometry(10, 2, 3, 8, 256, 6, "bfloat16"),
        declare("plain", Tensor("kv", whole, ("T", "C")), attention="mla"),
        declare("paged", Tensor("kv", whole, ("Tb", "Ti", "C")), attention="mla", block=4),
        declare(
            "record",
            Tensor("kv", record, ("T", "C")),
            attention="mla",
            quantisation="fp8_ds_mla",
        ),
    )


@pytest.fixture(scope="session")
def rank_set() -> LayoutSet:
    """A cache on one rank, sharded over its heads, replicated, with a reserve and a pitch."""
    both = (Component("K"), Component("V"))
    return as_set(
        GEOMETRY,
        TOKEN_MAJOR,
        declare(
            "sharded", Tensor("kv", both, ("R", "KV", "T", "H", "D")), ranks=3, rank_axis="sharded"
        ),
        declare(
            "copies",
            Tensor("kv", both, ("R", "KV", "T", "H", "D")),
            ranks=6,
            rank_axis="replicated",
        ),
        declare("reserved", Tensor("kv", both, ("T", "KV", "H", "D"), reserve=3)),
        declare(
            "pitched", Tensor("kv", both, ("KV", "H", "T", "D"), pad_tokens=16, pad_head_dim=5)
        ),
        declare("across", Tensor("kv", both, ("Tb", "L", "KV", "(Ti H)", "D")), block=4),
    )
