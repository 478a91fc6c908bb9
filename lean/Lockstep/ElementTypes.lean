prelude
import Lockstep.Frontier
/-! What casting to an eight-bit float loses: `fp8_e4m3` of float16, on bit patterns, as
[LAY-22] and lockstep/hunt/element_types.py have it. -/
set_option linter.all false
set_option genSizeOf false
noncomputable section
namespace ExactTransform
open Nat List

/-- 2 to the power of `n`. -/
def twoTo : Nat → Nat
  | .zero => 1
  | .succ n => twoTo n * 2

/-- `n / d` rounded to the nearest whole number, to the even one of two equally near. -/
def divideToEven (n d : Nat) : Nat :=
  let quotient := n / d
  let twice := n % d * 2
  cond (Nat.ble twice d)
    (cond (Nat.beq twice d) (quotient + quotient % 2) quotient)
    (quotient + 1)

/-- The code of a magnitude's float16 bits (15 of them: 5 of exponent, 10 of fraction) in
`fp8_e4m3` (4 bits of exponent, bias 7, 3 of mantissa; no infinities, code 127 is no number).
A float16 of exponent field e ≥ 9 has fp8 exponent field e − 8, and its significand of 11 bits
loses 7; below that the smallest step of fp8, 2^−9, is 2^(16 − e) units of the significand. The
largest value is kept for all above it, infinity among them. -/
def fp8OfMagnitude (bits : Nat) : Nat :=
  let exponent := bits / 1024
  let fraction := bits % 1024
  let rounded :=
    cond (Nat.ble 9 exponent)
      ((exponent - 9) * 8 + divideToEven (1024 + fraction) 128)
      (cond (Nat.beq exponent 0)
        (divideToEven fraction (twoTo 15))
        (divideToEven (1024 + fraction) (twoTo (16 - exponent))))
  cond (and (Nat.beq exponent 31) (not (Nat.beq fraction 0)))
    127
    (cond (Nat.ble rounded 126) rounded 126)

/-- The `fp8_e4m3` code of float16 bits; the sign is kept. -/
def fp8OfFloat16 (bits : Nat) : Nat := bits / 32768 * 128 + fp8OfMagnitude (bits % 32768)

/-- 1 and the next float16 above it have one `fp8_e4m3` code. -/
theorem fp8_merges_two_values :
    fp8OfFloat16 0x3C00 = 0x38 ∧ fp8OfFloat16 0x3C01 = 0x38 := ⟨rfl, rfl⟩

/-- Casting float16 to `fp8_e4m3` is not injective: a requantised cache does not determine the
one that it was made from. -/
theorem fp8_not_injective_on_float16 :
    ¬ ∀ i j, i < 65536 → j < 65536 → fp8OfFloat16 i = fp8OfFloat16 j → i = j := by
  intro injective
  have same : (0x3C00 : Nat) = 0x3C01 :=
    injective 0x3C00 0x3C01 (le_of_ble rfl) (le_of_ble rfl)
      (fp8_merges_two_values.left.trans fp8_merges_two_values.right.symm)
  exact ne_of_beq_eq_false (n := 0x3C00) (m := 0x3C01) rfl same

theorem twoTo_pos (n : Nat) : 0 < twoTo n := by
  induction n with
  | zero => exact le_refl 1
  | succ n ih => exact mul_lt_mul_right (b := twoTo n) (le_of_ble rfl : 0 < 2) ih
/-- More bits have more patterns. -/
theorem twoTo_lt {fewer bits : Nat} (h : fewer < bits) : twoTo fewer < twoTo bits := by
  have doubles : ∀ n, twoTo n < twoTo (n + 1) := fun n => by
    show twoTo n < twoTo n * (1 + 1)
    rw [mul_add, mul_one]
    exact add_lt_add_left (twoTo n) (twoTo_pos n)
  induction h with
  | refl => exact doubles fewer
  | @step m _ ih => exact lt_of_lt_of_le ih (le_of_lt (doubles m))
/-- Nor can any other cast to fewer bits be: no map of the patterns of one width to those of a
smaller one is injective. -/
theorem no_narrower_element_type {bits fewer : Nat} (narrower : fewer < bits)
    (cast : Nat → Nat) (bounded : ∀ i, i < twoTo bits → cast i < twoTo fewer) :
    ¬ ∀ i j, i < twoTo bits → j < twoTo bits → cast i = cast j → i = j :=
  pigeonhole (twoTo_lt narrower) cast bounded
end ExactTransform
