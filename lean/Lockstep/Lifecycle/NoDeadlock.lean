prelude
import Lockstep.Lifecycle.Invariants
import Lockstep.Lifecycle.Slack
/-! No deadlock ([LIFE-19] d): while some request is not finished, an event other than preempt_rc is
enabled. -/
set_option linter.all false
set_option genSizeOf false
noncomputable section
namespace Lifecycle
open Nat List Option

/-- Of numbers with a property there is a list of as many distinct ones as are asked for, up to
their count. -/
theorem choose_distinct (p : Nat → Bool) (n k : Nat) (enough : k ≤ countBelow p n) :
    ∃ l, length l = k ∧ Distinct l ∧ ∀ b, Mem b l → b < n ∧ p b = true := by
  induction n generalizing k with
  | zero =>
    exact ⟨[], (eq_zero_of_le enough).symm, distinct_nil, fun b h => (lt_irrefl 0 h).elim⟩
  | succ n ih =>
    have lift : ∀ l, (∀ b, Mem b l → b < n ∧ p b = true) →
        ∀ b, Mem b l → b < n + 1 ∧ p b = true := fun l h b is_in =>
      ⟨le_trans (h b is_in).left (le_succ n), (h b is_in).right⟩
    match e : p n with
    | false =>
      have fewer : k ≤ 0 + countBelow p n := by
        have enough : k ≤ cond (p n) 1 0 + countBelow p n := enough
        rw [e] at enough
        exact enough
      rw [zero_add] at fewer
      have ⟨l, long, distinct, inside⟩ := ih k fewer
      exact ⟨l, long, distinct, lift l inside⟩
    | true =>
      match k, enough with
      | .zero, _ => exact ⟨[], rfl, distinct_nil, fun b h => (lt_irrefl 0 h).elim⟩
      | .succ k, enough =>
        have enough : k + 1 ≤ cond (p n) 1 0 + countBelow p n := enough
        rw [e] at enough
        have enough : 1 + k ≤ 1 + countBelow p n := by rw [add_comm 1 k]; exact enough
        have ⟨l, long, distinct, inside⟩ := ih k (le_of_add_le_add_left 1 enough)
        have absent : occurrences n l = 0 := by
          match zero_or_pos (occurrences n l) with
          | .inl absent => exact absent
          | .inr present => exact (lt_irrefl n (inside n present).left).elim
        refine ⟨n :: l, congrArg succ long, ?_, ?_⟩
        · intro b
          match decEq n b with
          | isTrue same => rw [← same, occurrences_self, absent]; exact le_refl 1
          | isFalse other => rw [occurrences_other other]; exact distinct b
        · intro b is_in
          match decEq n b with
          | isTrue same => rw [← same]; exact ⟨le_refl _, e⟩
          | isFalse other =>
            have is_in : 0 < occurrences b (n :: l) := is_in
            rw [occurrences_other other] at is_in
            exact lift l inside b is_in

/-- Some request is active, or none is. -/
theorem active_or_none (l : List Request) :
    (∃ i q, entry l i = some q ∧ q.state.active = true) ∨
      ∀ i q, entry l i = some q → q.state.active = false := by
  induction l with
  | nil => exact .inr fun _ _ h => by cases h
  | cons p l ih =>
    match e : p.state.active with
    | true => exact .inl ⟨0, p, rfl, e⟩
    | false =>
      match ih with
      | .inl ⟨i, q, found, active⟩ => exact .inl ⟨i + 1, q, found, active⟩
      | .inr none_active =>
        refine .inr fun i q found => ?_
        match i, found with
        | .zero, found => rw [← some_same found]; exact e
        | .succ i, found => exact none_active i q found

/-- Without active requests nothing is owed. -/
theorem nothing_owed {slots : Nat} {l : List Request}
    (idle : ∀ i q, entry l i = some q → q.state.active = false) : owedByAll slots l = 0 := by
  induction l with
  | nil => rfl
  | cons q l ih =>
    show q.owed slots + owedByAll slots l = 0
    rw [owed_inactive (idle 0 q rfl), ih fun i p h => idle (i + 1) p h]
/-- Where all tables are empty no block is held. -/
theorem nothing_held {l : List Request} (empty : ∀ i q, entry l i = some q → q.table = [])
    (b : Nat) : holders b l = 0 := by
  induction l with
  | nil => rfl
  | cons q l ih =>
    show occurrences b q.table + holders b l = 0
    rw [empty 0 q rfl, ih fun i p h => empty (i + 1) p h]
    rfl
theorem owed_within (slots : Nat) {l : List Request} {i : Nat} {q : Request}
    (h : entry l i = some q) : q.owed slots ≤ owedByAll slots l := by
  induction l generalizing i with
  | nil => cases h
  | cons p l ih =>
    match i, h with
    | .zero, h => rw [← some_same h]; exact le_add_right _ _
    | .succ i, h => exact le_trans (ih (i := i) h) (le_add_left _ _)

/-- An event of a request is enabled, and it is no preemption. -/
def GoesOn (c : Pool) (m : Machine) : Prop :=
  ∃ r q act, entry m.requests r = some q ∧ Guard c m r q act ∧ act.event ≠ .preemptRc

