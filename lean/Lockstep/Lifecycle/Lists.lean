prelude
import Lockstep.Lifecycle.Pool
/-! Lemmas on the lists and rounded quotients of which the machine is made. -/
set_option linter.all false
set_option genSizeOf false
universe u
noncomputable section
namespace Lifecycle
open Nat List Option

theorem some_same {α : Type u} {a b : α} (h : some a = some b) : a = b := by injection h
theorem and_intro {a b : Bool} (h : a = true) (k : b = true) : and a b = true := by
  rw [h, k]; rfl
theorem not_true {a : Bool} (h : not a = true) : a = false := by
  cases a with
  | true => exact (Bool.clash h).elim
  | false => rfl
theorem beq_same (n : Nat) : Nat.beq n n = true := beq_refl n
theorem zero_or_pos (n : Nat) : n = 0 ∨ 0 < n := by
  cases n with
  | zero => exact .inl rfl
  | succ n => exact .inr (zero_lt_succ n)
theorem eq_zero_of_le {n : Nat} (h : n ≤ 0) : n = 0 := le_antisymm h (zero_le n)
theorem left_zero {a b : Nat} (h : a + b = 0) : a = 0 :=
  eq_zero_of_le (by rw [← h]; exact le_add_right a b)
theorem right_zero {a b : Nat} (h : a + b = 0) : b = 0 :=
  eq_zero_of_le (by rw [← h]; exact le_add_left b a)
theorem sub_eq_zero {a b : Nat} (h : a ≤ b) : a - b = 0 := by
  induction b generalizing a with
  | zero => exact eq_zero_of_le h
  | succ b ih =>
    cases a with
    | zero => exact zero_sub _
    | succ a => rw [succ_sub_succ]; exact ih (le_of_succ_le_succ h)
theorem add_sub_of_le {a b : Nat} (h : a ≤ b) : a + (b - a) = b := by
  rw [add_comm]; exact sub_add_cancel h

/-! ### rounding up -/

theorem le_div_of_mul_le {k n d : Nat} (positive : 0 < d) (h : k * d ≤ n) : k ≤ n / d := by
  match lt_or_ge (n / d) k with
  | .inr le => exact le
  | .inl less =>
    have le : (n / d + 1) * d ≤ k * d := mul_le_mul_right d less
    rw [succ_mul] at le
    have e := div_add_mod n d
    have below := add_lt_add_left (n / d * d) (mod_lt n positive)
    rw [e] at below
    exact (not_le_of_lt below (le_trans le h)).elim
theorem mul_le_of_le_div {k n d : Nat} (h : k ≤ n / d) : k * d ≤ n :=
  le_trans (mul_le_mul_right d h) (div_mul_le n d)

/-- Places below `⌈a / d⌉` are those that begin before `a`. -/
theorem lt_ceilDiv {i a d : Nat} (positive : 0 < d) : i < ceilDiv a d ↔ i * d < a := by
  have last : d - 1 + 1 = d := sub_add_cancel positive
  constructor
  · intro h
    have le : (i + 1) * d ≤ a + (d - 1) := mul_le_of_le_div h
    rw [succ_mul] at le
    have le : i * d + (d - 1 + 1) ≤ a + (d - 1) := by rw [last]; exact le
    have le : (d - 1) + (i * d + 1) ≤ (d - 1) + a := by
      rw [add_comm (d - 1) a, add_left_comm]; exact le
    exact le_of_add_le_add_left (d - 1) le
  · intro h
    apply le_div_of_mul_le positive
    rw [succ_mul]
    have le : i * d + 1 + (d - 1) ≤ a + (d - 1) := by
      rw [add_comm _ (d - 1), add_comm a (d - 1)]
      exact add_le_add_left (d - 1) h
    have e : i * d + 1 + (d - 1) = i * d + d := by rw [add_assoc, add_comm 1, last]
    rw [e] at le
    exact le
theorem ceilDiv_le {a b d : Nat} (positive : 0 < d) (h : a ≤ b) : ceilDiv a d ≤ ceilDiv b d := by
  match lt_or_ge (ceilDiv b d) (ceilDiv a d) with
  | .inr le => exact le
  | .inl less =>
    have below := lt_of_lt_of_le ((lt_ceilDiv positive).mp less) h
    exact (lt_irrefl _ ((lt_ceilDiv positive).mpr below)).elim
theorem ceilDiv_mul {k d : Nat} (positive : 0 < d) : ceilDiv (k * d) d = k := by
  apply le_antisymm
  · match lt_or_ge k (ceilDiv (k * d) d) with
    | .inr le => exact le
    | .inl less => exact (lt_irrefl _ ((lt_ceilDiv positive).mp less)).elim
  · match lt_or_ge (ceilDiv (k * d) d) k with
    | .inr le => exact le
    | .inl less =>
      have below := mul_lt_mul_right positive less
      exact (lt_irrefl _ ((lt_ceilDiv positive).mpr below)).elim

/-! ### entries -/

theorem entry_lt {α : Type u} {l : List α} {i : Nat} {a : α} (h : entry l i = some a) :
    i < length l := by
  induction l generalizing i with
  | nil => cases h
  | cons x l ih =>
    cases i with
    | zero => exact zero_lt_succ _
    | succ i => exact succ_le_succ (ih h)
theorem entry_of_lt {α : Type u} {l : List α} {i : Nat} (h : i < length l) :
    ∃ a, entry l i = some a := by
  induction l generalizing i with
  | nil => exact (not_succ_le_zero _ h).elim
  | cons x l ih =>
    cases i with
    | zero => exact ⟨x, rfl⟩
    | succ i => exact ih (le_of_succ_le_succ h)
