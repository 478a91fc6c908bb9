prelude
import Lockstep.Exchange
import Lockstep.Single
/-! Programs: the moves that one array undergoes, with their axes. A program does on any array of a
layout, and behind any further axes, what it does on one array alone. -/
set_option linter.all false
set_option genSizeOf false
universe u
noncomputable section
namespace ExactTransform
open Nat List Option

/-- Moves of one array, each with its axis. -/
abbrev Program := List (Prod Nat Move)

/-- The shape that a program gives, where its moves apply. -/
def Program.shape : Program → List Nat → Option (List Nat)
  | [], s => some s
  | ⟨k, move⟩ :: rest, s => andThen (underAxisSome move.apply k s) (Program.shape rest)

/-- Where a program takes an index. -/
def Program.index : Program → List Nat → List Nat
  | [], i => i
  | ⟨k, move⟩ :: rest, i => Program.index rest (underAxis move.to k i)

/-- The steps that do a program on the first array. -/
def Program.steps : Program → List Step
  | [] => []
  | ⟨k, move⟩ :: rest => .on 0 k move :: Program.steps rest

/-- The program one axis later. -/
def Program.later : Program → Program
  | [] => []
  | ⟨k, move⟩ :: rest => ⟨k + 1, move⟩ :: Program.later rest

/-- One program after another: the shape. -/
theorem shape_append {p q : Program} {s t : List Nat} (h : Program.shape p s = some t) :
    Program.shape (p ++ q) s = Program.shape q t := by
  induction p generalizing s with
  | nil => exact congrArg (Program.shape q) (some_inj h)
  | cons m p ih =>
    match m, h with
    | ⟨k, move⟩, h =>
      have ⟨u, e₁, e₂⟩ := andThen_eq h
      show andThen (underAxisSome move.apply k s) (Program.shape (p ++ q)) = _
      rw [e₁]
      exact ih e₂

/-- One program after another: the index. -/
theorem index_append (p q : Program) (i : List Nat) :
    Program.index (p ++ q) i = Program.index q (Program.index p i) := by
  induction p generalizing i with
  | nil => rfl
  | cons m p ih =>
    match m with
    | ⟨k, move⟩ => exact ih (underAxis move.to k i)

/-- Behind one more axis: the shape. -/
theorem shape_later {p : Program} {s t : List Nat} (h : Program.shape p s = some t) (d : Nat) :
    Program.shape (Program.later p) (d :: s) = some (d :: t) := by
  induction p generalizing s with
  | nil => exact congrArg (fun z => some (d :: z)) (some_inj h)
  | cons m p ih =>
    match m, h with
    | ⟨k, move⟩, h =>
      have ⟨u, e₁, e₂⟩ := andThen_eq h
      show andThen (mapSome (cons d) (underAxisSome move.apply k s))
        (Program.shape (Program.later p)) = _
      rw [e₁]
      exact ih e₂

/-- Behind one more axis: the index. -/
theorem index_later (p : Program) (a : Nat) (i : List Nat) :
    Program.index (Program.later p) (a :: i) = a :: Program.index p i := by
  induction p generalizing i with
  | nil => rfl
  | cons m p ih =>
    match m with
    | ⟨k, move⟩ => exact ih (underAxis move.to k i)

/-! ### steps behind another array -/

/-- A program that gives a shape is steps that give it, and leave the other arrays. -/
theorem program_applies {p : Program} {s t : List Nat} (h : Program.shape p s = some t)
    (rest : List (List Nat)) : applySteps (Program.steps p) (s :: rest) = some (t :: rest) := by
  induction p generalizing s with
  | nil => exact congrArg (fun z => some (z :: rest)) (some_inj h)
  | cons m p ih =>
    match m, h with
    | ⟨k, move⟩, h =>
      have ⟨u, e₁, e₂⟩ := andThen_eq h
      show andThen (mapSome (fun t => t :: rest) (underAxisSome move.apply k s)) _ = _
      rw [e₁]
      exact ih e₂

/-- An element of the first array goes where its program takes it, others stay. -/
theorem program_run (p : Program) (e : Element) :
    runSteps (Program.steps p) e = onFirst (Program.index p) e := by
  induction p generalizing e with
  | nil =>
    match e with
    | ⟨.zero, _⟩ => rfl
    | ⟨.succ _, _⟩ => rfl
  | cons m p ih =>
    match m, e with
    | ⟨k, move⟩, ⟨.zero, i⟩ => exact ih ⟨0, underAxis move.to k i⟩
    | ⟨k, move⟩, ⟨.succ j, i⟩ => exact ih ⟨succ j, i⟩

/-- The step one array later. -/
def Step.later : Step → Step
  | .on a k move => .on (a + 1) k move
  | .swap a => .swap (a + 1)
  | .join a k n m => .join (a + 1) k n m

/-- The steps one array later. -/
def laterSteps : List Step → List Step
  | [] => []
  | step :: steps => step.later :: laterSteps steps

/-- A step behind another array leaves it. -/
theorem later_applies {steps : List Step} {before after : List (List Nat)}
    (h : applySteps steps before = some after) (s : List Nat) :
    applySteps (laterSteps steps) (s :: before) = some (s :: after) := by
  induction steps generalizing before with
  | nil => exact congrArg (fun z => some (s :: z)) (some_inj h)
  | cons step steps ih =>
    have ⟨between, e₁, e₂⟩ := andThen_eq h
    have one : step.later.apply (s :: before) = mapSome (cons s) (step.apply before) := by
      cases step with
      | on a k move => rfl
      | swap a => rfl
      | join a k n m => rfl
    show andThen (step.later.apply (s :: before)) (applySteps (laterSteps steps)) = _
    rw [one, e₁]
    exact ih e₂

