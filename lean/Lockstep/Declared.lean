prelude
import Lockstep.Axes
/-! The tensors that layouts declare [LAY-7]: one component alone, components stacked along KV, and
components joined along D. Each is well made for all sizes, so each layout made of them applies, is
injective, and has its positions by strides [LAY-15]. -/
set_option linter.all false
set_option genSizeOf false
noncomputable section
namespace ExactTransform
open Nat List Option

/-- A tensor that holds one component. -/
def holding (plan : AxisPlan) (plans : List AxisPlan) (exchanged : List Nat) : Tensor where
  front := []
  back := plan.inner ++ opened [] plans
  first := ⟨planned [] (plan :: plans), plansProgram (plan :: plans), plan.outermost⟩
  others := []
  exchanged := exchanged

/-- The same part several times. -/
def again (part : Part) : Nat → List Part
  | .zero => []
  | .succ n => part :: again part n

/-- A component with a unit axis in front. -/
def layer (plan : AxisPlan) (plans : List AxisPlan) : Part :=
  ⟨planned [] (plan :: plans),
    plansProgram (plan :: plans) ++ [⟨0, .split 1 plan.outermost⟩], 1⟩

/-- A tensor that stacks a component and `more` others of the same shape along a new first axis,
KV. -/
def stacking (plan : AxisPlan) (plans : List AxisPlan) (more : Nat) (exchanged : List Nat) :
    Tensor where
  front := []
  back := opened [] (plan :: plans)
  first := layer plan plans
  others := again (layer plan plans) more
  exchanged := exchanged

/-- A component with an axis of `width` slots behind the axes of `plans`, and the axes `rest`. -/
def record (plans : List AxisPlan) (rest : List Nat) (width : Nat) : Part :=
  ⟨planned (width :: rest) plans, plansProgram plans, width⟩

/-- Components of several widths. -/
def records (plans : List AxisPlan) (rest : List Nat) : List Nat → List Part
  | [] => []
  | width :: widths => record plans rest width :: records plans rest widths

/-- A tensor that joins components along D, counted in slots, which stands behind the axes of
`plans` and before the axes `rest`, of which the copies are one. -/
def joining (plans : List AxisPlan) (rest : List Nat) (width : Nat) (widths : List Nat)
    (exchanged : List Nat) : Tensor where
  front := opened [] plans
  back := rest
  first := record plans rest width
  others := records plans rest widths
  exchanged := exchanged

/-! ### each is well made -/

/-- A tensor of one component is well made. -/
theorem holding_made {plan : AxisPlan} {plans : List AxisPlan} {exchanged : List Nat}
    (fit : AllFit (plan :: plans)) (meets : Meets (length (opened [] (plan :: plans))) exchanged) :
    (holding plan plans exchanged).Made where
  agree := ⟨plans_shape fit [], True.intro⟩
  meets := meets

/-- The stacked components agree. -/
theorem layer_shape {plan : AxisPlan} {plans : List AxisPlan} (fit : AllFit (plan :: plans)) :
    Program.shape (layer plan plans).program (layer plan plans).source =
      some (1 :: opened [] (plan :: plans)) := by
  refine (shape_append (plans_shape fit [])).trans ?_
  have one := split_applies 1 plan.outermost (plan.inner ++ opened [] plans)
  rw [one_mul] at one
  show andThen (Move.apply (.split 1 plan.outermost)
    (plan.outermost :: (plan.inner ++ opened [] plans))) _ = _
  rw [one]
  rfl

/-- The same part agrees with itself. -/
theorem again_agree {part : Part} {back : List Nat}
    (h : Program.shape part.program part.source = some (part.extent :: back)) (n : Nat) :
    Agree [] back (again part n) := by
  induction n with
  | zero => exact True.intro
  | succ n ih => exact ⟨h, ih⟩

/-- As many as there are. -/
theorem again_extents {part : Part} (h : part.extent = 1) (n : Nat) :
    extents (again part n) = n := by
  induction n with
  | zero => rfl
  | succ n ih =>
    show part.extent + extents (again part n) = n + 1
    rw [h, ih, add_comm]

