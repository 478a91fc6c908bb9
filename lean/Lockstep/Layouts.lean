prelude
import Lockstep.Arrays
/-! What holds of every layout, whatever its shapes and steps, once its steps apply: no two elements
share a position, the image is exactly what is not padding, and conversions come back. -/
set_option linter.all false
set_option genSizeOf false
noncomputable section
namespace ExactTransform
open Nat List Option

/-! ### the arrays in memory -/

/-- A position is within the buffers when it is below their number of positions. -/
abbrev Within (shapes : List (List Nat)) (n : Nat) : Prop := n < total shapes

/-- An element's position is found again. -/
theorem take_place {shapes : List (List Nat)} {e : Element} (h : Holds shapes e) :
    take shapes (place shapes e) = some e := by
  induction shapes generalizing e with
  | nil => exact h.elim
  | cons s shapes ih =>
    match e, h with
    | ⟨.zero, i⟩, h =>
      show cond (Nat.ble (succ (ravel s i)) (size s))
        (some (Prod.mk 0 (unravel s (ravel s i)))) _ = _
      rw [ble_of_le (ravel_lt s i h), unravel_ravel s i h]
      rfl
    | ⟨.succ j, i⟩, h =>
      show cond (Nat.ble (succ (size s + place shapes ⟨j, i⟩)) (size s)) _
        (mapSome later (take shapes (size s + place shapes ⟨j, i⟩ - size s))) = _
      rw [ble_false (le_add_right _ _), add_comm (size s), add_sub_cancel, ih h]
      rfl

/-- A position within the buffers belongs to one element, which lies there. -/
theorem place_take {shapes : List (List Nat)} {n : Nat} (h : Within shapes n) :
    ∃ e, take shapes n = some e ∧ Holds shapes e ∧ place shapes e = n := by
  induction shapes generalizing n with
  | nil => exact (not_succ_le_zero n h).elim
  | cons s shapes ih =>
    cases c : Nat.ble (succ n) (size s) with
    | true =>
      refine ⟨⟨0, unravel s n⟩, ?_, unravel_in_bounds s n (le_of_ble c),
        ravel_unravel s n (le_of_ble c)⟩
      show cond (Nat.ble (succ n) (size s)) _ _ = _
      rw [c]
      rfl
    | false =>
      have e := sub_add_cancel (le_of_ble_false c)
      have k : Within shapes (n - size s) := by
        apply le_of_add_le_add_left (size s)
        show size s + (n - size s) + 1 ≤ total (s :: shapes)
        rw [add_comm (size s), e]
        exact h
      have ⟨⟨j, i⟩, e₁, e₂, e₃⟩ := ih k
      refine ⟨⟨succ j, i⟩, ?_, e₂, ?_⟩
      · show cond (Nat.ble (succ n) (size s)) _ (mapSome later (take shapes (n - size s))) = _
        rw [c, e₁]
        rfl
      · show size s + place shapes ⟨j, i⟩ = n
        rw [e₃, add_comm, e]

/-- Where an element is found, is a position within the buffers. -/
theorem take_within {shapes : List (List Nat)} {n : Nat} {e : Element}
    (h : take shapes n = some e) : Within shapes n := by
  induction shapes generalizing n e with
  | nil => cases h
  | cons s shapes ih =>
    cases c : Nat.ble (succ n) (size s) with
    | true => exact lt_of_lt_of_le (le_of_ble c) (le_add_right _ _)
    | false =>
      have k : cond (Nat.ble (succ n) (size s)) (some (Prod.mk 0 (unravel s n)))
        (mapSome later (take shapes (n - size s))) = some e := h
      rw [c] at k
      have ⟨_, e₁, _⟩ := mapSome_eq k
      have lt := add_lt_add_left (size s) (ih e₁)
      rw [add_comm (size s) (n - size s), sub_add_cancel (le_of_ble_false c)] at lt
      exact lt

/-- An element's position is within the buffers. -/
theorem place_within {shapes : List (List Nat)} {e : Element} (h : Holds shapes e) :
    Within shapes (place shapes e) := by
  induction shapes generalizing e with
  | nil => exact h.elim
  | cons s shapes ih =>
    match e, h with
    | ⟨.zero, i⟩, h => exact lt_of_lt_of_le (ravel_lt s i h) (le_add_right _ _)
    | ⟨.succ j, i⟩, h => exact add_lt_add_left (size s) (ih h)

