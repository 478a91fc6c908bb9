"""The derived fields of a layout, as a certificate carries them (spec/layout.md)."""

from typing import Any

from lockstep.layouts.index_map import image_sha256, is_identity
from lockstep.layouts.realise import Realised

NUMBERS = ("positions", "padding_positions", "replicas", "native_bytes")


def derived_json(realised: Realised | None) -> dict[str, Any]:
    """Give a layout's derived fields; None is a layout that is not realisable [LAY-10]."""
    if realised is None:
        nulls = dict.fromkeys((*NUMBERS, "bijective", "identity", "image_sha256"))
        return {"realisable": False, "native_shapes": [], **nulls}
    return {
        "realisable": True,
        "native_shapes": [
            {"tensor": tensor.name, "extents": list(tensor.shape)} for tensor in realised.tensors
        ],
        **{name: getattr(realised, name) for name in NUMBERS},
        "bijective": True,
        "identity": is_identity(realised),
        "image_sha256": image_sha256(realised),
    }
