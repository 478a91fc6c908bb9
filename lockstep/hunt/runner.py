"""The course of a hunt: layouts are walked, a model chosen, pairs moved, guards executed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from lockstep import limits
from lockstep.errors import LockstepError
from lockstep.hunt.checks import (
    axis_exchange_equals_numpy_transpose,
    round_trip_alone_is_not_exactness,
)
from lockstep.hunt.decode import STEPS
from lockstep.hunt.demand import demanded_by, demanded_pairs, pair_id
from lockstep.hunt.known_limits import execute_limits
from lockstep.hunt.native import Cache
from lockstep.hunt.observe import (
    HuntObservations,
    LayoutObservation,
    Reference,
    RowObservation,
)
from lockstep.hunt.payloads import PAYLOADS
from lockstep.hunt.probe import element_widths, pair_is_bijective, probe
from lockstep.hunt.reference import choose_models
from lockstep.hunt.transfer import Bench, Model, gather_agrees, observe
from lockstep.layouts.frontier import frontier_code
from lockstep.layouts.geometry import SCALE_GROUP, Geometry, limit
from lockstep.layouts.realise import realise
from lockstep.layouts.sets import LayoutSet, check_latent

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how many of it are done, and how many there are."""


@dataclass(frozen=True)
class Options:
    """How to hunt: whether to decode, and the seeds of contents and model."""

    decode: bool = True
    payload_seed: int = 4
    weights_seed: int = 4


def hunt(
    layout_set: LayoutSet,
    geometry: Geometry | None = None,
    options: Options | None = None,
    progress: Progress | None = None,
) -> HuntObservations:
    """Hunt a set of layouts at a geometry, its own if None.

    Raises:
        LockstepError: BAD_VALUE where the geometry is beyond the limits or names latent extents
            that no layout has; X2_HEAD_GATHER or X4_GEOMETRY_UNREPRESENTABLE where a group's
            anchor does not exist at the geometry; what `realise` raises.
    """
    geometry = geometry or layout_set.geometry
    options = options or Options()
    report = progress or (lambda what, done, whole: None)
    _refuse_impossible(layout_set, geometry)
    observed = tuple(_probe_layouts(layout_set, geometry, report))
    caches = {
        entry.layout.name: Cache(entry.realised) for entry in observed if entry.realised is not None
    }
    pairs = demanded_pairs(layout_set.groups, layout_set.layouts, geometry)
    movable = [
        pair
        for pair in pairs
        if frontier_code(layout_set.layouts[pair[0]], layout_set.layouts[pair[1]], geometry) is None
    ]
    small = all(
        cache.realised.canonical_elements <= limits.PAIR_WALK_ELEMENTS for cache in caches.values()
    )
    layers = tuple(range(geometry.layers)) if small else (0, geometry.layers - 1)
    bench = Bench(geometry, tuple(sorted(set(layers))), options.payload_seed)
    anchors = {group.anchor: caches[group.anchor] for group in layout_set.groups}
    seed, references, not_vacuous = options.weights_seed, dict[str, tuple[int, ...]](), None
    if options.decode:
        report("choosing the model", 0, 1)
        seed, references, not_vacuous = choose_models(bench, anchors, options.weights_seed)
    models = {
        pair: Model(seed, references[group.anchor])
        for group in reversed(layout_set.groups)
        for pair in demanded_by(group, layout_set.layouts, geometry)
        if options.decode
    }
    rows = _observe_rows(bench, caches, movable, models, small, report)
    report("running the checks and known limits", 0, 1)
    return HuntObservations(
        set_name=layout_set.name,
        geometry=geometry,
        layouts=observed,
        groups=layout_set.groups,
        pairs=pairs,
        rows=rows,
        layers=bench.layers if movable else (),
        gather_payloads=len(PAYLOADS) if small else len(bench.layers),
        payload_seed=options.payload_seed,
        weights_seed=seed,
        steps=STEPS,
        references=tuple(
            Reference(anchor, tokens) for anchor, tokens in references.items() if movable
        ),
        checks={
            "token_leg_is_not_vacuous": not_vacuous,
            "round_trip_alone_is_not_exactness": round_trip_alone_is_not_exactness(),
            "axis_exchange_equals_numpy_transpose": axis_exchange_equals_numpy_transpose(),
        },
        known_limits=execute_limits(),
    )


