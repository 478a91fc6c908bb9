prelude
import Lockstep.Layouts
/-! How many positions of a layout hold an element, and how many are padding [LAY-14]. -/
set_option linter.all false
set_option genSizeOf false
universe u v w
noncomputable section
namespace ExactTransform
open Nat List Option

/-- The number of numbers below `n` that meet `p`. -/
def countBelow (p : Nat → Bool) : Nat → Nat
  | .zero => 0
  | .succ n => cond (p n) (countBelow p n + 1) (countBelow p n)

/-- Whether there is a value. -/
def isSome {α : Type u} : Option α → Bool
  | none => false
  | some _ => true

/-- Conditions that agree below `n` are met equally often there. -/
theorem countBelow_congr {p q : Nat → Bool} {n : Nat} (h : ∀ i, i < n → p i = q i) :
    countBelow p n = countBelow q n := by
  induction n with
  | zero => rfl
  | succ n ih =>
    show cond (p n) (countBelow p n + 1) (countBelow p n) = _
    rw [h n (le_refl _), ih fun i k => h i (.step k)]
    rfl

/-- A condition that is met nowhere is met 0 times. -/
theorem countBelow_never {p : Nat → Bool} {n : Nat} (h : ∀ i, i < n → p i = false) :
    countBelow p n = 0 := by
  induction n with
  | zero => rfl
  | succ n ih =>
    show cond (p n) (countBelow p n + 1) (countBelow p n) = 0
    rw [h n (le_refl _), ih fun i k => h i (.step k)]
    rfl

/-- A condition that is met 0 times is met nowhere. -/
theorem never_of_countBelow {p : Nat → Bool} {n : Nat} (h : countBelow p n = 0) :
    ∀ i, i < n → p i = false := by
  induction n with
  | zero => exact fun i k => (not_succ_le_zero i k).elim
  | succ n ih =>
    have h' : cond (p n) (countBelow p n + 1) (countBelow p n) = 0 := h
    cases c : p n with
    | true => rw [c] at h'; exact (succ_ne_zero _ h').elim
    | false =>
      rw [c] at h'
      intro i k
      match lt_or_eq_of_le (le_of_succ_le_succ k) with
      | .inl l => exact ih h' i l
      | .inr e => exact e ▸ c

/-- A condition that is met at one number more is met once more. -/
theorem countBelow_step {p q : Nat → Bool} {n b : Nat} (below : b < n) (no : p b = false)
    (yes : q b = true) (same : ∀ i, i < n → i ≠ b → q i = p i) :
    countBelow q n = countBelow p n + 1 := by
  induction n with
  | zero => exact (not_succ_le_zero b below).elim
  | succ n ih =>
    show cond (q n) (countBelow q n + 1) (countBelow q n) =
      cond (p n) (countBelow p n + 1) (countBelow p n) + 1
    match lt_or_eq_of_le (le_of_succ_le_succ below) with
    | .inl l =>
      rw [same n (le_refl _) (fun e => lt_irrefl n (e ▸ l)), ih l fun i k => same i (.step k)]
      cases p n with
      | true => rfl
      | false => rfl
    | .inr e =>
      rw [← e, no, yes]
      exact congrArg succ (countBelow_congr fun i k =>
        same i (.step (e ▸ k)) (fun e' => lt_irrefl b (e' ▸ k)))

/-- A condition and its opposite together are met everywhere. -/
theorem countBelow_not (p : Nat → Bool) (n : Nat) :
    countBelow (fun i => not (p i)) n + countBelow p n = n := by
  induction n with
  | zero => rfl
  | succ n ih =>
    show cond (not (p n)) (countBelow (fun i => not (p i)) n + 1) _ +
      cond (p n) (countBelow p n + 1) (countBelow p n) = n + 1
    cases p n with
    | true => exact congrArg succ ih
    | false => exact (succ_add _ _).trans (congrArg succ ih)

/-- Whether the element there is one of the first `k`. -/
def amongFirst (k : Nat) : Option Nat → Bool
  | none => false
  | some a => Nat.ble (succ a) k

