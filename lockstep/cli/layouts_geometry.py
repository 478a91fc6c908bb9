"""The geometry that commands on layouts take from their options."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from lockstep.layouts.declaration import Geometry

DEFAULT_SET = "engines"
"""The set whose geometry stands where the command line gives none."""

OPTIONS: dict[str, tuple[str, Any]] = {
    "tokens": ("int | None", typer.Option(None, help="Tokens of the request.")),
    "layers": ("int | None", typer.Option(None, help="Layers of the model.")),
    "kv_heads": ("int | None", typer.Option(None, help="KV heads.")),
    "head_dim": ("int | None", typer.Option(None, help="Dimensions of a head.")),
    "latent_dim": ("int | None", typer.Option(None, help="Dimensions of the latent (MLA).")),
    "rope_dim": ("int | None", typer.Option(None, help="Dimensions of the rope key (MLA).")),
    "dtype": ("str | None", typer.Option(None, help="float16, bfloat16 or float32.")),
}
"""An option for each field of a geometry: its type and what typer is told of it."""


def with_geometry(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command that takes an option for each field of a geometry, in place of `geometry`.

    Args:
        command: has the keyword `geometry`, the default set's with what the options change.
    """

    @functools.wraps(command)
    def with_options(*arguments: Any, **options: Any) -> None:
        chosen = {name: options.pop(name) for name in OPTIONS}
        command(*arguments, geometry=_geometry(chosen), **options)

    signature = inspect.signature(command)
    kept = [one for one in signature.parameters.values() if one.name != "geometry"]
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=option, annotation=kind)
        for name, (kind, option) in OPTIONS.items()
    ]
    with_options.__signature__ = signature.replace(parameters=[*kept, *added])  # type: ignore[attr-defined]
    with_options.__annotations__ = {
        **{name: kind for name, kind in command.__annotations__.items() if name != "geometry"},
        **{name: kind for name, (kind, _) in OPTIONS.items()},
    }
    return with_options


def _geometry(chosen: Mapping[str, Any]) -> Geometry:
    """Give the default set's geometry with what the command line changes."""
    from lockstep.layouts.sets import load_set

    given = {name: value for name, value in chosen.items() if value is not None}
    return replace(load_set(DEFAULT_SET).geometry, **given)


def sizes(geometry: Geometry) -> str:
    """Say a geometry's sizes."""
    return (
        f"{geometry.tokens} tokens, {geometry.layers} layers, {geometry.kv_heads} KV heads of "
        f"{geometry.head_dim}, latent {geometry.latent_dim} + {geometry.rope_dim}, {geometry.dtype}"
    )
