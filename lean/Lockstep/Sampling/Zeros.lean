prelude
import Lockstep.Sampling.Draw
import Lockstep.Sampling.Extras
/-! From weights to a token: a weight of 0 stays 0, so that what has no probability is never drawn,
and every draw below the total finds a token. -/
set_option linter.all false
set_option genSizeOf false
noncomputable section
namespace Sampling
open Nat List

/-- How many shares have a remainder above 0 and none more yet. -/
def openRemainders : List Share → Nat
  | [] => 0
  | s :: l => cond (or s.extra (Nat.beq s.remainder 0)) 0 1 + openRemainders l

theorem larger_left (a b : Nat) : a ≤ larger a b := by
  match larger_cases a b with
  | .inl ⟨e, _⟩ => rw [e]; exact le_refl a
  | .inr ⟨e, le⟩ => rw [e]; exact le
/-- While such a share is left, the largest remainder is above 0. -/
theorem largest_above_zero {l : List Share} (h : 0 < openRemainders l) : 2 ≤ largestOpen l := by
  induction l with
  | nil => exact (lt_irrefl 0 h).elim
  | cons s l ih =>
    match s, h with
    | ⟨q, r, true⟩, h =>
      have h : 0 < 0 + openRemainders l := h
      rw [zero_add] at h
      exact ih h
    | ⟨q, .zero, false⟩, h =>
      have h : 0 < 0 + openRemainders l := h
      rw [zero_add] at h
      exact le_trans (ih h) (larger_right _ _)
    | ⟨q, .succ r, false⟩, _ =>
      exact le_trans (succ_le_succ (succ_le_succ (zero_le r))) (larger_left (r + 2) (largestOpen l))
/-- Giving one more leaves at most one such share less. -/
theorem giving_uses_one (m : Nat) (l : List Share) :
    openRemainders l ≤ openRemainders (giveTo m l) + 1 := by
  induction l with
  | nil => exact zero_le _
  | cons s l ih =>
    match s with
    | ⟨q, r, true⟩ =>
      show 0 + openRemainders l ≤ 0 + openRemainders (giveTo m l) + 1
      rw [zero_add, zero_add]
      exact ih
    | ⟨q, r, false⟩ =>
      show cond (Nat.beq r 0) 0 1 + openRemainders l ≤
        openRemainders (cond (not (Nat.beq (r + 1) m))
          (⟨q, r, false⟩ :: giveTo m l) (⟨q, r, true⟩ :: l)) + 1
      cases Nat.beq (r + 1) m with
      | true =>
        show cond (Nat.beq r 0) 0 1 + openRemainders l ≤ 0 + openRemainders l + 1
        rw [zero_add, add_comm]
        apply add_le_add_left
        cases Nat.beq r 0 with
        | true => exact zero_le 1
        | false => exact le_refl 1
      | false => exact add_le_add_left (cond (Nat.beq r 0) 0 1) ih
theorem GivenFrom.giveMore {k m : Nat} (le : k ≤ m) {l : List Share} (h : GivenFrom k l) :
    GivenFrom k (Sampling.giveTo m l) := by
  induction l with
  | nil => exact True.intro
  | cons s l ih =>
    match s, h with
    | ⟨q, r, true⟩, h => exact ⟨h.left, ih h.right⟩
    | ⟨q, r, false⟩, h =>
      show GivenFrom k (cond (not (Nat.beq (r + 1) m)) _ _)
      match e : Nat.beq (r + 1) m with
      | true =>
        refine ⟨fun _ => ?_, h.right⟩
        show k ≤ r + 1
        rw [eq_of_beq_eq_true e]
        exact le
      | false => exact ⟨h.left, ih h.right⟩
theorem remainders_bound {whole : Nat} (positive : 0 < whole) (total : Nat) (weights : List Nat) :
    remainders (quotas total whole weights) ≤
      openRemainders (quotas total whole weights) * whole := by
  induction weights with
  | nil => exact zero_le _
  | cons w l ih =>
    show w * total % whole + remainders (quotas total whole l) ≤
      (cond (Nat.beq (w * total % whole) 0) 0 1 + openRemainders (quotas total whole l)) * whole
    rw [add_mul]
    refine add_le_add ?_ ih
    match e : w * total % whole with
    | .zero => exact zero_le _
    | .succ r =>
      have small := mod_lt (w * total) positive
      rw [e] at small
      show r + 1 ≤ 1 * whole
      rw [one_mul]
      exact le_of_lt small

