"""Element types: what a cache stores for a full-precision value, and what it reads back.

A lossy type really is cast to ([LAY-22]), correctly rounded to nearest, ties to even. A declared
layout may store the cast value in an element wider than the type (the published set declares an
eight-bit type in sixteen-bit elements); it then holds the rounded value in the state's dtype.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

Bits = NDArray[np.unsignedinteger]
Reals = NDArray[np.float32]

SCALE_GROUP = 128
"""Latent dimensions that share one scale in an `fp8_ds_mla` record ([LAY-2])."""

_INT8_STEP = np.float32(1 / 32)
_E4M3_MAX_EXPONENT = 8


def to_real(bits: Bits, dtype: str) -> Reals:
    """Give the values of element bits of a dtype of `hunt.json#/dtypes`; all are exact."""
    if dtype == "float16":
        return bits.view(np.float16).astype(np.float32)
    if dtype == "bfloat16":
        return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)
    return bits.view(np.float32)


def from_real(values: Reals, dtype: str) -> Bits:
    """Round values to a dtype, to nearest, ties to even; not-a-numbers stay such."""
    values = np.ascontiguousarray(values, dtype=np.float32)
    if dtype == "float16":
        with np.errstate(over="ignore"):
            return values.astype(np.float16).view(np.uint16)
    raw = values.view(np.uint32)
    if dtype == "float32":
        return raw.copy()
    rounded = raw + (np.uint32(0x7FFF) + ((raw >> np.uint32(16)) & np.uint32(1)))
    rounded = np.where(np.isnan(values), raw | np.uint32(0x0040_0000), rounded)
    return (rounded >> np.uint32(16)).astype(np.uint16)


@cache
def fp8_values(name: str) -> Reals:
    """Give the 128 values of the non-negative codes of an eight-bit float, by code.

    `fp8_e4m3` is the variant without infinities (one not-a-number, largest value 448);
    `fp8_e5m2` is as IEEE 754 would have it.
    """
    mantissa_bits, bias = (3, 7) if name == "fp8_e4m3" else (2, 15)
    values = np.empty(128, dtype=np.float32)
    for code in range(128):
        exponent, mantissa = code >> mantissa_bits, code & ((1 << mantissa_bits) - 1)
        significand = mantissa + ((1 << mantissa_bits) if exponent else 0)
        values[code] = significand * 2.0 ** (max(exponent, 1) - bias - mantissa_bits)
    if name == "fp8_e4m3":
        values[127] = np.nan
    else:
        values[124], values[125:] = np.inf, np.nan
    return values


def fp8_encode(values: Reals, name: str) -> NDArray[np.uint8]:
    """Cast to an eight-bit float, to nearest, ties to even, saturating at the largest value."""
    table = fp8_values(name)
    finite = table[: 127 if name == "fp8_e4m3" else 124]
    # Both operands have few significant bits, so that the midpoints are exact.
    midpoints = (finite[:-1] + finite[1:]) / np.float32(2)
    size = np.abs(values)
    code = np.searchsorted(midpoints, size, side="left")
    tie = (code < len(midpoints)) & (midpoints[np.minimum(code, len(midpoints) - 1)] == size)
    code += tie & (code % 2 == 1)
    code = np.where(np.isnan(values), 127, code)
    return (code | np.where(np.signbit(values), 128, 0)).astype(np.uint8)


def fp8_decode(codes: NDArray[np.uint8], name: str) -> Reals:
    """Give the values of eight-bit float codes."""
    both = np.concatenate([fp8_values(name), -fp8_values(name)])
    values: Reals = both[codes]
    return values


def encode(
    state: dict[str, Bits], quantisation: str, bits: dict[str, int], dtype: str
) -> dict[str, Bits]:
    """Give the elements that a layout stores, by component, for a full-precision state.

    Args:
        state: element bits of `dtype` by component, in canonical order; latent as (tokens, dim).
        quantisation: of `hunt.json#/quantisations`.
        bits: width of an element in the layout, by component.
        dtype: the geometry's.
    """
    if quantisation == "none":
        return state
    if quantisation == "fp8_ds_mla":
        return _encode_record(state, dtype)
    return {
        name: _stored(elements, quantisation, bits[name], dtype) for name, elements in state.items()
    }


def decode(
    stored: dict[str, Bits], quantisation: str, bits: dict[str, int], dtype: str
) -> dict[str, Bits]:
    """Give the full-precision state, in `dtype`, that a layout's elements stand for."""
    if quantisation == "none":
        return stored
    if quantisation == "fp8_ds_mla":
        return _decode_record(stored, dtype)
    return {
        name: from_real(_decode_plain(elements.astype(np.uint8), quantisation), dtype)
        if bits[name] == 8
        else elements
        for name, elements in stored.items()
    }


def _stored(elements: Bits, quantisation: str, bits: int, dtype: str) -> Bits:
    """Cast element bits of `dtype`; sixteen-bit ones through a table of all their values."""
    if elements.dtype == np.uint16:
        return _cast_table(quantisation, bits, dtype)[elements]
    return _cast(elements, quantisation, bits, dtype)


@cache
def _cast_table(quantisation: str, bits: int, dtype: str) -> Bits:
    return _cast(np.arange(1 << 16, dtype=np.uint16), quantisation, bits, dtype)


def _cast(elements: Bits, quantisation: str, bits: int, dtype: str) -> Bits:
    codes = _encode_plain(to_real(elements, dtype), quantisation)
    return codes if bits == 8 else from_real(_decode_plain(codes, quantisation), dtype)


def _encode_plain(values: Reals, quantisation: str) -> NDArray[np.uint8]:
    if quantisation != "int8":
        return fp8_encode(values, quantisation)
    steps = np.clip(np.rint(np.clip(np.nan_to_num(values), -4, 4) / _INT8_STEP), -127, 127)
    codes: NDArray[np.uint8] = steps.astype(np.int8).view(np.uint8)
    return codes


def _decode_plain(codes: NDArray[np.uint8], quantisation: str) -> Reals:
    if quantisation != "int8":
        return fp8_decode(codes, quantisation)
    return codes.view(np.int8).astype(np.float32) * _INT8_STEP


def _encode_record(state: dict[str, Bits], dtype: str) -> dict[str, Bits]:
    """Write e4m3 latents with one float32 scale a group of 128, and the rope part as it is.

    The scale is the power of two that brings the greatest magnitude into [256, 512): writing
    again what was read then gives the same record, which [HUNT-8] relies on.
    """
    latent = to_real(state["latent"], dtype)
    groups = latent.reshape(latent.shape[0], -1, SCALE_GROUP)
    greatest = np.abs(groups).max(axis=2)
    exponent = np.frexp(greatest)[1] - 1 - _E4M3_MAX_EXPONENT
    scale = np.where(greatest > 0, np.ldexp(np.float32(1), exponent), np.float32(1))
    scale = scale.astype(np.float32)
    codes = fp8_encode((groups / scale[:, :, None]).astype(np.float32), "fp8_e4m3").reshape(
        latent.shape
    )
    return {"latent": codes, "scale": scale.view(np.uint32), "rope": state["rope"]}


def _decode_record(stored: dict[str, Bits], dtype: str) -> dict[str, Bits]:
    codes = stored["latent"].astype(np.uint8)
    groups = fp8_decode(codes, "fp8_e4m3").reshape(codes.shape[0], -1, SCALE_GROUP)
    scale = np.ascontiguousarray(stored["scale"], dtype=np.uint32).view(np.float32)
    latent = (groups * scale[:, :, None]).reshape(codes.shape)
    return {"latent": from_real(latent, dtype), "rope": stored["rope"]}
