"""A small set of layouts, its proofs by both solvers (asked once), and tiny cases."""

from __future__ import annotations

from pathlib import Path

import pytest

from lockstep.layouts.geometry import Geometry
from lockstep.layouts.sets import LayoutSet, load_set
from lockstep.proofs.run import SmtObservations, prove
from lockstep.proofs.solvers import Solver, solvers

SET = """
[geometry]
tokens = 40
layers = 3
kv_heads = 2
head_dim = 16
latent_dim = 128
rope_dim = 8
dtype = "bfloat16"

[[groups]]
anchor = "vllm-paged-x"
members = ["vllm/vllm-paged-x", "vllm/vllm-tp8-replicated", "vllm/vllm-fp8", "vllm/vllm-mla"]
"""


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> LayoutSet:
    file = Path(tmp_path_factory.mktemp("sets"), "small.toml")
    file.write_text(SET, "utf-8")
    return load_set(file)


@pytest.fixture(scope="session")
def both() -> tuple[Solver, ...]:
    return solvers()


@pytest.fixture(scope="session")
def seen(small: LayoutSet, both: tuple[Solver, ...]) -> SmtObservations:
    return prove(small, both, lifecycle=False)


@pytest.fixture
def tiny() -> dict[str, Geometry]:
    sizes = {"tokens": 5, "layers": 2, "dtype": "bfloat16"}
    return {
        "gqa": Geometry(**sizes, kv_heads=2, head_dim=4, latent_dim=0, rope_dim=0),
        "mla": Geometry(**sizes, kv_heads=1, head_dim=1, latent_dim=4, rope_dim=2),
    }