/-- Laying arrays one after another in memory is a placement, without padding. -/
theorem placed (shapes : List (List Nat)) :
    Placement (Holds shapes) (Within shapes) (place shapes) (take shapes) where
  bounds := fun _ => place_within
  left := fun _ => take_place
  source := fun n e h k =>
    have ⟨_, e₁, e₂, _⟩ := place_take h
    some_inj (e₁.symm.trans k) ▸ e₂
  right := fun n e h k =>
    have ⟨_, e₁, _, e₃⟩ := place_take h
    some_inj (e₁.symm.trans k) ▸ e₃

/-! ### layouts -/

/-- Lists of shapes that compare equal are equal. -/
theorem eq_of_beqShapes {l m : List (List Nat)} (h : beqShapes l m = true) : l = m := by
  induction l generalizing m with
  | nil =>
    match m, h with
    | [], _ => rfl
  | cons a l ih =>
    match m, h with
    | b :: m, h =>
      have c := Bool.and_true_left (a := beqList a b) (b := beqShapes l m) h
      have d := Bool.and_true_right (a := beqList a b) (b := beqShapes l m) h
      rw [eq_of_beqList c, ih d]

/-- A layout whose steps were found to apply leads from the canonical shapes to the native ones. -/
theorem Layout.applies_eq {layout : Layout} (h : layout.applies = true) :
    applySteps layout.steps layout.canonical = some layout.native := by
  have k : (match applySteps layout.steps layout.canonical with
    | none => false
    | some shapes => beqShapes shapes layout.native) = true := h
  match e : applySteps layout.steps layout.canonical, k with
  | some shapes, k => exact congrArg some (eq_of_beqShapes k)

/-- Lists of numbers compare equal to themselves. -/
theorem beqList_refl (l : List Nat) : beqList l l = true := by
  induction l with
  | nil => rfl
  | cons a l ih =>
    show cond (Nat.beq a a) (beqList l l) false = true
    rw [beq_refl, ih]
    rfl

/-- Lists of shapes compare equal to themselves. -/
theorem beqShapes_refl (l : List (List Nat)) : beqShapes l l = true := by
  induction l with
  | nil => rfl
  | cons a l ih =>
    show cond (beqList a a) (beqShapes l l) false = true
    rw [beqList_refl, ih]
    rfl

/-- A layout whose steps lead from the canonical shapes to the native ones, applies. -/
theorem Layout.applies_of {layout : Layout}
    (h : applySteps layout.steps layout.canonical = some layout.native) :
    layout.applies = true := by
  show (match applySteps layout.steps layout.canonical with
    | none => false
    | some shapes => beqShapes shapes layout.native) = true
  rw [h]
  exact beqShapes_refl layout.native

/-- Every layout is a placement of the canonical elements among the positions of the buffers. -/
theorem layout_placement {layout : Layout} (h : layout.applies = true) :
    Placement (Holds layout.canonical) (Within layout.native) layout.run layout.back :=
  (steps_arrange layout.steps (Layout.applies_eq h)).comp (placed layout.native)

