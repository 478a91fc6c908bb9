prelude
import Lockstep.Lifecycle.Counts
import Lockstep.Lifecycle.Runs
/-! Items 7 and 8 of [LIFE-18]: what requests owe never exceeds the blocks that nobody holds, and
the queue holds exactly the waiting requests. -/
set_option linter.all false
set_option genSizeOf false
noncomputable section
namespace Lifecycle
open Nat List Option

/-- 1 if the request of a number is waiting, else 0. -/
def waitingAt (l : List Request) (i : Nat) : Nat :=
  match entry l i with
  | none => 0
  | some q => cond q.state.waiting 1 0

/-- Slack is never below 0, and the queue holds each waiting request once and nothing else. -/
structure Reserved (c : Pool) (m : Machine) : Prop where
  covered : owedByAll c.slots m.requests ≤ countBelow m.idle c.blocks
  queued : ∀ i, occurrences i m.queue = waitingAt m.requests i

/-! ### what requests owe -/

theorem owed_append (slots : Nat) (l k : List Request) :
    owedByAll slots (l ++ k) = owedByAll slots l + owedByAll slots k := by
  induction l with
  | nil => exact (zero_add _).symm
  | cons q l ih =>
    show _ + owedByAll slots (l ++ k) = _ + owedByAll slots l + owedByAll slots k
    rw [ih, add_assoc]
theorem owed_middle (slots : Nat) (l : List Request) (q : Request) (k : List Request) :
    owedByAll slots (l ++ q :: k) =
      q.owed slots + (owedByAll slots l + owedByAll slots k) := by
  rw [owed_append]
  exact add_left_comm _ _ _
theorem owed_active {slots : Nat} {q : Request} (h : q.state.active = true) :
    q.owed slots = q.need slots - length q.table := by
  show cond q.state.active _ 0 = _
  rw [h]; rfl
theorem owed_inactive {slots : Nat} {q : Request} (h : q.state.active = false) :
    q.owed slots = 0 := by
  show cond q.state.active _ 0 = _
  rw [h]; rfl

