"""The samples pin the hunt's cast, and Lean's definition of it is that cast on all patterns."""

from lockstep import spec
from lockstep.lean import element_samples


def _to_even(n: int, d: int) -> int:
    quotient, rest = divmod(n, d)
    return quotient + (2 * rest > d or (2 * rest == d and quotient % 2 == 1))


def _code(bits: int) -> int:
    """Follow fp8OfFloat16 of lean/Lockstep/ElementTypes.lean, in whole numbers alone."""
    sign, magnitude = divmod(bits, 1 << 15)
    exponent, fraction = divmod(magnitude, 1 << 10)
    if exponent == 31 and fraction:
        return sign * 128 + 127
    if exponent >= 9:
        code = 8 * (exponent - 9) + _to_even(1024 + fraction, 128)
    elif exponent:
        code = _to_even(1024 + fraction, 1 << (16 - exponent))
    else:
        code = _to_even(fraction, 1 << 15)
    return sign * 128 + min(code, 126)


def test_the_definition_is_the_hunts_cast_on_every_pattern() -> None:
    codes = element_samples.hunted_codes()
    assert [_code(bits) for bits in range(1 << 16)] == codes


def test_the_samples_hold_both_sides_of_every_threshold() -> None:
    codes, held = element_samples.hunted_codes(), dict(element_samples.samples())
    assert set(held.values()) == set(codes)
    for bits in range(1, 1 << 16):
        if codes[bits] != codes[bits - 1]:
            assert held[bits] == codes[bits]
            assert held[bits - 1] == codes[bits - 1]


def test_the_committed_module_is_what_the_generator_gives() -> None:
    committed = spec.root().parent / "lean" / element_samples.PATH
    assert committed.read_text("utf-8") == element_samples.files()[element_samples.PATH]


def test_two_patterns_have_one_code() -> None:
    codes = element_samples.hunted_codes()
    assert codes[0x3C00] == codes[0x3C01] == 0x38