/-- A stacked tensor's shape: the number of components, and the component's. -/
theorem stacking_shape (plan : AxisPlan) (plans : List AxisPlan) (more : Nat)
    (exchanged : List Nat) :
    (stacking plan plans more exchanged).shape = (more + 1) :: opened [] (plan :: plans) := by
  show (1 + extents (again (layer plan plans) more)) :: _ = _
  rw [again_extents (part := layer plan plans) rfl, add_comm]
  rfl

/-- A stacked tensor is well made. -/
theorem stacking_made {plan : AxisPlan} {plans : List AxisPlan} {more : Nat}
    {exchanged : List Nat} (fit : AllFit (plan :: plans))
    (meets : Meets (length (opened [] (plan :: plans)) + 1) exchanged) :
    (stacking plan plans more exchanged).Made where
  agree := ⟨layer_shape fit, again_agree (layer_shape fit) more⟩
  meets := by
    rw [stacking_shape]
    exact meets

/-- The plans' axes stand before the further ones. -/
theorem opened_append (rest : List Nat) (plans : List AxisPlan) :
    opened rest plans = opened [] plans ++ rest := by
  induction plans with
  | nil => rfl
  | cons plan plans ih =>
    show plan.outermost :: (plan.inner ++ opened rest plans) =
      plan.outermost :: (plan.inner ++ opened [] plans ++ rest)
    rw [ih, append_assoc]

/-- The joined components agree but for their width. -/
theorem record_shape {plans : List AxisPlan} (fit : AllFit plans) (rest : List Nat)
    (width : Nat) : Program.shape (record plans rest width).program
      (record plans rest width).source = some (opened [] plans ++ width :: rest) :=
  opened_append (width :: rest) plans ▸ plans_shape fit (width :: rest)

/-- Joined components agree. -/
theorem records_agree {plans : List AxisPlan} (fit : AllFit plans) (rest widths : List Nat) :
    Agree (opened [] plans) rest (records plans rest widths) := by
  induction widths with
  | nil => exact True.intro
  | cons width widths ih => exact ⟨record_shape fit rest width, ih⟩

/-- A joined tensor is well made. -/
theorem joining_made {plans : List AxisPlan} {rest : List Nat} {width : Nat}
    {widths exchanged : List Nat} (fit : AllFit plans)
    (meets : Meets (length (opened [] plans ++ 0 :: rest)) exchanged) :
    (joining plans rest width widths exchanged).Made where
  agree := ⟨record_shape fit rest width, records_agree fit rest widths⟩
  meets := by
    have same (n m : Nat) (front : List Nat) :
        length (front ++ n :: rest) = length (front ++ m :: rest) := by
      induction front with
      | nil => rfl
      | cons _ front ih => exact congrArg succ ih
    show Meets (length (opened [] plans ++ (width + extents (records plans rest widths)) :: rest))
      exchanged
    rw [same _ 0]
    exact meets

/-! ### their coordinates -/

/-- What a program's moves take is within the shape that they give. -/
theorem program_in_bounds {p : Program} {s t i : List Nat} (h : Program.shape p s = some t)
    (within : InBounds s i) : InBounds t (Program.index p i) := by
  have k := (steps_arrange (Program.steps p) (program_applies h [])).bounds ⟨0, i⟩ within
  rw [program_run] at k
  exact k

/-- Alone, an element has the digits that the plans give. -/
theorem holding_coordinates {plan : AxisPlan} {plans : List AxisPlan} {exchanged i : List Nat}
    (within : InBounds (planned [] (plan :: plans)) i) :
    (holding plan plans exchanged).coordinates ⟨0, i⟩ = ⟨0, digits (plan :: plans) i⟩ :=
  congrArg (Prod.mk 0) (plans_index within)

