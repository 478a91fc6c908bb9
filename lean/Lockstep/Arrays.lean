prelude
import Lockstep.Joins
import Lockstep.Moves
/-! Each step of a layout is a placement on the elements of all arrays, and so is every composition
of steps. -/
set_option linter.all false
set_option genSizeOf false
noncomputable section
namespace ExactTransform
open Nat List Option

/-- An element is held by a state when it names one of its arrays and an index within its shape. -/
def Holds : List (List Nat) → Element → Prop
  | [], _ => False
  | s :: _, ⟨.zero, i⟩ => InBounds s i
  | _ :: shapes, ⟨.succ j, i⟩ => Holds shapes ⟨j, i⟩

/-- A step from one state to another is a placement of the elements of the one among those of the
other. -/
abbrev Arranges (before after : List (List Nat)) (f : Element → Element)
    (g : Element → Option Element) : Prop :=
  Placement (Holds before) (Holds after) f g

/-! ### steps at the first arrays -/

/-- A move within the first array. -/
theorem Moves.first {s t : List Nat} {f : List Nat → List Nat} {g : List Nat → Option (List Nat)}
    (p : Moves s t f g) (rest : List (List Nat)) :
    Arranges (s :: rest) (t :: rest) (onFirst f) (onFirstSome g) where
  bounds := fun e b =>
    match e, b with
    | ⟨.zero, i⟩, b => p.bounds i b
    | ⟨.succ _, _⟩, b => b
  left := fun e b =>
    match e, b with
    | ⟨.zero, i⟩, b => congrArg (mapSome (Prod.mk Nat.zero)) (p.left i b)
    | ⟨.succ _, _⟩, _ => rfl
  source := fun e d b h =>
    match e, b with
    | ⟨.zero, j⟩, b =>
      have ⟨i, h₁, h₂⟩ := mapSome_eq h
      h₂ ▸ p.source j i b h₁
    | ⟨.succ _, _⟩, b => some_inj h ▸ b
  right := fun e d b h =>
    match e, b with
    | ⟨.zero, j⟩, b =>
      have ⟨i, h₁, h₂⟩ := mapSome_eq h
      h₂ ▸ congrArg (Prod.mk Nat.zero) (p.right j i b h₁)
    | ⟨.succ _, _⟩, b => some_inj h ▸ rfl

/-- Two arrays that change places. -/
theorem swap_arranges (s t : List Nat) (rest : List (List Nat)) :
    Arranges (s :: t :: rest) (t :: s :: rest) swapFirst (fun e => some (swapFirst e)) where
  bounds := fun e b =>
    match e, b with
    | ⟨.zero, _⟩, b => b
    | ⟨.succ .zero, _⟩, b => b
    | ⟨.succ (.succ _), _⟩, b => b
  left := fun e b =>
    match e, b with
    | ⟨.zero, _⟩, _ => rfl
    | ⟨.succ .zero, _⟩, _ => rfl
    | ⟨.succ (.succ _), _⟩, _ => rfl
  source := fun e d b h =>
    match e, b with
    | ⟨.zero, _⟩, b => some_inj h ▸ b
    | ⟨.succ .zero, _⟩, b => some_inj h ▸ b
    | ⟨.succ (.succ _), _⟩, b => some_inj h ▸ b
  right := fun e d b h =>
    match e, b with
    | ⟨.zero, _⟩, _ => some_inj h ▸ rfl
    | ⟨.succ .zero, _⟩, _ => some_inj h ▸ rfl
    | ⟨.succ (.succ _), _⟩, _ => some_inj h ▸ rfl

/-- Two arrays joined into one. -/
theorem Joined.arranges {n k : Nat} {s t u : List Nat} (j : Joined n k s t u)
    (rest : List (List Nat)) :
    Arranges (s :: t :: rest) (u :: rest) (joinFirst k n) (fun e => some (cutFirst k n e)) where
  bounds := fun e b =>
    match e, b with
    | ⟨.zero, i⟩, b => (j.front i b).1
    | ⟨.succ .zero, i⟩, b => (j.rear i b).1
    | ⟨.succ (.succ _), _⟩, b => b
  left := fun e b =>
    match e, b with
    | ⟨.zero, i⟩, b => by
      show some (cond (isBelow n k i) _ _) = _
      rw [(j.front i b).2]
      rfl
    | ⟨.succ .zero, i⟩, b => by
      have ⟨_, y, z⟩ := j.rear i b
      show some (cond (isBelow n k (addAt n k i)) _ (Prod.mk 1 (subAt n k (addAt n k i)))) = _
      rw [y, z]
      rfl
    | ⟨.succ (.succ _), _⟩, b => rfl
  source := fun e d b h =>
    match e, b with
    | ⟨.zero, i⟩, b => by
      rw [← some_inj h]
      show Holds (s :: t :: rest) (cond (isBelow n k i) ⟨0, i⟩ ⟨1, subAt n k i⟩)
      cases c : isBelow n k i with
      | true => exact j.cut_front i b c
      | false => exact (j.cut_rear i b c).1
    | ⟨.succ _, _⟩, b => some_inj h ▸ b
  right := fun e d b h =>
    match e, b with
    | ⟨.zero, i⟩, b => by
      rw [← some_inj h]
      show joinFirst k n (cond (isBelow n k i) ⟨0, i⟩ ⟨1, subAt n k i⟩) = ⟨0, i⟩
      cases c : isBelow n k i with
      | true => rfl
      | false => exact congrArg (Prod.mk 0) (j.cut_rear i b c).2
    | ⟨.succ _, _⟩, b => some_inj h ▸ rfl

