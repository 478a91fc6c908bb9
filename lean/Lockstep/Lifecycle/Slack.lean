prelude
import Lockstep.Lifecycle.Reservations
/-! Each event keeps reservations covered and the queue exact ([LIFE-18], items 7 and 8). -/
set_option linter.all false
set_option genSizeOf false
noncomputable section
namespace Lifecycle
open Nat List Option

/-- A chunk stays within the reservation. -/
theorem chunk_within {c : Pool} (slots : 0 < c.slots) {q : Request} (sound : Sound c q)
    (active : q.state.active = true) {tokens : Nat} (positive : 1 ≤ tokens)
    (partly : q.computed + tokens < q.known) {fresh : List Nat}
    (taken : length fresh = ceilDiv (q.computed + tokens) c.slots - length q.table) :
    length (q.table ++ fresh) ≤ q.need c.slots := by
  have before := chunk_before_decoding sound active positive partly
  have some_left : q.outputs ≤ q.maxNew := by
    match before with
    | .inl e => exact le_of_lt (sound.at e).right.right
    | .inr e => exact le_of_lt (sound.at e).right.right.left
  rw [length_append, taken, add_sub_of_le (by
    rw [table_length slots sound before]; exact ceilDiv_le slots (le_add_right _ _))]
  exact ceilDiv_le slots (le_trans (le_of_lt partly) (known_within_reservation some_left))
/-- So does a lookup. -/
theorem lookup_within {c : Pool} (slots : 0 < c.slots) {q : Request} (sound : Sound c q)
    (admitted : q.state = .admitted) {granted : List Nat}
    (partly : length granted * c.slots < q.known) :
    length (q.table ++ granted) ≤ q.need c.slots := by
  have ⟨empty, _, some_left⟩ := sound.at admitted
  rw [empty]
  show length granted ≤ q.need c.slots
  rw [← ceilDiv_mul (k := length granted) slots]
  exact ceilDiv_le slots
    (le_trans (le_of_lt partly) (known_within_reservation (le_of_lt some_left)))

