prelude
import Lockstep.Lifecycle.Runs
/-! What holds in every run of the machine ([LIFE-18], [LIFE-19] a to c), for any number of blocks
of any number of slots, of requests and of steps. -/
set_option linter.all false
set_option genSizeOf false
noncomputable section
namespace Lifecycle
open Nat List Option

/-! ### only cells -/

/-- Whenever the guard of an event holds, the relation has the cell. -/
theorem only_cells {c : Pool} (slots : 0 < c.slots) {log : List (Nat × Event)} {m : Machine}
    (run : Run c log m) {r : Nat} {q : Request} (request : entry m.requests r = some q) {act : Act}
    (guard : Guard c m r q act) : ∃ s, next q.state act.event = some s :=
  guard_has_cell ((run_invariant slots run).sound r q request) guard

/-- No run shows (ADMITTED, preempt_rc): a victim has computed a token, an admitted request none. -/
theorem admitted_is_never_preempted {c : Pool} (slots : 0 < c.slots) {log : List (Nat × Event)}
    {m : Machine} (run : Run c log m) {r : Nat} {q : Request}
    (request : entry m.requests r = some q) (admitted : q.state = .admitted) :
    ¬ Guard c m r q .preempt := by
  intro guard
  have ⟨s, cell⟩ := only_cells slots run request guard
  rw [admitted] at cell
  cases cell

/-- No run shows (DECODING, evict): a decoding request owes nothing that it could evict for. -/
theorem decoding_never_evicts {c : Pool} (slots : 0 < c.slots) {log : List (Nat × Event)}
    {m : Machine} (run : Run c log m) {r : Nat} {q : Request}
    (request : entry m.requests r = some q) (decoding : q.state = .decoding) (block : Nat) :
    ¬ Guard c m r q (.evict block) := by
  intro guard
  have ⟨s, cell⟩ := only_cells slots run request guard
  rw [decoding] at cell
  cases cell

/-- The pairs that spec/lifecycle.json declares unreachable do not occur in any run: in such a state
the guard of such an event never holds, whatever it leaves open. -/
theorem unreachable_pairs_do_not_occur {c : Pool} (slots : 0 < c.slots)
    {log : List (Nat × Event)} {m : Machine} (run : Run c log m) {r : Nat} {q : Request}
    (request : entry m.requests r = some q) {i : Nat} {s : State} {e : Event}
    (declared : entry unreachable i = some (s, e)) (state : q.state = s) {act : Act}
    (event : act.event = e) : ¬ Guard c m r q act := by
  intro guard
  have ⟨t, cell⟩ := only_cells slots run request guard
  rw [state, event] at cell
  match i, declared with
  | 0, declared =>
    have pair : (State.admitted, Event.preemptRc) = (s, e) := some_same declared
    rw [← show State.admitted = s from congrArg Prod.fst pair,
      ← show Event.preemptRc = e from congrArg Prod.snd pair] at cell
    cases cell
  | 1, declared =>
    have pair : (State.decoding, Event.evict) = (s, e) := some_same declared
    rw [← show State.decoding = s from congrArg Prod.fst pair,
      ← show Event.evict = e from congrArg Prod.snd pair] at cell
    cases cell
  | _ + 2, declared => cases declared

/-! ### blocks -/

/-- A preempted request holds no blocks and has computed nothing; the same holds of a queued and of
a finished one. -/
theorem idle_holds_nothing {c : Pool} (slots : 0 < c.slots) {log : List (Nat × Event)}
    {m : Machine} (run : Run c log m) {r : Nat} {q : Request}
    (request : entry m.requests r = some q) (idle : q.state.active = false) :
    q.table = [] ∧ q.computed = 0 := by
  have sound := (run_invariant slots run).sound r q request
  match e : q.state with
  | .queued => exact ⟨(sound.at e).left, (sound.at e).right.left⟩
  | .preempted => exact ⟨(sound.at e).left, (sound.at e).right.left⟩
  | .finished => exact sound.at e
  | .admitted => rw [e] at idle; exact (Bool.clash idle.symm).elim
  | .prefilling => rw [e] at idle; exact (Bool.clash idle.symm).elim
  | .decoding => rw [e] at idle; exact (Bool.clash idle.symm).elim

/-- A preempted request holds no blocks. -/
theorem preempted_holds_nothing {c : Pool} (slots : 0 < c.slots) {log : List (Nat × Event)}
    {m : Machine} (run : Run c log m) {r : Nat} {q : Request}
    (request : entry m.requests r = some q) (preempted : q.state = .preempted) : q.table = [] :=
  (idle_holds_nothing slots run request (by rw [preempted]; rfl)).left

