prelude
import Lockstep.Lifecycle.Lists
/-! The invariant of [LIFE-18], items 1 to 6, and what one event does to it. -/
set_option linter.all false
set_option genSizeOf false
noncomputable section
namespace Lifecycle
open Nat List Option

/-- The number of requests that hold a block, counted by the entries of their tables. -/
def holders (b : Nat) : List Request → Nat
  | [] => 0
  | q :: l => occurrences b q.table + holders b l

/-- What a request is like in each state ([LIFE-18], items 3 to 6). -/
def ByState (slots : Nat) (q : Request) : State → Prop
  | .queued => q.table = [] ∧ q.computed = 0 ∧ q.outputs = 0
  | .admitted => q.table = [] ∧ q.computed = 0 ∧ q.outputs < q.maxNew
  | .prefilling => 0 < q.computed ∧ q.computed < q.known ∧ q.outputs < q.maxNew ∧
      length q.table = ceilDiv q.computed slots
  | .decoding => length q.table = q.need slots ∧ q.computed + 1 = q.known ∧
      1 ≤ q.outputs ∧ q.outputs ≤ q.maxNew
  | .preempted => q.table = [] ∧ q.computed = 0 ∧ q.outputs < q.maxNew
  | .finished => q.table = [] ∧ q.computed = 0

/-- What holds of a single request. -/
structure Sound (c : Pool) (q : Request) : Prop where
  some_prompt : 1 ≤ q.prompt
  some_output : 1 ≤ q.maxNew
  fits : q.need c.slots ≤ c.blocks
  byState : ByState c.slots q q.state

/-- What holds of the machine: each request is sound; references match holders; no table holds a
block twice; a block that is not cached has at most one holder; a cached block of a table is
full. -/
structure Invariant (c : Pool) (m : Machine) : Prop where
  sound : ∀ i q, entry m.requests i = some q → Sound c q
  matched : ∀ b, m.references b = holders b m.requests
  distinct : ∀ i q, entry m.requests i = some q → Distinct q.table
  single : ∀ b, m.cached b = false → m.references b ≤ 1
  full : ∀ i q, entry m.requests i = some q → ∀ k b, entry q.table k = some b →
    m.cached b = true → (k + 1) * c.slots ≤ q.computed

/-! ### holders -/

theorem holders_append (b : Nat) (l k : List Request) :
    holders b (l ++ k) = holders b l + holders b k := by
  induction l with
  | nil => exact (zero_add _).symm
  | cons q l ih =>
    show _ + holders b (l ++ k) = _ + holders b l + holders b k
    rw [ih, add_assoc]
theorem holders_middle (b : Nat) (l : List Request) (q : Request) (k : List Request) :
    holders b (l ++ q :: k) = occurrences b q.table + (holders b l + holders b k) := by
  rw [holders_append]
  exact add_left_comm _ _ _
theorem holder_counted (b : Nat) {l : List Request} {i : Nat} {q : Request}
    (h : entry l i = some q) : occurrences b q.table ≤ holders b l := by
  induction l generalizing i with
  | nil => cases h
  | cons p l ih =>
    cases i with
    | zero =>
      rw [← some_same h]
      exact le_add_right _ _
    | succ i => exact le_trans (ih (i := i) h) (le_add_left _ _)
/-- Two requests that hold a block count twice. -/
theorem two_counted (b : Nat) {l k : List Request} {q p : Request} {i : Nat}
    (other : i ≠ length l) (h : entry (l ++ q :: k) i = some p) :
    occurrences b q.table + occurrences b p.table ≤ holders b (l ++ q :: k) := by
  rw [holders_middle]
  apply add_le_add_left
  match entry_append h with
  | .inl left => exact le_trans (holder_counted b left) (le_add_right _ _)
  | .inr ⟨j, e, right⟩ =>
    cases j with
    | zero => exact (other e).elim
    | succ j => exact le_trans (holder_counted b (i := j) right) (le_add_left _ _)
theorem distinct_place {l : List Nat} (h : Distinct l) {i k b : Nat} (hi : entry l i = some b)
    (hk : entry l k = some b) : i = k := by
  induction l generalizing i k with
  | nil => cases hi
  | cons a l ih =>
    have tail : Distinct l := fun x => le_trans (le_add_left _ _) (h x)
    have once : ∀ {j}, a = b → entry l j = some b → False := fun e hj => by
      have two := h b
      rw [e, occurrences_self] at two
      exact not_le_of_lt (mem_of_entry hj) (le_of_succ_le_succ two)
    match i, k, hi, hk with
    | .zero, .zero, _, _ => rfl
    | .zero, .succ k, hi, hk => exact (once (some_same hi) hk).elim
    | .succ i, .zero, hi, hk => exact (once (some_same hk) hi).elim
    | .succ i, .succ k, hi, hk => exact congrArg succ (ih tail hi hk)

/-! ### one request changes -/

