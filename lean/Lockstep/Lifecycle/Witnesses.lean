prelude
import Lockstep.Lifecycle.Scripts
/-! Every cell of the relation occurs in some run ([LIFE-19] f): the guards are not so strict that
what is proved of runs would hold for want of any. -/
set_option linter.all false
set_option genSizeOf false
universe u
noncomputable section
namespace Lifecycle
open Nat List Option

/-- The first `n` elements. -/
def firstOf {α : Type u} : Nat → List α → List α
  | .zero, _ => []
  | .succ _, [] => []
  | .succ n, a :: l => a :: firstOf n l
/-- The elements after place `n`. -/
def restOf {α : Type u} : Nat → List α → List α
  | _, [] => []
  | .zero, _ :: l => l
  | .succ n, _ :: l => restOf n l
theorem first_and_rest {α : Type u} {l : List α} {i : Nat} {a : α} (h : entry l i = some a) :
    l = firstOf i l ++ a :: restOf i l ∧ length (firstOf i l) = i := by
  induction l generalizing i with
  | nil => cases h
  | cons x l ih =>
    cases i with
    | zero => exact ⟨by rw [some_same h]; rfl, rfl⟩
    | succ i =>
      have ⟨e, n⟩ := ih (i := i) h
      exact ⟨congrArg (cons x) e, congrArg succ n⟩

/-- The machine after a move of request number `r`, if it is allowed and the relation has its
cell. -/
def play (c : Pool) (m : Machine) (r : Nat) (move : Move) : Option Machine :=
  match entry m.requests r with
  | none => none
  | some q =>
    match next q.state move.act.event with
    | none => none
    | some s =>
      cond (allows c m r q move)
        (some (m.after c (firstOf r m.requests) q (restOf r m.requests) move.act s)) none
/-- The machine after moves of the first request, if each is allowed. -/
def playAll (c : Pool) (m : Machine) : List Move → Option Machine
  | [] => some m
  | move :: moves =>
    match play c m 0 move with
    | none => none
    | some m => playAll c m moves

theorem play_step {c : Pool} {m m' : Machine} {r : Nat} {move : Move}
    (h : play c m r move = some m') : Step c m r move.act m' := by
  unfold play at h
  split at h
  · cases h
  · rename_i q found
    split at h
    · cases h
    · rename_i s cell
      match e : allows c m r q move with
      | false => rw [e] at h; cases h
      | true =>
        rw [e] at h
        have ⟨split, place⟩ := first_and_rest found
        have step := Step.step (c := c) (act := move.act) split
          (by rw [place]; exact allows_guard e) cell
        rw [place, some_same h] at step
        exact step
theorem playAll_run {c : Pool} {log : List (Nat × Event)} {m m' : Machine} {moves : List Move}
    (run : Run c log m) (h : playAll c m moves = some m') : ∃ log', Run c log' m' := by
  induction moves generalizing log m with
  | nil => exact ⟨log, by rw [← some_same h]; exact run⟩
  | cons move moves ih =>
    unfold playAll at h
    split at h
    · cases h
    · rename_i m1 played
      exact ih (run.step (play_step played)) h

/-- A cell occurs: in some run of some pool a request in its state meets the guard of its event. -/
def Occurs (s : State) (e : Event) : Prop :=
  ∃ c log m r q act, Run c log m ∧ entry m.requests r = some q ∧ q.state = s ∧ act.event = e ∧
    Guard c m r q act

/-- A pool of 4 blocks of 2 slots. -/
def pool : Pool := ⟨4, 2⟩
/-- The pool with one request, of 5 tokens and up to 2 new ones. -/
def submitted : Machine := Machine.start.submit 5 2
theorem submitted_run : Run pool [] submitted :=
  .submit .start (le_of_ble rfl) (le_of_ble rfl) (le_of_ble rfl)

/-- Whether after some moves the request is in a state in which a last move is allowed. -/
def shows (moves : List Move) (s : State) (last : Move) : Bool :=
  match playAll pool submitted moves with
  | none => false
  | some m =>
    match entry m.requests 0 with
    | none => false
    | some q => and (Nat.beq q.state.number s.number) (allows pool m 0 q last)
theorem shows_occurs {moves : List Move} {s : State} {last : Move}
    (h : shows moves s last = true) : Occurs s last.act.event := by
  unfold shows at h
  split at h
  · cases h
  · rename_i m played
    split at h
    · cases h
    · rename_i q found
      have ⟨log, run⟩ := playAll_run submitted_run played
      exact ⟨pool, log, m, 0, q, last.act, run, found, number_decides (Bool.and_true_left h), rfl,
        allows_guard (Bool.and_true_right h)⟩

/-- The first chunk, whose block is published. -/
def chunked : List Move := [.admit, .chunk 2 [0] [0]]
/-- Two chunks, a preemption, and the way back. -/
def resumed : List Move := [.admit, .chunk 2 [0] [0], .chunk 2 [1] [1], .preempt, .resume]
/-- An unsplit prefill. -/
def decoded : List Move := [.admit, .decode [0, 1, 2, 3] []]

/-- Every cell of the relation occurs in some run. -/
theorem every_cell_occurs {s t : State} {e : Event} (cell : next s e = some t) : Occurs s e := by
  match s, e, cell with
  | .queued, .admit, _ => exact shows_occurs (moves := []) (last := .admit) rfl
  | .admitted, .cacheHit, _ => exact shows_occurs (moves := resumed) (last := .cacheHit [0]) rfl
  | .admitted, .chunk, _ => exact shows_occurs (moves := [.admit]) (last := .chunk 2 [0] []) rfl
  | .admitted, .decode, _ =>
    exact shows_occurs (moves := [.admit]) (last := .decode [0, 1, 2, 3] []) rfl
  | .admitted, .evict, _ => exact shows_occurs (moves := resumed) (last := .evict 0) rfl
  | .prefilling, .chunk, _ => exact shows_occurs (moves := chunked) (last := .chunk 2 [1] []) rfl
  | .prefilling, .decode, _ =>
    exact shows_occurs (moves := chunked) (last := .decode [1, 2, 3] []) rfl
  | .prefilling, .evict, _ =>
    exact shows_occurs (moves := [.admit, .chunk 2 [0] [0], .chunk 2 [1] [1], .preempt, .resume,
      .cacheHit [0]]) (last := .evict 1) rfl
  | .prefilling, .preemptRc, _ => exact shows_occurs (moves := chunked) (last := .preempt) rfl
  | .decoding, .decode, _ => exact shows_occurs (moves := decoded) (last := .decode [] []) rfl
  | .decoding, .preemptRc, _ => exact shows_occurs (moves := decoded) (last := .preempt) rfl
  | .decoding, .finish, _ => exact shows_occurs (moves := decoded) (last := .finish) rfl
  | .preempted, .resume, _ =>
    exact shows_occurs (moves := [.admit, .chunk 2 [0] [0], .preempt]) (last := .resume) rfl
end Lifecycle
