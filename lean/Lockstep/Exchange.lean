prelude
import Lockstep.Compose
import Lockstep.Index
/-! Exchange of two adjacent axes, the step of which every transpose is made. -/
set_option linter.all false
set_option genSizeOf false
universe u
noncomputable section
namespace ExactTransform
open Nat List

/-- Exchanges entries `k` and `k + 1` of a list, of a shape as of an index. -/
def swapAt {α : Type u} : Nat → List α → List α
  | .zero, a :: b :: l => b :: a :: l
  | .succ k, a :: l => a :: swapAt k l
  | _, l => l

/-- Exchanging the same two axes twice changes nothing. -/
theorem swap_involutive {α : Type u} (k : Nat) (l : List α) : swapAt k (swapAt k l) = l := by
  induction k generalizing l with
  | zero =>
    match l with
    | [] => rfl
    | [_] => rfl
    | _ :: _ :: _ => rfl
  | succ k ih =>
    match l with
    | [] => rfl
    | a :: l => exact congrArg (cons a) (ih l)

/-- Exchange keeps an index within the exchanged shape. -/
theorem swapAt_in_bounds (k : Nat) (s i : List Nat) (h : InBounds s i) :
    InBounds (swapAt k s) (swapAt k i) := by
  induction k generalizing s i with
  | zero =>
    match s, i, h with
    | [], [], h => exact h
    | [_], [_], h => exact h
    | _ :: _ :: _, _ :: _ :: _, ⟨p, q, r⟩ => exact ⟨q, p, r⟩
  | succ k ih =>
    match s, i, h with
    | [], [], h => exact h
    | _ :: s, _ :: i, ⟨p, q⟩ => exact ⟨p, ih s i q⟩

/-- Exchange keeps the number of positions. -/
theorem swapAt_size (k : Nat) (s : List Nat) : size (swapAt k s) = size s := by
  induction k generalizing s with
  | zero =>
    match s with
    | [] => rfl
    | [_] => rfl
    | a :: b :: s =>
      show b * (a * size s) = a * (b * size s)
      rw [← mul_assoc, mul_comm b a, mul_assoc]
  | succ k ih =>
    match s with
    | [] => rfl
    | a :: s => exact congrArg (fun z => a * z) (ih s)

/-- Where exchange takes the element at a flat position. -/
def transposed (k : Nat) (s : List Nat) (n : Nat) : Nat :=
  ravel (swapAt k s) (swapAt k (unravel s n))

/-- A transposed position is within the transposed array. -/
theorem transposed_lt (k : Nat) (s : List Nat) (n : Nat) (h : n < size s) :
    transposed k s n < size (swapAt k s) :=
  ravel_lt _ _ (swapAt_in_bounds k _ _ (unravel_in_bounds s n h))

/-- Transposing back gives every position back. -/
theorem transposed_roundtrip (k : Nat) (s : List Nat) (n : Nat) (h : n < size s) :
    transposed k (swapAt k s) (transposed k s n) = n := by
  show ravel (swapAt k (swapAt k s)) (swapAt k (unravel (swapAt k s)
    (ravel (swapAt k s) (swapAt k (unravel s n))))) = n
  rw [unravel_ravel _ _ (swapAt_in_bounds k _ _ (unravel_in_bounds s n h)), swap_involutive,
    swap_involutive]
  exact ravel_unravel s n h

/-- Exchange of adjacent axes is a bijection of the flat positions. -/
def transpose (k : Nat) (s : List Nat) : Bijection (Fin (size s)) (Fin (size (swapAt k s))) where
  to := fun p => ⟨transposed k s p.val, transposed_lt k s p.val p.isLt⟩
  inv := fun p => ⟨transposed k (swapAt k s) p.val, by
    have h := transposed_lt k (swapAt k s) p.val p.isLt
    rw [swap_involutive] at h
    exact h⟩
  left := fun p => Fin.ext (transposed_roundtrip k s p.val p.isLt)
  right := fun p => Fin.ext (by
    have h := transposed_roundtrip k (swapAt k s) p.val p.isLt
    rw [swap_involutive] at h
    exact h)

end ExactTransform