/-- The invariant after one request has become `p`, references and what is cached having changed
with it. -/
theorem Invariant.change {c : Pool} {m : Machine} (inv : Invariant c m) {l k : List Request}
    {q p : Request} (request : m.requests = l ++ q :: k) {references : Nat → Nat}
    {cached : Nat → Bool} (queue : List Nat) (sound : Sound c p)
    (moved : ∀ b, references b + occurrences b q.table = m.references b + occurrences b p.table)
    (distinct : Distinct p.table) (single : ∀ b, cached b = false → references b ≤ 1)
    (full : ∀ k b, entry p.table k = some b → cached b = true → (k + 1) * c.slots ≤ p.computed)
    (others : ∀ i r, i ≠ length l → entry (l ++ q :: k) i = some r → ∀ b, Mem b r.table →
      cached b = true → m.cached b = true) :
    Invariant c ⟨references, cached, l ++ p :: k, queue⟩ where
  sound := fun i r h => by
    match entry_replaced (a := q) h with
    | .inl ⟨_, e⟩ => rw [e]; exact sound
    | .inr ⟨_, before⟩ => exact inv.sound i r (by rw [request]; exact before)
  matched := fun b => by
    have old := inv.matched b
    rw [request, holders_middle] at old
    have new := moved b
    rw [old] at new
    show references b = holders b (l ++ p :: k)
    rw [holders_middle]
    apply add_right_cancel (occurrences b q.table)
    rw [new, add_assoc, add_comm, add_comm (occurrences b p.table)]
  distinct := fun i r h => by
    match entry_replaced (a := q) h with
    | .inl ⟨_, e⟩ => rw [e]; exact distinct
    | .inr ⟨_, before⟩ => exact inv.distinct i r (by rw [request]; exact before)
  single := single
  full := fun i r h => by
    match entry_replaced (a := q) h with
    | .inl ⟨_, e⟩ => rw [e]; exact full
    | .inr ⟨other, before⟩ =>
      intro place b at_place is_cached
      exact inv.full i r (by rw [request]; exact before) place b at_place
        (others i r other before b (mem_of_entry at_place) is_cached)

/-- The request of a step is one of the machine's. -/
theorem middle {m : Machine} {l k : List Request} {q : Request}
    (request : m.requests = l ++ q :: k) : entry m.requests (length l) = some q := by
  rw [request]; exact entry_middle l q k
theorem Invariant.held {c : Pool} {m : Machine} (inv : Invariant c m) {l k : List Request}
    {q : Request} (request : m.requests = l ++ q :: k) (b : Nat) :
    occurrences b q.table ≤ m.references b := by
  rw [inv.matched b]
  exact holder_counted b (middle request)

/-! ### taking free blocks -/

theorem free_idle {m : Machine} {b : Nat} (h : m.free b = true) : m.references b = 0 :=
  eq_of_beq_eq_true (Bool.and_true_left h)
theorem free_not_cached {m : Machine} {b : Nat} (h : m.free b = true) : m.cached b = false :=
  not_true (Bool.and_true_right h)
theorem fresh_references {c : Pool} {m : Machine} {fresh : List Nat} (free : AllFree c m fresh)
    (b : Nat) : cond (Nat.beq (occurrences b fresh) 0) (m.references b) 1 =
      m.references b + occurrences b fresh := by
  match zero_or_pos (occurrences b fresh) with
  | .inl absent => rw [absent]; rfl
  | .inr present =>
    have once : occurrences b fresh = 1 := le_antisymm (free.left b) present
    rw [once, free_idle (free.right b present).right]
    rfl
/-- A table with free blocks added holds no block twice. -/
theorem Invariant.fresh_distinct {c : Pool} {m : Machine} (inv : Invariant c m)
    {l k : List Request} {q : Request} (request : m.requests = l ++ q :: k) {fresh : List Nat}
    (free : AllFree c m fresh) : Distinct (q.table ++ fresh) := by
  intro b
  rw [occurrences_append]
  match zero_or_pos (occurrences b fresh) with
  | .inl absent => rw [absent]; exact inv.distinct _ q (middle request) b
  | .inr present =>
    have nobody := inv.held request b
    rw [free_idle (free.right b present).right] at nobody
    rw [eq_zero_of_le nobody, zero_add]
    exact free.left b