/-- Each event keeps what is owed covered and the queue exact. -/
theorem Reserved.step {c : Pool} (slots : 0 < c.slots) {m m' : Machine} {r : Nat} {act : Act}
    (inv : Invariant c m) (reserved : Reserved c m) (taken : Step c m r act m') :
    Reserved c m' := by
  match taken with
  | .step (earlier := l) (later := k) (q := q) (s := s) request guard cell =>
    have sound := inv.sound _ q (middle request)
    have covered := reserved.covered
    have queued := reserved.queued
    have head : q.state.waiting = true → occurrences (length l) m.queue = 1 := fun waiting => by
      rw [queued, request, waitingAt_place, waiting]
      rfl
    rw [request] at covered queued
    have same_queue : q.state.waiting = false → s.waiting = false →
        ∀ p : Request, p.state = s → ∀ i, occurrences i m.queue = waitingAt (l ++ p :: k) i :=
      fun was is p e => queued_change queued (fun old => by rw [old, was, e, is]) fun _ _ => rfl
    have nothing_taken : ∀ references : Nat → Nat, (∀ b, references b = m.references b) →
        countBelow m.idle c.blocks ≤
          countBelow (fun b => Nat.beq (references b) 0) c.blocks + 0 := fun references same =>
      idle_after_taking (taken := []) fun b _ => same b
    match act, guard with
    | .admit, ⟨e, at_head, fits⟩ =>
      have now : s = .admitted := next_is (by rw [e]; rfl) cell
      have leaves := admitted_leaves at_head
      constructor
      · exact covered_by_admission (m := m) (p := q.after c.slots s .admit) request
          (sound.at e).left (by rw [now]; rfl) rfl rfl fits
      · refine queued_change queued (fun _ => ?_) leaves.right
        show occurrences (length l) (dropHead m.queue) = cond s.waiting 1 0
        rw [leaves.left (head (by rw [e]; rfl)), now]
        rfl
    | .resume, ⟨e, at_head, fits⟩ =>
      have now : s = .admitted := next_is (by rw [e]; rfl) cell
      have leaves := admitted_leaves at_head
      constructor
      · exact covered_by_admission (m := m) (p := q.after c.slots s .resume) request
          (sound.at e).left (by rw [now]; rfl) rfl rfl fits
      · refine queued_change queued (fun _ => ?_) leaves.right
        show occurrences (length l) (dropHead m.queue) = cond s.waiting 1 0
        rw [leaves.left (head (by rw [e]; rfl)), now]
        rfl
    | .cacheHit granted, ⟨active, nothing, _, _, _, partly⟩ =>
      have e := cache_hit_in_admitted sound active nothing
      have now : s = .prefilling := next_is (by rw [e]; rfl) cell
      constructor
      · refine covered_change (taken := length granted) covered
          (owes_less active (by rw [now]; rfl) rfl rfl rfl (lookup_within slots sound e partly)) ?_
        apply idle_after_taking
        intro b absent
        show m.references b + occurrences b granted = m.references b
        rw [absent]; rfl
      · exact same_queue (not_waiting active) (by rw [now]; rfl) _ rfl
    | .chunk tokens fresh published, ⟨active, positive, partly, fresh_length, _, _⟩ =>
      have now : s = .prefilling := by
        match chunk_before_decoding sound active positive partly with
        | .inl e => exact next_is (by rw [e]; rfl) cell
        | .inr e => exact next_is (by rw [e]; rfl) cell
      constructor
      · refine covered_change (taken := length fresh) covered
          (owes_less active (by rw [now]; rfl) rfl rfl rfl
            (chunk_within slots sound active positive partly fresh_length)) ?_
        apply idle_after_taking
        intro b absent
        show cond (Nat.beq (occurrences b fresh) 0) (m.references b) 1 = m.references b
        rw [absent]; rfl
      · exact same_queue (not_waiting active) (by rw [now]; rfl) _ rfl
    | .decode fresh published, ⟨active, _, fresh_length, _, _⟩ =>
      have now : s = .decoding := by
        match active_cases active with
        | .inl e => exact next_is (by rw [e]; rfl) cell
        | .inr (.inl e) => exact next_is (by rw [e]; rfl) cell
        | .inr (.inr e) => exact next_is (by rw [e]; rfl) cell
      constructor
      · refine covered_change (taken := length fresh) covered
          (owes_less active (by rw [now]; rfl) rfl rfl rfl
            (by rw [decode_takes_all slots sound active fresh_length]; exact le_refl _)) ?_
        apply idle_after_taking
        intro b absent
        show cond (Nat.beq (occurrences b fresh) 0) (m.references b) 1 = m.references b
        rw [absent]; rfl
      · exact same_queue (not_waiting active) (by rw [now]; rfl) _ rfl
    | .evict block, ⟨active, short, _⟩ =>
      have now : s = q.state := by
        match evict_before_decoding sound active short with
        | .inl e => rw [e]; exact next_is (by rw [e]; rfl) cell
        | .inr e => rw [e]; exact next_is (by rw [e]; rfl) cell
      constructor
      · refine covered_change (taken := 0) covered ?_ (nothing_taken _ fun _ => rfl)
        show cond s.active (q.need c.slots - length q.table) 0 ≤ q.owed c.slots
        rw [now]
        exact le_refl _
      · exact same_queue (not_waiting active) (by rw [now]; exact not_waiting active) _ rfl
    | .preempt, ⟨active, computed, _⟩ =>
      have now : s = .preempted := by
        match victim_after_admitted sound active computed with
        | .inl e => exact next_is (by rw [e]; rfl) cell
        | .inr e => exact next_is (by rw [e]; rfl) cell
      constructor
      · refine covered_change (taken := 0) covered ?_ (released_idle m q c.blocks)
        show cond s.active _ 0 ≤ q.owed c.slots
        rw [now]
        exact zero_le _
      · apply queued_change queued
        · intro old
          show occurrences (length l) (length l :: m.queue) = cond s.waiting 1 0
          rw [occurrences_self, old, not_waiting active, now]
          rfl
        · intro i ne
          exact occurrences_other (fun same => ne same.symm) m.queue
    | .finish, e =>
      have e : q.state = .decoding := e
      have now : s = .finished := next_is (by rw [e]; rfl) cell
      constructor
      · refine covered_change (taken := 0) covered ?_ (released_idle m q c.blocks)
        show cond s.active _ 0 ≤ q.owed c.slots
        rw [now]
        exact zero_le _
      · exact same_queue (by rw [e]; rfl) (by rw [now]; rfl) _ rfl
where
  released_idle (m : Machine) (q : Request) (n : Nat) : countBelow m.idle n ≤
      countBelow (fun b => Nat.beq (m.references b - occurrences b q.table) 0) n + 0 := by
    apply count_mono
    intro b _ idle
    have none_held : m.references b = 0 := eq_of_beq_eq_true idle
    show Nat.beq (m.references b - occurrences b q.table) 0 = true
    rw [none_held, zero_sub]
    rfl

theorem Reserved.start (c : Pool) : Reserved c Machine.start where
  covered := zero_le _
  queued := fun _ => rfl

theorem Reserved.submit {c : Pool} {m : Machine} (reserved : Reserved c m) (prompt maxNew : Nat) :
    Reserved c (m.submit prompt maxNew) where
  covered := by
    show owedByAll c.slots (m.requests ++ _) ≤ _
    rw [owed_append]
    exact reserved.covered
  queued := fun i => by
    show occurrences i (m.queue ++ [length m.requests]) = waitingAt (m.requests ++ [_]) i
    rw [occurrences_append, reserved.queued i]
    match decEq i (length m.requests) with
    | isTrue e =>
      rw [e, waitingAt_place]
      show waitingAt m.requests (length m.requests) + occurrences _ [length m.requests] = 1
      rw [occurrences_self]
      show waitingAt m.requests (length m.requests) + 1 = 0 + 1
      rw [waitingAt_beyond (le_refl _)]
    | isFalse ne =>
      rw [occurrences_other (fun same => ne same.symm)]
      show waitingAt m.requests i = _
      match lt_or_ge i (length m.requests) with
      | .inl below =>
        have ⟨q, found⟩ := entry_of_lt below
        rw [waitingAt_entry found, waitingAt_entry (entry_append_left _ found)]
      | .inr beyond =>
        rw [waitingAt_beyond beyond, waitingAt_beyond]
        rw [length_append]
        match lt_or_eq_of_le beyond with
        | .inl more => exact more
        | .inr same => exact (ne same.symm).elim
where
  waitingAt_entry {l : List Request} {i : Nat} {q : Request} (h : entry l i = some q) :
      waitingAt l i = cond q.state.waiting 1 0 := by
    show (match entry l i with
      | none => 0
      | some q => cond q.state.waiting 1 0) = _
    rw [h]
  waitingAt_beyond {l : List Request} {i : Nat} (h : length l ≤ i) : waitingAt l i = 0 := by
    show (match entry l i with
      | none => 0
      | some q => cond q.state.waiting 1 0) = 0
    match e : entry l i with
    | none => rfl
    | some q => exact (not_le_of_lt (entry_lt e) h).elim

/-- In every state that a run reaches slack is not below 0, and the queue holds each waiting request
once and nothing else. -/
theorem run_reserved {c : Pool} (slots : 0 < c.slots) {log : List (Nat × Event)} {m : Machine}
    (run : Run c log m) : Reserved c m := by
  induction run with
  | start => exact .start c
  | submit _ _ _ _ ih => exact ih.submit _ _
  | step run taken ih => exact Reserved.step slots (run_invariant slots run) ih taken
end Lifecycle
