prelude
import Lockstep.Counting
import Lockstep.Declared
import Lockstep.Reflect
/-! What is stated of a declared layout at every geometry, and how a declared form is compared with
the steps that an implementation emits at one. -/
set_option linter.all false
set_option genSizeOf false
noncomputable section
namespace ExactTransform
open Nat List Option

/-- The layout that tensors declare is exact: its positions by strides are within the buffers, no
two elements share one, they are all positions but the padding, and the padding is as large as the
buffers exceed the cache. -/
structure Exact (tensors : List Tensor) : Prop where
  /-- The steps apply, and put each element where the strides say. -/
  steps : (declared tensors).applies = true ∧
    ∀ e, Holds (canonicalShapes tensors) e → (declared tensors).run e = address tensors e
  /-- No position is beyond the buffers. -/
  within : ∀ e, Holds (canonicalShapes tensors) e →
    address tensors e < total (nativeShapes tensors)
  /-- Two elements at one position are the same element. -/
  injective : ∀ e e', Holds (canonicalShapes tensors) e → Holds (canonicalShapes tensors) e' →
    address tensors e = address tensors e' → e = e'
  /-- The positions of elements are those that are not padding. -/
  image : ∀ p, p < total (nativeShapes tensors) →
    ((∃ e, Holds (canonicalShapes tensors) e ∧ address tensors e = p) ↔
      ¬ Padding (declared tensors) p)
  /-- Positions that hold nothing, and elements, are together all positions. -/
  padding : countBelow (fun p => not ((declared tensors).covers p)) (total (nativeShapes tensors)) +
    total (canonicalShapes tensors) = total (nativeShapes tensors)

/-- Well made tensors declare an exact layout, whatever their sizes. -/
theorem exact_of_made {tensors : List Tensor} (h : AllMade tensors) : Exact tensors where
  steps := ⟨declared_applies h, fun _ => declared_position h⟩
  within := fun _ => address_in_bounds h
  injective := fun _ _ => address_injective h
  image := fun p within => by
    refine Iff.trans ?_ (layout_image (declared_applies h) (n := p) within)
    exact ⟨fun ⟨e, held, k⟩ => ⟨e, held, (declared_position h held).trans k⟩,
      fun ⟨e, held, k⟩ => ⟨e, held, (declared_position h held).symm.trans k⟩⟩
  padding := layout_padding_count (declared_applies h)

/-- Two layouts have one map: the same elements, at the same positions, of as many. -/
structure SameMap (layout layout' : Layout) : Prop where
  canonical : layout.canonical = layout'.canonical
  positions : total layout.native = total layout'.native
  run : ∀ e, Holds layout.canonical e → layout.run e = layout'.run e

/-- Whether two maps agree below `n`. -/
def agreeBelow (f f' : Nat → Nat) (n : Nat) : Bool := allBelow (fun i => Nat.beq (f i) (f' i)) n

/-- Two layouts of two components have one map when their maps, as arithmetic, agree on each
component's elements; that is decided by computation. -/
theorem same_map {layout layout' : Layout} {a b : List Nat} {f g f' g' : Nat → Nat}
    (canonical : layout.canonical = [a, b]) (canonical' : layout'.canonical = [a, b])
    (positions : total layout.native = total layout'.native)
    (first : ∀ n, layout.run ⟨0, unravel a n⟩ = f n)
    (second : ∀ n, layout.run ⟨1, unravel b n⟩ = g n)
    (first' : ∀ n, layout'.run ⟨0, unravel a n⟩ = f' n)
    (second' : ∀ n, layout'.run ⟨1, unravel b n⟩ = g' n)
    (h : and (agreeBelow f f' (size a)) (agreeBelow g g' (size b)) = true) :
    SameMap layout layout' where
  canonical := canonical.trans canonical'.symm
  positions := positions
  run := fun e held => by
    rw [canonical] at held
    match e, held with
    | ⟨.zero, i⟩, held =>
      have k := allBelow_sound (Bool.and_true_left h) (ravel a i) (ravel_lt a i held)
      rw [← unravel_ravel a i held]
      exact (first _).trans ((eq_of_beq_eq_true k).trans (first' _).symm)
    | ⟨.succ .zero, i⟩, held =>
      have k := allBelow_sound (Bool.and_true_right h) (ravel b i) (ravel_lt b i held)
      rw [← unravel_ravel b i held]
      exact (second _).trans ((eq_of_beq_eq_true k).trans (second' _).symm)

end ExactTransform
