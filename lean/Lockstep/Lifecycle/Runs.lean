prelude
import Lockstep.Lifecycle.Guards
/-! Each event keeps the invariant ([LIFE-18]), and so every run does. -/
set_option linter.all false
set_option genSizeOf false
noncomputable section
namespace Lifecycle
open Nat List Option

/-! ### the request after an event -/

/-- What an active request that has not yet all its blocks has of them: as many as its computed
tokens need. -/
theorem table_length {c : Pool} (slots : 0 < c.slots) {q : Request} (sound : Sound c q)
    (h : q.state = .admitted ∨ q.state = .prefilling) :
    length q.table = ceilDiv q.computed c.slots := by
  match h with
  | .inl e =>
    have ⟨empty, nothing, _⟩ := sound.at e
    rw [empty, nothing]
    have zero := ceilDiv_mul (k := 0) slots
    rw [zero_mul] at zero
    exact zero.symm
  | .inr e => exact (sound.at e).right.right.right
theorem known_within_reservation {q : Request} (h : q.outputs ≤ q.maxNew) :
    q.known ≤ q.prompt + q.maxNew := add_le_add_left q.prompt h
/-- A decode leaves the whole reservation in the table. -/
theorem decode_takes_all {c : Pool} (slots : 0 < c.slots) {q : Request} (sound : Sound c q)
    (active : q.state.active = true) {fresh : List Nat} (taken : length fresh = q.owed c.slots) :
    length (q.table ++ fresh) = q.need c.slots := by
  rw [length_append, taken]
  show length q.table + cond q.state.active (q.need c.slots - length q.table) 0 = q.need c.slots
  rw [active]
  apply add_sub_of_le
  match active_cases active with
  | .inl e =>
    rw [(sound.at e).left]
    exact zero_le _
  | .inr (.inl e) =>
    have ⟨_, partly, some_left, whole⟩ := sound.at e
    rw [whole]
    exact ceilDiv_le slots
      (le_trans (le_of_lt partly) (known_within_reservation (le_of_lt some_left)))
  | .inr (.inr e) =>
    rw [(sound.at e).left]
    exact le_refl _

/-- The request stays sound through each of its events. -/
theorem Sound.after {c : Pool} (slots : 0 < c.slots) {m : Machine} {r : Nat} {q : Request}
    {act : Act} {s : State} (sound : Sound c q) (guard : Guard c m r q act)
    (cell : next q.state act.event = some s) : Sound c (q.after c.slots s act) := by
  match act, guard with
  | .admit, ⟨e, _⟩ =>
    rw [next_is (t := .admitted) (by rw [e]; rfl) cell]
    have ⟨empty, nothing, none_out⟩ := sound.at e
    refine ⟨sound.some_prompt, sound.some_output, sound.fits, empty, nothing, ?_⟩
    show q.outputs < q.maxNew
    rw [none_out]
    exact sound.some_output
  | .resume, ⟨e, _⟩ =>
    rw [next_is (t := .admitted) (by rw [e]; rfl) cell]
    exact ⟨sound.some_prompt, sound.some_output, sound.fits, sound.at e⟩
  | .cacheHit granted, ⟨active, nothing, some_granted, _, _, partly⟩ =>
    have e := cache_hit_in_admitted sound active nothing
    rw [next_is (t := .prefilling) (by rw [e]; rfl) cell]
    have positive := mul_lt_mul_right slots some_granted
    rw [zero_mul] at positive
    refine ⟨sound.some_prompt, sound.some_output, sound.fits, positive, partly,
      (sound.at e).right.right, ?_⟩
    show length (q.table ++ granted) = ceilDiv (length granted * c.slots) c.slots
    rw [(sound.at e).left, ceilDiv_mul slots]
    rfl
  | .chunk tokens fresh _, ⟨active, positive, partly, taken, _⟩ =>
    have before := chunk_before_decoding sound active positive partly
    have some_left : q.outputs < q.maxNew := by
      match before with
      | .inl e => exact (sound.at e).right.right
      | .inr e => exact (sound.at e).right.right.left
    have now : s = .prefilling := by
      match before with
      | .inl e => exact next_is (by rw [e]; rfl) cell
      | .inr e => exact next_is (by rw [e]; rfl) cell
    rw [now]
    refine ⟨sound.some_prompt, sound.some_output, sound.fits,
      lt_of_lt_of_le positive (le_add_left _ _), partly, some_left, ?_⟩
    show length (q.table ++ fresh) = ceilDiv (q.computed + tokens) c.slots
    rw [length_append, taken]
    apply add_sub_of_le
    rw [table_length slots sound before]
    exact ceilDiv_le slots (le_add_right _ _)
  | .decode fresh _, ⟨active, some_left, taken, _⟩ =>
    have now : s = .decoding := by
      match active_cases active with
      | .inl e => exact next_is (by rw [e]; rfl) cell
      | .inr (.inl e) => exact next_is (by rw [e]; rfl) cell
      | .inr (.inr e) => exact next_is (by rw [e]; rfl) cell
    rw [now]
    exact ⟨sound.some_prompt, sound.some_output, sound.fits,
      decode_takes_all slots sound active taken, rfl, zero_lt_succ _, some_left⟩
  | .evict _, ⟨active, short, _⟩ =>
    match evict_before_decoding sound active short with
    | .inl e =>
      rw [next_is (t := .admitted) (by rw [e]; rfl) cell]
      exact ⟨sound.some_prompt, sound.some_output, sound.fits, sound.at e⟩
    | .inr e =>
      rw [next_is (t := .prefilling) (by rw [e]; rfl) cell]
      exact ⟨sound.some_prompt, sound.some_output, sound.fits, sound.at e⟩
  | .preempt, ⟨active, computed, some_left⟩ =>
    have now : s = .preempted := by
      match victim_after_admitted sound active computed with
      | .inl e => exact next_is (by rw [e]; rfl) cell
      | .inr e => exact next_is (by rw [e]; rfl) cell
    rw [now]
    exact ⟨sound.some_prompt, sound.some_output, sound.fits, rfl, rfl, some_left⟩
  | .finish, e =>
    have e : q.state = .decoding := e
    rw [next_is (t := .finished) (by rw [e]; rfl) cell]
    exact ⟨sound.some_prompt, sound.some_output, sound.fits, rfl, rfl⟩

