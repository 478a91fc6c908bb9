prelude
import Lockstep.Tensors
/-! The positions of a declared layout by strides, which is how engines, the Python producer and the
SMT queries compute them [LAY-12], [LAY-13]: the map that the steps make is this map. -/
set_option linter.all false
set_option genSizeOf false
noncomputable section
namespace ExactTransform
open Nat List Option

/-- A declared layout of well made tensors applies, whatever its sizes; all that is proved of
layouts that apply, holds of it. -/
theorem declared_applies {tensors : List Tensor} (h : AllMade tensors) :
    (declared tensors).applies = true := Layout.applies_of (tensors_apply h)

/-- Where an element of the further parts stands in the tensor at array 0: part `j`, brought into
shape, stands behind the `n` slots of those before it along axis `k`. Elements of later arrays are
counted without the parts. -/
def gathered (k : Nat) : Nat → List Part → Element → Element
  | _, [], e => later e
  | n, part :: _, ⟨.zero, i⟩ => ⟨0, addAt n k (Program.index part.program i)⟩
  | n, part :: parts, ⟨.succ j, i⟩ => gathered k (n + part.extent) parts ⟨j, i⟩

/-- The coordinates of an element of a tensor, in the order of `Tensor.shape`, at array 0; elements
of later tensors at later arrays. -/
def Tensor.coordinates (tensor : Tensor) : Element → Element
  | ⟨.zero, i⟩ => ⟨0, Program.index tensor.first.program i⟩
  | ⟨.succ j, i⟩ => gathered (length tensor.front) tensor.first.extent tensor.others ⟨j, i⟩

/-- The position of an element by strides: the sizes of the tensors before its own, and the sum of
its coordinates times the strides of their axes. -/
def address : List Tensor → Element → Nat
  | [], _ => 0
  | tensor :: tensors, e =>
    match tensor.coordinates e with
    | ⟨.zero, i⟩ => dot i tensor.strides
    | ⟨.succ j, i⟩ => size tensor.native + address tensors ⟨j, i⟩

/-- What was put together stays while more is appended. -/
theorem gather_run_first (k n : Nat) (parts : List Part) (i : List Nat) :
    runSteps (gather k n parts) ⟨0, i⟩ = ⟨0, i⟩ := by
  induction parts generalizing n with
  | nil => rfl
  | cons part parts ih =>
    refine (run_append _ _ _).trans ?_
    rw [later_run_first]
    exact ih _

/-- The steps put an element of a further part where `gathered` says. -/
theorem gather_run (k n : Nat) (parts : List Part) (e : Element) :
    runSteps (gather k n parts) (later e) = gathered k n parts e := by
  induction parts generalizing n e with
  | nil => rfl
  | cons part parts ih =>
    refine (run_append _ _ _).trans ?_
    rw [later_run, program_run]
    match e with
    | ⟨.zero, i⟩ => exact gather_run_first k (n + part.extent) parts _
    | ⟨.succ j, i⟩ => exact ih (n + part.extent) ⟨j, i⟩

/-- The steps of a tensor give each element its coordinates, and then order the axes. -/
theorem tensor_run (tensor : Tensor) (e : Element) :
    runSteps tensor.steps e = onFirst (order tensor.exchanged) (tensor.coordinates e) := by
  refine (run_append _ _ _).trans ((run_append _ _ _).trans ?_)
  rw [program_run, program_run]
  match e with
  | ⟨.zero, i⟩ =>
    show onFirst _ (runSteps _ ⟨0, Program.index tensor.first.program i⟩) = _
    rw [gather_run_first]
    exact congrArg (Prod.mk 0) (exchanges_index _ _)
  | ⟨.succ j, i⟩ =>
    show onFirst _ (runSteps _ (later ⟨j, i⟩)) =
      onFirst _ (gathered (length tensor.front) tensor.first.extent tensor.others ⟨j, i⟩)
    rw [gather_run]
    match gathered (length tensor.front) tensor.first.extent tensor.others ⟨j, i⟩ with
    | ⟨.zero, i'⟩ => exact congrArg (Prod.mk 0) (exchanges_index _ _)
    | ⟨.succ _, _⟩ => rfl

/-- An index within a shape has as many coordinates as the shape has axes. -/
theorem in_bounds_length {s i : List Nat} (h : InBounds s i) : length i = length s := by
  induction s generalizing i with
  | nil =>
    match i, h with
    | [], _ => rfl
  | cons d s ih =>
    match i, h with
    | _ :: _, ⟨_, q⟩ => exact congrArg succ (ih q)

/-- The map that the steps of a declared layout make is the map by strides: for every element of
every declared layout, at every geometry. -/
theorem declared_position {tensors : List Tensor} (h : AllMade tensors) {e : Element}
    (held : Holds (canonicalShapes tensors) e) :
    (declared tensors).run e = address tensors e := by
  show place (nativeShapes tensors) (runSteps (tensorSteps tensors) e) = address tensors e
  induction tensors generalizing e with
  | nil => exact held.elim
  | cons tensor tensors ih =>
    have p := steps_arrange tensor.steps (tensor_applies h.1 (canonicalShapes tensors))
    have there := p.bounds e held
    show place (tensor.native :: nativeShapes tensors)
      (runSteps (tensor.steps ++ laterSteps (tensorSteps tensors)) e) =
      (match tensor.coordinates e with
        | ⟨.zero, i⟩ => dot i tensor.strides
        | ⟨.succ j, i⟩ => size tensor.native + address tensors ⟨j, i⟩)
    rw [run_append]
    rw [tensor_run] at there ⊢
    match tensor.coordinates e, there with
    | ⟨.zero, i⟩, there =>
      have rank : length i = length tensor.shape := by
        have k := in_bounds_length (s := tensor.native) (i := order tensor.exchanged i) there
        rw [order_length] at k
        exact k.trans (order_length _ _)
      show place _ (runSteps (laterSteps (tensorSteps tensors)) ⟨0, order tensor.exchanged i⟩) = _
      rw [later_run_first]
      exact ordered_position tensor.exchanged rank
    | ⟨.succ j, i⟩, there =>
      show place _ (runSteps (laterSteps (tensorSteps tensors)) (later ⟨j, i⟩)) = _
      rw [later_run]
      exact congrArg (fun z => size tensor.native + z) (ih h.2 there)

/-- Two elements of a declared layout with one position by strides are the same element. -/
theorem address_injective {tensors : List Tensor} (h : AllMade tensors) {e e' : Element}
    (held : Holds (canonicalShapes tensors) e) (held' : Holds (canonicalShapes tensors) e')
    (same : address tensors e = address tensors e') : e = e' :=
  layout_injective (declared_applies h) held held' (by
    rw [declared_position h held, declared_position h held']
    exact same)

/-- Every position by strides is within the buffers. -/
theorem address_in_bounds {tensors : List Tensor} (h : AllMade tensors) {e : Element}
    (held : Holds (canonicalShapes tensors) e) : address tensors e < total (nativeShapes tensors) :=
  declared_position h held ▸ layout_in_bounds (declared_applies h) held

end ExactTransform
