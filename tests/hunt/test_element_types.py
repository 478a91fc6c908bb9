from __future__ import annotations

import numpy as np
import pytest

from lockstep.hunt.element_types import (
    decode,
    encode,
    fp8_decode,
    fp8_encode,
    fp8_values,
    from_real,
    to_real,
)
from lockstep.hunt.payloads import state


def test_e4m3_has_its_published_extremes() -> None:
    values = fp8_values("fp8_e4m3")
    assert values[1] == 2.0**-9
    assert values[8] == 2.0**-6
    assert values[126] == 448
    assert np.isnan(values[127])
    assert np.all(np.diff(values[:127]) > 0)


def test_e5m2_has_its_published_extremes() -> None:
    values = fp8_values("fp8_e5m2")
    assert values[1] == 2.0**-16
    assert values[123] == 57344
    assert np.isinf(values[124])


@pytest.mark.parametrize("name", ["fp8_e4m3", "fp8_e5m2"])
def test_the_cast_is_correctly_rounded_to_nearest_even(name: str) -> None:
    values = np.arange(1 << 16, dtype=np.uint16).view(np.float16).astype(np.float32)
    finite = values[np.isfinite(values)]
    table = fp8_values(name)
    table = table[np.isfinite(table)].astype(np.float64)
    got = np.abs(fp8_decode(fp8_encode(finite, name), name)).astype(np.float64)
    size = np.abs(finite).astype(np.float64)
    upper = np.minimum(np.searchsorted(table, size), len(table) - 1)
    lower = np.maximum(upper - 1, 0)
    above, below = np.abs(table[upper] - size), np.abs(size - table[lower])
    assert np.all(np.abs(got - size) == np.minimum(above, below))
    ties = above == below
    assert ties.any()
    assert np.all(fp8_encode(finite, name)[ties] % 2 == 0)
    assert np.array_equal(np.signbit(finite), fp8_encode(finite, name) >= 128)


@pytest.mark.parametrize("name", ["fp8_e4m3", "fp8_e5m2"])
def test_every_code_is_cast_to_itself(name: str) -> None:
    codes = np.arange(256, dtype=np.uint8)
    values = fp8_decode(codes, name)
    kept = np.isfinite(values)
    assert np.array_equal(fp8_encode(values[kept], name), codes[kept])


def test_bfloat16_rounds_to_even_and_keeps_not_a_number() -> None:
    values = np.array([1.0, 1.00390625, 1.01171875, np.inf, np.nan], dtype=np.float32)
    bits = from_real(values, "bfloat16")
    assert bits.tolist() == [0x3F80, 0x3F80, 0x3F82, 0x7F80, 0x7FC0]
    assert np.array_equal(to_real(bits, "bfloat16")[:4], [1.0, 1.0, 1.015625, np.inf])


@pytest.mark.parametrize("quantisation", ["fp8_e4m3", "fp8_e5m2", "int8"])
@pytest.mark.parametrize("bits", [8, 16])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_a_lossy_type_loses_and_writing_again_what_was_read_loses_nothing(
    quantisation: str, bits: int, dtype: str
) -> None:
    full = {"K": state(4, 4096, dtype)}
    stored = encode(full, quantisation, {"K": bits}, dtype)
    read = decode(stored, quantisation, {"K": bits}, dtype)
    assert stored["K"].dtype.itemsize * 8 == bits
    assert np.any(read["K"] != full["K"])
    again = encode(read, quantisation, {"K": bits}, dtype)
    assert np.array_equal(again["K"], stored["K"])


def test_a_record_written_again_is_the_same_record() -> None:
    latent = state(4, 64 * 256, "bfloat16").reshape(64, 256)
    latent[0] = 0
    full = {"latent": latent, "rope": state(5, 64 * 16, "bfloat16").reshape(64, 16)}
    widths = {"latent": 8, "scale": 32, "rope": 16}
    record = encode(full, "fp8_ds_mla", widths, "bfloat16")
    assert record["scale"].shape == (64, 2)
    read = decode(record, "fp8_ds_mla", widths, "bfloat16")
    again = encode(read, "fp8_ds_mla", widths, "bfloat16")
    assert all(np.array_equal(again[name], record[name]) for name in record)
    assert np.any(read["latent"] != latent)
