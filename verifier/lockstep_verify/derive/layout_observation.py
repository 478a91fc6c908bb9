"""Observed layouts: numbers that an engine wrote, found in its memory again (OBS-1 to OBS-9)."""

import hashlib
import itertools
from collections.abc import Iterator
from math import prod
from typing import Any, NamedTuple

from lockstep_verify import lcj, spec
from lockstep_verify.derive import Derivation, Options
from lockstep_verify.derive.hunt_pairs import require
from lockstep_verify.derive.hunt_sources import check_sources
from lockstep_verify.derive.layout import Layout
from lockstep_verify.derive.layout_form import check_declaration, check_geometry, opened
from lockstep_verify.derive.layout_observation_slots import MOST_NUMBERS, numbers, read
from lockstep_verify.derive.layout_terms import geometry_of
from lockstep_verify.derive.not_run import check_not_run
from lockstep_verify.errors import Refusal

MOST_AXES = 6
NOT_RUN = (
    "other versions of these engines, and their kernels on devices",
    "block tables and scales",
)


class Compared(NamedTuple):
    """A run beside a declaration (OBS-4); `first` as the predicate writes it."""

    representable: bool
    wrong: int = 0
    stray: int = 0
    first: dict[str, Any] | None = None


def derive(statement: dict[str, Any], options: Options) -> Derivation:
    """Re-derive what was observed, from the bytes.

    Raises:
        Refusal: the first offence of OBS-9.
    """
    predicate = statement["predicate"]
    geometry, layouts = predicate["geometry"], predicate["layouts"]
    _check_extents(geometry)
    check_geometry(geometry, layouts)
    bits = spec.load("hunt.json")["dtypes"][geometry["dtype"]]
    for place, declared in enumerate(layouts):
        check_declaration(declared, place, bits)
    counts = dict.fromkeys(
        ("observations", "matches", "differs", "not_representable", "explained", "runs",
         "elements", "wrong", "stray"), 0,
    )  # fmt: skip
    for place, observation in enumerate(predicate["observations"]):
        at = f"/predicate/observations/{place}"
        if observation["layout"] != place or place >= len(layouts):
            raise Refusal("BAD_VALUE", f"{at}/layout", place, observation["layout"])
        _observation(observation, layouts[place], geometry, at, counts)
    if len(layouts) != len(predicate["observations"]):
        raise Refusal(
            "BAD_VALUE", "/predicate/observations", len(layouts), len(predicate["observations"])
        )
    for name, due in counts.items():
        stated = predicate["counts"][name]
        require("H10_COUNTS_DO_NOT_RECOMPUTE", f"/predicate/counts/{name}", due, stated)
    verdict = "OBSERVED" if counts["matches"] == counts["observations"] else "DIFFERENT"
    require("OUTCOME_NOT_DERIVED", "/predicate/verdict", verdict, predicate["verdict"])
    check_not_run(predicate["not_run"], NOT_RUN)
    check_sources(statement, options)
    _check_engine(statement)
    return Derivation(verdict, counts, tuple(_lines(predicate)))


def _check_extents(geometry: dict[str, Any]) -> None:
    extents = [geometry[name] for name in ("layers", "tokens", "kv_heads", "head_dim")]
    if min(extents) < 2 or len(set(extents)) < 4 or numbers(geometry) > MOST_NUMBERS:
        expected = f"four extents above 1, all distinct, of at most {MOST_NUMBERS} numbers"
        raise Refusal("BAD_VALUE", "/predicate/geometry", expected, extents)


