prelude
import Lockstep.Lifecycle.Relation
/-! The machine of spec/lifecycle.md ([LIFE-5] to [LIFE-17]): any number of blocks of any number of
slots, any number of requests. Requests are numbered in the order of their submission. -/
set_option linter.all false
set_option genSizeOf false
universe u
noncomputable section
namespace Lifecycle
open Nat List

/-! ### lists -/

/-- The element at a place. -/
def entry {α : Type u} : List α → Nat → Option α
  | [], _ => .none
  | a :: _, .zero => .some a
  | _ :: l, .succ i => entry l i
/-- How often a number stands in a list. -/
def occurrences (b : Nat) : List Nat → Nat
  | [] => 0
  | a :: l => cond (Nat.beq a b) 1 0 + occurrences b l
/-- A number stands in a list. -/
def Mem (b : Nat) (l : List Nat) : Prop := 0 < occurrences b l
/-- No number stands in a list twice. -/
def Distinct (l : List Nat) : Prop := ∀ b, occurrences b l ≤ 1
/-- How many numbers below a bound have a property. -/
def countBelow (p : Nat → Bool) : Nat → Nat
  | .zero => 0
  | .succ n => cond (p n) 1 0 + countBelow p n
/-- `a / d`, rounded up. -/
def ceilDiv (a d : Nat) : Nat := (a + (d - 1)) / d

/-! ### pool and requests -/

/-- A pool: its blocks, and the token slots of each ([LIFE-5]). -/
structure Pool where
  blocks : Nat
  slots : Nat

/-- A request ([LIFE-6]). -/
structure Request where
  prompt : Nat
  maxNew : Nat
  state : State
  computed : Nat
  outputs : Nat
  table : List Nat

/-- The tokens that there are to compute. -/
def Request.known (q : Request) : Nat := q.prompt + q.outputs
/-- The reservation in blocks. -/
def Request.need (slots : Nat) (q : Request) : Nat := ceilDiv (q.prompt + q.maxNew) slots
/-- ADMITTED, PREFILLING or DECODING. -/
def State.active : State → Bool
  | .admitted => true
  | .prefilling => true
  | .decoding => true
  | _ => false
/-- QUEUED or PREEMPTED. -/
def State.waiting : State → Bool
  | .queued => true
  | .preempted => true
  | _ => false
/-- The blocks that are reserved and not yet taken. -/
def Request.owed (slots : Nat) (q : Request) : Nat :=
  cond q.state.active (q.need slots - length q.table) 0

/-- A state of the machine. -/
structure Machine where
  references : Nat → Nat
  cached : Nat → Bool
  requests : List Request
  queue : List Nat

/-- No request has been submitted, the pool is free, nothing is cached ([LIFE-8]). -/
def Machine.start : Machine := ⟨fun _ => 0, fun _ => false, [], []⟩
/-- No request holds the block. -/
def Machine.idle (m : Machine) (b : Nat) : Bool := Nat.beq (m.references b) 0
/-- No request holds the block, and it is not cached. -/
def Machine.free (m : Machine) (b : Nat) : Bool := and (m.idle b) (not (m.cached b))
/-- No request holds the block, and it is cached. -/
def Machine.evictable (m : Machine) (b : Nat) : Bool := and (m.idle b) (m.cached b)
/-- What all requests owe. -/
def owedByAll (slots : Nat) : List Request → Nat
  | [] => 0
  | q :: l => q.owed slots + owedByAll slots l
/-- The blocks are distinct, of the pool, and free. -/
def AllFree (c : Pool) (m : Machine) (fresh : List Nat) : Prop :=
  Distinct fresh ∧ ∀ b, Mem b fresh → b < c.blocks ∧ m.free b = true
/-- Only blocks that are full are published ([LIFE-15]). -/
def PublishesFull (c : Pool) (table : List Nat) (computed : Nat) (published : Nat → Bool) : Prop :=
  ∀ b, published b = true → ∃ i, entry table i = .some b ∧ (i + 1) * c.slots ≤ computed

/-! ### submission -/

/-- [LIFE-9]: a request joins the end of the queue. -/
def Machine.submit (m : Machine) (prompt maxNew : Nat) : Machine where
  references := m.references
  cached := m.cached
  requests := m.requests ++ [⟨prompt, maxNew, initial, 0, 0, []⟩]
  queue := m.queue ++ [length m.requests]

/-! ### steps -/

/-- An event with what it leaves open: which blocks, how many tokens, what is published. -/
inductive Act where
  | admit
  | resume
  | cacheHit (granted : List Nat)
  | chunk (tokens : Nat) (fresh : List Nat) (published : Nat → Bool)
  | decode (fresh : List Nat) (published : Nat → Bool)
  | evict (block : Nat)
  | preempt
  | finish

/-- The event that is logged. -/
def Act.event : Act → Event
  | .admit => .admit
  | .resume => .resume
  | .cacheHit _ => .cacheHit
  | .chunk _ _ _ => .chunk
  | .decode _ _ => .decode
  | .evict _ => .evict
  | .preempt => .preemptRc
  | .finish => .finish

