"""Index terms: where the elements of one component lie, as a few strides (LAY-12 to LAY-17)."""

from math import prod
from typing import Any, NamedTuple

from lockstep_verify import spec


class Geometry(NamedTuple):
    """The extents of the canonical tensors, and the element's width in bits (LAY-1)."""

    tokens: int
    layers: int
    kv_heads: int
    dims: dict[str, int]
    bits: int


class Digits(NamedTuple):
    """The term of one logical axis: index // factor * outer + index % factor * inner, in slots."""

    factor: int
    outer: int
    inner: int

    def at(self, index: int) -> int:
        """Give the term of one index."""
        return index // self.factor * self.outer + index % self.factor * self.inner

    def over(self, start: int, stop: int) -> list[int]:
        """Give the terms of a range of indexes."""
        factor, outer, inner = self
        if factor == 1:
            return (
                list(range(start * outer, stop * outer, outer)) if outer else [0] * (stop - start)
            )
        return [i // factor * outer + i % factor * inner for i in range(start, stop)]


class Component(NamedTuple):
    """Where one component lies: the first slots of its elements (t, h, d), in each replica.

    Two components with equal fields have equal positions, and the other way round: `Digits` are
    in normal form.
    """

    name: str
    base: int
    extents: tuple[int, int, int]
    token: Digits
    head: Digits
    dim: Digits
    width: int
    replicas: int
    replica_stride: int

    @property
    def size(self) -> int:
        """The number of elements."""
        return prod(self.extents)


def normal(extent: int, factor: int, outer: int, inner: int) -> Digits:
    """Give the one form of a term, so that equal terms compare equal."""
    if extent == 1:
        return Digits(1, 0, 0)
    if factor >= extent:
        return Digits(1, inner, 0)
    if factor == 1 or outer == factor * inner:
        return Digits(1, outer if factor == 1 else inner, 0)
    return Digits(factor, outer, inner)


def geometry_of(declared: dict[str, Any]) -> Geometry:
    """Read a geometry whose shape has been checked."""
    latent, head_dim = declared["latent_dim"], declared["head_dim"]
    dims = {"K": head_dim, "V": head_dim, "latent": latent, "scale": latent // 128}
    dims["rope"] = declared["rope_dim"]
    bits = spec.load("hunt.json")["dtypes"][declared["dtype"]]
    return Geometry(declared["tokens"], declared["layers"], declared["kv_heads"], dims, bits)
