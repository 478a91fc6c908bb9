"""The form of a geometry and of declared layouts: what refuses before anything is computed.

The rules are LAY-1, LAY-4, LAY-8 and LAY-9, and steps 1 and 2 of the order of derivation.
"""

from typing import Any

from lockstep_verify import spec
from lockstep_verify.errors import Refusal

_SETS = (["K", "V"], ["latent", "rope"], ["latent", "scale", "rope"])
_AT = "/predicate/layouts"


def opened(axes: list[str]) -> list[str]:
    """Give the tokens of a tensor's axes, groups opened, from the slowest to the fastest."""
    return " ".join(axes).replace("(", "").replace(")", "").split(" ")


def check_geometry(geometry: dict[str, Any], layouts: list[dict[str, Any]]) -> None:
    """Check what the schema does not say about a geometry (LAY-1, LAY-4).

    Raises:
        Refusal: BAD_VALUE.
    """
    at = "/predicate/geometry"
    held = {c["name"] for layout in layouts for t in layout["tensors"] for c in t["components"]}
    for name in ("latent_dim", "rope_dim"):
        if geometry[name] and not held & {"latent", "scale", "rope"}:
            raise Refusal("BAD_VALUE", f"{at}/{name}", "0 without latent layouts", geometry[name])
    limit = spec.load("hunt.json")["limits"]["canonical_elements"]
    latent = geometry["latent_dim"]
    wide = max(
        2 * geometry["kv_heads"] * geometry["head_dim"],
        latent + latent // 128 + geometry["rope_dim"],
    )
    if geometry["tokens"] * wide > limit:
        got = geometry["tokens"] * wide
        raise Refusal("BAD_VALUE", at, f"at most {limit} elements a layer", got)


def check_declaration(declared: dict[str, Any], index: int, bits: int) -> None:
    """Check that a declaration is well formed, and its element widths (LAY-8, LAY-9).

    Args:
        declared: the declaration.
        index: its place among the layouts.
        bits: the width of the geometry's element type.

    Raises:
        Refusal: BIJECTION_NOT_DERIVED, COVERAGE_DENOMINATOR_NOT_DERIVED.
    """
    at = f"{_AT}/{index}"
    for i, tensor in enumerate(declared["tensors"]):
        fault = _tensor_fault(tensor, declared)
        if fault:
            raise Refusal("BIJECTION_NOT_DERIVED", f"{at}/tensors/{i}", fault, tensor["axes"])
    fault = _layout_fault(declared)
    if fault:
        raise Refusal("BIJECTION_NOT_DERIVED", at, fault, declared["name"])
    if declared["quantisation"] != "none":
        return
    for i, tensor in enumerate(declared["tensors"]):
        for j, component in enumerate(tensor["components"]):
            if component["bits"] != bits:
                raise Refusal(
                    "COVERAGE_DENOMINATOR_NOT_DERIVED",
                    f"{at}/tensors/{i}/components/{j}/bits",
                    bits,
                    component["bits"],
                )


def _tensor_fault(tensor: dict[str, Any], declared: dict[str, Any]) -> str | None:
    """Name the first rule of LAY-8 that a tensor breaks."""
    data = spec.load("hunt.json")
    axes = [axis for axis in opened(tensor["axes"]) if axis != "1"]
    held = set(axes)
    names = [component["name"] for component in tensor["components"]]
    places = [data["components"].index(name) for name in names]
    widths = {component["bits"] for component in tensor["components"]}
    dims = held & {"D", "Dg", "Dx", "C"}
    joined = "C" in held
    rules = (
        ("known axes", held <= set(data["axis_tokens"])),
        ("components in their order, each once", places == sorted(set(places))),
        ("no axis twice", len(held) == len(axes)),
        (
            "T, or Tb and Ti where block is above 0",
            held & {"T", "Tb", "Ti"} == ({"Tb", "Ti"} if declared["block"] else {"T"}),
        ),
        (
            "D or C, or Dg and Dx where x is above 0",
            dims == {"Dg", "Dx"} if tensor["x"] else dims in ({"D"}, {"C"}),
        ),
        ("H exactly for K and V", ("H" in held) == (set(names) <= {"K", "V"})),
        ("R exactly with ranks", ("R" in held) == (declared["ranks"] > 1)),
        ("KV for components not joined", ("KV" in held) == (len(names) > 1 and not joined)),
        ("C for two or more components", not joined or len(names) > 1),
        ("one width without C", joined or len(widths) == 1),
        ("pad_tokens with T only", "T" in held or not tensor["pad_tokens"]),
        ("pad_head_dim with D only", "D" in held or not tensor["pad_head_dim"]),
    )
    return next((text for text, holds in rules if not holds), None)


def _layout_fault(declared: dict[str, Any]) -> str | None:
    """Name the first rule of LAY-8 that a layout breaks as a whole."""
    tensors = declared["tensors"]
    names = [component["name"] for tensor in tensors for component in tensor["components"]]
    order = spec.load("hunt.json")["components"]
    firsts = [order.index(tensor["components"][0]["name"]) for tensor in tensors]
    layered = {"L" in opened(tensor["axes"]) for tensor in tensors}
    rules = (
        ("each component in one tensor", len(set(names)) == len(names)),
        ("tensors in the order of their components", firsts == sorted(firsts)),
        ("K and V, or latent, scale and rope", sorted(names, key=order.index) in _SETS),
        ("scale in quantised layouts only", "scale" not in names or _quantised(declared)),
        ("distinct tensor names", len({tensor["name"] for tensor in tensors}) == len(tensors)),
        ("L in every tensor or in none", len(layered) == 1),
        ("rank_axis with ranks", (declared["rank_axis"] == "none") == (declared["ranks"] == 1)),
    )
    return next((text for text, holds in rules if not holds), None)


def _quantised(declared: dict[str, Any]) -> bool:
    return bool(declared["quantisation"] != "none")