/-! ### the machine after an event -/

/-- Each event keeps the invariant. -/
theorem Invariant.step {c : Pool} (slots : 0 < c.slots) {m m' : Machine} {r : Nat} {act : Act}
    (inv : Invariant c m) (taken : Step c m r act m') : Invariant c m' := by
  match taken with
  | .step (earlier := l) (later := k) (q := q) (s := s) request guard cell =>
    have old := inv.sound _ q (middle request)
    have sound := old.after slots guard cell
    have keep : ∀ place b, entry q.table place = some b → m.cached b = true →
        (place + 1) * c.slots ≤ q.computed := inv.full _ q (middle request)
    have distinct := inv.distinct _ q (middle request)
    match act, guard, sound with
    | .admit, _, sound =>
      exact inv.change request _ sound (fun _ => rfl) distinct inv.single keep
        fun _ _ _ _ _ _ is_cached => is_cached
    | .resume, _, sound =>
      exact inv.change request _ sound (fun _ => rfl) distinct inv.single keep
        fun _ _ _ _ _ _ is_cached => is_cached
    | .cacheHit granted, ⟨active, nothing, _, granted_once, offered, _⟩, sound =>
      have empty := (old.at (cache_hit_in_admitted old active nothing)).left
      have whole : q.table ++ granted = granted := by rw [empty]; rfl
      apply inv.change request _ sound
      · intro b
        show m.references b + occurrences b granted + occurrences b q.table =
          m.references b + occurrences b (q.table ++ granted)
        rw [whole, empty]
        rfl
      · show Distinct (q.table ++ granted)
        rw [whole]
        exact granted_once
      · intro b uncached
        show m.references b + occurrences b granted ≤ 1
        match zero_or_pos (occurrences b granted) with
        | .inl absent => rw [absent]; exact inv.single b uncached
        | .inr present => exact (Bool.clash (uncached.symm.trans (offered b present).right)).elim
      · intro place b at_place _
        have at_place : entry (q.table ++ granted) place = some b := at_place
        rw [whole] at at_place
        exact mul_le_mul_right c.slots (entry_lt at_place)
      · exact fun _ _ _ _ _ _ is_cached => is_cached
    | .chunk _ _ _, ⟨_, _, _, _, free, publishes⟩, sound =>
      exact inv.take request _ sound rfl (le_add_right _ _) free publishes
    | .decode _ _, ⟨active, _, _, free, publishes⟩, sound =>
      refine inv.take request _ sound rfl ?_ free publishes
      show q.computed ≤ q.known
      match active_cases active with
      | .inl e => rw [(old.at e).right.left]; exact zero_le _
      | .inr (.inl e) => exact le_of_lt (old.at e).right.left
      | .inr (.inr e) => rw [← (old.at e).right.left]; exact le_succ _
    | .evict block, ⟨_, _, _, evictable⟩, sound =>
      refine inv.change request _ sound (fun _ => rfl) distinct ?_ ?_ ?_
      · intro b uncached
        have uncached : and (m.cached b) (not (Nat.beq b block)) = false := uncached
        match e : Nat.beq b block with
        | true =>
          have idle := eq_of_beq_eq_true (Bool.and_true_left evictable)
          rw [eq_of_beq_eq_true e]
          show m.references block ≤ 1
          rw [idle]
          exact zero_le 1
        | false =>
          apply inv.single b
          rw [e] at uncached
          match k : m.cached b with
          | false => rfl
          | true =>
            rw [k] at uncached
            exact (Bool.clash uncached.symm).elim
      · exact fun place b at_place is_cached =>
          keep place b at_place (Bool.and_true_left is_cached)
      · exact fun _ _ _ _ _ _ is_cached => Bool.and_true_left is_cached
    | .preempt, _, sound => exact inv.release request _ sound rfl
    | .finish, _, sound => exact inv.release request _ sound rfl

/-- The invariant holds in every state that a run reaches, with any number of blocks, of requests
and of steps. -/
theorem run_invariant {c : Pool} (slots : 0 < c.slots) {log : List (Nat × Event)} {m : Machine}
    (run : Run c log m) : Invariant c m := by
  induction run with
  | start => exact .start c
  | submit _ some_prompt some_output fits ih => exact ih.submit some_prompt some_output fits
  | step _ taken ih => exact ih.step slots taken
end Lifecycle