def _observation(
    observation: dict[str, Any],
    declared: dict[str, Any],
    geometry: dict[str, Any],
    at: str,
    counts: dict[str, int],
) -> None:
    """Derive one observation, and add to the counts."""
    held = read(observation["runs"], geometry, at)
    found = [_compare(run, slots, declared, geometry)
             for run, slots in zip(observation["runs"], held, strict=True)]  # fmt: skip
    representable = all(one.representable for one in found)
    if not representable:
        found = [Compared(False)] * len(found)
    for number, (run, due) in enumerate(zip(observation["runs"], found, strict=True)):
        pointer = f"{at}/runs/{number}"
        require("H10_COUNTS_DO_NOT_RECOMPUTE", f"{pointer}/wrong", due.wrong, run["wrong"])
        require("H10_COUNTS_DO_NOT_RECOMPUTE", f"{pointer}/stray", due.stray, run["stray"])
        require("OUTCOME_NOT_DERIVED", f"{pointer}/first", due.first, run["first"])
    matches = representable and not any(one.wrong or one.stray for one in found)
    verdict = "MATCHES" if matches else "DIFFERS" if representable else "NOT_REPRESENTABLE"
    require("OUTCOME_NOT_DERIVED", f"{at}/verdict", verdict, observation["verdict"])
    explanation = None
    if verdict == "DIFFERS":
        explanation = _explained(observation["runs"], held, declared, geometry)
    require("OUTCOME_NOT_DERIVED", f"{at}/explanation", explanation, observation["explanation"])
    counts["observations"] += 1
    counts[verdict.lower()] += 1
    counts["explained"] += explanation is not None
    counts["runs"] += len(found)
    counts["elements"] += len(found) * numbers(geometry)
    for name in ("wrong", "stray"):
        counts[name] += sum(getattr(one, name) for one in found)


def _compare(
    run: dict[str, Any], held: list[list[int]], declared: dict[str, Any], geometry: dict[str, Any]
) -> Compared:
    """Hold a run against a declaration (OBS-4)."""
    layout = _representable(run, held, declared, geometry)
    if layout is None:
        return Compared(False)
    left = [set(i for i, number in enumerate(slots) if number >= 0) for slots in held]
    wrong, first = 0, None
    for number, (layer, element, buffer, slot) in enumerate(_places(layout)):
        got = held[buffer][slot]
        left[buffer].discard(slot)
        if got != number:
            wrong += 1
            if first is None:
                held_there = got if got >= 0 else None
                first = {"layer": layer, "element": element, "buffer": buffer, "slot": slot,
                         "held": held_there}  # fmt: skip
    return Compared(True, wrong, sum(map(len, left)), first)


def _matches(
    run: dict[str, Any], held: list[list[int]], declared: dict[str, Any], geometry: dict[str, Any]
) -> bool:
    """Whether a declaration has no element elsewhere and none astray, told by the first that is."""
    layout = _representable(run, held, declared, geometry)
    if layout is None:
        return False
    elements = 0
    for number, (_, _, buffer, slot) in enumerate(_places(layout)):
        if held[buffer][slot] != number:
            return False
        elements += 1
    # Elements have slots of their own (LAY-15), so a number that is left over is in none of them.
    return sum(number >= 0 for slots in held for number in slots) == elements


def _representable(
    run: dict[str, Any], held: list[list[int]], declared: dict[str, Any], geometry: dict[str, Any]
) -> Layout | None:
    """Give the layout where it has the run's buffers, else None (OBS-4)."""
    layout = _realised(declared, geometry, run["dtype"])
    stated = [(one["tensor"], one["layer"], len(slots))
              for one, slots in zip(run["buffers"], held, strict=True)]  # fmt: skip
    return layout if layout is not None and stated == _buffers(layout) else None


def _realised(declared: dict[str, Any], geometry: dict[str, Any], dtype: str) -> Layout | None:
    bits = spec.load("hunt.json")["dtypes"][dtype]
    tensors = [
        {**tensor, "components": [{**part, "bits": bits} for part in tensor["components"]]}
        for tensor in declared["tensors"]
    ]
    layout = Layout({**declared, "tensors": tensors}, geometry_of({**geometry, "dtype": dtype}))
    plain = declared["quantisation"] == "none" and declared["ranks"] == 1 and not layout.latent
    return layout if plain and layout.realisable else None