/-- The guard of an event of request `q`, number `r` ([LIFE-10] to [LIFE-17]). It does not ask
whether the relation has the cell. -/
def Guard (c : Pool) (m : Machine) (r : Nat) (q : Request) : Act → Prop
  | .admit => q.state = .queued ∧ (∃ others, m.queue = r :: others) ∧
      q.need c.slots + owedByAll c.slots m.requests ≤ countBelow m.idle c.blocks
  | .resume => q.state = .preempted ∧ (∃ others, m.queue = r :: others) ∧
      q.need c.slots + owedByAll c.slots m.requests ≤ countBelow m.idle c.blocks
  | .cacheHit granted => q.state.active = true ∧ q.computed = 0 ∧ 1 ≤ length granted ∧
      Distinct granted ∧ (∀ b, Mem b granted → b < c.blocks ∧ m.cached b = true) ∧
      length granted * c.slots < q.known
  | .chunk tokens fresh published => q.state.active = true ∧ 1 ≤ tokens ∧
      q.computed + tokens < q.known ∧
      length fresh = ceilDiv (q.computed + tokens) c.slots - length q.table ∧
      AllFree c m fresh ∧ PublishesFull c (q.table ++ fresh) (q.computed + tokens) published
  | .decode fresh published => q.state.active = true ∧ q.outputs < q.maxNew ∧
      length fresh = q.owed c.slots ∧
      AllFree c m fresh ∧ PublishesFull c (q.table ++ fresh) q.known published
  | .evict block => q.state.active = true ∧ countBelow m.free c.blocks < q.owed c.slots ∧
      block < c.blocks ∧ m.evictable block = true
  | .preempt => q.state.active = true ∧ 1 ≤ q.computed ∧ q.outputs < q.maxNew
  | .finish => q.state = .decoding

/-- The request after an event, `next` being the state that the relation gives. -/
def Request.after (slots : Nat) (q : Request) (next : State) : Act → Request
  | .cacheHit granted =>
    ⟨q.prompt, q.maxNew, next, length granted * slots, q.outputs, q.table ++ granted⟩
  | .chunk tokens fresh _ =>
    ⟨q.prompt, q.maxNew, next, q.computed + tokens, q.outputs, q.table ++ fresh⟩
  | .decode fresh _ => ⟨q.prompt, q.maxNew, next, q.known, q.outputs + 1, q.table ++ fresh⟩
  | .preempt => ⟨q.prompt, q.maxNew, next, 0, q.outputs, []⟩
  | .finish => ⟨q.prompt, q.maxNew, next, 0, q.outputs, []⟩
  | _ => ⟨q.prompt, q.maxNew, next, q.computed, q.outputs, q.table⟩
/-- The references after an event. -/
def referencesAfter (m : Machine) (q : Request) : Act → Nat → Nat
  | .cacheHit granted, b => m.references b + occurrences b granted
  | .chunk _ fresh _, b => cond (Nat.beq (occurrences b fresh) 0) (m.references b) 1
  | .decode fresh _, b => cond (Nat.beq (occurrences b fresh) 0) (m.references b) 1
  | .preempt, b => m.references b - occurrences b q.table
  | .finish, b => m.references b - occurrences b q.table
  | _, b => m.references b
/-- What is cached after an event. -/
def cachedAfter (m : Machine) : Act → Nat → Bool
  | .chunk _ _ published, b => or (m.cached b) (published b)
  | .decode _ published, b => or (m.cached b) (published b)
  | .evict block, b => and (m.cached b) (not (Nat.beq b block))
  | _, b => m.cached b
/-- A list without its head. -/
def dropHead : List Nat → List Nat
  | [] => []
  | _ :: l => l
/-- The queue after an event of request number `r`. -/
def queueAfter (queue : List Nat) (r : Nat) : Act → List Nat
  | .admit => dropHead queue
  | .resume => dropHead queue
  | .preempt => r :: queue
  | _ => queue

/-- The machine after an event of the request between `earlier` and `later` ones. -/
def Machine.after (c : Pool) (m : Machine) (earlier : List Request) (q : Request)
    (later : List Request) (act : Act) (next : State) : Machine where
  references := referencesAfter m q act
  cached := cachedAfter m act
  requests := earlier ++ q.after c.slots next act :: later
  queue := queueAfter m.queue (length earlier) act

/-- A step: an event of request number `r` whose guard holds and whose cell the relation has. -/
inductive Step (c : Pool) (m : Machine) : Nat → Act → Machine → Prop where
  | step {earlier later : List Request} {q : Request} {act : Act} {s : State}
      (request : m.requests = earlier ++ q :: later) (guard : Guard c m (length earlier) q act)
      (cell : next q.state act.event = .some s) :
      Step c m (length earlier) act (m.after c earlier q later act s)

/-- Runs from the start, with the log of events, the newest first. A request that the pool could
never hold is refused at submission. -/
inductive Run (c : Pool) : List (Nat × Event) → Machine → Prop where
  | start : Run c [] Machine.start
  | submit {log : List (Nat × Event)} {m : Machine} (run : Run c log m) {prompt maxNew : Nat}
      (some_prompt : 1 ≤ prompt) (some_output : 1 ≤ maxNew)
      (fits : ceilDiv (prompt + maxNew) c.slots ≤ c.blocks) : Run c log (m.submit prompt maxNew)
  | step {log : List (Nat × Event)} {m m' : Machine} (run : Run c log m) {r : Nat} {act : Act}
      (taken : Step c m r act m') : Run c ((r, act.event) :: log) m'
end Lifecycle
