prelude
import Lockstep.Steps
/-! Joining two arrays along an axis: the elements of the second stand behind those of the first,
and their coordinate tells them apart. -/
set_option linter.all false
set_option genSizeOf false
noncomputable section
namespace ExactTransform
open Nat List Option

/-- Lists that compare equal are equal. -/
theorem eq_of_beqList {l m : List Nat} (h : beqList l m = true) : l = m := by
  induction l generalizing m with
  | nil =>
    match m, h with
    | [], _ => rfl
  | cons a l ih =>
    match m, h with
    | b :: m, h =>
      have c := Bool.and_true_left (a := Nat.beq a b) (b := beqList l m) h
      have d := Bool.and_true_right (a := Nat.beq a b) (b := beqList l m) h
      rw [eq_of_beq_eq_true c, ih d]

/-- Elements of the first array keep their index, below `n` at the joined axis; those of the second
stand behind them, and are told apart by that. -/
structure Joined (n k : Nat) (s t u : List Nat) : Prop where
  front : ∀ i, InBounds s i → InBounds u i ∧ isBelow n k i = true
  rear : ∀ i, InBounds t i →
    InBounds u (addAt n k i) ∧ isBelow n k (addAt n k i) = false ∧ subAt n k (addAt n k i) = i
  cut_front : ∀ i, InBounds u i → isBelow n k i = true → InBounds s i
  cut_rear : ∀ i, InBounds u i → isBelow n k i = false →
    InBounds t (subAt n k i) ∧ addAt n k (subAt n k i) = i

/-- What is not below is not smaller. -/
theorem ble_false {n m : Nat} (h : n ≤ m) : Nat.ble (succ m) n = false :=
  Bool.eq_false_of_ne_true fun c => not_le_of_lt (le_of_ble c) h

/-- What does not compare as below, is at least as great. -/
theorem le_of_ble_false {n m : Nat} (h : Nat.ble (succ m) n = false) : n ≤ m :=
  match lt_or_ge m n with
  | .inl k => (Bool.clash (h.symm.trans (ble_of_le k))).elim
  | .inr k => k

/-- Joining along the first axis. -/
theorem joined_first (n m : Nat) (s : List Nat) :
    Joined n 0 (n :: s) (m :: s) ((n + m) :: s) where
  front := fun i b =>
    match i, b with
    | _ :: _, ⟨p, q⟩ => ⟨⟨lt_of_lt_of_le p (le_add_right n m), q⟩, ble_of_le p⟩
  rear := fun i b =>
    match i, b with
    | a :: i, ⟨p, q⟩ => by
      refine ⟨⟨add_lt_add_left n p, q⟩, ble_false (le_add_right n a), ?_⟩
      show (n + a - n) :: i = a :: i
      rw [add_comm n a, add_sub_cancel]
  cut_front := fun i b c =>
    match i, b with
    | _ :: _, ⟨_, q⟩ => ⟨le_of_ble c, q⟩
  cut_rear := fun i b c =>
    match i, b with
    | a :: i, ⟨p, q⟩ => by
      have h := sub_add_cancel (le_of_ble_false c)
      refine ⟨⟨?_, q⟩, ?_⟩
      · show a - n + 1 ≤ m
        apply le_of_add_le_add_left n
        show n + (a - n) + 1 ≤ n + m
        rw [add_comm n (a - n), h]
        exact p
      · show (n + (a - n)) :: i = a :: i
        rw [add_comm n (a - n), h]

/-- Joining along a later axis. -/
theorem Joined.behind {n k : Nat} {s t u : List Nat} (j : Joined n k s t u) (d : Nat) :
    Joined n (k + 1) (d :: s) (d :: t) (d :: u) where
  front := fun i b =>
    match i, b with
    | _ :: i, ⟨p, q⟩ => ⟨⟨p, (j.front i q).1⟩, (j.front i q).2⟩
  rear := fun i b =>
    match i, b with
    | a :: i, ⟨p, q⟩ =>
      have ⟨x, y, z⟩ := j.rear i q
      ⟨⟨p, x⟩, y, congrArg (cons a) z⟩
  cut_front := fun i b c =>
    match i, b with
    | _ :: i, ⟨p, q⟩ => ⟨p, j.cut_front i q c⟩
  cut_rear := fun i b c =>
    match i, b with
    | a :: i, ⟨p, q⟩ =>
      have ⟨x, y⟩ := j.cut_rear i q c
      ⟨⟨p, x⟩, congrArg (cons a) y⟩

/-- Wherever two shapes can be joined, their elements can be told apart again. -/
theorem joinShape_joined (n m k : Nat) {s t u : List Nat} (h : joinShape n m k s t = some u) :
    Joined n k s t u := by
  induction k generalizing s t u with
  | zero =>
    match s, t, h with
    | a :: s, b :: t, h =>
      have ⟨c, e⟩ := guardSome_eq h
      have c' := Bool.and_true_right c
      rw [← some_inj e, eq_of_beq_eq_true (Bool.and_true_left c),
        eq_of_beq_eq_true (Bool.and_true_left c'), ← eq_of_beqList (Bool.and_true_right c')]
      exact joined_first n m s
  | succ k ih =>
    match s, t, h with
    | a :: s, b :: t, h =>
      have ⟨c, e⟩ := guardSome_eq h
      have ⟨v, e₁, e₂⟩ := mapSome_eq e
      rw [← e₂, ← eq_of_beq_eq_true c]
      exact (ih e₁).behind a

end ExactTransform