def _buffers(layout: Layout) -> list[tuple[str, int | None, int]]:
    """List tensor, layer and slots of each buffer (OBS-3)."""
    listed: list[tuple[str, int | None, int]] = []
    for tensor in layout.tensors:
        name = tensor.declared["name"]
        if "L" in tensor.axes:
            listed.append((name, None, tensor.positions * layout.geometry.layers))
        else:
            listed += [(name, layer, tensor.positions) for layer in range(layout.geometry.layers)]
    return listed


def _places(layout: Layout) -> Iterator[tuple[int, int, int, int]]:
    """Give layer, canonical index, buffer and slot of each element, in the order of numbers."""
    first_buffer, before, base = {}, 0, 0
    starts = {}
    for tensor in layout.tensors:
        first_buffer[id(tensor)], starts[id(tensor)] = before, base
        before += 1 if "L" in tensor.axes else layout.geometry.layers
        base += tensor.positions
    for layer in range(layout.geometry.layers):
        element = 0
        for part in layout.components:
            tensor = layout.tensor_of[part.name]
            whole = "L" in tensor.axes
            buffer = first_buffer[id(tensor)] + (0 if whole else layer)
            tokens, heads, dims = part.extents
            for t, h, d in itertools.product(range(tokens), range(heads), range(dims)):
                slot = part.base - starts[id(tensor)]
                slot += part.token.at(t) + part.head.at(h) + part.dim.at(d)
                yield layer, element, buffer, _with_layer(layout, tensor, slot, layer)
                element += 1


def _with_layer(layout: Layout, tensor: Any, slot: int, layer: int) -> int:
    """Give the slot of a layer in a tensor that may have L, from that within one layer (LAY-19)."""
    if "L" not in tensor.axes:
        return slot
    inner: int = prod(tensor.extents[axis] for axis in tensor.axes[tensor.axes.index("L") + 1 :])
    outer, rest = divmod(slot, inner)
    return (outer * layout.geometry.layers + layer) * inner + rest


def _explained(
    runs: list[dict[str, Any]],
    held: list[list[list[int]]],
    declared: dict[str, Any],
    geometry: dict[str, Any],
) -> list[list[str]] | None:
    """Give the first other order of axes that matches all runs (OBS-6)."""
    axes = declared["tensors"][0]["axes"]
    alike = all(tensor["axes"] == axes for tensor in declared["tensors"])
    if not alike or len(axes) > MOST_AXES or opened(axes) != axes:
        return None
    for places in itertools.islice(itertools.permutations(range(len(axes))), 1, None):
        order = [axes[place] for place in places]
        tried = {**declared, "tensors": [{**one, "axes": order} for one in declared["tensors"]]}
        both = zip(runs, held, strict=True)
        if all(_matches(run, slots, tried, geometry) for run, slots in both):
            return [order for _ in declared["tensors"]]
    return None


def _check_engine(statement: dict[str, Any]) -> None:
    expected = hashlib.sha256(lcj.encode(statement["predicate"]["engine"])).hexdigest()
    names = [subject["name"] for subject in statement["subject"]]
    if "engine" not in names:
        raise Refusal("SUBJECT_MISMATCH", "/subject", f"engine {expected}", "no subject engine")
    at = names.index("engine")
    got = statement["subject"][at]["digest"]["sha256"]
    require("SUBJECT_MISMATCH", f"/subject/{at}/digest/sha256", expected, got)


def _lines(predicate: dict[str, Any]) -> list[str]:
    engine = predicate["engine"]
    lines = [f"engine: {engine['name']} {engine['version']}, written by {engine['written_by']}"]
    for one, declared in zip(predicate["observations"], predicate["layouts"], strict=True):
        said = f"{declared['name']}: {one['verdict']}"
        if one["explanation"] is not None:
            said += f", as if its axes were {' '.join(one['explanation'][0])}"
        lines.append(said)
    lines.append(f"cited, not observed: {len(predicate['cited'])} layouts")
    return lines