def _refuse_impossible(layout_set: LayoutSet, geometry: Geometry) -> None:
    """Refuse a geometry at which the set cannot be hunted at all."""
    check_latent(geometry, layout_set.layouts)
    sizes = (
        2 * geometry.tokens * geometry.kv_heads * geometry.head_dim,
        geometry.tokens
        * (geometry.latent_dim + geometry.latent_dim // SCALE_GROUP + geometry.rope_dim),
    )
    if max(sizes) > limit("canonical_elements"):
        raise LockstepError(
            "BAD_VALUE",
            "/geometry",
            f"at most {limit('canonical_elements')} elements a layer",
            max(sizes),
        )
    for number, group in enumerate(layout_set.groups):
        anchor = layout_set.layouts[group.anchor]
        if realise(anchor, geometry) is not None:
            continue
        heads = anchor.effective_heads(geometry)
        gathered = not anchor.holds_latent and heads != geometry.kv_heads
        raise LockstepError(
            "X2_HEAD_GATHER" if gathered else "X4_GEOMETRY_UNREPRESENTABLE",
            f"/groups/{number}/anchor",
            f"a geometry at which {group.anchor} exists",
            f"{geometry.kv_heads} KV heads, head_dim {geometry.head_dim}, "
            f"latent_dim {geometry.latent_dim}, rope_dim {geometry.rope_dim}",
            "Choose a geometry that the anchor's vector width, ranks and heads divide.",
        )


def _probe_layouts(
    layout_set: LayoutSet, geometry: Geometry, report: Progress
) -> Iterator[LayoutObservation]:
    for done, layout in enumerate(layout_set.layouts.values()):
        report("walking layouts", done, len(layout_set.layouts))
        realised = realise(layout, geometry)
        yield LayoutObservation(layout, realised, probe(realised) if realised else None)


def _observe_rows(
    bench: Bench,
    caches: dict[str, Cache],
    pairs: list[tuple[str, str]],
    models: dict[tuple[str, str], Model],
    small: bool,
    report: Progress,
) -> dict[str, RowObservation]:
    """Observe every pair; the order of threads decides nothing."""
    names = sorted({name for pair in pairs for name in pair})
    images = [(caches[name], layer) for name in names for layer in bench.layers]

    def one(pair: tuple[str, str]) -> RowObservation:
        src, dst = caches[pair[0]], caches[pair[1]]
        row = observe(bench, src, dst, models.get(pair))
        if small:
            agrees = gather_agrees(src, dst, bench.payload_seed)
            narrow = not element_widths(src.realised) and not element_widths(dst.realised)
            walk = pair_is_bijective(src.realised, dst.realised) if narrow else None
            return replace(row, gather_agrees=agrees, walk_is_bijective=walk)
        # The states are the payloads: the recipe gave the image that the index map gives.
        indexed = all(
            bench.index_agrees(side, layer) for side in (src, dst) for layer in bench.layers
        )
        lossless_src = src.realised.layout.quantisation == "none"
        agrees = indexed and (not lossless_src or bool(row.forward_reproduces_target))
        return replace(row, gather_agrees=agrees)

    rows: dict[str, RowObservation] = {}
    with ThreadPoolExecutor(1 if small else limits.TRANSFER_THREADS) as pool:
        compared = pool.map(lambda image: bench.index_agrees(*image), images)
        for done, _ in enumerate(compared):
            report("comparing writers with index maps", done, len(images))
        for done, (pair, row) in enumerate(zip(pairs, pool.map(one, pairs), strict=True)):
            report("moving and decoding pairs", done, len(pairs))
            rows[pair_id(*pair)] = row
    return rows
