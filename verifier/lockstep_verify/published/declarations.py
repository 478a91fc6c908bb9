"""The published document's geometry and engines: read, bounded, cross-checked."""

from __future__ import annotations

import re
from typing import Any

from lockstep_verify.errors import Refusal

from . import profile
from .layout import Geometry, Layout
from .rows import NOT_DERIVED, require, roundtrip_lemma

_SHAPE = "PUBLISHED_SHAPE"
_BIJECTION = "BIJECTION_NOT_DERIVED"


def declared_layouts(document: dict[str, Any]) -> dict[str, Layout]:
    """The engines by name, in declared order ([PUB-6], [PUB-7]).

    Raises:
        Refusal: PUBLISHED_SHAPE for a value that the profile does not know or a
            size beyond its bounds, BIJECTION_NOT_DERIVED for axes that do not
            factor each logical axis once.
    """
    geometry = _geometry(document["geometry"])
    if len(document["engines"]) > profile.MAX_ENGINES:
        got = len(document["engines"])
        raise Refusal(_SHAPE, "/engines", f"at most {profile.MAX_ENGINES}", got)
    layouts: dict[str, Layout] = {}
    for index, engine in enumerate(document["engines"]):
        pointer = f"/engines/{index}"
        layout = _layout(engine, geometry, pointer)
        if layout.name in layouts:
            raise Refusal(NOT_DERIVED, f"{pointer}/engine", "each engine once", layout.name)
        layouts[layout.name] = layout
    require_anchor(layouts)
    return layouts


def require_anchor(layouts: dict[str, Layout]) -> None:
    """The anchor is declared and lossless: every other group is paired with it ([PUB-15])."""
    anchor = layouts.get(profile.ANCHOR)
    if anchor is None or not anchor.lossless:
        got = "absent" if anchor is None else "not lossless"
        code = "H11_ENGINE_UNDECLARED" if anchor is None else NOT_DERIVED
        raise Refusal(code, "/engines", f"{profile.ANCHOR}, lossless", got)


def _bounded(value: int, low: int, pointer: str) -> int:
    if not low <= value <= profile.MAX_EXTENT:
        raise Refusal(_SHAPE, pointer, f"{low} to {profile.MAX_EXTENT}", value)
    return value


def _known(value: str, known: tuple[str, ...], pointer: str) -> str:
    if value not in known:
        raise Refusal(_SHAPE, pointer, " or ".join(known), value)
    return value


def _geometry(declared: dict[str, Any]) -> Geometry:
    names = ("tokens", "layers", "kv_heads", "head_dim", "decode_steps")
    sizes = {name: _bounded(declared[name], 1, f"/geometry/{name}") for name in names}
    _known(declared["dtype"], tuple(profile.ELEMENT_BYTES), "/geometry/dtype")
    require(_SHAPE, "/geometry/canonical_axes", profile.CANONICAL_AXES, declared["canonical_axes"])
    geometry = Geometry(**sizes)
    if geometry.canonical > profile.MAX_POSITIONS:
        raise Refusal(_SHAPE, "/geometry", f"at most {profile.MAX_POSITIONS}", geometry.canonical)
    return geometry


def _layout(engine: dict[str, Any], geometry: Geometry, pointer: str) -> Layout:
    layout = Layout(
        geometry=geometry,
        name=engine["engine"],
        attention=_known(engine["attention"], profile.ATTENTION, f"{pointer}/attention"),
        quant=_known(engine["quant"], profile.QUANT, f"{pointer}/quant"),
        kv=_known(engine["kv"], profile.BUFFERS, f"{pointer}/kv"),
        block=_bounded(engine["block"], 0, f"{pointer}/block"),
        declared_heads=_bounded(engine["n_kv_heads"], 0, f"{pointer}/n_kv_heads"),
        axes=(tuple(engine["k_axes"]), tuple(engine["v_axes"])),
        x=(
            _bounded(engine["k_x"], 0, f"{pointer}/k_x"),
            _bounded(engine["v_x"], 0, f"{pointer}/v_x"),
        ),
    )
    if not layout.factors_each_axis_once():
        expected = "T or Tb Ti, H, D or Dg Dx, and KV if interleaved, each once"
        raise Refusal(_BIJECTION, f"{pointer}/k_axes", expected, list(layout.axes))
    if layout.positions > profile.MAX_POSITIONS:
        raise Refusal(_SHAPE, pointer, f"at most {profile.MAX_POSITIONS}", layout.positions)
    if layout.realisable and not layout.bijective:
        raise Refusal(_BIJECTION, pointer, "each element once", "a slot twice")
    return layout


def check_declared(document: dict[str, Any], layouts: dict[str, Layout]) -> None:
    """What the document states beside its declarations ([PUB-6] to [PUB-10])."""
    sizes, lean = document["geometry"], document["geometry"]["lean_slice"]
    for name in ("kv_heads", "head_dim"):
        require(NOT_DERIVED, f"/geometry/lean_slice/{name}", sizes[name], lean[name])
    if not 1 <= lean["tokens"] <= sizes["tokens"]:
        bounds = f"1 to {sizes['tokens']}"
        raise Refusal(NOT_DERIVED, "/geometry/lean_slice/tokens", bounds, lean["tokens"])
    images: dict[tuple[int, ...], str] = {}
    for index, (engine, layout) in enumerate(
        zip(document["engines"], layouts.values(), strict=True)
    ):
        pointer = f"/engines/{index}"
        derived = {
            "native_shapes": layout.shapes,
            "realisable_at_this_geometry": layout.realisable,
            "is_the_identity_map": layout.is_identity,
            "lean_lemma": roundtrip_lemma(layout),
        }
        for name, value in derived.items():
            require(NOT_DERIVED, f"{pointer}/{name}", value, engine[name])
        _check_heads(layout, pointer)
        _check_name(layout, pointer)
        if layout.lossless and images.setdefault(layout.image, layout.name) != layout.name:
            raise Refusal(
                NOT_DERIVED, pointer, "an image of its own", f"that of {images[layout.image]}"
            )


def _check_heads(layout: Layout, pointer: str) -> None:
    """Heads are written one way: 0 for all, else a proper divisor of all ([PUB-7])."""
    heads, whole = layout.declared_heads, layout.geometry.kv_heads
    if heads and (heads >= whole or whole % heads):
        expected = f"0, or a proper divisor of {whole}"
        raise Refusal(NOT_DERIVED, f"{pointer}/n_kv_heads", expected, heads)


def _check_name(layout: Layout, pointer: str) -> None:
    """A number at the end of an engine's name quotes its declaration ([PUB-7])."""
    quoted = re.fullmatch(r".*-(x|tp)([0-9]{1,6})", layout.name)
    if quoted is None:
        return
    number = int(quoted[2])
    if quoted[1] == "x":
        require(NOT_DERIVED, f"{pointer}/k_x", number, layout.x[0])
    else:
        ranks = layout.geometry.kv_heads // layout.heads
        require(NOT_DERIVED, f"{pointer}/n_kv_heads", number, ranks)
