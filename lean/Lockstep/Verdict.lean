prelude
import Lockstep.Arith
/-! The verdict of one row ([HUNT-7] of spec/hunt.md), and why weakening an observation never
raises it: shown by trying all 81 assignments, and by an argument that looks at none of them. -/
set_option linter.all false
set_option genSizeOf false
noncomputable section
namespace ExactTransform
open Nat List

/-- An observation is made and true, made and false, or not made. -/
inductive Observation where
  | notMade
  | madeFalse
  | madeTrue

/-- The four observations of a row, in the order of [HUNT-6]. -/
structure Observations where
  forward : Observation
  byte : Observation
  difference : Observation
  tokens : Observation

/-- What a row may be said to be. -/
inductive Verdict where
  | refused
  | unproven
  | notExact
  | exactToken
  | exactByte

/-- Whether an observation was made. -/
def Observation.made : Observation → Bool
  | .notMade => false
  | _ => true
/-- Whether an observation was made and is true. -/
def Observation.holds : Observation → Bool
  | .madeTrue => true
  | _ => false

/-- [HUNT-7]. The frontier code is given by its number in the registry; `none` is a null code. -/
def verdict (frontier : Option Nat) (o : Observations) : Verdict :=
  match frontier with
  | .some _ => .refused
  | .none =>
    cond (and o.forward.made (and o.byte.made (and o.difference.made o.tokens.made)))
      (cond (and o.forward.holds (and o.difference.holds o.tokens.holds))
        (cond o.byte.holds .exactByte .exactToken)
        .notExact)
      .unproven

/-- UNPROVEN < NOT_EXACT < EXACT_TOKEN < EXACT_BYTE. REFUSED stands outside that order: a frontier
code alone decides it, whatever was observed; its number here is not used by any comparison. -/
def Verdict.rank : Verdict → Nat
  | .refused => 0
  | .unproven => 0
  | .notExact => 1
  | .exactToken => 2
  | .exactByte => 3

/-- How much an observation says. -/
def Observation.level : Observation → Nat
  | .notMade => 0
  | .madeFalse => 1
  | .madeTrue => 2
/-- The first says no more than the second: true may become false, either may become not made. -/
def Weaker (a b : Observation) : Prop := a.level ≤ b.level
/-- Each observation of the first says no more than that of the second. -/
def AllWeaker (o p : Observations) : Prop :=
  Weaker o.forward p.forward ∧ Weaker o.byte p.byte ∧
    Weaker o.difference p.difference ∧ Weaker o.tokens p.tokens

/-- A frontier code refuses a row whatever was observed. -/
theorem frontier_refuses (code : Nat) (o : Observations) : verdict (.some code) o = .refused := rfl

/-! ### by computation -/

/-- The three values of an observation. -/
def everyObservation : List Observation := [.madeTrue, .madeFalse, .notMade]
/-- Join the lists that a function gives for each element. -/
def eachOf {α β : Type} (l : List α) (f : α → List β) : List β :=
  match l with
  | [] => []
  | a :: l => f a ++ eachOf l f
/-- All assignments, in the order true, false, not made, the last observation varying fastest. -/
def everyAssignment : List Observations :=
  eachOf everyObservation fun a => eachOf everyObservation fun b =>
    eachOf everyObservation fun c => map (fun d => ⟨a, b, c, d⟩) everyObservation

/-- `Weaker`, decided. -/
def weakerBool (a b : Observation) : Bool := Nat.ble a.level b.level
/-- `AllWeaker`, decided. -/
def allWeakerBool (o p : Observations) : Bool :=
  and (weakerBool o.forward p.forward) (and (weakerBool o.byte p.byte)
    (and (weakerBool o.difference p.difference) (weakerBool o.tokens p.tokens)))
/-- Whether a weaker assignment has a higher rank than the stronger one. -/
def raises (p o : Observations) : Bool :=
  and (allWeakerBool o p) (not (Nat.ble (verdict .none o).rank (verdict .none p).rank))
/-- The pairs of assignments in which weakening raises the rank. -/
def raisingPairs : List Observations :=
  eachOf everyAssignment fun p => eachOf everyAssignment fun o => cond (raises p o) [p] []

/-- There are 81 assignments. -/
theorem assignments_are_81 : length everyAssignment = 81 := by decide +kernel
/-- Of the 81 × 81 pairs of assignments, none has a weaker one with a higher rank. -/
theorem no_pair_raises : length raisingPairs = 0 := by decide +kernel

/-! ### in general -/

/-- The smaller of two numbers. -/
def least (a b : Nat) : Nat := cond (Nat.ble a b) a b
theorem least_left {a b : Nat} (h : a ≤ b) : least a b = a := by
  show cond (Nat.ble a b) a b = a
  rw [ble_of_le h]; rfl
theorem least_le_left (a b : Nat) : least a b ≤ a := by
  match lt_or_ge b a with
  | .inl h =>
    have e : Nat.ble a b = false :=
      Bool.eq_false_of_ne_true fun k => lt_irrefl b (lt_of_lt_of_le h (le_of_ble k))
    show cond (Nat.ble a b) a b ≤ a
    rw [e]; exact le_of_lt h
  | .inr h => rw [least_left h]; exact le_refl a
