prelude
import Lockstep.Lifecycle.Lists
/-! Scripts: runs of the machine that are checked by computation. -/
set_option linter.all false
set_option genSizeOf false
universe u
noncomputable section
namespace Lifecycle
open Nat List Option

/-! ### deciding -/

theorem all_mem {p : Nat → Bool} {l : List Nat} (h : all p l = true) {b : Nat} (is_in : Mem b l) :
    p b = true := by
  induction l with
  | nil => exact (lt_irrefl 0 is_in).elim
  | cons a l ih =>
    match decEq a b with
    | isTrue same => rw [← same]; exact Bool.and_true_left h
    | isFalse other =>
      have is_in : 0 < occurrences b (a :: l) := is_in
      rw [occurrences_other other] at is_in
      exact ih (Bool.and_true_right h) is_in
/-- Whether a number stands in a list. -/
def isIn (l : List Nat) (b : Nat) : Bool := not (Nat.beq (occurrences b l) 0)
theorem isIn_mem {l : List Nat} {b : Nat} (h : isIn l b = true) : Mem b l := by
  match zero_or_pos (occurrences b l) with
  | .inr present => exact present
  | .inl absent =>
    have h : not (Nat.beq (occurrences b l) 0) = true := h
    rw [absent] at h
    exact (Bool.clash h).elim
/-- Whether no number stands in a list twice. -/
def isDistinct (l : List Nat) : Bool := all (fun b => Nat.ble (occurrences b l) 1) l
theorem isDistinct_distinct {l : List Nat} (h : isDistinct l = true) : Distinct l := by
  intro b
  match zero_or_pos (occurrences b l) with
  | .inl absent => rw [absent]; exact zero_le 1
  | .inr present => exact le_of_ble (all_mem h present)
/-- Whether all blocks are distinct, of the pool, and free. -/
def areFree (c : Pool) (m : Machine) (fresh : List Nat) : Bool :=
  and (isDistinct fresh) (all (fun b => and (Nat.ble (b + 1) c.blocks) (m.free b)) fresh)
theorem areFree_allFree {c : Pool} {m : Machine} {fresh : List Nat}
    (h : areFree c m fresh = true) : AllFree c m fresh := by
  refine ⟨isDistinct_distinct (Bool.and_true_left h), fun b is_in => ?_⟩
  have both := all_mem (Bool.and_true_right h) is_in
  exact ⟨le_of_ble (Bool.and_true_left both), Bool.and_true_right both⟩
/-- Whether a block stands in a table, of which the first entry has the number `i`, and is full. -/
def isFull (slots computed b : Nat) : List Nat → Nat → Bool
  | [], _ => false
  | a :: l, i =>
    or (and (Nat.beq a b) (Nat.ble ((i + 1) * slots) computed)) (isFull slots computed b l (i + 1))
theorem isFull_full {slots computed b : Nat} {l : List Nat} {i : Nat}
    (h : isFull slots computed b l i = true) :
    ∃ j, entry l j = some b ∧ (i + j + 1) * slots ≤ computed := by
  induction l generalizing i with
  | nil => exact (Bool.clash h).elim
  | cons a l ih =>
    match e : and (Nat.beq a b) (Nat.ble ((i + 1) * slots) computed) with
    | true =>
      exact ⟨0, congrArg some (eq_of_beq_eq_true (Bool.and_true_left e)),
        le_of_ble (Bool.and_true_right e)⟩
    | false =>
      have h : or (and (Nat.beq a b) (Nat.ble ((i + 1) * slots) computed))
        (isFull slots computed b l (i + 1)) = true := h
      rw [e] at h
      have ⟨j, found, full⟩ := ih h
      refine ⟨j + 1, found, ?_⟩
      rw [succ_add] at full
      exact full
/-- Whether only full blocks are published. -/
def areFull (c : Pool) (table : List Nat) (computed : Nat) (published : List Nat) : Bool :=
  all (fun b => isFull c.slots computed b table 0) published
theorem areFull_publishes {c : Pool} {table : List Nat} {computed : Nat} {published : List Nat}
    (h : areFull c table computed published = true) :
    PublishesFull c table computed (isIn published) := by
  intro b is_published
  have ⟨j, found, full⟩ := isFull_full (all_mem h (isIn_mem is_published))
  rw [zero_add] at full
  exact ⟨j, found, full⟩
theorem number_decides {s t : State} (h : Nat.beq s.number t.number = true) : s = t := by
  cases s <;> cases t <;> first | rfl | exact (Bool.clash h).elim
/-- Whether a number is the head of a list. -/
def isHead (r : Nat) : List Nat → Bool
  | [] => false
  | a :: _ => Nat.beq a r
theorem isHead_head {r : Nat} {l : List Nat} (h : isHead r l = true) :
    ∃ others, l = r :: others := by
  match l, h with
  | a :: l, h => exact ⟨l, by rw [show a = r from eq_of_beq_eq_true h]⟩

/-! ### moves -/

/-- An event with lists for what it leaves open. -/
inductive Move where
  | admit
  | resume
  | cacheHit (granted : List Nat)
  | chunk (tokens : Nat) (fresh published : List Nat)
  | decode (fresh published : List Nat)
  | evict (block : Nat)
  | preempt
  | finish
