prelude
import Lockstep.Addresses
import Lockstep.Padding
/-! Axis plans: what becomes of each canonical axis [LAY-7], padded, split into blocks, vectors or
ranks, with slots reserved before it. -/
set_option linter.all false
set_option genSizeOf false
noncomputable section
namespace ExactTransform
open Nat List Option

/-- What becomes of one canonical axis.

* `whole extent padded reserve`: it stays one axis, padded at its end, with slots reserved before it
  (T, H, D).
* `parts extent outer inner reserve`: it is padded to `outer * inner` and split into `outer` groups
  of `inner`, with groups reserved before the first (Tb and Ti, Dg and Dx, R and H). -/
inductive AxisPlan where
  | whole (extent padded reserve : Nat)
  | parts (extent outer inner reserve : Nat)

/-- The extent of the canonical axis. -/
def AxisPlan.extent : AxisPlan → Nat
  | .whole extent _ _ => extent
  | .parts extent _ _ _ => extent

/-- The extent of the first axis that it becomes. -/
def AxisPlan.outermost : AxisPlan → Nat
  | .whole _ padded reserve => reserve + padded
  | .parts _ outer _ reserve => reserve + outer

/-- The extents of the further axes that it becomes. -/
def AxisPlan.inner : AxisPlan → List Nat
  | .whole _ _ _ => []
  | .parts _ _ inner _ => [inner]

/-- The coordinates on these axes. -/
def AxisPlan.digits : AxisPlan → Nat → List Nat
  | .whole _ _ reserve, a => [reserve + a]
  | .parts _ _ inner reserve, a => [reserve + a / inner, a % inner]

/-- The program that does it, on the first axis. -/
def AxisPlan.program : AxisPlan → Program
  | .whole extent padded reserve => [⟨0, .pad extent padded⟩, ⟨0, .reserve padded reserve⟩]
  | .parts extent outer inner reserve =>
    [⟨0, .pad extent (outer * inner)⟩, ⟨0, .split outer inner⟩, ⟨0, .reserve outer reserve⟩]

/-- The new axes have room for the old one. -/
def AxisPlan.Fits : AxisPlan → Prop
  | .whole extent padded _ => extent ≤ padded
  | .parts extent outer inner _ => extent ≤ outer * inner

/-- All of the axes have room. -/
def AllFit : List AxisPlan → Prop
  | [] => True
  | plan :: plans => plan.Fits ∧ AllFit plans

/-- The canonical shape that plans start from, before further axes. -/
def planned (rest : List Nat) : List AxisPlan → List Nat
  | [] => rest
  | plan :: plans => plan.extent :: planned rest plans

/-- The shape that plans give, before further axes. -/
def opened (rest : List Nat) : List AxisPlan → List Nat
  | [] => rest
  | plan :: plans => plan.outermost :: (plan.inner ++ opened rest plans)

/-- The coordinates that plans give, before further ones. -/
def digits : List AxisPlan → List Nat → List Nat
  | [], i => i
  | _ :: _, [] => []
  | plan :: plans, a :: i => plan.digits a ++ digits plans i

/-- The program of several plans, one an axis; later axes first, so that none is renumbered. -/
def plansProgram : List AxisPlan → Program
  | [] => []
  | plan :: plans => Program.later (plansProgram plans) ++ plan.program

/-- A plan that fits gives its extents. -/
theorem plan_shape {plan : AxisPlan} (h : plan.Fits) (rest : List Nat) :
    Program.shape plan.program (plan.extent :: rest) =
      some (plan.outermost :: (plan.inner ++ rest)) := by
  cases plan with
  | whole extent padded reserve =>
    show andThen (Move.apply (.pad extent padded) (extent :: rest)) _ = _
    rw [pad_applies rest h]
    show andThen (Move.apply (.reserve padded reserve) (padded :: rest)) _ = _
    rw [reserve_applies]
    rfl
  | parts extent outer inner reserve =>
    show andThen (Move.apply (.pad extent (outer * inner)) (extent :: rest)) _ = _
    rw [pad_applies rest h]
    show andThen (Move.apply (.split outer inner) (outer * inner :: rest)) _ = _
    rw [split_applies]
    show andThen (Move.apply (.reserve outer reserve) (outer :: inner :: rest)) _ = _
    rw [reserve_applies]
    rfl

/-- A plan gives its digits. -/
theorem plan_index (plan : AxisPlan) (a : Nat) (i : List Nat) :
    Program.index plan.program (a :: i) = plan.digits a ++ i := by
  cases plan with
  | whole extent padded reserve => rfl
  | parts extent outer inner reserve => rfl

/-- Plans that fit give their extents. -/
theorem plans_shape {plans : List AxisPlan} (h : AllFit plans) (rest : List Nat) :
    Program.shape (plansProgram plans) (planned rest plans) = some (opened rest plans) := by
  induction plans with
  | nil => rfl
  | cons plan plans ih =>
    exact (shape_append (shape_later (ih h.2) plan.extent)).trans (plan_shape h.1 _)

/-- Plans give their digits. -/
theorem plans_index {plans : List AxisPlan} {rest i : List Nat}
    (h : InBounds (planned rest plans) i) :
    Program.index (plansProgram plans) i = digits plans i := by
  induction plans generalizing i with
  | nil => rfl
  | cons plan plans ih =>
    match i, h with
    | a :: i, ⟨_, q⟩ =>
      refine (index_append _ _ _).trans ?_
      rw [index_later, ih q]
      exact plan_index plan a _

/-! ### plans that fit -/

/-- Whole blocks have room for all tokens. -/
theorem blocks_fit (tokens reserve : Nat) {block : Nat} (h : 0 < block) :
    (AxisPlan.parts tokens (blocks tokens block) block reserve).Fits := (blocks_hold tokens h).1

/-- Vectors of `x` have room for a head dimension that `x` divides. -/
theorem vectors_fit {dim x : Nat} (h : dim % x = 0) :
    (AxisPlan.parts dim (dim / x) x 0).Fits := by
  show dim ≤ dim / x * x
  have e := div_add_mod dim x
  rw [h] at e
  rw [show dim / x * x = dim from e]
  exact le_refl dim

/-- Ranks that divide the heads have room for them. -/
theorem shards_fit {heads ranks : Nat} (h : heads % ranks = 0) :
    (AxisPlan.parts heads ranks (heads / ranks) 0).Fits := by
  show heads ≤ ranks * (heads / ranks)
  rw [mul_comm]
  exact vectors_fit h

end ExactTransform
