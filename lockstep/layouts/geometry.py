"""The geometry of a cache and what it says of each component [LAY-1, LAY-2]."""

from dataclasses import dataclass
from typing import Any

from lockstep import spec
from lockstep.errors import LockstepError

COMPONENT_ORDER = ("K", "V", "latent", "scale", "rope")
COMPONENT_SETS = (("K", "V"), ("latent", "rope"), ("latent", "scale", "rope"))
SCALE_GROUP = 128
"""Elements of the latent that share one scale [LAY-2]."""


def limit(name: str) -> int:
    """Give a limit of spec/hunt.json."""
    return int(spec.load("hunt.json")["limits"][name])


@dataclass(frozen=True)
class Geometry:
    """Sizes of one cache [LAY-1]; a dtype's width in bits is `element_bits`."""

    tokens: int
    layers: int
    kv_heads: int
    head_dim: int
    latent_dim: int
    rope_dim: int
    dtype: str

    def __post_init__(self) -> None:
        for name in ("tokens", "layers", "kv_heads", "head_dim", "latent_dim", "rope_dim"):
            least = 0 if name in ("latent_dim", "rope_dim") else 1
            value = getattr(self, name)
            if not least <= value <= limit(name):
                raise LockstepError(
                    "BAD_VALUE",
                    f"/geometry/{name}",
                    f"{least} to {limit(name)}",
                    value,
                    "Choose a geometry within the limits of spec/hunt.json.",
                )
        dtypes = spec.load("hunt.json")["dtypes"]
        if self.dtype not in dtypes:
            raise LockstepError(
                "BAD_VALUE", "/geometry/dtype", f"one of {', '.join(dtypes)}", self.dtype
            )

        per_token = (
            2 * self.kv_heads * self.head_dim,
            self.latent_dim + self.latent_dim // SCALE_GROUP + self.rope_dim,
        )
        if self.tokens * max(per_token) > limit("canonical_elements"):
            raise LockstepError(
                "BAD_VALUE",
                "/geometry",
                f"at most {limit('canonical_elements')} elements a layer",
                self.tokens * max(per_token),
                "Choose fewer tokens, heads or dimensions [LAY-4].",
            )

    @property
    def element_bits(self) -> int:
        """Width in bits of an element of the dtype."""
        return int(spec.load("hunt.json")["dtypes"][self.dtype])

    def head_dim_of(self, component: str) -> int:
        """Give the D extent of a component [LAY-2]."""
        return {
            "latent": self.latent_dim,
            "rope": self.rope_dim,
            "scale": self.latent_dim // SCALE_GROUP,
        }.get(component, self.head_dim)

    def heads_of(self, component: str) -> int:
        """Give the H extent of a component, 1 where it has no heads [LAY-2]."""
        return self.kv_heads if component in ("K", "V") else 1

    def as_json(self) -> dict[str, Any]:
        """Give the geometry as a certificate carries it."""
        return {
            "tokens": self.tokens,
            "layers": self.layers,
            "kv_heads": self.kv_heads,
            "head_dim": self.head_dim,
            "latent_dim": self.latent_dim,
            "rope_dim": self.rope_dim,
            "dtype": self.dtype,
        }