/-- In a stack, the program of a component puts 0 before its digits. -/
theorem layer_index {plan : AxisPlan} {plans : List AxisPlan} {i : List Nat}
    (fit : AllFit (plan :: plans)) (within : InBounds (planned [] (plan :: plans)) i) :
    Program.index (layer plan plans).program i = 0 :: digits (plan :: plans) i := by
  refine (index_append _ _ _).trans ?_
  have inside := program_in_bounds (plans_shape fit []) within
  rw [plans_index within] at inside ⊢
  match digits (plan :: plans) i, inside with
  | a :: rest, ⟨below, _⟩ =>
    show a / plan.outermost :: a % plan.outermost :: rest = 0 :: a :: rest
    rw [div_eq_of_lt below, mod_eq_of_lt below]

/-- The first of the components has 0 on KV. -/
theorem stacking_coordinates_first {plan : AxisPlan} {plans : List AxisPlan} {more : Nat}
    {exchanged i : List Nat} (fit : AllFit (plan :: plans))
    (within : InBounds (planned [] (plan :: plans)) i) :
    (stacking plan plans more exchanged).coordinates ⟨0, i⟩ =
      ⟨0, 0 :: digits (plan :: plans) i⟩ :=
  congrArg (Prod.mk 0) (layer_index fit within)

/-- Component `c` of a stack has `c` on KV. -/
theorem stacking_coordinates {plan : AxisPlan} {plans : List AxisPlan} {more c : Nat}
    {exchanged i : List Nat} (fit : AllFit (plan :: plans)) (below : c < more)
    (within : InBounds (planned [] (plan :: plans)) i) :
    (stacking plan plans more exchanged).coordinates ⟨c + 1, i⟩ =
      ⟨0, (c + 1) :: digits (plan :: plans) i⟩ := by
  have each (n : Nat) : gathered 0 n (again (layer plan plans) more) ⟨c, i⟩ =
      ⟨0, (n + c) :: digits (plan :: plans) i⟩ := by
    clear exchanged
    induction more generalizing n c with
    | zero => exact (not_succ_le_zero c below).elim
    | succ more ih =>
      match c, below with
      | .zero, _ =>
        show (⟨0, addAt n 0 (Program.index (layer plan plans).program i)⟩ : Element) = _
        rw [layer_index fit within]
        rfl
      | .succ c, below =>
        show gathered 0 (n + 1) (again (layer plan plans) more) ⟨c, i⟩ = _
        rw [ih (le_of_succ_le_succ below) (n + 1), add_right_comm]
        rfl
  refine (each 1).trans ?_
  rw [add_comm]

/-- The slots of the components before component `c`. -/
def slotsBefore : List Nat → Nat → Nat
  | [], _ => 0
  | _ :: _, .zero => 0
  | width :: widths, .succ c => width + slotsBefore widths c

/-- The first of the joined components has its own coordinates. -/
theorem joining_coordinates_first {plans : List AxisPlan} {rest : List Nat} {width : Nat}
    {widths exchanged i : List Nat} (within : InBounds (planned (width :: rest) plans) i) :
    (joining plans rest width widths exchanged).coordinates ⟨0, i⟩ = ⟨0, digits plans i⟩ :=
  congrArg (Prod.mk 0) (plans_index within)

/-- A further one stands behind the slots of those before it, along D [LAY-11]. -/
theorem joining_coordinates {plans : List AxisPlan} {rest : List Nat} {width own c : Nat}
    {widths exchanged i : List Nat} (below : c < length widths)
    (within : InBounds (planned (own :: rest) plans) i) :
    (joining plans rest width widths exchanged).coordinates ⟨c + 1, i⟩ =
      ⟨0, addAt (width + slotsBefore widths c) (length (opened [] plans)) (digits plans i)⟩ := by
  show gathered (length (opened [] plans)) width (records plans rest widths) ⟨c, i⟩ = _
  clear exchanged
  induction widths generalizing width c with
  | nil => exact (not_succ_le_zero c below).elim
  | cons w widths ih =>
    match c, below with
    | .zero, _ =>
      show (⟨0, addAt width (length (opened [] plans))
        (Program.index (plansProgram plans) i)⟩ : Element) = _
      rw [plans_index within]
      rfl
    | .succ c, below =>
      have k := ih (width := width + w) (le_of_succ_le_succ below)
      rw [add_assoc] at k
      exact k

end ExactTransform
