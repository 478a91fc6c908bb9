prelude
import Lockstep.Lifecycle.Relation
/-! The legal n-grams of events ([LIFE-3]), counted. -/
set_option linter.all false
set_option genSizeOf false
noncomputable section
namespace Lifecycle
open Nat List

/-- A relation: the state that follows, where there is a cell. -/
abbrev Relation := State → Event → Option State

/-- Whether a state is there. -/
def isState : Option State → Bool
  | .none => false
  | .some _ => true
/-- The state after a sequence of events, each with a cell. -/
def after (relation : Relation) (s : State) : List Event → Option State
  | [] => .some s
  | e :: l =>
    match relation s e with
    | .none => .none
    | .some t => after relation t l
/-- Whether some element of a list has a property. -/
def any {α : Type} (p : α → Bool) : List α → Bool
  | [] => false
  | a :: l => or (p a) (any p l)
/-- The elements of a list that have a property. -/
def keep {α : Type} (p : α → Bool) : List α → List α
  | [] => []
  | a :: l => cond (p a) (a :: keep p l) (keep p l)
/-- The lists that a function gives for each element, joined. -/
def eachOf {α β : Type} (l : List α) (f : α → List β) : List β :=
  match l with
  | [] => []
  | a :: l => f a ++ eachOf l f

/-- Whether a sequence of events is legal from some state. -/
def legal (relation : Relation) (l : List Event) : Bool :=
  any (fun s => isState (after relation s l)) states
/-- All sequences of `n` events, each once. -/
def words : Nat → List (List Event)
  | .zero => [[]]
  | .succ n => eachOf events fun e => map (cons e) (words n)
/-- The legal sequences of `n` events. -/
def grams (relation : Relation) (n : Nat) : List (List Event) := keep (legal relation) (words n)
/-- The cells of a relation. -/
def cells (relation : Relation) : List (State × Event) :=
  eachOf states fun s =>
    keep (fun pair => isState (relation pair.1 pair.2)) (map (fun e => (s, e)) events)

/-! ### the relation of the specification -/

/-- There are 13 cells. -/
theorem thirteen_cells : length (cells next) = 13 := by decide +kernel
/-- There are 25 legal pairs of events. -/
theorem two_grams_are_25 : length (grams next 2) = 25 := by decide +kernel
/-- There are 79 legal triples of events. -/
theorem three_grams_are_79 : length (grams next 3) = 79 := by decide +kernel
/-- Nothing follows a terminal state. -/
theorem terminal_states_end :
    length (keep (fun pair => any (fun s => Nat.beq s.number pair.1.number) terminal)
      (cells next)) = 0 := by decide +kernel
/-- Something follows every other state. -/
theorem other_states_go_on :
    length (keep (fun s => not (or (any (fun t => Nat.beq s.number t.number) terminal)
      (any (fun e => isState (next s e)) events))) states) = 0 := by decide +kernel
/-- The pairs that are declared unreachable are in no cell. -/
theorem unreachable_pairs_are_no_cells :
    length (keep (fun pair => isState (next pair.1 pair.2)) unreachable) = 0 := by decide +kernel

/-! ### other relations: what the two unreachable pairs would add -/

/-- A relation with one cell more. -/
def withCell (relation : Relation) (s : State) (e : Event) (t : State) : Relation :=
  fun s' e' => cond (and (Nat.beq s'.number s.number) (Nat.beq e'.number e.number)) (.some t)
    (relation s' e')

/-- With (ADMITTED, preempt_rc) there would be 27 legal pairs and 84 legal triples. -/
theorem grams_with_admitted_preempted :
    length (grams (withCell next .admitted .preemptRc .preempted) 2) = 27 ∧
      length (grams (withCell next .admitted .preemptRc .preempted) 3) = 84 := by decide +kernel
/-- With (DECODING, evict) there would be 27 legal pairs and 90 legal triples. -/
theorem grams_with_decoding_evict :
    length (grams (withCell next .decoding .evict .decoding) 2) = 27 ∧
      length (grams (withCell next .decoding .evict .decoding) 3) = 90 := by decide +kernel
end Lifecycle