/-- The invariant after a chunk or a decode, which take free blocks and may publish full ones. -/
theorem Invariant.take {c : Pool} {m : Machine} (inv : Invariant c m) {l k : List Request}
    {q p : Request} (request : m.requests = l ++ q :: k) {fresh : List Nat}
    {published : Nat → Bool} (queue : List Nat) (sound : Sound c p)
    (table : p.table = q.table ++ fresh) (more : q.computed ≤ p.computed)
    (free : AllFree c m fresh) (publishes : PublishesFull c p.table p.computed published) :
    Invariant c ⟨fun b => cond (Nat.beq (occurrences b fresh) 0) (m.references b) 1,
      fun b => or (m.cached b) (published b), l ++ p :: k, queue⟩ := by
  have distinct := inv.fresh_distinct request free
  rw [← table] at distinct
  apply inv.change request queue sound
  · intro b
    show cond _ _ _ + _ = _
    rw [fresh_references free b, table, occurrences_append, add_assoc,
      add_comm (occurrences b fresh)]
  · exact distinct
  · intro b uncached
    show cond (Nat.beq (occurrences b fresh) 0) (m.references b) 1 ≤ 1
    cases Nat.beq (occurrences b fresh) 0 with
    | false => exact le_refl 1
    | true =>
      apply inv.single b
      match e : m.cached b with
      | false => rfl
      | true =>
        have uncached : or (m.cached b) (published b) = false := uncached
        rw [e] at uncached
        exact (Bool.clash uncached.symm).elim
  · intro place b at_place is_cached
    match e : m.cached b with
    | true =>
      rw [table] at at_place
      match entry_append at_place with
      | .inl old =>
        exact le_trans (inv.full _ q (middle request) place b old e) more
      | .inr ⟨j, _, new⟩ =>
        have uncached := free_not_cached (free.right b (mem_of_entry new)).right
        exact (Bool.clash (uncached.symm.trans e)).elim
    | false =>
      have is_published : or (m.cached b) (published b) = true := is_cached
      rw [e] at is_published
      have ⟨i, at_i, is_full⟩ := publishes b is_published
      rw [distinct_place distinct at_place at_i]
      exact is_full
  · intro i r other before b holds is_cached
    match e : m.cached b with
    | true => rfl
    | false =>
      have is_published : or (m.cached b) (published b) = true := is_cached
      rw [e] at is_published
      have ⟨place, at_place, _⟩ := publishes b is_published
      have both := two_counted b other before
      rw [← request, ← inv.matched b] at both
      rw [table] at at_place
      match entry_append at_place with
      | .inl old =>
        have two := le_trans (add_le_add (mem_of_entry old) holds) both
        exact (not_le_of_lt two (inv.single b e)).elim
      | .inr ⟨j, _, new⟩ =>
        rw [free_idle (free.right b (mem_of_entry new)).right] at both
        exact (not_le_of_lt holds (le_trans (le_add_left _ _) both)).elim

/-! ### giving blocks back -/

/-- The invariant after a preemption or a finish. -/
theorem Invariant.release {c : Pool} {m : Machine} (inv : Invariant c m) {l k : List Request}
    {q p : Request} (request : m.requests = l ++ q :: k) (queue : List Nat) (sound : Sound c p)
    (table : p.table = []) :
    Invariant c
      ⟨fun b => m.references b - occurrences b q.table, m.cached, l ++ p :: k, queue⟩ := by
  apply inv.change request queue sound
  · intro b
    rw [table]
    exact sub_add_cancel (inv.held request b)
  · rw [table]; exact distinct_nil
  · exact fun b uncached => le_trans (sub_le _ _) (inv.single b uncached)
  · intro place b at_place
    rw [table] at at_place
    cases at_place
  · exact fun _ _ _ _ _ _ is_cached => is_cached

/-! ### the start, and submission -/

theorem Invariant.start (c : Pool) : Invariant c Machine.start where
  sound := fun _ _ h => by cases h
  matched := fun _ => rfl
  distinct := fun _ _ h => by cases h
  single := fun _ _ => zero_le 1
  full := fun _ _ h => by cases h

theorem Invariant.submit {c : Pool} {m : Machine} (inv : Invariant c m) {prompt maxNew : Nat}
    (some_prompt : 1 ≤ prompt) (some_output : 1 ≤ maxNew)
    (fits : ceilDiv (prompt + maxNew) c.slots ≤ c.blocks) :
    Invariant c (m.submit prompt maxNew) := by
  have new : ∀ {i q}, entry (m.requests ++ [⟨prompt, maxNew, initial, 0, 0, []⟩]) i = some q →
      entry m.requests i = some q ∨ q = ⟨prompt, maxNew, initial, 0, 0, []⟩ := fun {i q} h => by
    match entry_append h with
    | .inl old => exact .inl old
    | .inr ⟨j, _, at_end⟩ =>
      cases j with
      | zero => exact .inr (some_same at_end).symm
      | succ j => cases at_end
  constructor
  · intro i q h
    match new h with
    | .inl old => exact inv.sound i q old
    | .inr e => rw [e]; exact ⟨some_prompt, some_output, fits, ⟨rfl, rfl, rfl⟩⟩
  · intro b
    show m.references b = holders b (m.requests ++ _)
    rw [holders_append, inv.matched b]
    rfl
  · intro i q h
    match new h with
    | .inl old => exact inv.distinct i q old
    | .inr e => rw [e]; exact distinct_nil
  · exact inv.single
  · intro i q h
    match new h with
    | .inl old => exact inv.full i q old
    | .inr e => rw [e]; exact fun _ _ absent => by cases absent
end Lifecycle
