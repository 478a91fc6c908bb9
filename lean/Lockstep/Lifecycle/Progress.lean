prelude
import Lockstep.Lifecycle.NoDeadlock
/-! Progress ([LIFE-19] e): each event but preempt_rc lowers a measure, so that a run which preempts
finitely often ends, with every request finished. -/
set_option linter.all false
set_option genSizeOf false
noncomputable section
namespace Lifecycle
open Nat List Option

/-- FINISHED. -/
def State.isFinished : State → Bool
  | .finished => true
  | _ => false
/-- The outputs that a request may still emit, and one more while it is not finished. -/
def Request.outputsLeft (q : Request) : Nat :=
  (q.maxNew - q.outputs) + cond q.state.isFinished 0 1
/-- The tokens that an unfinished request has yet to compute, and one more while it is waiting. -/
def Request.tokensLeft (q : Request) : Nat :=
  cond q.state.isFinished 0 ((q.known - q.computed) + cond q.state.waiting 1 0)
/-- The sum of a measure over all requests. -/
def sumOver (measure : Request → Nat) : List Request → Nat
  | [] => 0
  | q :: l => measure q + sumOver measure l

/-- The outputs left, the tokens left, the cached blocks: smaller in lexicographic order. -/
def Smaller (c : Pool) (m' m : Machine) : Prop :=
  sumOver Request.outputsLeft m'.requests < sumOver Request.outputsLeft m.requests ∨
    (sumOver Request.outputsLeft m'.requests = sumOver Request.outputsLeft m.requests ∧
      (sumOver Request.tokensLeft m'.requests < sumOver Request.tokensLeft m.requests ∨
        (sumOver Request.tokensLeft m'.requests = sumOver Request.tokensLeft m.requests ∧
          countBelow m'.cached c.blocks < countBelow m.cached c.blocks)))

/-! ### one request changes -/

theorem sum_append (f : Request → Nat) (l k : List Request) :
    sumOver f (l ++ k) = sumOver f l + sumOver f k := by
  induction l with
  | nil => exact (zero_add _).symm
  | cons q l ih =>
    show _ + sumOver f (l ++ k) = _ + sumOver f l + sumOver f k
    rw [ih, add_assoc]
theorem sum_lower {f : Request → Nat} (l k : List Request) {q p : Request} (h : f p < f q) :
    sumOver f (l ++ p :: k) < sumOver f (l ++ q :: k) := by
  rw [sum_append, sum_append]
  apply add_lt_add_left
  show f p + sumOver f k < f q + sumOver f k
  rw [add_comm (f p), add_comm (f q)]
  exact add_lt_add_left _ h
theorem sum_same {f : Request → Nat} (l k : List Request) {q p : Request} (h : f p = f q) :
    sumOver f (l ++ p :: k) = sumOver f (l ++ q :: k) := by
  rw [sum_append, sum_append]
  show _ + (f p + _) = _ + (f q + _)
  rw [h]

theorem from_unfinished {s t : State} {e : Event} (h : next s e = some t) :
    s.isFinished = false := by
  cases s with
  | finished => cases e <;> cases h
  | _ => rfl
theorem to_unfinished {s t : State} {e : Event} (h : next s e = some t) (other : e ≠ .finish) :
    t.isFinished = false := by
  cases s <;> cases e <;> first | exact (other rfl).elim | (cases h; rfl) | cases h
theorem outputsLeft_is {q : Request} (h : q.state.isFinished = false) :
    q.outputsLeft = (q.maxNew - q.outputs) + 1 := by
  show _ + cond q.state.isFinished 0 1 = _
  rw [h]; rfl
theorem tokensLeft_is {q : Request} (h : q.state.isFinished = false) :
    q.tokensLeft = (q.known - q.computed) + cond q.state.waiting 1 0 := by
  show cond q.state.isFinished _ _ = _
  rw [h]; rfl
theorem sub_lt_sub {a b n : Nat} (more : a < b) (within : a < n) : n - b < n - a := by
  have positive : 0 < n - a := by
    match zero_or_pos (n - a) with
    | .inr positive => exact positive
    | .inl nothing =>
      have e := sub_add_cancel (le_of_lt within)
      rw [nothing, zero_add] at e
      rw [e] at within
      exact (lt_irrefl n within).elim
  match lt_or_ge n b with
  | .inl over => rw [sub_eq_zero (le_of_lt over)]; exact positive
  | .inr le =>
    apply le_of_add_le_add_left b
    have e : b + (n - b + 1) = n + 1 := by rw [← add_assoc, add_sub_of_le le]
    show b + (n - b + 1) ≤ b + (n - a)
    rw [e, ← add_sub_of_le (le_of_lt within)]
    have e : a + (n - a) - a = n - a := by rw [add_sub_of_le (le_of_lt within)]
    rw [e, ← succ_add]
    rw [add_comm b, add_comm (a + 1)]
    exact add_le_add_left _ more

/-! ### progress -/

theorem Smaller.tokens {c : Pool} {m m' : Machine} {l k : List Request} {q p : Request}
    (request : m.requests = l ++ q :: k) (request' : m'.requests = l ++ p :: k)
    (outputs : p.outputsLeft = q.outputsLeft) (tokens : p.tokensLeft < q.tokensLeft) :
    Smaller c m' m := by
  refine .inr ⟨?_, .inl ?_⟩
  · rw [request, request']; exact sum_same l k outputs
  · rw [request, request']; exact sum_lower l k tokens
theorem Smaller.outputs {c : Pool} {m m' : Machine} {l k : List Request} {q p : Request}
    (request : m.requests = l ++ q :: k) (request' : m'.requests = l ++ p :: k)
    (outputs : p.outputsLeft < q.outputsLeft) : Smaller c m' m := by
  refine .inl ?_
  rw [request, request']; exact sum_lower l k outputs

theorem evict_uncaches {cached : Nat → Bool} {block n : Nat} (inside : block < n)
    (is_cached : cached block = true) :
    countBelow (fun b => and (cached b) (not (Nat.beq b block))) n < countBelow cached n := by
  induction n with
  | zero => exact (not_succ_le_zero _ inside).elim
  | succ n ih =>
    match lt_or_eq_of_le (le_of_succ_le_succ inside) with
    | .inl below =>
      have other : and (cached n) (not (Nat.beq n block)) = cached n := by
        have ne : n ≠ block := fun e => by rw [e] at below; exact lt_irrefl block below
        rw [beq_false_of_ne ne]
        cases cached n <;> rfl
      show cond (and (cached n) (not (Nat.beq n block))) 1 0 + _ < cond (cached n) 1 0 + _
      rw [other]
      exact add_lt_add_left _ (ih below)
    | .inr same =>
      have gone : and (cached n) (not (Nat.beq n block)) = false := by
        rw [same, beq_same]
        cases cached n <;> rfl
      show cond (and (cached n) (not (Nat.beq n block))) 1 0 + _ < cond (cached n) 1 0 + _
      rw [gone, ← same, is_cached]
      show 0 + countBelow _ block < 1 + countBelow cached block
      rw [zero_add, add_comm 1]
      exact succ_le_succ (count_mono fun b _ h => Bool.and_true_left h)

/-- Each event but preempt_rc lowers the measure. -/
theorem progress {c : Pool} (slots : 0 < c.slots) {m m' : Machine} {r : Nat} {act : Act}
    (inv : Invariant c m) (taken : Step c m r act m') (no_preemption : act.event ≠ .preemptRc) :
    Smaller c m' m := by
  match taken with
  | .step (earlier := l) (later := k) (q := q) (s := s) request guard cell =>
    have was := from_unfinished cell
    have sound := inv.sound _ q (middle request)
    have unchanged : ∀ p : Request, p.state = s → s.isFinished = false → p.maxNew = q.maxNew →
        p.outputs = q.outputs → p.outputsLeft = q.outputsLeft := fun p e is maxNew outputs => by
      rw [outputsLeft_is was, outputsLeft_is (by rw [e]; exact is), maxNew, outputs]
    match act, guard with
    | .admit, ⟨e, _⟩ =>
      have now : s = .admitted := next_is (by rw [e]; rfl) cell
      have is := to_unfinished cell fun e => nomatch e
      refine .tokens request rfl (unchanged (q.after c.slots s .admit) rfl is rfl rfl) ?_
      rw [tokensLeft_is was, tokensLeft_is (q := q.after c.slots s .admit) is, e]
      show _ + cond s.waiting 1 0 < _
      rw [now]
      exact le_refl _
    | .resume, ⟨e, _⟩ =>
      have now : s = .admitted := next_is (by rw [e]; rfl) cell
      have is := to_unfinished cell fun e => nomatch e
      refine .tokens request rfl (unchanged (q.after c.slots s .resume) rfl is rfl rfl) ?_
      rw [tokensLeft_is was, tokensLeft_is (q := q.after c.slots s .resume) is, e]
      show _ + cond s.waiting 1 0 < _
      rw [now]
      exact le_refl _
    | .cacheHit granted, ⟨active, nothing, some_granted, _, _, partly⟩ =>
      have e := cache_hit_in_admitted sound active nothing
      have now : s = .prefilling := next_is (by rw [e]; rfl) cell
      have is := to_unfinished cell fun e => nomatch e
      refine .tokens request rfl
        (unchanged (q.after c.slots s (.cacheHit granted)) rfl is rfl rfl) ?_
      rw [tokensLeft_is was, tokensLeft_is (q := q.after c.slots s (.cacheHit granted)) is,
        not_waiting active, nothing]
      show (q.known - length granted * c.slots) + cond s.waiting 1 0 < q.known - 0 + 0
      rw [now]
      have positive := mul_lt_mul_right slots some_granted
      rw [zero_mul] at positive
      exact sub_lt_sub positive (lt_of_lt_of_le positive (le_of_lt partly))
    | .chunk tokens fresh published, ⟨active, positive, partly, _⟩ =>
      have is := to_unfinished cell fun e => nomatch e
      have now : s = .prefilling := by
        match chunk_before_decoding sound active positive partly with
        | .inl e => exact next_is (by rw [e]; rfl) cell
        | .inr e => exact next_is (by rw [e]; rfl) cell
      refine .tokens request rfl
        (unchanged (q.after c.slots s (.chunk tokens fresh published)) rfl is rfl rfl) ?_
      rw [tokensLeft_is was,
        tokensLeft_is (q := q.after c.slots s (.chunk tokens fresh published)) is,
        not_waiting active]
      show (q.known - (q.computed + tokens)) + cond s.waiting 1 0 < q.known - q.computed + 0
      rw [now]
      exact sub_lt_sub (add_lt_add_left q.computed positive)
        (lt_of_le_of_lt (le_add_right _ _) partly)
    | .decode fresh published, ⟨_, some_left, _⟩ =>
      have is := to_unfinished cell fun e => nomatch e
      refine .outputs request rfl (p := q.after c.slots s (.decode fresh published)) ?_
      rw [outputsLeft_is was, outputsLeft_is (q := q.after c.slots s (.decode fresh published)) is]
      exact succ_le_succ (sub_lt_sub (le_refl (q.outputs + 1)) some_left)
    | .evict block, ⟨active, short, inside, evictable⟩ =>
      have is := to_unfinished cell fun e => nomatch e
      have now : s = q.state := by
        match evict_before_decoding sound active short with
        | .inl e => rw [e]; exact next_is (by rw [e]; rfl) cell
        | .inr e => rw [e]; exact next_is (by rw [e]; rfl) cell
      refine .inr ⟨?_, .inr ⟨?_, evict_uncaches inside (Bool.and_true_right evictable)⟩⟩
      · rw [request]
        exact sum_same l k (unchanged (q.after c.slots s (.evict block)) rfl is rfl rfl)
      · rw [request]
        refine sum_same l k (p := q.after c.slots s (.evict block)) ?_
        rw [tokensLeft_is was, tokensLeft_is (q := q.after c.slots s (.evict block)) is]
        show _ + cond s.waiting 1 0 = _
        rw [now]
        rfl
    | .preempt, _ => exact (no_preemption rfl).elim
    | .finish, e =>
      have e : q.state = .decoding := e
      have now : s = .finished := next_is (by rw [e]; rfl) cell
      refine .outputs request rfl (p := q.after c.slots s .finish) ?_
      rw [outputsLeft_is was]
      show (q.maxNew - q.outputs) + cond s.isFinished 0 1 < _
      rw [now]
      exact le_refl _

/-- Every way on from here without a preemption comes to an end. -/
inductive Ends (c : Pool) : Machine → Prop where
  | ends {m : Machine} (h : ∀ r act m', Step c m r act m' → act.event ≠ .preemptRc → Ends c m') :
      Ends c m

theorem strong_induction {motive : Nat → Prop} (h : ∀ n, (∀ k, k < n → motive k) → motive n)
    (n : Nat) : motive n := by
  have all_below : ∀ n k, k < n → motive k := by
    intro n
    induction n with
    | zero => exact fun k below => (not_succ_le_zero k below).elim
    | succ n ih =>
      intro k below
      exact h k fun j less => ih j (lt_of_lt_of_le less (le_of_succ_le_succ below))
  exact all_below (n + 1) n (le_refl _)

/-- A run that preempts no more ends, whatever it does: there is no endless sequence of events other
than preempt_rc. Where it ends every request is finished, by `no_deadlock`. -/
theorem every_run_ends {c : Pool} (slots : 0 < c.slots) {log : List (Nat × Event)} {m : Machine}
    (run : Run c log m) : Ends c m := by
  have inner : ∀ a b n (m : Machine), Invariant c m →
      sumOver Request.outputsLeft m.requests = a → sumOver Request.tokensLeft m.requests = b →
      countBelow m.cached c.blocks = n → Ends c m := by
    intro a
    refine strong_induction (motive := fun a => ∀ b n (m : Machine), Invariant c m →
      sumOver Request.outputsLeft m.requests = a → sumOver Request.tokensLeft m.requests = b →
      countBelow m.cached c.blocks = n → Ends c m) (fun a fewer_outputs b => ?_) a
    refine strong_induction (motive := fun b => ∀ n (m : Machine), Invariant c m →
      sumOver Request.outputsLeft m.requests = a → sumOver Request.tokensLeft m.requests = b →
      countBelow m.cached c.blocks = n → Ends c m) (fun b fewer_tokens n => ?_) b
    refine strong_induction (motive := fun n => ∀ m : Machine, Invariant c m →
      sumOver Request.outputsLeft m.requests = a → sumOver Request.tokensLeft m.requests = b →
      countBelow m.cached c.blocks = n → Ends c m) (fun n fewer_cached m inv ea eb en => ?_) n
    refine .ends fun r act m' taken no_preemption => ?_
    have inv' := Invariant.step slots inv taken
    match progress slots inv taken no_preemption with
    | .inl less =>
      rw [ea] at less
      exact fewer_outputs _ less _ _ m' inv' rfl rfl rfl
    | .inr ⟨same, .inl less⟩ =>
      rw [eb] at less
      exact fewer_tokens _ less _ m' inv' (same.trans ea) rfl rfl
    | .inr ⟨same, .inr ⟨same', less⟩⟩ =>
      rw [en] at less
      exact fewer_cached _ less m' inv' (same.trans ea) (same'.trans eb) rfl
  exact inner _ _ _ m (run_invariant slots run) rfl rfl rfl
end Lifecycle