/-! ### steps at any array -/

/-- A step leaves the arrays before its own alone. -/
theorem Arranges.behind {before after : List (List Nat)} {f : Element → Element}
    {g : Element → Option Element} {a : Nat}
    (p : Arranges before after (underArray f a) (underArraySome g a)) (s : List Nat) :
    Arranges (s :: before) (s :: after) (underArray f (a + 1)) (underArraySome g (a + 1)) where
  bounds := fun e b =>
    match e, b with
    | ⟨.zero, _⟩, b => b
    | ⟨.succ j, i⟩, b => p.bounds ⟨j, i⟩ b
  left := fun e b =>
    match e, b with
    | ⟨.zero, _⟩, _ => rfl
    | ⟨.succ j, i⟩, b => by
      show mapSome later (underArraySome g a (underArray f a ⟨j, i⟩)) = _
      rw [p.left ⟨j, i⟩ b]
      rfl
  source := fun e d b h =>
    match e, b with
    | ⟨.zero, _⟩, b => some_inj h ▸ b
    | ⟨.succ j, i⟩, b =>
      have ⟨d', e₁, e₂⟩ := mapSome_eq h
      e₂ ▸ p.source ⟨j, i⟩ d' b e₁
  right := fun e d b h =>
    match e, b with
    | ⟨.zero, _⟩, b => some_inj h ▸ rfl
    | ⟨.succ j, i⟩, b =>
      have ⟨d', e₁, e₂⟩ := mapSome_eq h
      e₂ ▸ congrArg later (p.right ⟨j, i⟩ d' b e₁)

/-- A placement of the arrays from the first on is one from any array on. -/
theorem arranges_under {f : Element → Element} {g : Element → Option Element}
    {shape : List (List Nat) → Option (List (List Nat))}
    (first : ∀ before after, shape before = some after → Arranges before after f g) (a : Nat)
    {before after : List (List Nat)} (h : underShapes shape a before = some after) :
    Arranges before after (underArray f a) (underArraySome g a) := by
  induction a generalizing before after with
  | zero => exact first before after h
  | succ a ih =>
    match before, h with
    | s :: before, h =>
      have ⟨u, e₁, e₂⟩ := mapSome_eq h
      exact e₂ ▸ (ih e₁).behind s

/-- Wherever a step applies, it is a placement. -/
theorem Step.arranges (step : Step) {before after : List (List Nat)}
    (h : step.apply before = some after) : Arranges before after step.to step.back :=
  match step, h with
  | .on a k move, h => arranges_under (fun
    | s :: rest, after, h => by
      have ⟨t, e₁, e₂⟩ := mapSome_eq h
      exact e₂ ▸ (move.moves_at k e₁).first rest) a h
  | .swap a, h => arranges_under (fun
    | s :: t :: rest, after, h => some_inj h ▸ swap_arranges s t rest) a h
  | .join a k n m, h => arranges_under (fun
    | s :: t :: rest, after, h => by
      have ⟨u, e₁, e₂⟩ := mapSome_eq h
      exact e₂ ▸ (joinShape_joined n m k e₁).arranges rest) a h

/-- Any composition of steps, where each applies to what the one before it gives, is a placement. -/
theorem steps_arrange (steps : List Step) {before after : List (List Nat)}
    (h : applySteps steps before = some after) :
    Arranges before after (runSteps steps) (backSteps steps) := by
  induction steps generalizing before with
  | nil =>
    have e : before = after := some_inj h
    exact e ▸ Placement.identity (Holds before)
  | cons step steps ih =>
    have ⟨between, e₁, e₂⟩ := andThen_eq h
    exact (step.arranges e₁).comp (ih e₂)

end ExactTransform