theorem length_append {α : Type u} (a b : List α) : length (a ++ b) = length a + length b := by
  induction a with
  | nil => exact (zero_add _).symm
  | cons x a ih =>
    show length (a ++ b) + 1 = length a + 1 + length b
    rw [ih, succ_add]
/-- An entry of two lists in one is an entry of the first or of the second. -/
theorem entry_append {α : Type u} {l k : List α} {i : Nat} {a : α}
    (h : entry (l ++ k) i = some a) :
    entry l i = some a ∨ ∃ j, i = length l + j ∧ entry k j = some a := by
  induction l generalizing i with
  | nil => exact .inr ⟨i, (zero_add i).symm, h⟩
  | cons x l ih =>
    cases i with
    | zero => exact .inl h
    | succ i =>
      match ih (i := i) h with
      | .inl left => exact .inl left
      | .inr ⟨j, e, right⟩ => exact .inr ⟨j, by rw [e]; exact (succ_add _ _).symm, right⟩
theorem entry_append_left {α : Type u} {l : List α} (k : List α) {i : Nat} {a : α}
    (h : entry l i = some a) : entry (l ++ k) i = some a := by
  induction l generalizing i with
  | nil => cases h
  | cons x l ih =>
    cases i with
    | zero => exact h
    | succ i => exact ih (i := i) h
theorem entry_append_right {α : Type u} (l k : List α) (j : Nat) :
    entry (l ++ k) (length l + j) = entry k j := by
  induction l with
  | nil => show entry k (0 + j) = _; rw [zero_add]
  | cons x l ih =>
    show entry (x :: (l ++ k)) (length l + 1 + j) = _
    rw [succ_add]
    exact ih
/-- The element between two lists. -/
theorem entry_middle {α : Type u} (l : List α) (a : α) (k : List α) :
    entry (l ++ a :: k) (length l) = some a := by
  induction l with
  | nil => rfl
  | cons x l ih => exact ih
/-- An entry of a list with one element replaced is the new element, or stood there before. -/
theorem entry_replaced {α : Type u} {l k : List α} {a b c : α} {i : Nat}
    (h : entry (l ++ b :: k) i = some c) :
    (i = length l ∧ c = b) ∨ (i ≠ length l ∧ entry (l ++ a :: k) i = some c) := by
  induction l generalizing i with
  | nil =>
    cases i with
    | zero => exact .inl ⟨rfl, (some_same h).symm⟩
    | succ i => exact .inr ⟨succ_ne_zero i, h⟩
  | cons x l ih =>
    cases i with
    | zero => exact .inr ⟨fun e => succ_ne_zero _ e.symm, h⟩
    | succ i =>
      match ih (i := i) h with
      | .inl ⟨e, same⟩ => exact .inl ⟨congrArg succ e, same⟩
      | .inr ⟨ne, before⟩ => exact .inr ⟨fun e => ne (succ_inj e), before⟩
/-- A place of a list has the elements before and after it. -/
theorem entry_split {α : Type u} {l : List α} {i : Nat} {a : α} (h : entry l i = some a) :
    ∃ earlier later, l = earlier ++ a :: later ∧ length earlier = i := by
  induction l generalizing i with
  | nil => cases h
  | cons x l ih =>
    cases i with
    | zero => exact ⟨[], l, by rw [some_same h]; rfl, rfl⟩
    | succ i =>
      have ⟨earlier, later, e, n⟩ := ih (i := i) h
      exact ⟨x :: earlier, later, congrArg (cons x) e, congrArg succ n⟩

/-! ### occurrences -/

theorem occurrences_append (b : Nat) (l k : List Nat) :
    occurrences b (l ++ k) = occurrences b l + occurrences b k := by
  induction l with
  | nil => exact (zero_add _).symm
  | cons x l ih =>
    show _ + occurrences b (l ++ k) = _ + occurrences b l + occurrences b k
    rw [ih, add_assoc]
theorem mem_of_entry {l : List Nat} {i b : Nat} (h : entry l i = some b) : Mem b l := by
  induction l generalizing i with
  | nil => cases h
  | cons x l ih =>
    cases i with
    | zero =>
      show 0 < cond (Nat.beq x b) 1 0 + occurrences b l
      rw [some_same h, beq_same, add_comm]
      exact zero_lt_succ _
    | succ i => exact lt_of_lt_of_le (ih (i := i) h) (le_add_left _ _)
theorem entry_of_mem {l : List Nat} {b : Nat} (h : Mem b l) : ∃ i, entry l i = some b := by
  induction l with
  | nil => exact (lt_irrefl 0 h).elim
  | cons x l ih =>
    match e : Nat.beq x b with
    | true => exact ⟨0, congrArg some (eq_of_beq_eq_true e)⟩
    | false =>
      have h : 0 < cond (Nat.beq x b) 1 0 + occurrences b l := h
      rw [e] at h
      have h : 0 < 0 + occurrences b l := h
      rw [zero_add] at h
      have ⟨i, k⟩ := ih h
      exact ⟨i + 1, k⟩
theorem occurrences_self (b : Nat) (l : List Nat) :
    occurrences b (b :: l) = occurrences b l + 1 := by
  show cond (Nat.beq b b) 1 0 + occurrences b l = _
  rw [beq_same, add_comm]
  rfl
theorem occurrences_other {a b : Nat} (h : a ≠ b) (l : List Nat) :
    occurrences b (a :: l) = occurrences b l := by
  show cond (Nat.beq a b) 1 0 + occurrences b l = _
  rw [beq_false_of_ne h]
  exact zero_add _
theorem distinct_nil : Distinct [] := fun _ => zero_le 1
end Lifecycle
