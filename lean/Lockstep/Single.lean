prelude
import Lockstep.Layouts
/-! Layouts of one array into one buffer, with positions by strides, as engines compute them
[LAY-12]. Where such a layout's steps apply for all parameters is stated here step by step. -/
set_option linter.all false
set_option genSizeOf false
universe u v
noncomputable section
namespace ExactTransform
open Nat List Option

/-- The position of an index in a single row-major buffer, by strides. -/
def strided (shape i : List Nat) : Nat := dot i (strides shape)

/-- The layout of one array into one buffer. -/
def single (canonical native : List Nat) (steps : List Step) : Layout where
  canonical := [canonical]
  native := [native]
  steps := steps

/-- What is read from a position of a single buffer, is what the steps took to its index. -/
theorem single_back {s t i : List Nat} {steps : List Step} (h : InBounds t i) :
    (single s t steps).back (strided t i) = backSteps steps ⟨0, i⟩ := by
  show andThen (take [t] (dot i (strides t))) (backSteps steps) = _
  rw [← ravel_eq_strides]
  have k : take [t] (ravel t i) = some ⟨0, i⟩ := take_place (shapes := [t]) (e := ⟨0, i⟩) h
  rw [k]
  rfl

/-- A single buffer's layout applies when its steps give the buffer's shape. -/
theorem single_applies {s t : List Nat} {steps : List Step} (h : applySteps steps [s] = some [t]) :
    (single s t steps).applies = true := Layout.applies_of h

/-- A guarded value is absent exactly when its condition fails. -/
theorem guardSome_none {α : Type u} {c : Bool} {a : α} :
    guardSome c (some a) = none ↔ c = false := by
  cases c with
  | true => exact ⟨fun k => (by cases k), fun k => (by cases k)⟩
  | false => exact ⟨fun _ => rfl, fun _ => rfl⟩

/-- A mapped value is absent exactly when there is none to map. -/
theorem mapSome_none {α : Type u} {β : Type v} {f : α → β} {o : Option α} :
    mapSome f o = none ↔ o = none := by
  cases o with
  | none => exact ⟨fun _ => rfl, fun _ => rfl⟩
  | some a => exact ⟨fun k => (by cases k), fun k => (by cases k)⟩

/-- Not below is at least. -/
theorem ble_false_iff {n m : Nat} : Nat.ble (succ m) n = false ↔ n ≤ m :=
  ⟨le_of_ble_false, ble_false⟩

/-! ### steps that apply for all parameters -/

/-- A move that applies at an axis of the only array is a step that applies. -/
theorem on_applies {move : Move} {k : Nat} {s t : List Nat} {steps : List Step}
    (h : underAxisSome move.apply k s = some t) :
    applySteps (.on 0 k move :: steps) [s] = applySteps steps [t] := by
  show andThen (mapSome (fun t => t :: []) (underAxisSome move.apply k s)) (applySteps steps) = _
  rw [h]
  rfl

/-- Padding applies where the new extent is at least the old one. -/
theorem pad_applies {n m : Nat} (s : List Nat) (h : n ≤ m) :
    Move.apply (.pad n m) (n :: s) = some (m :: s) := by
  show guardSome (and (Nat.beq n n) (Nat.ble n m)) (some (m :: s)) = _
  rw [beq_refl, ble_of_le h]
  rfl

/-- Reserving slots always applies. -/
theorem reserve_applies (n r : Nat) (s : List Nat) :
    Move.apply (.reserve n r) (n :: s) = some ((r + n) :: s) := by
  show guardSome (Nat.beq n n) (some ((r + n) :: s)) = _
  rw [beq_refl]
  rfl

/-- Splitting applies to an extent that is the product of the parts. -/
theorem split_applies (p q : Nat) (s : List Nat) :
    Move.apply (.split p q) (p * q :: s) = some (p :: q :: s) := by
  show guardSome (Nat.beq (p * q) (p * q)) (some (p :: q :: s)) = _
  rw [beq_refl]
  rfl

end ExactTransform
