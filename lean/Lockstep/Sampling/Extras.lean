prelude
import Lockstep.Sampling.Weights
/-! Who gets one more where weights are shared out by largest remainder. -/
set_option linter.all false
set_option genSizeOf false
noncomputable section
namespace Sampling
open Nat List

/-- The quotas of shares. -/
def quotasOf (l : List Share) : List Nat := map Share.quota l
theorem giveTo_keeps_quotas (m : Nat) (l : List Share) : quotasOf (giveTo m l) = quotasOf l := by
  induction l with
  | nil => rfl
  | cons s l ih =>
    show quotasOf (cond (or s.extra (not (Nat.beq (s.remainder + 1) m)))
      (s :: giveTo m l) (⟨s.quota, s.remainder, true⟩ :: l)) = s.quota :: quotasOf l
    cases or s.extra (not (Nat.beq (s.remainder + 1) m)) with
    | true => exact congrArg (cons s.quota) ih
    | false => rfl
theorem give_keeps_quotas (n : Nat) (l : List Share) : quotasOf (give n l) = quotasOf l := by
  induction n generalizing l with
  | zero => rfl
  | succ n ih => exact (ih (giveTo (largestOpen l) l)).trans (giveTo_keeps_quotas _ l)

/-- No weight is negative: each is a quota `⌊w · total / S⌋`, a natural number, and none or one more
(`Share.weight`). Nothing is ever taken from a share. -/
theorem weights_are_quotas_or_one_more (total : Nat) (weights : List Nat) :
    quotasOf (apportion total weights) = map (fun w => w * total / sumOf weights) weights := by
  have of_quotas : ∀ whole l,
      quotasOf (quotas total whole l) = map (fun w => w * total / whole) l := by
    intro whole l
    induction l with
    | nil => rfl
    | cons w l ih => exact congrArg (cons (w * total / whole)) ih
  exact (give_keeps_quotas _ _).trans (of_quotas _ _)

/-- Every share that has one more has a remainder of at least `m - 1`. -/
def GivenFrom (m : Nat) : List Share → Prop
  | [] => True
  | s :: l => (s.extra = true → m ≤ s.remainder + 1) ∧ GivenFrom m l
theorem GivenFrom.weaken {m k : Nat} (le : k ≤ m) {l : List Share} (h : GivenFrom m l) :
    GivenFrom k l := by
  induction l with
  | nil => exact True.intro
  | cons s l ih => exact ⟨fun e => le_trans le (h.left e), ih h.right⟩
theorem GivenFrom.giveTo {m : Nat} {l : List Share} (h : GivenFrom m l) :
    GivenFrom m (giveTo m l) := by
  induction l with
  | nil => exact True.intro
  | cons s l ih =>
    match s, h with
    | ⟨q, r, true⟩, h => exact ⟨h.left, ih h.right⟩
    | ⟨q, r, false⟩, h =>
      show GivenFrom m (cond (not (Nat.beq (r + 1) m)) _ _)
      match e : Nat.beq (r + 1) m with
      | true =>
        refine ⟨fun _ => ?_, h.right⟩
        show m ≤ r + 1
        rw [eq_of_beq_eq_true e]
        exact le_refl m
      | false => exact ⟨h.left, ih h.right⟩
theorem larger_monotone {a b c d : Nat} (h : a ≤ c) (k : b ≤ d) : larger a b ≤ larger c d := by
  have left : c ≤ larger c d := by
    match larger_cases c d with
    | .inl ⟨e, _⟩ => rw [e]; exact le_refl c
    | .inr ⟨e, le⟩ => rw [e]; exact le
  have right : d ≤ larger c d := by
    match larger_cases c d with
    | .inl ⟨e, le⟩ => rw [e]; exact le
    | .inr ⟨e, _⟩ => rw [e]; exact le_refl d
  match larger_cases a b with
  | .inl ⟨e, _⟩ => rw [e]; exact le_trans h left
  | .inr ⟨e, _⟩ => rw [e]; exact le_trans k right
theorem larger_right (a b : Nat) : b ≤ larger a b := by
  match larger_cases a b with
  | .inl ⟨e, le⟩ => rw [e]; exact le
  | .inr ⟨e, _⟩ => rw [e]; exact le_refl b
theorem giving_lowers_largest (m : Nat) (l : List Share) :
    largestOpen (giveTo m l) ≤ largestOpen l := by
  induction l with
  | nil => exact le_refl 0
  | cons s l ih =>
    match s with
    | ⟨q, r, true⟩ => exact ih
    | ⟨q, r, false⟩ =>
      show largestOpen (cond (not (Nat.beq (r + 1) m)) _ _) ≤ larger (r + 1) (largestOpen l)
      cases Nat.beq (r + 1) m with
      | true => exact larger_right (r + 1) (largestOpen l)
      | false => exact larger_monotone (le_refl (r + 1)) ih

/-- One more goes to the largest remainders: none that got one is smaller than one that got none. -/
theorem extras_go_to_the_largest (total : Nat) (weights : List Nat) :
    GivenFrom (largestOpen (apportion total weights)) (apportion total weights) := by
  have giving : ∀ n l, GivenFrom (largestOpen l) l →
      GivenFrom (largestOpen (give n l)) (give n l) := by
    intro n
    induction n with
    | zero => exact fun _ h => h
    | succ n ih =>
      exact fun l h => ih _ (GivenFrom.weaken (giving_lowers_largest (largestOpen l) l) h.giveTo)
  have nobody : ∀ m whole l, GivenFrom m (quotas total whole l) := by
    intro m whole l
    induction l with
    | nil => exact True.intro
    | cons w l ih => exact ⟨fun e => (Bool.clash e).elim, ih⟩
  exact giving _ _ (nobody _ _ _)
end Sampling
