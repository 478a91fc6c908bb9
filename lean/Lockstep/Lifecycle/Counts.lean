prelude
import Lockstep.Lifecycle.Lists
/-! Lemmas on counting numbers with a property. -/
set_option linter.all false
set_option genSizeOf false
noncomputable section
namespace Lifecycle
open Nat List Option

theorem count_le (p : Nat → Bool) (n : Nat) : countBelow p n ≤ n := by
  induction n with
  | zero => exact le_refl 0
  | succ n ih =>
    show cond (p n) 1 0 + countBelow p n ≤ n + 1
    rw [add_comm]
    cases p n with
    | true => exact add_le_add ih (le_refl 1)
    | false => exact le_trans ih (le_succ n)
/-- What implies more is counted less often. -/
theorem count_mono {p p' : Nat → Bool} {n : Nat} (h : ∀ b, b < n → p b = true → p' b = true) :
    countBelow p n ≤ countBelow p' n := by
  induction n with
  | zero => exact le_refl 0
  | succ n ih =>
    refine add_le_add ?_ (ih fun b below => h b (le_trans below (le_succ n)))
    match e : p n with
    | false => exact zero_le _
    | true => rw [h n (le_refl _) e]; exact le_refl 1
/-- What always holds is counted everywhere. -/
theorem count_all {p : Nat → Bool} {n : Nat} (h : ∀ b, b < n → p b = true) :
    countBelow p n = n := by
  induction n with
  | zero => rfl
  | succ n ih =>
    show cond (p n) 1 0 + countBelow p n = n + 1
    rw [h n (le_refl _), ih fun b below => h b (le_trans below (le_succ n)), add_comm]
    rfl
/-- Numbers in a list are no more than the list is long. -/
theorem count_mem (l : List Nat) (n : Nat) :
    countBelow (fun b => not (Nat.beq (occurrences b l) 0)) n ≤ length l := by
  induction l with
  | nil =>
    have none : ∀ n, countBelow (fun b => not (Nat.beq (occurrences b []) 0)) n ≤ 0 := by
      intro n
      induction n with
      | zero => exact le_refl 0
      | succ n ih => show 0 + _ ≤ 0; rw [zero_add]; exact ih
    exact none n
  | cons a l ih =>
    refine le_trans ?_ (succ_le_succ ih)
    clear ih
    have one : ∀ n, (a < n → countBelow (fun b => not (Nat.beq (occurrences b (a :: l)) 0)) n ≤
          countBelow (fun b => not (Nat.beq (occurrences b l) 0)) n + 1) ∧
        (n ≤ a → countBelow (fun b => not (Nat.beq (occurrences b (a :: l)) 0)) n ≤
          countBelow (fun b => not (Nat.beq (occurrences b l) 0)) n) := by
      intro n
      induction n with
      | zero => exact ⟨fun h => (not_succ_le_zero _ h).elim, fun _ => le_refl 0⟩
      | succ n ih =>
        have other : a ≠ n → (fun b => not (Nat.beq (occurrences b (a :: l)) 0)) n =
            (fun b => not (Nat.beq (occurrences b l) 0)) n := fun ne => by
          show not (Nat.beq (occurrences n (a :: l)) 0) = not (Nat.beq (occurrences n l) 0)
          rw [occurrences_other ne]
        constructor
        · intro h
          match lt_or_eq_of_le (le_of_succ_le_succ h) with
          | .inl below =>
            have ne : a ≠ n := fun e => by rw [e] at below; exact lt_irrefl n below
            show cond ((fun b => not (Nat.beq (occurrences b (a :: l)) 0)) n) 1 0 + _ ≤ _
            rw [other ne]
            exact add_le_add_left _ (ih.left below)
          | .inr e =>
            have le := ih.right (by rw [e]; exact le_refl n)
            have le1 : ∀ x : Bool, cond x 1 0 ≤ 1 := fun x => by
              cases x with
              | true => exact le_refl 1
              | false => exact zero_le 1
            rw [add_comm (countBelow _ (n + 1)) 1]
            exact add_le_add (le1 _) (le_trans le (le_add_left _ _))
        · intro h
          have ne : a ≠ n := fun e => by rw [e] at h; exact lt_irrefl n h
          show cond ((fun b => not (Nat.beq (occurrences b (a :: l)) 0)) n) 1 0 + _ ≤ _
          rw [other ne]
          exact add_le_add_left _ (ih.right (le_trans (le_succ n) h))
    match lt_or_ge a n with
    | .inl below => exact (one n).left below
    | .inr above => exact le_trans ((one n).right above) (le_succ _)
/-- What holds of each number that has one of two properties is counted at most as often as both
together. -/
theorem count_either {p p' p'' : Nat → Bool} {n : Nat}
    (h : ∀ b, b < n → p b = true → p' b = true ∨ p'' b = true) :
    countBelow p n ≤ countBelow p' n + countBelow p'' n := by
  induction n with
  | zero => exact le_refl 0
  | succ n ih =>
    have here : cond (p n) 1 0 ≤ cond (p' n) 1 0 + cond (p'' n) 1 0 := by
      match e : p n with
      | false => exact zero_le _
      | true =>
        match h n (le_refl _) e with
        | .inl k => rw [k]; exact le_add_right 1 _
        | .inr k => rw [k]; exact le_add_left 1 _
    have rest := ih fun b below => h b (le_trans below (le_succ n))
    show cond (p n) 1 0 + countBelow p n ≤
      cond (p' n) 1 0 + countBelow p' n + (cond (p'' n) 1 0 + countBelow p'' n)
    refine le_trans (add_le_add here rest) ?_
    rw [add_assoc, add_assoc, add_left_comm (cond (p'' n) 1 0)]
    exact le_refl _
end Lifecycle
