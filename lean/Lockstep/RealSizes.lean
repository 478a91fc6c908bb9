prelude
import Lockstep.Counting
import Lockstep.Reflect
/-! What a layout's steps are known to do at one geometry, however large, from shapes alone.

The general theorems need of a layout only that its steps apply to its shapes, which is computed in
a moment; no position is enumerated. -/
set_option linter.all false
set_option genSizeOf false
noncomputable section
namespace ExactTransform
open Nat List Option

/-- A layout loses nothing: `elements` elements, each copy counted, have positions of their own
within the buffers, and `padding` positions hold none. -/
structure Layout.Lossless (layout : Layout) (elements padding : Nat) : Prop where
  /-- So many elements are placed. -/
  whole : total layout.canonical = elements
  /-- So many positions are padding, by count. -/
  rest : countBelow (fun p => not (layout.covers p)) (total layout.native) = padding
  /-- Each element is placed within the buffers, and found there again. -/
  placed : ∀ n, n < elements →
    ∃ p, layout.index n = some p ∧ p < total layout.native ∧ layout.unindex p = some n
  /-- An element that is found at a position is one that was placed there. -/
  found : ∀ p n, layout.unindex p = some n → n < elements ∧ layout.index n = some p

/-- Whether the steps apply, to and with so many elements and so much padding. -/
def Layout.fits (layout : Layout) (elements padding : Nat) : Bool :=
  and layout.applies
    (and (Nat.beq (total layout.canonical) elements)
      (Nat.beq (total layout.native) (Nat.add padding elements)))

/-- A layout whose steps apply to its shapes loses nothing. -/
theorem Layout.lossless_of_fits {layout : Layout} {elements padding : Nat}
    (h : layout.fits elements padding = true) : layout.Lossless elements padding := by
  have applies := Bool.and_true_left h
  have count := eq_of_beq_eq_true (Bool.and_true_left (Bool.and_true_right h))
  have size : total layout.native = padding + elements :=
    eq_of_beq_eq_true (Bool.and_true_right (Bool.and_true_right h))
  exact
    { whole := count
      rest := by
        have counted := layout_padding_count applies
        rw [count] at counted
        exact add_right_cancel elements (counted.trans size)
      placed := fun n below => by
        have ⟨p, there, within⟩ := index_total applies (count.symm ▸ below)
        exact ⟨p, there, within, (unindex_index applies there).left⟩
      found := fun p n there =>
        have ⟨back, below, _⟩ := index_unindex applies there
        ⟨count ▸ below, back⟩ }

end ExactTransform
