prelude
import Lockstep.Strided
/-! Layouts as they are declared [LAY-7]: each component is brought into its shape by a program, the
components of a tensor are put together along an axis, and the axes are brought into their order.
Every such layout applies whatever its sizes, and its map is the map by strides. -/
set_option linter.all false
set_option genSizeOf false
noncomputable section
namespace ExactTransform
open Nat List Option

/-- One component of a tensor: its canonical shape, the program that brings it into its shape in the
tensor, and its extent there along the axis on which components are put together. -/
structure Part where
  source : List Nat
  program : Program
  extent : Nat

/-- A tensor: the extents before and behind the axis on which its components stand one after
another, the components, of which there is a first, and the exchanges that bring the axes into
their order. -/
structure Tensor where
  front : List Nat
  back : List Nat
  first : Part
  others : List Part
  exchanged : List Nat

/-- The extent of parts one after another. -/
def extents : List Part → Nat
  | [] => 0
  | part :: parts => part.extent + extents parts

/-- A tensor's shape before its axes are brought into their order. -/
def Tensor.shape (tensor : Tensor) : List Nat :=
  tensor.front ++ (tensor.first.extent + extents tensor.others) :: tensor.back

/-- A tensor's shape in memory. -/
def Tensor.native (tensor : Tensor) : List Nat := order tensor.exchanged tensor.shape

/-- The stride of each axis of a tensor, in the order of `Tensor.shape`. -/
def Tensor.strides (tensor : Tensor) : List Nat := axisStrides tensor.exchanged tensor.shape

/-- The canonical shapes of parts, before those of what follows. -/
def sources (rest : List (List Nat)) : List Part → List (List Nat)
  | [] => rest
  | part :: parts => part.source :: sources rest parts

/-- The canonical shapes of all components, tensor by tensor. -/
def canonicalShapes : List Tensor → List (List Nat)
  | [] => []
  | tensor :: tensors => sources (canonicalShapes tensors) (tensor.first :: tensor.others)

/-- The shapes of all tensors in memory. -/
def nativeShapes : List Tensor → List (List Nat)
  | [] => []
  | tensor :: tensors => tensor.native :: nativeShapes tensors

/-- The steps that bring further components into shape and append them along axis `k` to the first
array, which has extent `n` there. -/
def gather (k : Nat) : Nat → List Part → List Step
  | _, [] => []
  | n, part :: parts =>
    laterSteps (Program.steps part.program) ++
      (.join 0 k n part.extent :: gather k (n + part.extent) parts)

/-- The steps of a tensor whose components are the first arrays. -/
def Tensor.steps (tensor : Tensor) : List Step :=
  Program.steps tensor.first.program ++
    (gather (length tensor.front) tensor.first.extent tensor.others ++
      Program.steps (exchanges tensor.exchanged))

/-- The steps of tensors, one after another. -/
def tensorSteps : List Tensor → List Step
  | [] => []
  | tensor :: tensors => tensor.steps ++ laterSteps (tensorSteps tensors)

/-- The layout that a list of tensors declares. -/
def declared (tensors : List Tensor) : Layout where
  canonical := canonicalShapes tensors
  native := nativeShapes tensors
  steps := tensorSteps tensors

/-! ### declared layouts apply -/

/-- Each part's program gives the tensor's shape, but for the extent at the axis of joining. -/
def Agree (front back : List Nat) : List Part → Prop
  | [] => True
  | part :: parts =>
    Program.shape part.program part.source = some (front ++ part.extent :: back) ∧
      Agree front back parts

/-- A tensor is well made when its components agree but for the extent at the axis of joining, and
its exchanges meet its axes. -/
structure Tensor.Made (tensor : Tensor) : Prop where
  agree : Agree tensor.front tensor.back (tensor.first :: tensor.others)
  meets : Meets (length tensor.shape) tensor.exchanged

/-- All of the tensors are well made. -/
def AllMade : List Tensor → Prop
  | [] => True
  | tensor :: tensors => tensor.Made ∧ AllMade tensors

/-- Shapes that differ in one axis only can be joined along it. -/
theorem joinShape_along (n m : Nat) (front back : List Nat) :
    joinShape n m (length front) (front ++ n :: back) (front ++ m :: back) =
      some (front ++ (n + m) :: back) := by
  induction front with
  | nil =>
    show guardSome (and (Nat.beq n n) (and (Nat.beq m m) (beqList back back))) _ = _
    rw [beq_refl, beq_refl, beqList_refl]
    rfl
  | cons d front ih =>
    show guardSome (Nat.beq d d) (mapSome (cons d)
      (joinShape n m (length front) (front ++ n :: back) (front ++ m :: back))) = _
    rw [beq_refl, ih]
    rfl

/-- Components that agree can be put together. -/
theorem gather_applies {front back : List Nat} {parts : List Part} (h : Agree front back parts)
    (n : Nat) (rest : List (List Nat)) :
    applySteps (gather (length front) n parts) ((front ++ n :: back) :: sources rest parts) =
      some ((front ++ (n + extents parts) :: back) :: rest) := by
  induction parts generalizing n with
  | nil => rfl
  | cons part parts ih =>
    have shaped := later_applies (program_applies h.1 (sources rest parts)) (front ++ n :: back)
    refine (steps_append shaped).trans ?_
    show andThen (mapSome (fun u => u :: sources rest parts) (joinShape n part.extent (length front)
      (front ++ n :: back) (front ++ part.extent :: back)))
      (applySteps (gather (length front) (n + part.extent) parts)) = _
    rw [joinShape_along]
    have k := ih h.2 (n + part.extent)
    rw [add_assoc] at k
    exact k

/-- A well made tensor's steps lead to its shape. -/
theorem tensor_applies {tensor : Tensor} (h : tensor.Made) (rest : List (List Nat)) :
    applySteps tensor.steps (sources rest (tensor.first :: tensor.others)) =
      some (tensor.native :: rest) := by
  refine (steps_append (program_applies h.agree.1 (sources rest tensor.others))).trans ?_
  refine (steps_append (gather_applies h.agree.2 _ rest)).trans ?_
  exact program_applies (exchanges_shape h.meets) rest

/-- Steps of well made tensors lead to their shapes. -/
theorem tensors_apply {tensors : List Tensor} (h : AllMade tensors) :
    applySteps (tensorSteps tensors) (canonicalShapes tensors) = some (nativeShapes tensors) := by
  induction tensors with
  | nil => rfl
  | cons tensor tensors ih =>
    exact (steps_append (tensor_applies h.1 (canonicalShapes tensors))).trans
      (later_applies (ih h.2) tensor.native)

end ExactTransform
