"""Falsifications of the hunt itself: layouts and translators that its own code must not grade up.

They run on the small layouts of `lockstep.hunt`, so that every hunt carries them, whatever its set
holds. Each has a premise beside its outcome, such as the perfect round trip of a translator that
moves nothing; where a premise fails the outcome is INTERNAL, since then nothing was shown.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from lockstep.claims.verdict import EXACT
from lockstep.hunt import small_layouts
from lockstep.hunt.checks import grade, relabel
from lockstep.hunt.native import Arrays
from lockstep.hunt.observe import RowObservation
from lockstep.hunt.small_layouts import BLOCKED, GEOMETRY, HEAD_MAJOR, TOKEN_MAJOR, VECTORISED
from lockstep.hunt.transfer import Translator, observe
from lockstep.layouts.declaration import Component, Layout, Tensor
from lockstep.layouts.frontier import frontier_code
from lockstep.layouts.words import transformations

BROKEN_PREMISE = "INTERNAL"


def _observed(
    src: Layout,
    dst: Layout,
    there: Translator | None = None,
    back: Translator | None = None,
    decode: bool = True,
) -> RowObservation:
    bench = small_layouts.bench()
    model = small_layouts.model(bench) if decode else None
    sides = small_layouts.cache(src), small_layouts.cache(dst)
    return observe(bench, *sides, model, there, back)


def _given(premise: bool, outcome: str) -> str:
    return outcome if premise else BROKEN_PREMISE


def roundtrip_only_proof() -> str:
    """Take one layout's bytes for another's: back and forth nothing is lost."""
    there, back = (relabel(small_layouts.cache(side)) for side in (HEAD_MAJOR, TOKEN_MAJOR))
    row = _observed(TOKEN_MAJOR, HEAD_MAJOR, there, back)
    return _given(row.roundtrip_byte_identical is True, grade(row))


def _trim_the_wrong_end(arrays: Arrays, inverted: bool) -> Arrays:
    """Move BLOCKED to TOKEN_MAJOR, keeping the padding after the last token and losing tokens."""
    blocks, parts, block, heads, dims = arrays["kv"].shape
    by_token = arrays["kv"].transpose(1, 0, 2, 3, 4).reshape(parts, blocks * block, heads, dims)
    trimmed = by_token[:, -GEOMETRY.tokens :]
    return {"k": trimmed[0], "v": trimmed[1]}


def padding_read() -> str:
    """Let the source's padding into the state that is decoded."""
    row = _observed(BLOCKED, TOKEN_MAJOR, _trim_the_wrong_end)
    return _given(row.tokens_identical is False, grade(row))


def relabelled_engine() -> str:
    """Declare a layout again under another name: exact, and no transformation."""
    again = replace(BLOCKED, name="relabelled")
    exact = grade(_observed(BLOCKED, again)) in EXACT
    words = transformations(BLOCKED, again, GEOMETRY)
    return _given(exact, grade(_observed(BLOCKED, again)) if words else "H5_TRIVIAL_TRANSFORMATION")


def _refused(src: Layout, dst: Layout, head_dim: int = GEOMETRY.head_dim) -> str:
    code = frontier_code(src, dst, replace(GEOMETRY, head_dim=head_dim))
    return code or grade(_observed(src, dst))


def the_same_pair_elsewhere() -> str:
    """Grade an exact pair at a head dimension that its vector width does not divide."""
    exact = _refused(TOKEN_MAJOR, VECTORISED) in EXACT
    return _given(exact, _refused(TOKEN_MAJOR, VECTORISED, head_dim=6))


def mla_destination() -> str:
    """Convert to a cache of latents."""
    latent = Tensor("latent", (Component("latent"), Component("rope")), ("T", "C"))
    return _refused(TOKEN_MAJOR, replace(TOKEN_MAJOR, attention="mla", tensors=(latent,)))


def tp_shard_destination() -> str:
    """Convert to the cache of one tensor-parallel rank."""
    return _refused(TOKEN_MAJOR, replace(TOKEN_MAJOR, kv_heads=1))


def x16_destination() -> str:
    """Convert to vectors of 16 at a head dimension of 8."""
    tensors = tuple(replace(one, x=16 if one.x else 0) for one in VECTORISED.tensors)
    return _refused(TOKEN_MAJOR, replace(VECTORISED, tensors=tensors))


def fp8_destination() -> str:
    """Convert to a cache of 8-bit floats: it runs, and the way back loses values."""
    eight = tuple(
        replace(one, components=tuple(replace(part, bits=8) for part in one.components))
        for one in HEAD_MAJOR.tensors
    )
    lossy = replace(HEAD_MAJOR, name="lossy", quantisation="fp8_e4m3", tensors=eight)
    row = _observed(TOKEN_MAJOR, lossy)
    return _given(row.forward_reproduces_target is True, grade(row))


def withholding_an_observation() -> str:
    """Leave the decode out of an exact pair; to decode and fail would rank above it."""
    made = _observed(BLOCKED, TOKEN_MAJOR)
    failed = replace(made, tokens_identical=False)
    premise = grade(made) in EXACT and grade(failed) == "NOT_EXACT"
    return _given(premise, grade(_observed(BLOCKED, TOKEN_MAJOR, decode=False)))


OUTCOMES: dict[str, Callable[[], str]] = {
    "roundtrip-only-proof": roundtrip_only_proof,
    "padding-read": padding_read,
    "relabelled-engine": relabelled_engine,
    "the-same-pair-at-a-geometry-that-does-not-admit-it": the_same_pair_elsewhere,
    "mla-destination": mla_destination,
    "tp-shard-destination": tp_shard_destination,
    "x16-destination": x16_destination,
    "fp8-destination-runs-and-is-not-exact": fp8_destination,
    "withholding-an-observation": withholding_an_observation,
}
"""Falsifications of the hunt, by name."""


def outcomes() -> dict[str, str]:
    """Give the outcome of each falsification of the hunt, by name."""
    return {name: carry_out() for name, carry_out in OUTCOMES.items()}