theorem least_le_right (a b : Nat) : least a b ≤ b := by
  match lt_or_ge b a with
  | .inl h =>
    have e : Nat.ble a b = false :=
      Bool.eq_false_of_ne_true fun k => lt_irrefl b (lt_of_lt_of_le h (le_of_ble k))
    show cond (Nat.ble a b) a b ≤ b
    rw [e]; exact le_refl b
  | .inr h => rw [least_left h]; exact h
theorem le_least {c a b : Nat} (h : c ≤ a) (k : c ≤ b) : c ≤ least a b := by
  show c ≤ cond (Nat.ble a b) a b
  cases Nat.ble a b with
  | true => exact h
  | false => exact k
/-- The smaller of two grows when both grow. -/
theorem least_monotone {a b c d : Nat} (h : a ≤ c) (k : b ≤ d) : least a b ≤ least c d :=
  le_least (le_trans (least_le_left a b) h) (le_trans (least_le_right a b) k)

/-- The highest rank that the forward, difference or tokens observation leaves open. -/
def requiredCap : Observation → Nat
  | .notMade => 0
  | .madeFalse => 1
  | .madeTrue => 3
/-- The highest rank that the byte observation leaves open. -/
def byteCap : Observation → Nat
  | .notMade => 0
  | .madeFalse => 2
  | .madeTrue => 3

/-- The rank of a row is the least of four caps, one an observation. -/
theorem rank_is_least_cap (o : Observations) : (verdict .none o).rank =
    least (least (requiredCap o.forward) (byteCap o.byte))
      (least (requiredCap o.difference) (requiredCap o.tokens)) := by
  match o with
  | ⟨a, b, c, d⟩ => cases a <;> cases b <;> cases c <;> cases d <;> rfl

theorem requiredCap_monotone {a b : Observation} (h : Weaker a b) :
    requiredCap a ≤ requiredCap b := by
  match a, b, h with
  | .notMade, _, _ => exact zero_le _
  | .madeFalse, .notMade, h => exact (not_succ_le_zero _ h).elim
  | .madeFalse, .madeFalse, _ => exact le_refl 1
  | .madeFalse, .madeTrue, _ => exact le_of_ble rfl
  | .madeTrue, .notMade, h => exact (not_succ_le_zero _ h).elim
  | .madeTrue, .madeFalse, h => exact (not_succ_le_zero _ (le_of_succ_le_succ h)).elim
  | .madeTrue, .madeTrue, _ => exact le_refl 3
theorem byteCap_monotone {a b : Observation} (h : Weaker a b) : byteCap a ≤ byteCap b := by
  match a, b, h with
  | .notMade, _, _ => exact zero_le _
  | .madeFalse, .notMade, h => exact (not_succ_le_zero _ h).elim
  | .madeFalse, .madeFalse, _ => exact le_refl 2
  | .madeFalse, .madeTrue, _ => exact le_of_ble rfl
  | .madeTrue, .notMade, h => exact (not_succ_le_zero _ h).elim
  | .madeTrue, .madeFalse, h => exact (not_succ_le_zero _ (le_of_succ_le_succ h)).elim
  | .madeTrue, .madeTrue, _ => exact le_refl 3

/-- Weakening observations, one or several at a time, never raises the rank, with a frontier code
or without. -/
theorem weakening_never_raises_rank (frontier : Option Nat) {o p : Observations}
    (h : AllWeaker o p) : (verdict frontier o).rank ≤ (verdict frontier p).rank := by
  match frontier with
  | .some _ => exact le_refl _
  | .none =>
    rw [rank_is_least_cap o, rank_is_least_cap p]
    exact least_monotone
      (least_monotone (requiredCap_monotone h.left) (byteCap_monotone h.right.left))
      (least_monotone (requiredCap_monotone h.right.right.left)
        (requiredCap_monotone h.right.right.right))

/-- Any number of weakenings, one after another. -/
inductive Weakenings : Observations → Observations → Prop where
  | none (p : Observations) : Weakenings p p
  | more {o p q : Observations} (h : AllWeaker o p) (t : Weakenings p q) : Weakenings o q

/-- Any number of weakenings, one after another, never raises the rank. -/
theorem weakenings_never_raise_rank (frontier : Option Nat) {o q : Observations}
    (t : Weakenings o q) : (verdict frontier o).rank ≤ (verdict frontier q).rank := by
  induction t with
  | none p => exact le_refl _
  | more h _ ih => exact le_trans (weakening_never_raises_rank frontier h) ih

/-- What was not looked at proves nothing: a row with an observation that was not made is
UNPROVEN, or REFUSED by its frontier code, whatever the other observations say. -/
theorem unmade_never_passes (frontier : Option Nat) {o : Observations}
    (h : o.forward = .notMade ∨ o.byte = .notMade ∨ o.difference = .notMade ∨
      o.tokens = .notMade) : (verdict frontier o).rank = 0 := by
  match frontier with
  | .some _ => rfl
  | .none =>
    apply le_antisymm _ (zero_le _)
    rw [rank_is_least_cap o]
    match h with
    | .inl e => rw [e]; exact le_trans (least_le_left _ _) (least_le_left _ _)
    | .inr (.inl e) => rw [e]; exact le_trans (least_le_left _ _) (least_le_right _ _)
    | .inr (.inr (.inl e)) => rw [e]; exact le_trans (least_le_right _ _) (least_le_left _ _)
    | .inr (.inr (.inr e)) => rw [e]; exact le_trans (least_le_right _ _) (least_le_right _ _)
end ExactTransform