/-- Where a request owes less by as many blocks as it takes, what is owed stays covered. -/
theorem covered_change {slots idle idle' taken : Nat} {l k : List Request} {q p : Request}
    (covered : owedByAll slots (l ++ q :: k) ≤ idle)
    (owes_less : p.owed slots + taken ≤ q.owed slots)
    (idle_left : idle ≤ idle' + taken) : owedByAll slots (l ++ p :: k) ≤ idle' := by
  rw [owed_middle] at covered ⊢
  apply le_of_add_le_add_left taken
  rw [add_comm taken idle']
  refine le_trans ?_ (le_trans covered idle_left)
  rw [← add_assoc, add_comm taken]
  exact add_le_add owes_less (le_refl _)
/-- Taking blocks leaves all idle blocks idle but these. -/
theorem idle_after_taking {m : Machine} {references : Nat → Nat} {taken : List Nat} {n : Nat}
    (others : ∀ b, occurrences b taken = 0 → references b = m.references b) :
    countBelow m.idle n ≤ countBelow (fun b => Nat.beq (references b) 0) n + length taken := by
  refine le_trans (count_either (p'' := fun b => not (Nat.beq (occurrences b taken) 0)) ?_)
    (add_le_add_left _ (count_mem taken n))
  intro b _ idle
  match e : Nat.beq (occurrences b taken) 0 with
  | true =>
    left
    show Nat.beq (references b) 0 = true
    rw [others b (eq_of_beq_eq_true e)]
    exact idle
  | false => exact .inr rfl

/-! ### the queue -/

theorem waitingAt_place (l : List Request) (q : Request) (k : List Request) :
    waitingAt (l ++ q :: k) (length l) = cond q.state.waiting 1 0 := by
  show (match entry (l ++ q :: k) (length l) with
    | none => 0
    | some q => cond q.state.waiting 1 0) = _
  rw [entry_middle]
theorem entry_elsewhere {α : Type} {l k : List α} {a b : α} {i : Nat} (h : i ≠ length l) :
    entry (l ++ a :: k) i = entry (l ++ b :: k) i := by
  induction l generalizing i with
  | nil =>
    cases i with
    | zero => exact (h rfl).elim
    | succ i => rfl
  | cons x l ih =>
    cases i with
    | zero => rfl
    | succ i => exact ih (i := i) fun e => h (congrArg succ e)
theorem waitingAt_elsewhere {l k : List Request} {q p : Request} {i : Nat} (h : i ≠ length l) :
    waitingAt (l ++ q :: k) i = waitingAt (l ++ p :: k) i := by
  show (match entry (l ++ q :: k) i with
    | none => 0
    | some q => cond q.state.waiting 1 0) = _
  rw [entry_elsewhere (b := p) h]
  rfl
/-- The queue after one request has changed, told at that request and elsewhere. -/
theorem queued_change {l k : List Request} {q p : Request} {queue queue' : List Nat}
    (before : ∀ i, occurrences i queue = waitingAt (l ++ q :: k) i)
    (here : occurrences (length l) queue = cond q.state.waiting 1 0 →
      occurrences (length l) queue' = cond p.state.waiting 1 0)
    (elsewhere : ∀ i, i ≠ length l → occurrences i queue' = occurrences i queue) :
    ∀ i, occurrences i queue' = waitingAt (l ++ p :: k) i := by
  intro i
  match decEq i (length l) with
  | isTrue e =>
    rw [e, waitingAt_place]
    exact here ((before (length l)).trans (waitingAt_place l q k))
  | isFalse ne => rw [elsewhere i ne, before i, waitingAt_elsewhere ne]
theorem admitted_leaves {r : Nat} {queue : List Nat} (head : ∃ others, queue = r :: others) :
    (occurrences r queue = 1 → occurrences r (dropHead queue) = 0) ∧
      ∀ i, i ≠ r → occurrences i (dropHead queue) = occurrences i queue := by
  have ⟨others, e⟩ := head
  rw [e]
  constructor
  · intro once
    rw [occurrences_self] at once
    exact succ_inj once
  · intro i ne
    exact (occurrences_other (fun same => ne same.symm) others).symm

/-! ### steps -/

theorem need_of {slots : Nat} {q p : Request} (prompt : p.prompt = q.prompt)
    (maxNew : p.maxNew = q.maxNew) : p.need slots = q.need slots := by
  show ceilDiv (p.prompt + p.maxNew) slots = ceilDiv (q.prompt + q.maxNew) slots
  rw [prompt, maxNew]
/-- An admitted request owes its whole need, which the guard of its admission has seen covered. -/
theorem covered_by_admission {c : Pool} {m : Machine} {l k : List Request} {q p : Request}
    (request : m.requests = l ++ q :: k) (empty : p.table = []) (active : p.state.active = true)
    (prompt : p.prompt = q.prompt) (maxNew : p.maxNew = q.maxNew)
    (fits : q.need c.slots + owedByAll c.slots m.requests ≤ countBelow m.idle c.blocks) :
    owedByAll c.slots (l ++ p :: k) ≤ countBelow m.idle c.blocks := by
  rw [request, owed_middle] at fits
  rw [owed_middle, owed_active active, empty, need_of prompt maxNew]
  exact le_trans (add_le_add_left _ (le_add_left _ _)) fits

/-- A request that takes blocks owes that many less. -/
theorem owes_less {c : Pool} {q p : Request} {fresh : List Nat} (was : q.state.active = true)
    (is : p.state.active = true) (prompt : p.prompt = q.prompt) (maxNew : p.maxNew = q.maxNew)
    (table : p.table = q.table ++ fresh)
    (within : length (q.table ++ fresh) ≤ q.need c.slots) :
    p.owed c.slots + length fresh ≤ q.owed c.slots := by
  rw [owed_active is, owed_active was, table, need_of prompt maxNew]
  apply le_of_add_le_add_left (length q.table)
  rw [add_sub_of_le (le_trans (by rw [length_append]; exact le_add_right _ _) within),
    add_left_comm, ← length_append, sub_add_cancel within]
  exact le_refl _

theorem not_waiting {s : State} (h : s.active = true) : s.waiting = false := by
  match active_cases h with
  | .inl e => rw [e]; rfl
  | .inr (.inl e) => rw [e]; rfl
  | .inr (.inr e) => rw [e]; rfl
theorem not_active {s : State} (h : s.waiting = true) : s.active = false := by
  match e : s.active with
  | false => rfl
  | true => exact (Bool.clash ((not_waiting e).symm.trans h)).elim
end Lifecycle
