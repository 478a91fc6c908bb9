prelude
import Lockstep.Arith
/-! Shapes, indices and row-major positions.

A shape is a list of extents from the slowest axis to the fastest, an index a list of coordinates.
`ravel` gives the flat position of an index, `unravel` the index at a flat position; `dot` is the
same position by strides [LAY-12]. -/
set_option linter.all false
set_option genSizeOf false
universe u v w
noncomputable section
namespace ExactTransform
open Nat List

/-- An index is within a shape when it has a coordinate for each axis, below the axis's extent. -/
def InBounds : List Nat → List Nat → Prop
  | [], [] => True
  | d :: s, i :: is => i < d ∧ InBounds s is
  | _, _ => False

/-- The number of positions of an array: the product of its extents. -/
def size : List Nat → Nat
  | [] => 1
  | d :: s => Nat.mul d (size s)

/-- The row-major position of an index. -/
def ravel : List Nat → List Nat → Nat
  | _ :: s, i :: is => Nat.add (Nat.mul i (size s)) (ravel s is)
  | _, _ => 0

/-- The index at a row-major position. -/
def unravel : List Nat → Nat → List Nat
  | [], _ => []
  | _ :: s, n => Nat.div n (size s) :: unravel s (Nat.mod n (size s))

/-- The strides of a row-major array: each axis's is the product of the extents after it. -/
def strides : List Nat → List Nat
  | [] => []
  | _ :: s => size s :: strides s

/-- The sum of coordinate times stride. -/
def dot : List Nat → List Nat → Nat
  | i :: is, w :: ws => Nat.add (Nat.mul i w) (dot is ws)
  | _, _ => 0

/-- No position lies in an array that has an axis of extent 0. -/
theorem size_pos {d n : Nat} {s : List Nat} (h : n < size (d :: s)) : 0 < size s := by
  match lt_or_ge 0 (size s) with
  | .inl k => exact k
  | .inr k =>
    have h' : n < d * size s := h
    rw [le_antisymm k (zero_le _)] at h'
    exact (not_succ_le_zero n h').elim

/-- A position is below the array's size. -/
theorem ravel_lt (s i : List Nat) (h : InBounds s i) : ravel s i < size s := by
  induction s generalizing i with
  | nil =>
    match i, h with
    | [], _ => exact zero_lt_succ 0
  | cons d s ih =>
    match i, h with
    | _ :: i, ⟨p, q⟩ => exact mul_add_lt p (ih i q)

/-- The index at a position of the array is within its shape. -/
theorem unravel_in_bounds (s : List Nat) (n : Nat) (h : n < size s) : InBounds s (unravel s n) := by
  induction s generalizing n with
  | nil => exact True.intro
  | cons d s ih => exact ⟨div_lt_of_lt_mul h, ih _ (mod_lt n (size_pos h))⟩

/-- Unravelling undoes ravelling: two elements never share a position. -/
theorem unravel_ravel (s i : List Nat) (h : InBounds s i) : unravel s (ravel s i) = i := by
  induction s generalizing i with
  | nil =>
    match i, h with
    | [], _ => rfl
  | cons d s ih =>
    match i, h with
    | j :: i, ⟨_, q⟩ =>
      have ⟨a, b⟩ := div_mod_unique (q := j) (ravel_lt s i q)
      show (j * size s + ravel s i) / size s :: unravel s ((j * size s + ravel s i) % size s) =
        j :: i
      rw [a, b, ih i q]

/-- Ravelling undoes unravelling: every position of an array holds an element. -/
theorem ravel_unravel (s : List Nat) (n : Nat) (h : n < size s) : ravel s (unravel s n) = n := by
  induction s generalizing n with
  | nil =>
    match n, h with
    | .zero, _ => rfl
    | .succ n, h => exact (not_succ_le_zero n (le_of_succ_le_succ h)).elim
  | cons d s ih =>
    show (n / size s) * size s + ravel s (unravel s (n % size s)) = n
    rw [ih _ (mod_lt n (size_pos h))]
    exact div_add_mod n (size s)

/-- The position by strides is the row-major position. -/
theorem ravel_eq_strides (s i : List Nat) : ravel s i = dot i (strides s) := by
  induction s generalizing i with
  | nil =>
    match i with
    | [] => rfl
    | _ :: _ => rfl
  | cons d s ih =>
    match i with
    | [] => rfl
    | j :: i => exact congrArg (fun z => j * size s + z) (ih i)

end ExactTransform