/-- Nobody whose division leaves nothing gets one more. -/
theorem extras_have_remainders {weights : List Nat} (positive : 0 < sumOf weights) (total : Nat) :
    GivenFrom 2 (apportion total weights) := by
  have giving : ∀ n l, n ≤ openRemainders l → GivenFrom 2 l → GivenFrom 2 (give n l) := by
    intro n
    induction n with
    | zero => exact fun _ _ h => h
    | succ n ih =>
      intro l enough h
      have above := largest_above_zero (lt_of_lt_of_le (zero_lt_succ n) enough)
      exact ih _ (le_of_succ_le_succ (le_trans enough (giving_uses_one _ l))) (h.giveMore above)
  have nobody : ∀ whole l, GivenFrom 2 (quotas total whole l) := by
    intro whole l
    induction l with
    | nil => exact True.intro
    | cons w l ih => exact ⟨fun e => (Bool.clash e).elim, ih⟩
  refine giving _ _ ?_ (nobody _ _)
  match lt_or_ge (openRemainders (quotas total (sumOf weights) weights))
    (total - totalWeight (quotas total (sumOf weights) weights)) with
  | .inr le => exact le
  | .inl more =>
    have above := mul_lt_mul_right positive more
    rw [← leftover_is_remainders positive total] at above
    exact (not_le_of_lt above (remainders_bound positive total weights)).elim

/-! ### place by place -/

/-- What each share comes to. -/
def weightsOf (l : List Share) : List Nat := map Share.weight l
theorem sum_of_weights (l : List Share) : sumOf (weightsOf l) = totalWeight l := by
  induction l with
  | nil => rfl
  | cons s l ih => exact congrArg (fun n => s.weight + n) ih

/-- A share with its place in a list of weights: quota and remainder are those of the division. -/
inductive Divided (total whole : Nat) : List Nat → List Share → Prop where
  | nil : Divided total whole [] []
  | cons {w : Nat} {s : Share} {weights : List Nat} {l : List Share}
      (quota : s.quota = w * total / whole) (remainder : s.remainder = w * total % whole)
      (rest : Divided total whole weights l) : Divided total whole (w :: weights) (s :: l)
theorem Divided.giveTo {total whole : Nat} (m : Nat) {weights : List Nat} {l : List Share}
    (h : Divided total whole weights l) : Divided total whole weights (giveTo m l) := by
  induction h with
  | nil => exact .nil
  | @cons w s weights l quota remainder rest ih =>
    show Divided total whole (w :: weights) (cond (or s.extra (not (Nat.beq (s.remainder + 1) m)))
      (s :: Sampling.giveTo m l) (⟨s.quota, s.remainder, true⟩ :: l))
    cases or s.extra (not (Nat.beq (s.remainder + 1) m)) with
    | true => exact .cons quota remainder ih
    | false => exact .cons quota remainder rest
theorem apportion_divides (total : Nat) (weights : List Nat) :
    Divided total (sumOf weights) weights (apportion total weights) := by
  have giving : ∀ n l, Divided total (sumOf weights) weights l →
      Divided total (sumOf weights) weights (give n l) := by
    intro n
    induction n with
    | zero => exact fun _ h => h
    | succ n ih => exact fun l h => ih _ (h.giveTo _)
  have division : ∀ whole l, Divided total whole l (quotas total whole l) := by
    intro whole l
    induction l with
    | nil => exact .nil
    | cons w l ih => exact .cons rfl rfl ih
  exact giving _ _ (division _ _)

/-- What has weight 0 is given weight 0. -/
theorem zero_stays_zero {weights : List Nat} (positive : 0 < sumOf weights) (total k : Nat)
    (zero : weightAt weights k = 0) : weightAt (weightsOf (apportion total weights)) k = 0 := by
  have each : ∀ {whole : Nat}, 0 < whole → ∀ {weights l}, Divided total whole weights l →
      GivenFrom 2 l → ∀ k, weightAt weights k = 0 → weightAt (weightsOf l) k = 0 := by
    intro whole some weights l divided
    induction divided with
    | nil => exact fun _ k _ => rfl
    | @cons w s weights l quota remainder rest ih =>
      intro given k zero
      match k, zero with
      | .succ k, zero => exact ih given.right k zero
      | .zero, zero =>
        have zero : w = 0 := zero
        rw [zero, zero_mul, div_eq_of_lt some] at quota
        rw [zero, zero_mul, mod_eq_of_lt some] at remainder
        match s, quota, remainder, given with
        | ⟨q, r, false⟩, quota, _, _ => exact quota
        | ⟨q, r, true⟩, _, remainder, given =>
          have above : 2 ≤ r + 1 := given.left rfl
          have none : r = 0 := remainder
          rw [none] at above
          exact (not_succ_le_zero 0 (le_of_succ_le_succ above)).elim
  exact each positive (apportion_divides total weights)
    (extras_have_remainders positive total) k zero

/-- Every draw below the total ends at a place of the list, and at one whose weight was above 0
before weights were rounded: no draw is without a token, and no token without probability is
drawn. -/
theorem draw_finds_a_token {weights : List Nat} (positive : 0 < sumOf weights) {total r : Nat}
    (below : r < total) :
    scan (weightsOf (apportion total weights)) r < length (weightsOf (apportion total weights)) ∧
      weightAt weights (scan (weightsOf (apportion total weights)) r) ≠ 0 := by
  have inside : r < sumOf (weightsOf (apportion total weights)) := by
    rw [sum_of_weights, largest_remainder_sums_to_total positive total]
    exact below
  refine ⟨scan_in_range inside, fun zero => ?_⟩
  have found := scan_finds_weight inside
  rw [zero_stays_zero positive total _ zero] at found
  exact lt_irrefl 0 found
end Sampling