/-- The act of a move. -/
def Move.act : Move → Act
  | .admit => .admit
  | .resume => .resume
  | .cacheHit granted => .cacheHit granted
  | .chunk tokens fresh published => .chunk tokens fresh (isIn published)
  | .decode fresh published => .decode fresh (isIn published)
  | .evict block => .evict block
  | .preempt => .preempt
  | .finish => .finish
/-- Whether the head of the queue may be admitted. -/
def mayEnter (c : Pool) (m : Machine) (r : Nat) (q : Request) : Bool :=
  and (isHead r m.queue)
    (Nat.ble (q.need c.slots + owedByAll c.slots m.requests) (countBelow m.idle c.blocks))
/-- Whether the guard of a move holds. -/
def allows (c : Pool) (m : Machine) (r : Nat) (q : Request) : Move → Bool
  | .admit => and (Nat.beq q.state.number State.queued.number) (mayEnter c m r q)
  | .resume => and (Nat.beq q.state.number State.preempted.number) (mayEnter c m r q)
  | .cacheHit granted => and q.state.active (and (Nat.beq q.computed 0)
      (and (Nat.ble 1 (length granted)) (and (isDistinct granted)
        (and (all (fun b => and (Nat.ble (b + 1) c.blocks) (m.cached b)) granted)
          (Nat.ble (length granted * c.slots + 1) q.known)))))
  | .chunk tokens fresh published => and q.state.active (and (Nat.ble 1 tokens)
      (and (Nat.ble (q.computed + tokens + 1) q.known)
        (and (Nat.beq (length fresh) (ceilDiv (q.computed + tokens) c.slots - length q.table))
          (and (areFree c m fresh)
            (areFull c (q.table ++ fresh) (q.computed + tokens) published)))))
  | .decode fresh published => and q.state.active (and (Nat.ble (q.outputs + 1) q.maxNew)
      (and (Nat.beq (length fresh) (q.owed c.slots))
        (and (areFree c m fresh) (areFull c (q.table ++ fresh) q.known published))))
  | .evict block => and q.state.active
      (and (Nat.ble (countBelow m.free c.blocks + 1) (q.owed c.slots))
        (and (Nat.ble (block + 1) c.blocks) (m.evictable block)))
  | .preempt => and q.state.active
      (and (Nat.ble 1 q.computed) (Nat.ble (q.outputs + 1) q.maxNew))
  | .finish => Nat.beq q.state.number State.decoding.number

theorem mayEnter_enters {c : Pool} {m : Machine} {r : Nat} {q : Request}
    (h : mayEnter c m r q = true) : (∃ others, m.queue = r :: others) ∧
      q.need c.slots + owedByAll c.slots m.requests ≤ countBelow m.idle c.blocks :=
  ⟨isHead_head (Bool.and_true_left h), le_of_ble (Bool.and_true_right h)⟩
/-- What is allowed has a guard that holds. -/
theorem allows_guard {c : Pool} {m : Machine} {r : Nat} {q : Request} {move : Move}
    (h : allows c m r q move = true) : Guard c m r q move.act := by
  match move, h with
  | .admit, h =>
    exact ⟨number_decides (Bool.and_true_left h), mayEnter_enters (Bool.and_true_right h)⟩
  | .resume, h =>
    exact ⟨number_decides (Bool.and_true_left h), mayEnter_enters (Bool.and_true_right h)⟩
  | .cacheHit _, h =>
    have h1 := Bool.and_true_right h
    have h2 := Bool.and_true_right h1
    have h3 := Bool.and_true_right h2
    have h4 := Bool.and_true_right h3
    refine ⟨Bool.and_true_left h, eq_of_beq_eq_true (Bool.and_true_left h1),
      le_of_ble (Bool.and_true_left h2), isDistinct_distinct (Bool.and_true_left h3),
      fun b is_in => ?_, le_of_ble (Bool.and_true_right h4)⟩
    have both := all_mem (Bool.and_true_left h4) is_in
    exact ⟨le_of_ble (Bool.and_true_left both), Bool.and_true_right both⟩
  | .chunk _ _ _, h =>
    have h1 := Bool.and_true_right h
    have h2 := Bool.and_true_right h1
    have h3 := Bool.and_true_right h2
    have h4 := Bool.and_true_right h3
    exact ⟨Bool.and_true_left h, le_of_ble (Bool.and_true_left h1),
      le_of_ble (Bool.and_true_left h2), eq_of_beq_eq_true (Bool.and_true_left h3),
      areFree_allFree (Bool.and_true_left h4), areFull_publishes (Bool.and_true_right h4)⟩
  | .decode _ _, h =>
    have h1 := Bool.and_true_right h
    have h2 := Bool.and_true_right h1
    have h3 := Bool.and_true_right h2
    exact ⟨Bool.and_true_left h, le_of_ble (Bool.and_true_left h1),
      eq_of_beq_eq_true (Bool.and_true_left h2), areFree_allFree (Bool.and_true_left h3),
      areFull_publishes (Bool.and_true_right h3)⟩
  | .evict _, h =>
    have h1 := Bool.and_true_right h
    have h2 := Bool.and_true_right h1
    exact ⟨Bool.and_true_left h, le_of_ble (Bool.and_true_left h1),
      le_of_ble (Bool.and_true_left h2), Bool.and_true_right h2⟩
  | .preempt, h =>
    have h1 := Bool.and_true_right h
    exact ⟨Bool.and_true_left h, le_of_ble (Bool.and_true_left h1),
      le_of_ble (Bool.and_true_right h1)⟩
  | .finish, h => exact number_decides h
end Lifecycle