/-- Two elements at one position are the same element: no layout whose steps apply, at any geometry,
puts two elements of a cache at one place. -/
theorem layout_injective {layout : Layout} (h : layout.applies = true) {e e' : Element}
    (held : Holds layout.canonical e) (held' : Holds layout.canonical e')
    (same : layout.run e = layout.run e') : e = e' :=
  (layout_placement h).injective held held' same

/-- Every element's position is within the buffers. -/
theorem layout_in_bounds {layout : Layout} (h : layout.applies = true) {e : Element}
    (held : Holds layout.canonical e) : layout.run e < total layout.native :=
  (layout_placement h).bounds e held

/-- What an element's position holds is that element: nothing is lost on the way. -/
theorem layout_reads_back {layout : Layout} (h : layout.applies = true) {e : Element}
    (held : Holds layout.canonical e) : layout.back (layout.run e) = some e :=
  (layout_placement h).left e held

/-- A position of the buffers is padding when no element is read from it. -/
def Padding (layout : Layout) (n : Nat) : Prop := layout.back n = none

/-- Whether a position is padding can be computed. -/
instance decPadding (layout : Layout) (n : Nat) : Decidable (Padding layout n) :=
  match h : layout.back n with
  | none => isTrue h
  | some _ => isFalse fun k => by cases h.symm.trans k

/-- The image of a layout is exactly its positions that are not padding: at these, and at no others,
lies an element of the cache. -/
theorem layout_image {layout : Layout} (h : layout.applies = true) {n : Nat}
    (within : n < total layout.native) :
    (∃ e, Holds layout.canonical e ∧ layout.run e = n) ↔ ¬ Padding layout n := by
  constructor
  · intro ⟨e, held, at_n⟩ none_there
    have k := layout_reads_back h held
    rw [at_n] at k
    cases k.symm.trans none_there
  · intro not_padding
    match k : layout.back n with
    | none => exact (not_padding k).elim
    | some e =>
      exact ⟨e, (layout_placement h).source n e within k, (layout_placement h).right n e within k⟩

/-- What is read from a position is an element of the cache that lies there. -/
theorem layout_back_sound {layout : Layout} (h : layout.applies = true) {n : Nat} {e : Element}
    (within : n < total layout.native) (there : layout.back n = some e) :
    Holds layout.canonical e ∧ layout.run e = n :=
  ⟨(layout_placement h).source n e within there, (layout_placement h).right n e within there⟩

/-- Every canonical index is converted to a position within the buffers. -/
theorem index_total {layout : Layout} (h : layout.applies = true) {n : Nat}
    (within : n < total layout.canonical) :
    ∃ m, layout.index n = some m ∧ m < total layout.native := by
  have ⟨e, e₁, e₂, _⟩ := place_take within
  exact ⟨layout.run e, congrArg (mapSome layout.run) e₁, layout_in_bounds h e₂⟩

/-- The position that a canonical index is converted to is converted back to that index. -/
theorem unindex_index {layout : Layout} (h : layout.applies = true) {n m : Nat}
    (there : layout.index n = some m) :
    layout.unindex m = some n ∧ n < total layout.canonical ∧ m < total layout.native := by
  have ⟨e, e₁, e₂⟩ := mapSome_eq there
  have within := take_within e₁
  have held := (placed layout.canonical).source n e within e₁
  rw [← e₂]
  refine ⟨?_, within, layout_in_bounds h held⟩
  show mapSome (place layout.canonical) (layout.back (layout.run e)) = some n
  rw [layout_reads_back h held]
  exact congrArg some ((placed layout.canonical).right n e within e₁)

/-- The canonical index that a position is converted to is converted back to that position. -/
theorem index_unindex {layout : Layout} (h : layout.applies = true) {n m : Nat}
    (there : layout.unindex m = some n) :
    layout.index n = some m ∧ n < total layout.canonical ∧ m < total layout.native := by
  have ⟨e, e₁, e₂⟩ := mapSome_eq there
  have ⟨_, k, _⟩ := andThen_eq e₁
  have within := take_within k
  have ⟨held, at_m⟩ := layout_back_sound h within e₁
  rw [← e₂]
  refine ⟨?_, place_within held, within⟩
  show mapSome layout.run (take layout.canonical (place layout.canonical e)) = some m
  rw [take_place held]
  exact congrArg some at_m

/-- Converts a position of one layout to that of the same element in another; nothing where the
position is padding. -/
def Layout.convert (src dst : Layout) (n : Nat) : Option Nat :=
  ExactTransform.convert src.back dst.run n

/-- A cache converted from one layout to another and back is as it was, at every position that holds
an element, for any two layouts of the same canonical tensors, at any geometry. -/
theorem layout_roundtrip {src dst : Layout} (hs : src.applies = true) (hd : dst.applies = true)
    (same : src.canonical = dst.canonical) {n : Nat} (within : n < total src.native)
    (holds : ¬ Padding src n) :
    ∃ m, src.convert dst n = some m ∧ m < total dst.native ∧ dst.convert src m = some n := by
  match k : src.back n with
  | none => exact (holds k).elim
  | some e =>
    have q := layout_placement hd
    rw [← same] at q
    exact comp_roundtrip (layout_placement hs) q within k

/-- Copies that tensor-parallel ranks hold of one element, and the slots of one wide element, lie at
positions of their own: with the number of the copy as the last coordinate, two of them at one
position are the same copy of the same element. -/
theorem layout_replicas {layout : Layout} (h : layout.applies = true) {a a' c c' : Nat}
    {i i' : List Nat} (held : Holds layout.canonical ⟨a, i ++ [c]⟩)
    (held' : Holds layout.canonical ⟨a', i' ++ [c']⟩)
    (same : layout.run ⟨a, i ++ [c]⟩ = layout.run ⟨a', i' ++ [c']⟩) :
    a = a' ∧ i = i' ∧ c = c' := by
  have e := layout_injective h held held' same
  injection e with e₁ e₂
  have k := congrArg lastFirst e₂
  rw [lastFirst_append, lastFirst_append] at k
  injection k with k₁ k₂
  exact ⟨e₁, k₂, k₁⟩

end ExactTransform