/-- The references of a block are the number of requests whose table holds it, and no table holds
a block twice. -/
theorem references_match_holders {c : Pool} (slots : 0 < c.slots) {log : List (Nat × Event)}
    {m : Machine} (run : Run c log m) :
    (∀ b, m.references b = holders b m.requests) ∧
      ∀ r q, entry m.requests r = some q → Distinct q.table :=
  ⟨(run_invariant slots run).matched, (run_invariant slots run).distinct⟩

/-- Two requests never hold one block that is not cached: what may be written has one holder. -/
theorem exclusive_writer {c : Pool} (slots : 0 < c.slots) {log : List (Nat × Event)} {m : Machine}
    (run : Run c log m) {r r' : Nat} {q q' : Request} (request : entry m.requests r = some q)
    (request' : entry m.requests r' = some q') {b : Nat} (uncached : m.cached b = false)
    (holds : Mem b q.table) (holds' : Mem b q'.table) : r = r' := by
  have inv := run_invariant slots run
  match decEq r r' with
  | isTrue same => exact same
  | isFalse other =>
    have ⟨earlier, later, split, place⟩ := entry_split request'
    rw [split] at request
    have both := two_counted b (by rw [place]; exact other) request
    rw [← split, ← inv.matched b] at both
    exact (not_le_of_lt (le_trans (add_le_add holds' holds) both) (inv.single b uncached)).elim

/-- A cached block in a table is full: its holder has computed all positions of it, and writes none
of them. -/
theorem cached_blocks_are_full {c : Pool} (slots : 0 < c.slots) {log : List (Nat × Event)}
    {m : Machine} (run : Run c log m) {r : Nat} {q : Request}
    (request : entry m.requests r = some q) {place b : Nat} (holds : entry q.table place = some b)
    (cached : m.cached b = true) : (place + 1) * c.slots ≤ q.computed :=
  (run_invariant slots run).full r q request place b holds cached

/-! ### writes -/

/-- The position finds, in a table, a block of reference 1 that is not cached ([LIFE-14]). -/
def FindsOwnBlock (c : Pool) (table : List Nat) (references : Nat → Nat) (cached : Nat → Bool)
    (position : Nat) : Prop :=
  ∃ b, entry table (position / c.slots) = some b ∧ references b = 1 ∧ cached b = false

theorem own_block {c : Pool} (slots : 0 < c.slots) {m : Machine} (inv : Invariant c m) {r : Nat}
    {q : Request} (request : entry m.requests r = some q) {fresh : List Nat}
    (free : AllFree c m fresh) {position : Nat} (uncomputed : q.computed ≤ position)
    (inside : position / c.slots < length (q.table ++ fresh)) :
    FindsOwnBlock c (q.table ++ fresh)
      (fun b => cond (Nat.beq (occurrences b fresh) 0) (m.references b) 1) m.cached position := by
  have ⟨b, found⟩ := entry_of_lt inside
  refine ⟨b, found, ?_⟩
  match entry_append found with
  | .inr ⟨j, _, new⟩ =>
    have present := mem_of_entry new
    constructor
    · show cond (Nat.beq (occurrences b fresh) 0) (m.references b) 1 = 1
      rw [le_antisymm (free.left b) present]
      rfl
    · exact free_not_cached (free.right b present).right
  | .inl old =>
    have uncached : m.cached b = false := by
      match e : m.cached b with
      | false => rfl
      | true =>
        have full := le_trans (inv.full r q request _ b old e) uncomputed
        have below := add_lt_add_left (position / c.slots * c.slots) (mod_lt position slots)
        rw [div_add_mod, ← succ_mul] at below
        exact (not_le_of_lt below full).elim
    have held : 1 ≤ m.references b := by
      rw [inv.matched b]
      exact le_trans (mem_of_entry old) (holder_counted b request)
    refine ⟨?_, uncached⟩
    show cond (Nat.beq (occurrences b fresh) 0) (m.references b) 1 = 1
    cases Nat.beq (occurrences b fresh) 0 with
    | false => rfl
    | true => exact le_antisymm (inv.single b uncached) held

theorem begins_before {p n d : Nat} (h : p < n) : p / d * d < n :=
  lt_of_le_of_lt (div_mul_le p d) h

/-- Every position that a chunk writes finds a block that its request alone holds and that nobody
is offered. -/
theorem chunk_writes_own_blocks {c : Pool} (slots : 0 < c.slots) {log : List (Nat × Event)}
    {m : Machine} (run : Run c log m) {r : Nat} {q : Request}
    (request : entry m.requests r = some q) {tokens : Nat} {fresh : List Nat}
    {published : Nat → Bool} (guard : Guard c m r q (.chunk tokens fresh published))
    {position : Nat} (low : q.computed ≤ position) (high : position < q.computed + tokens) :
    FindsOwnBlock c (q.table ++ fresh) (referencesAfter m q (.chunk tokens fresh published))
      m.cached position := by
  have inv := run_invariant slots run
  have sound := inv.sound r q request
  have ⟨active, positive, partly, taken, free, _⟩ := guard
  refine own_block slots inv request free low ?_
  have so_far := table_length slots sound (chunk_before_decoding sound active positive partly)
  rw [length_append, taken, add_sub_of_le (by
    rw [so_far]; exact ceilDiv_le slots (le_add_right _ _))]
  exact (lt_ceilDiv slots).mpr (begins_before high)

/-- Every position that a decode writes finds a block that its request alone holds and that nobody
is offered. -/
theorem decode_writes_own_blocks {c : Pool} (slots : 0 < c.slots) {log : List (Nat × Event)}
    {m : Machine} (run : Run c log m) {r : Nat} {q : Request}
    (request : entry m.requests r = some q) {fresh : List Nat} {published : Nat → Bool}
    (guard : Guard c m r q (.decode fresh published)) {position : Nat}
    (low : q.computed ≤ position) (high : position < q.known) :
    FindsOwnBlock c (q.table ++ fresh) (referencesAfter m q (.decode fresh published))
      m.cached position := by
  have inv := run_invariant slots run
  have ⟨active, some_left, taken, free, _⟩ := guard
  refine own_block slots inv request free low ?_
  rw [decode_takes_all slots (inv.sound r q request) active taken]
  apply (lt_ceilDiv slots).mpr
  exact begins_before (lt_of_lt_of_le high (known_within_reservation (le_of_lt some_left)))

/-! ### no decode before its admit -/

/-- An event of a request stands in a log. -/
inductive Logged (r : Nat) (e : Event) : List (Nat × Event) → Prop where
  | newest {log : List (Nat × Event)} : Logged r e ((r, e) :: log)
  | older {x : Nat × Event} {log : List (Nat × Event)} (h : Logged r e log) :
      Logged r e (x :: log)

/-- The log holds the admit of each request that is not QUEUED. -/
theorem admit_is_logged {c : Pool} {log : List (Nat × Event)} {m : Machine} (run : Run c log m) :
    ∀ r q, entry m.requests r = some q → q.state = .queued ∨ Logged r .admit log := by
  induction run with
  | start => exact fun _ _ h => by cases h
  | submit _ _ _ _ ih =>
    intro r q h
    match entry_append h with
    | .inl old => exact ih r q old
    | .inr ⟨.zero, _, new⟩ => exact .inl (by rw [← some_same new]; rfl)
    | .inr ⟨.succ _, _, new⟩ => cases new
  | step _ taken ih =>
    intro r q h
    match taken with
    | .step (act := act) (q := p) request guard cell =>
      match entry_replaced (a := p) h with
      | .inr ⟨_, before⟩ =>
        match ih r q (by rw [request]; exact before) with
        | .inl queued => exact .inl queued
        | .inr logged => exact .inr (.older logged)
      | .inl ⟨place, _⟩ =>
        right
        have was : p.state ≠ .queued → Logged r .admit _ := fun not_queued => by
          match ih r p (by rw [place]; exact middle request) with
          | .inl queued => exact (not_queued queued).elim
          | .inr logged => exact logged
        have was_active : p.state.active = true → Logged r .admit _ := fun active =>
          was fun queued => by rw [queued] at active; exact Bool.clash active
        match act, guard with
        | .admit, _ => rw [place]; exact .newest
        | .resume, ⟨e, _⟩ => exact .older (was fun queued => nomatch e.symm.trans queued)
        | .cacheHit _, ⟨active, _⟩ => exact .older (was_active active)
        | .chunk _ _ _, ⟨active, _⟩ => exact .older (was_active active)
        | .decode _ _, ⟨active, _⟩ => exact .older (was_active active)
        | .evict _, ⟨active, _⟩ => exact .older (was_active active)
        | .preempt, ⟨active, _⟩ => exact .older (was_active active)
        | .finish, e => exact .older (was fun queued => nomatch e.symm.trans queued)

/-- No request decodes before it is admitted: where a decode is allowed, the log holds the request's
admit. -/
theorem never_decode_before_admit {c : Pool} {log : List (Nat × Event)} {m : Machine}
    (run : Run c log m) {r : Nat} {q : Request} (request : entry m.requests r = some q)
    {fresh : List Nat} {published : Nat → Bool} (guard : Guard c m r q (.decode fresh published)) :
    Logged r .admit log := by
  match admit_is_logged run r q request with
  | .inr logged => exact logged
  | .inl queued =>
    have active := guard.left
    rw [queued] at active
    exact (Bool.clash active).elim
end Lifecycle