/-- An element of the array in front stays. -/
theorem later_run_first (steps : List Step) (i : List Nat) :
    runSteps (laterSteps steps) ⟨0, i⟩ = ⟨0, i⟩ := by
  induction steps with
  | nil => rfl
  | cons step steps ih =>
    cases step with
    | on a k move => exact ih
    | swap a => exact ih
    | join a k n m => exact ih

/-- An element of a later array goes where it would without the array in front. -/
theorem later_run (steps : List Step) (e : Element) :
    runSteps (laterSteps steps) (later e) = later (runSteps steps e) := by
  induction steps generalizing e with
  | nil => rfl
  | cons step steps ih =>
    cases step with
    | on a k move => exact ih _
    | swap a => exact ih _
    | join a k n m => exact ih _

/-- Steps after steps: the state. -/
theorem steps_append {l m : List Step} {before after : List (List Nat)}
    (h : applySteps l before = some after) : applySteps (l ++ m) before = applySteps m after := by
  induction l generalizing before with
  | nil => exact congrArg (applySteps m) (some_inj h)
  | cons step l ih =>
    have ⟨between, e₁, e₂⟩ := andThen_eq h
    show andThen (step.apply before) (applySteps (l ++ m)) = _
    rw [e₁]
    exact ih e₂

/-- Steps after steps: the element. -/
theorem run_append (l m : List Step) (e : Element) :
    runSteps (l ++ m) e = runSteps m (runSteps l e) := by
  induction l generalizing e with
  | nil => rfl
  | cons step l ih => exact ih (step.to e)

/-! ### orders -/

/-- The entries of a list after exchanges of adjacent ones, one after another. -/
def order {α : Type u} : List Nat → List α → List α
  | [], l => l
  | k :: ks, l => order ks (swapAt k l)

/-- The exchanges as a program. -/
def exchanges : List Nat → Program
  | [] => []
  | k :: ks => ⟨k, .exchange⟩ :: exchanges ks

/-- The exchanges meet axes of an array of `rank` axes. -/
def Meets (rank : Nat) : List Nat → Prop
  | [] => True
  | k :: ks => k + 1 < rank ∧ Meets rank ks

/-- Whether the exchanges meet axes of an array of `rank` axes, by computation. -/
def meetsBelow (rank : Nat) : List Nat → Bool
  | [] => true
  | k :: ks => and (Nat.ble (k + 2) rank) (meetsBelow rank ks)

/-- What is computed of exchanges holds of them. -/
theorem meets_of {rank : Nat} {ks : List Nat} (h : meetsBelow rank ks = true) : Meets rank ks := by
  induction ks with
  | nil => exact True.intro
  | cons k ks ih => exact ⟨le_of_ble (Bool.and_true_left h), ih (Bool.and_true_right h)⟩

/-- Exchange as a move is exchange of entries: the index. -/
theorem exchange_index (k : Nat) (i : List Nat) :
    underAxis (Move.to .exchange) k i = swapAt k i := by
  induction k generalizing i with
  | zero =>
    match i with
    | [] => rfl
    | [_] => rfl
    | _ :: _ :: _ => rfl
  | succ k ih =>
    match i with
    | [] => rfl
    | a :: i => exact congrArg (cons a) (ih i)

/-- Exchange as a move is exchange of entries: the shape. -/
theorem exchange_shape {k : Nat} {s : List Nat} (h : k + 1 < length s) :
    underAxisSome (Move.apply .exchange) k s = some (swapAt k s) := by
  induction k generalizing s with
  | zero =>
    match s, h with
    | [_], h => exact (lt_irrefl _ h).elim
    | _ :: _ :: _, _ => rfl
  | succ k ih =>
    match s, h with
    | a :: s, h =>
      show mapSome (cons a) (underAxisSome (Move.apply .exchange) k s) = _
      rw [ih (le_of_succ_le_succ h)]
      rfl

/-- Exchange keeps the number of entries. -/
theorem swapAt_length {α : Type u} (k : Nat) (l : List α) : length (swapAt k l) = length l := by
  induction k generalizing l with
  | zero =>
    match l with
    | [] => rfl
    | [_] => rfl
    | _ :: _ :: _ => rfl
  | succ k ih =>
    match l with
    | [] => rfl
    | a :: l => exact congrArg succ (ih l)

/-- Any order that exchanges reach applies: the shape. -/
theorem exchanges_shape {ks : List Nat} {s : List Nat} (h : Meets (length s) ks) :
    Program.shape (exchanges ks) s = some (order ks s) := by
  induction ks generalizing s with
  | nil => rfl
  | cons k ks ih =>
    show andThen (underAxisSome (Move.apply .exchange) k s) (Program.shape (exchanges ks)) = _
    rw [exchange_shape h.1]
    exact ih (swapAt_length k s ▸ h.2)

/-- Any order that exchanges reach: the index. -/
theorem exchanges_index (ks i : List Nat) : Program.index (exchanges ks) i = order ks i := by
  induction ks generalizing i with
  | nil => rfl
  | cons k ks ih =>
    show Program.index (exchanges ks) (underAxis (Move.to .exchange) k i) = _
    rw [exchange_index]
    exact ih (swapAt k i)

end ExactTransform
