prelude
import Lockstep.Accelerated
import Lockstep.Compose
/-! Decisions by computation, and literal tables that the kernel reads.

A check is a function to `Bool` that the kernel evaluates, with its own big numbers; a soundness
theorem turns its answer `true` into a statement. Checks are written with raw recursors and with
`Nat` operations that the kernel evaluates itself, which is what makes them fast. -/
set_option linter.all false
set_option genSizeOf false
noncomputable section
namespace ExactTransform
open Nat List Option

/-! ### decisions -/

/-- A computed answer can be decided by computing it. -/
instance decideTrue (b : Bool) : Decidable (b = true) :=
  match b with
  | true => isTrue rfl
  | false => isFalse Bool.clash

/-- Whether `p` holds of every number below `n`. -/
def allBelow (p : Nat → Bool) (n : Nat) : Bool := Nat.rec true (fun i rest => and (p i) rest) n

/-- Whether `p` holds of some number below `n`. -/
def anyBelow (p : Nat → Bool) (n : Nat) : Bool := Nat.rec false (fun i rest => or (p i) rest) n

/-- Whether an optional number is there and is `n`. -/
def isNumber (o : Option Nat) (n : Nat) : Bool := Option.rec false (fun m => Nat.beq m n) o

/-- Whether two optional numbers are the same. -/
def sameNumber (o o' : Option Nat) : Bool :=
  Option.rec (Option.rec true (fun _ => false) o') (fun n => isNumber o' n) o

/-- An optional number is the same as itself. -/
theorem sameNumber_refl (o : Option Nat) : sameNumber o o = true := by
  cases o with
  | none => rfl
  | some n => exact beq_refl n

/-- What was found of every number below `n` holds of each. -/
theorem allBelow_sound {p : Nat → Bool} {n : Nat} (h : allBelow p n = true) :
    ∀ i, i < n → p i = true := by
  induction n with
  | zero => exact fun i k => (not_succ_le_zero i k).elim
  | succ n ih =>
    intro i k
    have h' : and (p n) (allBelow p n) = true := h
    match lt_or_eq_of_le (le_of_succ_le_succ k) with
    | .inl less => exact ih (Bool.and_true_right h') i less
    | .inr same => rw [same]; exact Bool.and_true_left h'

/-- What was found of some number below `n` holds of one. -/
theorem anyBelow_sound {p : Nat → Bool} {n : Nat} (h : anyBelow p n = true) :
    ∃ i, i < n ∧ p i = true := by
  induction n with
  | zero => exact (Bool.clash h).elim
  | succ n ih =>
    have h' : or (p n) (anyBelow p n) = true := h
    match e : p n with
    | true => exact ⟨n, le_refl _, e⟩
    | false =>
      rw [e] at h'
      have ⟨i, k, found⟩ := ih h'
      exact ⟨i, .step k, found⟩

/-- An optional number found to be `n` is `n`. -/
theorem isNumber_sound {o : Option Nat} {n : Nat} (h : isNumber o n = true) : o = some n := by
  cases o with
  | none => exact (Bool.clash h).elim
  | some m => exact congrArg some (eq_of_beq_eq_true h)

/-- What is not below `n` is at least `n`. -/
theorem least_of_not_below {p n : Nat} (h : Nat.ble (succ p) n = false) : n ≤ p := by
  match lt_or_ge p n with
  | .inl less => exact (Bool.clash (h.symm.trans (ble_of_le less))).elim
  | .inr ge => exact ge

/-! ### tables -/

/-- A table of numbers, as people and the kernel both read it: each row holds `width` entries as
digits to the base `base`, a power of ten, the first entry first. `length` counts all entries. -/
structure Table where
  base : Nat
  width : Nat
  length : Nat
  rows : List Nat

/-- All rows of a table as one number. -/
def Table.word (table : Table) : Nat :=
  List.rec (motive := fun _ => Nat → Nat) (fun word => word)
    (fun row _ rest word => rest (Nat.add (Nat.mul word (Nat.pow table.base table.width)) row))
    table.rows 0

/-- Entry `n` of a table, counted from 0. -/
def Table.entry (table : Table) (n : Nat) : Nat :=
  Nat.mod (Nat.div table.word (Nat.pow table.base (Nat.sub (Nat.sub table.length 1) n))) table.base

/-- A part of a list of places: some that hold nothing, or `count` rows of `pitch` places each, the
first `filled` of which hold the table's entries, row after row. -/
inductive Segment where
  | padding (places : Nat)
  | rows (count filled pitch : Nat) (table : Table)

/-- The number of places of a segment. -/
def Segment.length (segment : Segment) : Nat :=
  Segment.rec (fun places => places) (fun count _ pitch _ => Nat.mul count pitch) segment

/-- The entry at place `p` of a segment, nothing where that is padding. -/
def Segment.at (segment : Segment) (p : Nat) : Option Nat :=
  Segment.rec (fun _ => none)
    (fun _ filled pitch table =>
      Bool.rec none
        (some (table.entry (Nat.add (Nat.mul (Nat.div p pitch) filled) (Nat.mod p pitch))))
        (Nat.ble (succ (Nat.mod p pitch)) filled))
    segment

/-- The number of places of segments that stand one after another. -/
def lengthOf (segments : List Segment) : Nat :=
  List.rec 0 (fun segment _ rest => Nat.add segment.length rest) segments

/-- The entry at place `p` of segments that stand one after another, nothing where that is padding
or behind them. -/
def lookup (segments : List Segment) : Nat → Option Nat :=
  List.rec (motive := fun _ => Nat → Option Nat) (fun _ => none)
    (fun segment _ rest p =>
      Bool.rec (rest (Nat.sub p segment.length)) (segment.at p) (Nat.ble (succ p) segment.length))
    segments

/-- Whether each place of the segments holds an entry. -/
def areFull (segments : List Segment) : Bool :=
  List.rec true
    (fun segment _ rest =>
      and (Segment.rec (fun _ => false) (fun _ filled pitch _ => Nat.beq filled pitch) segment)
        rest)
    segments

/-- Whether `p` holds of each entry and its place, the first segment beginning at `start`. -/
def everywhere (p : Nat → Nat → Bool) (segments : List Segment) : Nat → Bool :=
  List.rec (motive := fun _ => Nat → Bool) (fun _ => true)
    (fun segment _ rest start =>
      and
        (Segment.rec (fun _ => true)
          (fun count filled pitch table =>
            allBelow (fun row =>
              allBelow (fun i =>
                p (table.entry (Nat.add (Nat.mul row filled) i))
                  (Nat.add start (Nat.add (Nat.mul row pitch) i))) filled) count)
          segment)
        (rest (Nat.add start segment.length)))
    segments

/-- What was found of each entry and its place holds of an entry that is looked up. -/
theorem everywhere_sound {p : Nat → Nat → Bool} {segments : List Segment} {start n v : Nat}
    (h : everywhere p segments start = true) (e : lookup segments n = some v) :
    p v (start + n) = true := by
  induction segments generalizing start n with
  | nil => cases e
  | cons segment rest ih =>
    have both : and
        (Segment.rec (fun _ => true)
          (fun count filled pitch table =>
            allBelow (fun row =>
              allBelow (fun i =>
                p (table.entry (Nat.add (Nat.mul row filled) i))
                  (Nat.add start (Nat.add (Nat.mul row pitch) i))) filled) count)
          segment)
        (everywhere p rest (Nat.add start segment.length)) = true := h
    have e' : Bool.rec (lookup rest (Nat.sub n segment.length)) (segment.at n)
      (Nat.ble (succ n) segment.length) = some v := e
    match within : Nat.ble (succ n) segment.length with
    | true =>
      rw [within] at e'
      match segment, both, within, e' with
      | .rows count filled pitch table, both, within, e' =>
        have found : Bool.rec none
            (some (table.entry (Nat.add (Nat.mul (Nat.div n pitch) filled) (Nat.mod n pitch))))
            (Nat.ble (succ (Nat.mod n pitch)) filled) = some v := e'
        match inside : Nat.ble (succ (Nat.mod n pitch)) filled with
        | false =>
          rw [inside] at found
          cases found
        | true =>
          rw [inside] at found
          have row : n / pitch < count := div_lt_of_lt_mul (le_of_ble within)
          have all := allBelow_sound (allBelow_sound (Bool.and_true_left both) _ row) _
            (le_of_ble inside)
          have value : table.entry (Nat.add (Nat.mul (Nat.div n pitch) filled) (Nat.mod n pitch)) =
            v := some_inj found
          have place : Nat.add (Nat.mul (n / pitch) pitch) (Nat.mod n pitch) = n :=
            div_add_mod n pitch
          rw [← place, ← value]
          exact all
    | false =>
      rw [within] at e'
      have found := ih (Bool.and_true_right both) e'
      have same : start + segment.length + (n - segment.length) = start + n := by
        rw [add_assoc, add_comm segment.length, sub_add_cancel (least_of_not_below within)]
      exact same ▸ found

/-- Each place of segments that are full holds an entry. -/
theorem areFull_sound {segments : List Segment} (h : areFull segments = true) {n : Nat}
    (k : n < lengthOf segments) : ∃ v, lookup segments n = some v := by
  induction segments generalizing n with
  | nil => exact (not_succ_le_zero n k).elim
  | cons segment rest ih =>
    have both : and
        (Segment.rec (fun _ => false) (fun _ filled pitch _ => Nat.beq filled pitch) segment)
        (areFull rest) = true := h
    show ∃ v, Bool.rec (lookup rest (Nat.sub n segment.length)) (segment.at n)
      (Nat.ble (succ n) segment.length) = some v
    match within : Nat.ble (succ n) segment.length with
    | true =>
      match segment, both, within with
      | .padding _, both, _ => exact (Bool.clash (Bool.and_true_left both)).elim
      | .rows count filled pitch table, both, within =>
        have full : filled = pitch := eq_of_beq_eq_true (Bool.and_true_left both)
        have small : n < count * pitch := le_of_ble within
        have positive : 0 < pitch := by
          match lt_or_ge 0 pitch with
          | .inl k => exact k
          | .inr k =>
            rw [le_antisymm k (zero_le _)] at small
            exact (not_succ_le_zero n small).elim
        show ∃ v, Bool.rec none (some _) (Nat.ble (succ (Nat.mod n pitch)) filled) = some v
        rw [full, show Nat.ble (succ (Nat.mod n pitch)) pitch = true from
          ble_of_le (mod_lt n positive)]
        exact ⟨_, rfl⟩
    | false =>
      have ge := least_of_not_below within
      have below : segment.length + (n - segment.length) < segment.length + lengthOf rest := by
        rw [add_comm, sub_add_cancel ge]; exact k
      exact ih (Bool.and_true_right both) (le_of_add_le_add_left segment.length below)

end ExactTransform