/-- A request that has not yet all its blocks may decode, where they are free, or evict. -/
theorem decode_or_evict {c : Pool} {m : Machine} (reserved : Reserved c m) {r : Nat} {q : Request}
    (request : entry m.requests r = some q) (active : q.state.active = true)
    (some_left : q.outputs < q.maxNew) : GoesOn c m := by
  match lt_or_ge (countBelow m.free c.blocks) (q.owed c.slots) with
  | .inr enough =>
    have ⟨fresh, long, distinct, free⟩ := choose_distinct m.free c.blocks _ enough
    refine ⟨r, q, .decode fresh fun _ => false, request, ⟨active, some_left, long,
      ⟨distinct, free⟩, fun b published => (Bool.clash published).elim⟩, fun e => nomatch e⟩
  | .inl short =>
    have split : countBelow m.idle c.blocks ≤
        countBelow m.free c.blocks + countBelow m.evictable c.blocks := by
      apply count_either
      intro b _ idle
      match e : m.cached b with
      | true => exact .inr (and_intro idle e)
      | false =>
        refine .inl (and_intro idle ?_)
        rw [e]; rfl
    have owed := le_trans (owed_within c.slots request) reserved.covered
    have some_evictable : 1 ≤ countBelow m.evictable c.blocks := by
      apply le_of_add_le_add_left (countBelow m.free c.blocks)
      exact le_trans short (le_trans owed split)
    have ⟨l, long, _, found⟩ := choose_distinct m.evictable c.blocks 1 some_evictable
    match l, long with
    | block :: l, _ =>
      have ⟨inside, evictable⟩ := found block (by
        show 0 < occurrences block (block :: l)
        rw [occurrences_self]
        exact zero_lt_succ _)
      exact ⟨r, q, .evict block, request, ⟨active, short, inside, evictable⟩, fun e => nomatch e⟩

/-- With no request active, the head of the queue is admitted or resumed. -/
theorem head_is_admitted {c : Pool} {m : Machine} (inv : Invariant c m) (reserved : Reserved c m)
    (idle : ∀ i q, entry m.requests i = some q → q.state.active = false)
    (empty : ∀ i q, entry m.requests i = some q → q.table = []) {r : Nat}
    (waiting : 0 < occurrences r m.queue) : GoesOn c m := by
  match e : m.queue, waiting with
  | head :: others, _ =>
    have is_waiting := reserved.queued head
    rw [e, occurrences_self] at is_waiting
    match found : entry m.requests head with
    | none =>
      have nobody : waitingAt m.requests head = 0 := by
        show (match entry m.requests head with
          | none => 0
          | some q => cond q.state.waiting 1 0) = 0
        rw [found]
      rw [nobody] at is_waiting
      exact (succ_ne_zero _ is_waiting).elim
    | some q =>
      have state : waitingAt m.requests head = cond q.state.waiting 1 0 := by
        show (match entry m.requests head with
          | none => 0
          | some q => cond q.state.waiting 1 0) = _
        rw [found]
      rw [state] at is_waiting
      have fits : q.need c.slots + owedByAll c.slots m.requests ≤
          countBelow m.idle c.blocks := by
        rw [nothing_owed idle, add_zero, count_all fun b _ => ?_]
        · exact (inv.sound head q found).fits
        · show Nat.beq (m.references b) 0 = true
          rw [inv.matched b, nothing_held empty b]
          rfl
      match s : q.state with
      | .queued =>
        exact ⟨head, q, .admit, found, ⟨s, ⟨others, e⟩, fits⟩, fun e => nomatch e⟩
      | .preempted =>
        exact ⟨head, q, .resume, found, ⟨s, ⟨others, e⟩, fits⟩, fun e => nomatch e⟩
      | .admitted => rw [s] at is_waiting; exact (succ_ne_zero _ is_waiting).elim
      | .prefilling => rw [s] at is_waiting; exact (succ_ne_zero _ is_waiting).elim
      | .decoding => rw [s] at is_waiting; exact (succ_ne_zero _ is_waiting).elim
      | .finished => rw [s] at is_waiting; exact (succ_ne_zero _ is_waiting).elim

/-- No deadlock: in every state that a run reaches, while some request is not finished, an event
other than preempt_rc is enabled; and the relation has its cell (`only_cells`). -/
theorem no_deadlock {c : Pool} (slots : 0 < c.slots) {log : List (Nat × Event)} {m : Machine}
    (run : Run c log m) {r : Nat} {q : Request} (request : entry m.requests r = some q)
    (unfinished : q.state ≠ .finished) : GoesOn c m := by
  have inv := run_invariant slots run
  have reserved := run_reserved slots run
  match active_or_none m.requests with
  | .inl ⟨i, p, found, active⟩ =>
    have sound := inv.sound i p found
    match active_cases active with
    | .inl e => exact decode_or_evict reserved found active (sound.at e).right.right
    | .inr (.inl e) => exact decode_or_evict reserved found active (sound.at e).right.right.left
    | .inr (.inr e) => exact ⟨i, p, .finish, found, e, fun e => nomatch e⟩
  | .inr idle =>
    refine head_is_admitted inv reserved idle
      (fun i p found => (idle_holds_nothing slots run found (idle i p found)).left) (r := r) ?_
    rw [reserved.queued r]
    show 0 < (match entry m.requests r with
      | none => 0
      | some q => cond q.state.waiting 1 0)
    rw [request]
    show 0 < cond q.state.waiting 1 0
    have inactive := idle r q request
    match e : q.state with
    | .queued => exact le_refl 1
    | .preempted => exact le_refl 1
    | .finished => exact (unfinished e).elim
    | .admitted => rw [e] at inactive; exact (Bool.clash inactive.symm).elim
    | .prefilling => rw [e] at inactive; exact (Bool.clash inactive.symm).elim
    | .decoding => rw [e] at inactive; exact (Bool.clash inactive.symm).elim
end Lifecycle
