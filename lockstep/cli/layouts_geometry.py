"""The geometry that commands on layouts take from their options."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from lockstep.layouts.declaration import Geometry

DEFAULT_SET = "engines"
"""The set whose geometry stands where the command line gives none."""

TOKENS = typer.Option(None, help="Tokens of the request.")
LAYERS = typer.Option(None, help="Layers of the model.")
KV_HEADS = typer.Option(None, help="KV heads.")
HEAD_DIM = typer.Option(None, help="Dimensions of a head.")
LATENT_DIM = typer.Option(None, help="Dimensions of the latent (MLA).")
ROPE_DIM = typer.Option(None, help="Dimensions of the rope key (MLA).")
DTYPE = typer.Option(None, help="float16, bfloat16 or float32.")


def geometry_of(
    tokens: int | None,
    layers: int | None,
    kv_heads: int | None,
    head_dim: int | None,
    latent_dim: int | None,
    rope_dim: int | None,
    dtype: str | None,
) -> Geometry:
    """Give the default set's geometry with what the command line changes."""
    from lockstep.layouts.sets import load_set

    base = load_set(DEFAULT_SET).geometry
    return replace(
        base,
        tokens=base.tokens if tokens is None else tokens,
        layers=base.layers if layers is None else layers,
        kv_heads=base.kv_heads if kv_heads is None else kv_heads,
        head_dim=base.head_dim if head_dim is None else head_dim,
        latent_dim=base.latent_dim if latent_dim is None else latent_dim,
        rope_dim=base.rope_dim if rope_dim is None else rope_dim,
        dtype=dtype or base.dtype,
    )


def sizes(geometry: Geometry) -> str:
    """Say a geometry's sizes."""
    return (
        f"{geometry.tokens} tokens, {geometry.layers} layers, {geometry.kv_heads} KV heads of "
        f"{geometry.head_dim}, latent {geometry.latent_dim} + {geometry.rope_dim}, {geometry.dtype}"
    )
