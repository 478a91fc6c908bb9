prelude
import Lockstep.Index
/-! Splitting an axis into two, and merging two into one: the flat position stays. -/
set_option linter.all false
set_option genSizeOf false
noncomputable section
namespace ExactTransform
open Nat List

/-- A coordinate as the number of its group of `x`, and its place in the group: a token as block and
token in its block, a head dimension as vector and element in its vector. -/
def factor (x i : Nat) : Prod Nat Nat := ⟨i / x, i % x⟩

/-- The coordinate of place `p.2` in group `p.1`, of groups of `x`. -/
def unfactor (x : Nat) (p : Prod Nat Nat) : Nat := p.1 * x + p.2

/-- A coordinate is had back from its group and its place in it. -/
theorem factor_unfactor_id (x i : Nat) : unfactor x (factor x i) = i := div_add_mod i x

/-- Group and place are had back from the coordinate, where the place is one of the group's. -/
theorem unfactor_factor_id {x : Nat} (p : Prod Nat Nat) (h : p.2 < x) :
    factor x (unfactor x p) = p := by
  have ⟨a, b⟩ := div_mod_unique (q := p.1) h
  show Prod.mk ((p.1 * x + p.2) / x) ((p.1 * x + p.2) % x) = p
  rw [a, b]

/-- A number with remainders modulo `x` leaves `x` above 0. -/
theorem factor_pos {n x i : Nat} (h : i < n * x) : 0 < x := by
  cases x with
  | zero => exact (not_succ_le_zero i h).elim
  | succ x => exact zero_lt_succ x

/-- Group and place are within their extents. -/
theorem factor_in_bounds {n x i : Nat} (h : i < n * x) :
    (factor x i).1 < n ∧ (factor x i).2 < x :=
  ⟨div_lt_of_lt_mul h, mod_lt i (factor_pos h)⟩

/-- A coordinate is within the merged extent. -/
theorem unfactor_in_bounds {n x : Nat} {p : Prod Nat Nat} (h : p.1 < n) (k : p.2 < x) :
    unfactor x p < n * x := mul_add_lt h k

/-- Replaces axis `k` of an index by group and place. -/
def splitAt (x : Nat) : Nat → List Nat → List Nat
  | .zero, i :: is => (factor x i).1 :: (factor x i).2 :: is
  | .succ k, i :: is => i :: splitAt x k is
  | _, [] => []

/-- Replaces axes `k` and `k + 1` of an index by the coordinate that they make. -/
def mergeAt (x : Nat) : Nat → List Nat → List Nat
  | .zero, q :: r :: is => unfactor x ⟨q, r⟩ :: is
  | .succ k, i :: is => i :: mergeAt x k is
  | _, l => l

/-- Shape `t` is shape `s` with axis `k` split into groups of `x`, which divides its extent. -/
inductive SplitShape (x : Nat) : Nat → List Nat → List Nat → Prop where
  | here {n : Nat} {s : List Nat} : SplitShape x 0 (n * x :: s) (n :: x :: s)
  | there {k d : Nat} {s t : List Nat} (h : SplitShape x k s t) :
    SplitShape x (k + 1) (d :: s) (d :: t)

/-- Splitting an axis keeps the number of positions. -/
theorem SplitShape.size_eq {x k : Nat} {s t : List Nat} (h : SplitShape x k s t) :
    size t = size s := by
  induction h with
  | @here n s => exact (mul_assoc n x (size s)).symm
  | @there k d s t _ ih => exact congrArg (fun z => d * z) ih

/-- Splitting an axis keeps an index within bounds. -/
theorem SplitShape.in_bounds {x k : Nat} {s t i : List Nat} (h : SplitShape x k s t)
    (b : InBounds s i) : InBounds t (splitAt x k i) := by
  induction h generalizing i with
  | here =>
    match i, b with
    | _ :: _, ⟨p, q⟩ => exact ⟨div_lt_of_lt_mul p, mod_lt _ (factor_pos p), q⟩
  | there _ ih =>
    match i, b with
    | _ :: _, ⟨p, q⟩ => exact ⟨p, ih q⟩

/-- Splitting an axis keeps every element at its flat position: read downwards, a reshape moves
nothing; read upwards, a group of axes written as one axis moves nothing. -/
theorem split_keeps_position {x k : Nat} {s t i : List Nat} (h : SplitShape x k s t)
    (b : InBounds s i) : ravel t (splitAt x k i) = ravel s i := by
  induction h generalizing i with
  | @here n s =>
    match i, b with
    | i :: is, _ =>
      show i / x * (x * size s) + (i % x * size s + ravel s is) = i * size s + ravel s is
      rw [← add_assoc, ← mul_assoc, ← add_mul, div_add_mod]
  | @there k d s t h ih =>
    match i, b with
    | i :: is, ⟨_, q⟩ =>
      show i * size t + ravel t (splitAt x k is) = i * size s + ravel s is
      rw [h.size_eq, ih q]

/-- Merging undoes splitting. -/
theorem merge_split (x k : Nat) (i : List Nat) : mergeAt x k (splitAt x k i) = i := by
  induction k generalizing i with
  | zero =>
    match i with
    | [] => rfl
    | i :: is =>
      show unfactor x (factor x i) :: is = i :: is
      rw [factor_unfactor_id]
  | succ k ih =>
    match i with
    | [] => rfl
    | i :: is => exact congrArg (cons i) (ih is)

/-- Splitting undoes merging, within bounds. -/
theorem split_merge {x k : Nat} {s t i : List Nat} (h : SplitShape x k s t) (b : InBounds t i) :
    splitAt x k (mergeAt x k i) = i := by
  induction h generalizing i with
  | here =>
    match i, b with
    | q :: r :: is, ⟨_, k, _⟩ =>
      show (factor x (unfactor x ⟨q, r⟩)).1 :: (factor x (unfactor x ⟨q, r⟩)).2 :: is = q :: r :: is
      rw [unfactor_factor_id ⟨q, r⟩ k]
  | there _ ih =>
    match i, b with
    | j :: _, ⟨_, q⟩ => exact congrArg (cons j) (ih q)

/-- Merging two axes keeps an index within bounds. -/
theorem SplitShape.merge_in_bounds {x k : Nat} {s t i : List Nat} (h : SplitShape x k s t)
    (b : InBounds t i) : InBounds s (mergeAt x k i) := by
  induction h generalizing i with
  | here =>
    match i, b with
    | _ :: _ :: _, ⟨p, q, r⟩ => exact ⟨mul_add_lt p q, r⟩
  | there _ ih =>
    match i, b with
    | _ :: _, ⟨p, q⟩ => exact ⟨p, ih q⟩

/-- Merging two axes keeps every element at its flat position. -/
theorem merge_keeps_position {x k : Nat} {s t i : List Nat} (h : SplitShape x k s t)
    (b : InBounds t i) : ravel s (mergeAt x k i) = ravel t i := by
  have e := split_keeps_position h (h.merge_in_bounds b)
  rw [split_merge h b] at e
  exact e.symm

end ExactTransform
