prelude
import Lockstep.Programs
/-! Strides travel with their axes: whatever order the axes of a tensor are brought into, an
element's position is the sum of each coordinate times the stride of its axis [LAY-12]. -/
set_option linter.all false
set_option genSizeOf false
universe u
noncomputable section
namespace ExactTransform
open Nat List

/-- Exchanging coordinates and strides alike keeps the position. -/
theorem dot_swapAt (k : Nat) {i w : List Nat} (h : length i = length w) :
    dot (swapAt k i) (swapAt k w) = dot i w := by
  induction k generalizing i w with
  | zero =>
    match i, w, h with
    | [], [], _ => rfl
    | [_], [_], _ => rfl
    | a :: b :: i, v :: w :: ws, _ => exact add_left_comm (b * w) (a * v) (dot i ws)
  | succ k ih =>
    match i, w, h with
    | [], [], _ => rfl
    | a :: i, v :: w, h => exact congrArg (fun z => a * v + z) (ih (succ_inj h))

/-- Bringing coordinates and strides into one order keeps the position. -/
theorem dot_order (ks : List Nat) {i w : List Nat} (h : length i = length w) :
    dot (order ks i) (order ks w) = dot i w := by
  induction ks generalizing i w with
  | nil => rfl
  | cons k ks ih =>
    have e : length (swapAt k i) = length (swapAt k w) := by
      rw [swapAt_length, swapAt_length, h]
    exact (ih e).trans (dot_swapAt k h)

/-- Undoes the exchanges of an order, the last first. -/
def unorder {α : Type u} : List Nat → List α → List α
  | [], l => l
  | k :: ks, l => swapAt k (unorder ks l)

/-- An order undone and done again changes nothing. -/
theorem order_unorder {α : Type u} (ks : List Nat) (l : List α) : order ks (unorder ks l) = l := by
  induction ks with
  | nil => rfl
  | cons k ks ih =>
    show order ks (swapAt k (swapAt k (unorder ks l))) = l
    rw [swap_involutive]
    exact ih

/-- An order keeps the number of axes. -/
theorem order_length {α : Type u} (ks : List Nat) (l : List α) :
    length (order ks l) = length l := by
  induction ks generalizing l with
  | nil => rfl
  | cons k ks ih => exact (ih (swapAt k l)).trans (swapAt_length k l)

/-- An undone order keeps the number of axes. -/
theorem unorder_length {α : Type u} (ks : List Nat) (l : List α) :
    length (unorder ks l) = length l := by
  induction ks with
  | nil => rfl
  | cons k ks ih => exact (swapAt_length k (unorder ks l)).trans ih

/-- There is one stride for each axis. -/
theorem strides_length (s : List Nat) : length (strides s) = length s := by
  induction s with
  | nil => rfl
  | cons d s ih => exact congrArg succ ih

/-- An order keeps the number of positions. -/
theorem order_size (ks s : List Nat) : size (order ks s) = size s := by
  induction ks generalizing s with
  | nil => rfl
  | cons k ks ih => exact (ih (swapAt k s)).trans (swapAt_size k s)

/-- The strides of the axes of `s`, named in the order of `s`, when they lie in memory in the order
that the exchanges give. -/
def axisStrides (ks s : List Nat) : List Nat := unorder ks (strides (order ks s))

/-- The row-major position in the new order is the sum of the coordinates, in the old order, times
the strides of their axes. -/
theorem ordered_position (ks : List Nat) {s i : List Nat} (h : length i = length s) :
    ravel (order ks s) (order ks i) = dot i (axisStrides ks s) := by
  have e : length i = length (axisStrides ks s) := by
    show length i = length (unorder ks (strides (order ks s)))
    rw [unorder_length, strides_length, order_length, h]
  rw [ravel_eq_strides, ← dot_order ks e]
  show _ = dot (order ks i) (order ks (unorder ks (strides (order ks s))))
  rw [order_unorder]

/-- A coordinate counts with the stride of its axis and nothing else: element and layer, say, whose
coordinates differ in one axis by `a` only, lie `a` strides of that axis apart [LAY-19]. -/
theorem dot_coordinate {front ws : List Nat} (h : length front = length ws) (a b w : Nat)
    (back vs : List Nat) :
    dot (front ++ (b + a) :: back) (ws ++ w :: vs) =
      dot (front ++ b :: back) (ws ++ w :: vs) + a * w := by
  induction front generalizing ws with
  | nil =>
    match ws, h with
    | [], _ =>
      show (b + a) * w + dot back vs = b * w + dot back vs + a * w
      rw [add_mul, add_right_comm]
  | cons c front ih =>
    match ws, h with
    | v :: ws, h =>
      show c * v + dot (front ++ (b + a) :: back) (ws ++ w :: vs) =
        c * v + dot (front ++ b :: back) (ws ++ w :: vs) + a * w
      rw [ih (succ_inj h), add_assoc]

end ExactTransform
