prelude
import Lockstep.Lifecycle.Invariant
/-! Which states a guard leaves, and that each has its cell ([LIFE-19] a). -/
set_option linter.all false
set_option genSizeOf false
noncomputable section
namespace Lifecycle
open Nat List Option

theorem active_cases {s : State} (h : s.active = true) :
    s = .admitted ∨ s = .prefilling ∨ s = .decoding := by
  cases s with
  | admitted => exact .inl rfl
  | prefilling => exact .inr (.inl rfl)
  | decoding => exact .inr (.inr rfl)
  | queued => exact (Bool.clash h).elim
  | preempted => exact (Bool.clash h).elim
  | finished => exact (Bool.clash h).elim
theorem Sound.at {c : Pool} {q : Request} (sound : Sound c q) {s : State} (h : q.state = s) :
    ByState c.slots q s := by
  rw [← h]; exact sound.byState
/-- A state that a cell gives, read off the relation. -/
theorem next_is {s t t' : State} {e : Event} (h : next s e = some t) (k : next s e = some t') :
    t' = t := some_same (k.symm.trans h)

/-! ### which states a guard leaves -/

theorem decoding_computed {c : Pool} {q : Request} (sound : Sound c q) (h : q.state = .decoding) :
    q.computed ≠ 0 := by
  intro nothing
  have ⟨_, all_but_one, some_output, _⟩ := sound.at h
  rw [nothing] at all_but_one
  have le : 1 + 1 ≤ q.known := add_le_add sound.some_prompt some_output
  rw [← all_but_one] at le
  exact not_succ_le_zero 0 (le_of_succ_le_succ le)
/-- A lookup is granted blocks in ADMITTED only. -/
theorem cache_hit_in_admitted {c : Pool} {q : Request} (sound : Sound c q)
    (active : q.state.active = true) (nothing : q.computed = 0) : q.state = .admitted := by
  match active_cases active with
  | .inl e => exact e
  | .inr (.inl e) =>
    have ⟨positive, _⟩ := sound.at e
    rw [nothing] at positive
    exact (lt_irrefl 0 positive).elim
  | .inr (.inr e) => exact (decoding_computed sound e nothing).elim
/-- A chunk is taken in ADMITTED or PREFILLING only. -/
theorem chunk_before_decoding {c : Pool} {q : Request} (sound : Sound c q)
    (active : q.state.active = true) {tokens : Nat} (positive : 1 ≤ tokens)
    (partly : q.computed + tokens < q.known) : q.state = .admitted ∨ q.state = .prefilling := by
  match active_cases active with
  | .inl e => exact .inl e
  | .inr (.inl e) => exact .inr e
  | .inr (.inr e) =>
    have ⟨_, all_but_one, _⟩ := sound.at e
    rw [← all_but_one] at partly
    exact (not_le_of_lt partly (add_le_add_left q.computed positive)).elim
/-- An evicting request is ADMITTED or PREFILLING: a DECODING one owes nothing. -/
theorem evict_before_decoding {c : Pool} {q : Request} (sound : Sound c q)
    (active : q.state.active = true) {n : Nat} (short : n < q.owed c.slots) :
    q.state = .admitted ∨ q.state = .prefilling := by
  match active_cases active with
  | .inl e => exact .inl e
  | .inr (.inl e) => exact .inr e
  | .inr (.inr e) =>
    have ⟨whole, _⟩ := sound.at e
    have nothing : q.owed c.slots = 0 := by
      show cond q.state.active (q.need c.slots - length q.table) 0 = 0
      rw [e, whole]
      exact sub_eq_zero (le_refl _)
    rw [nothing] at short
    exact (not_succ_le_zero _ short).elim
/-- A victim is PREFILLING or DECODING: an ADMITTED one has computed nothing. -/
theorem victim_after_admitted {c : Pool} {q : Request} (sound : Sound c q)
    (active : q.state.active = true) (computed : 1 ≤ q.computed) :
    q.state = .prefilling ∨ q.state = .decoding := by
  match active_cases active with
  | .inl e =>
    have ⟨_, nothing, _⟩ := sound.at e
    rw [nothing] at computed
    exact (not_succ_le_zero 0 computed).elim
  | .inr (.inl e) => exact .inl e
  | .inr (.inr e) => exact .inr e

/-- Wherever the guard of an event holds, the relation has the cell: the guards, which speak of
resources, allow nothing that the table of [LIFE-1] does not. -/
theorem guard_has_cell {c : Pool} {m : Machine} {r : Nat} {q : Request} {act : Act}
    (sound : Sound c q) (guard : Guard c m r q act) : ∃ s, next q.state act.event = some s := by
  match act, guard with
  | .admit, ⟨e, _⟩ => rw [e]; exact ⟨_, rfl⟩
  | .resume, ⟨e, _⟩ => rw [e]; exact ⟨_, rfl⟩
  | .cacheHit _, ⟨active, nothing, _⟩ =>
    rw [cache_hit_in_admitted sound active nothing]; exact ⟨_, rfl⟩
  | .chunk _ _ _, ⟨active, positive, partly, _⟩ =>
    match chunk_before_decoding sound active positive partly with
    | .inl e => rw [e]; exact ⟨_, rfl⟩
    | .inr e => rw [e]; exact ⟨_, rfl⟩
  | .decode _ _, ⟨active, _⟩ =>
    match active_cases active with
    | .inl e => rw [e]; exact ⟨_, rfl⟩
    | .inr (.inl e) => rw [e]; exact ⟨_, rfl⟩
    | .inr (.inr e) => rw [e]; exact ⟨_, rfl⟩
  | .evict _, ⟨active, short, _⟩ =>
    match evict_before_decoding sound active short with
    | .inl e => rw [e]; exact ⟨_, rfl⟩
    | .inr e => rw [e]; exact ⟨_, rfl⟩
  | .preempt, ⟨active, computed, _⟩ =>
    match victim_after_admitted sound active computed with
    | .inl e => rw [e]; exact ⟨_, rfl⟩
    | .inr e => rw [e]; exact ⟨_, rfl⟩
  | .finish, e =>
    have e : q.state = .decoding := e
    rw [e]; exact ⟨_, rfl⟩
end Lifecycle
