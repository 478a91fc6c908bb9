"""Backends with one fault each, that name themselves `host` and claim its binding."""

from __future__ import annotations

from typing import Any

import numpy as np

from lockstep.engine.backends.host import HostBackend
from lockstep.engine.host.attention import Partials, combine, split_partials


class _Attention(HostBackend):
    """The host's attention, cut into its two halves."""

    def attention(
        self, q: Any, keys: Any, values: Any, tables: Any, lengths: Any, scale: float
    ) -> Any:
        scale = np.float32(self.scale(scale))
        partials = split_partials(q, keys, values, tables, self.lengths(lengths), scale)
        with np.errstate(all="ignore"):
            return combine(self.partials(partials), len(q))

    def scale(self, scale: float) -> float:
        return scale

    def lengths(self, lengths: Any) -> Any:
        return lengths

    def partials(self, partials: Partials) -> Partials:
        return partials


class LastPositionUnseen(_Attention):
    """A row does not attend to its own position."""

    def lengths(self, lengths: Any) -> Any:
        return np.maximum(1, lengths - 1)


class ScaleOff(_Attention):
    """Scores are scaled by a hundred-thousandth too much."""

    def scale(self, scale: float) -> float:
        return scale * (1 + 1e-5)


class SplitDropped(_Attention):
    """Only a row's first split counts."""

    def partials(self, partials: Partials) -> Partials:
        first = partials.split == 0
        return Partials(*(part[first] for part in partials))


class SplitsUnscaled(_Attention):
    """Splits are added up without their largest scores being brought together."""

    def partials(self, partials: Partials) -> Partials:
        return partials._replace(largest=np.zeros_like(partials.largest))


class FoldReversed(_Attention):
    """Splits are combined in descending order: as close to binary64 as before."""

    def partials(self, partials: Partials) -> Partials:
        order = np.lexsort((-partials.split, partials.row))
        turned = [part[order] for part in partials]
        turned[1] = partials.split
        return Partials(*turned)


class EpsilonLost(HostBackend):
    """The normalisation leaves out its epsilon's thousandfold."""

    def rms_norm(self, x: Any, weight: Any, eps: float) -> Any:
        return super().rms_norm(x, weight, 1000 * eps)


class NarrowProducts(HostBackend):
    """Matrix products round their inputs to 11 bits, as some matrix units do."""

    def logits(self, x: Any, w: Any) -> Any:
        return super().logits(x.astype(np.float16).astype(np.float32), w)


class GateSwapped(HostBackend):
    """SwiGLU takes its inputs the other way round."""

    def swiglu(self, gate: Any, up: Any) -> Any:
        return super().swiglu(up, gate)


class PositionOff(HostBackend):
    """Queries and keys are rotated to halves of the wrong sign."""

    def rope(self, x: Any, cos: Any, sin: Any) -> Any:
        return super().rope(x, cos, -sin * np.float32(1 + 1e-4))


FAULTS = (
    LastPositionUnseen,
    ScaleOff,
    SplitDropped,
    SplitsUnscaled,
    EpsilonLost,
    NarrowProducts,
    GateSwapped,
    PositionOff,
)
"""Faults that fidelity must find."""