/-- Of the places of a placement of `m` numbers, `k` hold one of the first `k`. -/
theorem placement_count_first {m n : Nat} {f : Nat → Nat} {g : Nat → Option Nat}
    (p : Placement (fun a => a < m) (fun b => b < n) f g) (k : Nat) (h : k ≤ m) :
    countBelow (fun b => amongFirst k (g b)) n = k := by
  induction k with
  | zero =>
    apply countBelow_never
    intro b _
    show amongFirst 0 (g b) = false
    cases g b with
    | none => rfl
    | some a => rfl
  | succ k ih =>
    rw [countBelow_step (p := fun b => amongFirst k (g b)) (p.bounds k h)
      (by show amongFirst k (g (f k)) = false; rw [p.left k h]; exact ble_false (le_refl k))
      (by show amongFirst (k + 1) (g (f k)) = true; rw [p.left k h]; exact ble_of_le (le_refl _))
      ?_, ih (le_trans (le_succ k) h)]
    intro b below other
    show amongFirst (k + 1) (g b) = amongFirst k (g b)
    cases e : g b with
    | none => rfl
    | some a =>
      show Nat.ble (a + 1) (k + 1) = Nat.ble (a + 1) k
      match lt_or_ge a k with
      | .inl l =>
        rw [ble_of_le (show a + 1 ≤ k from l), ble_of_le (show a + 1 ≤ k + 1 from .step l)]
      | .inr l =>
        match lt_or_eq_of_le l with
        | .inl l' => rw [ble_false l, ble_false (show k + 1 ≤ a from l')]
        | .inr e' => exact (other (e' ▸ (p.right b a below e).symm)).elim

/-- As many places of a placement hold something as there is to place. -/
theorem placement_count {m n : Nat} {f : Nat → Nat} {g : Nat → Option Nat}
    (p : Placement (fun a => a < m) (fun b => b < n) f g) :
    countBelow (fun b => isSome (g b)) n = m := by
  apply (countBelow_congr ?_).trans (placement_count_first p m (le_refl m))
  intro b below
  show isSome (g b) = amongFirst m (g b)
  cases e : g b with
  | none => rfl
  | some a => exact (ble_of_le (p.source b a below e)).symm

/-! ### layouts -/

/-- The position that a canonical index is converted to, 0 where there is no such index. -/
def Layout.position (layout : Layout) (n : Nat) : Nat :=
  match layout.index n with
  | none => 0
  | some m => m

/-- A layout as a placement of canonical indices among positions. -/
theorem layout_numbers {layout : Layout} (h : layout.applies = true) :
    Placement (fun n => n < total layout.canonical) (fun m => m < total layout.native)
      layout.position layout.unindex := by
  have known : ∀ {n m}, layout.index n = some m → layout.position n = m := fun {n m} e => by
    show (match layout.index n with | none => 0 | some m => m) = m
    rw [e]
  constructor
  · intro n within
    have ⟨m, e, k⟩ := index_total h within
    exact known e ▸ k
  · intro n within
    have ⟨m, e, _⟩ := index_total h within
    exact known e ▸ (unindex_index h e).1
  · exact fun m n _ e => (index_unindex h e).2.1
  · exact fun m n _ e => known (index_unindex h e).1

/-- Whether a position holds an element, by computation. -/
def Layout.covers (layout : Layout) (n : Nat) : Bool := isSome (layout.unindex n)

/-- A position that is not covered is padding. -/
theorem covers_iff (layout : Layout) (n : Nat) : layout.covers n = false ↔ Padding layout n := by
  show isSome (mapSome (place layout.canonical) (layout.back n)) = false ↔ layout.back n = none
  cases layout.back n with
  | none => exact ⟨fun _ => rfl, fun _ => rfl⟩
  | some e => exact ⟨fun k => (by cases k), fun k => (by cases k)⟩

/-- A layout covers as many positions as there are elements, copies and slots counted. -/
theorem layout_covered {layout : Layout} (h : layout.applies = true) :
    countBelow layout.covers (total layout.native) = total layout.canonical :=
  placement_count (layout_numbers h)

/-- The padding of a layout is what its buffers have beyond the elements. -/
theorem layout_padding_count {layout : Layout} (h : layout.applies = true) :
    countBelow (fun n => not (layout.covers n)) (total layout.native) + total layout.canonical =
      total layout.native := by
  have k := countBelow_not layout.covers (total layout.native)
  rw [layout_covered h] at k
  exact k

/-- A layout whose buffers are as large as the cache has no padding: it is a bijection. -/
theorem layout_without_padding {layout : Layout} (h : layout.applies = true)
    (same : total layout.native = total layout.canonical) {n : Nat}
    (within : n < total layout.native) : ¬ Padding layout n := by
  have k := layout_padding_count h
  rw [same] at k
  have none := add_right_cancel (b := 0) (total layout.canonical) (k.trans (zero_add _).symm)
  have covered := never_of_countBelow none n (same ▸ within)
  intro padding
  have bare : not (layout.covers n) = false := covered
  rw [(covers_iff layout n).mpr padding] at bare
  cases bare

end ExactTransform
