prelude
import Lockstep.Arith
/-! What no transfer can do, whatever the layouts: counting arguments behind the frontier codes
X1_LATENT_KV, X2_HEAD_GATHER and X4_GEOMETRY_UNREPRESENTABLE. -/
set_option linter.all false
set_option genSizeOf false
noncomputable section
namespace ExactTransform
open Nat List

/-! ### pigeonhole -/

/-- A map of the positions below `m` to positions below `n` that sends no two to one needs
`m ≤ n`. -/
theorem no_room_to_spare (n m : Nat) (f : Nat → Nat) (bounded : ∀ i, i < m → f i < n)
    (distinct : ∀ i j, i < m → j < m → f i = f j → i = j) : m ≤ n := by
  induction n generalizing m f with
  | zero =>
    cases m with
    | zero => exact le_refl 0
    | succ k => exact (not_succ_le_zero _ (bounded k (le_refl _))).elim
  | succ n ih =>
    cases m with
    | zero => exact zero_le _
    | succ k =>
      -- The value of the last position takes the place of the top value, which is then free.
      have wider : ∀ {i}, i < k → i < k + 1 := fun h => le_trans h (le_succ k)
      have not_last : ∀ {i}, i < k → f i = f k → False := fun {i} h e => by
        have same := distinct i k (wider h) (le_refl _) e
        rw [same] at h
        exact lt_irrefl k h
      have lowered : ∀ {i}, i < k + 1 → (f i = n → False) → f i < n := fun {i} h differs =>
        match lt_or_eq_of_le (le_of_succ_le_succ (bounded i h)) with
        | .inl below => below
        | .inr top => (differs top).elim
      apply succ_le_succ
      apply ih k (fun i => if f i = n then f k else f i)
      · intro i h
        show (if f i = n then f k else f i) < n
        by_cases top : f i = n
        · rw [if_pos top]
          exact lowered (le_refl _) fun e => not_last h (top.trans e.symm)
        · rw [if_neg top]
          exact lowered (wider h) top
      · intro i j h h' e
        have e : (if f i = n then f k else f i) = (if f j = n then f k else f j) := e
        by_cases a : f i = n
        · by_cases b : f j = n
          · exact distinct i j (wider h) (wider h') (a.trans b.symm)
          · rw [if_pos a, if_neg b] at e
            exact (not_last h' e.symm).elim
        · by_cases b : f j = n
          · rw [if_neg a, if_pos b] at e
            exact (not_last h e).elim
          · rw [if_neg a, if_neg b] at e
            exact distinct i j (wider h) (wider h') e

/-- Pigeonhole: of more positions than places, two share a place. -/
theorem pigeonhole {n m : Nat} (fewer : n < m) (f : Nat → Nat) (bounded : ∀ i, i < m → f i < n) :
    ¬ ∀ i j, i < m → j < m → f i = f j → i = j :=
  fun distinct => lt_irrefl n (lt_of_lt_of_le fewer (no_room_to_spare n m f bounded distinct))

/-- Two maps that undo each other need equally many positions on both sides. -/
theorem inverse_maps_need_equal_sizes {n m : Nat} {to back : Nat → Nat}
    (there : ∀ i, i < m → to i < n ∧ back (to i) = i)
    (back_again : ∀ j, j < n → back j < m ∧ to (back j) = j) : m = n := by
  apply le_antisymm
  · apply no_room_to_spare n m to (fun i h => (there i h).left)
    intro i j h h' e
    rw [← (there i h).right, ← (there j h').right, e]
  · apply no_room_to_spare m n back (fun j h => (back_again j h).left)
    intro i j h h' e
    rw [← (back_again i h).right, ← (back_again j h').right, e]

/-! ### X1: a latent cache -/

/-- A cache of `latent` numbers a token is no rearrangement of keys and values of another size:
no two maps between its positions and theirs undo each other, for any number of tokens. -/
theorem latent_kv_not_a_permutation {tokens latent heads key_dim value_dim : Nat}
    (some_tokens : 0 < tokens) (differs : latent ≠ heads * key_dim + heads * value_dim) :
    ¬ ∃ to back : Nat → Nat,
      (∀ i, i < tokens * latent →
        to i < tokens * (heads * key_dim + heads * value_dim) ∧ back (to i) = i) ∧
      (∀ j, j < tokens * (heads * key_dim + heads * value_dim) →
        back j < tokens * latent ∧ to (back j) = j) := by
  intro ⟨to, back, there, back_again⟩
  exact differs (mul_left_cancel some_tokens (inverse_maps_need_equal_sizes there back_again))

/-- A latent cache with fewer numbers a token than keys and values have cannot hold them: whatever
map writes them into it, two numbers share a place. -/
theorem latent_kv_has_no_room {tokens latent heads key_dim value_dim : Nat}
    (some_tokens : 0 < tokens) (fewer : latent < heads * key_dim + heads * value_dim)
    (f : Nat → Nat) (bounded : ∀ i, i < tokens * (heads * key_dim + heads * value_dim) →
      f i < tokens * latent) :
    ¬ ∀ i j, i < tokens * (heads * key_dim + heads * value_dim) →
      j < tokens * (heads * key_dim + heads * value_dim) → f i = f j → i = j :=
  pigeonhole (mul_lt_mul_left some_tokens fewer) f bounded

/-! ### X2: fewer heads -/

/-- A place below `n` where `pick` gives `head`, if there is one. -/
def placeOf (pick : Nat → Nat) (head : Nat) : Nat → Nat
  | .zero => 0
  | .succ n => cond (Nat.beq (pick n) head) n (placeOf pick head n)

/-- Below `n`, `pick` gives `head` at `placeOf pick head n`, or nowhere. -/
theorem placeOf_finds (pick : Nat → Nat) (head n : Nat) :
    (placeOf pick head n < n ∧ pick (placeOf pick head n) = head) ∨
      ∀ i, i < n → pick i ≠ head := by
  induction n with
  | zero => exact .inr fun i h => (not_succ_le_zero i h).elim
  | succ n ih =>
    by_cases here : pick n = head
    · have e : placeOf pick head (n + 1) = n := by
        show cond (Nat.beq (pick n) head) n _ = n
        rw [here, beq_refl]
        rfl
      rw [e]
      exact .inl ⟨le_refl _, here⟩
    · have e : placeOf pick head (n + 1) = placeOf pick head n := by
        show cond (Nat.beq (pick n) head) n _ = _
        rw [beq_false_of_ne here]
        rfl
      rw [e]
      match ih with
      | .inl ⟨below, found⟩ => exact .inl ⟨le_trans below (le_succ n), found⟩
      | .inr nowhere =>
        refine .inr fun i h => ?_
        match lt_or_eq_of_le (le_of_succ_le_succ h) with
        | .inl below => exact nowhere i below
        | .inr last => rw [last]; exact here

/-- Fewer picks than heads miss a head. -/
theorem some_head_is_missed {n m : Nat} (fewer : n < m) (pick : Nat → Nat) :
    ∃ head, head < m ∧ ∀ i, i < n → pick i ≠ head := by
  have search : ∀ k, (∃ head, head < k ∧ ∀ i, i < n → pick i ≠ head) ∨
      (∀ head, head < k → placeOf pick head n < n ∧ pick (placeOf pick head n) = head) := by
    intro k
    induction k with
    | zero => exact .inr fun head h => (not_succ_le_zero head h).elim
    | succ k ih =>
      match ih with
      | .inl ⟨head, below, missed⟩ => exact .inl ⟨head, le_trans below (le_succ k), missed⟩
      | .inr all_found =>
        match placeOf_finds pick k n with
        | .inr nowhere => exact .inl ⟨k, le_refl _, nowhere⟩
        | .inl found =>
          refine .inr fun head h => ?_
          match lt_or_eq_of_le (le_of_succ_le_succ h) with
          | .inl below => exact all_found head below
          | .inr last => rw [last]; exact found
  match search m with
  | .inl missed => exact missed
  | .inr all_found =>
    refine (pigeonhole fewer (fun head => placeOf pick head n)
      (fun head h => (all_found head h).left) ?_).elim
    intro i j h h' e
    rw [← (all_found i h).right, ← (all_found j h').right]
    exact congrArg pick e

/-- Keeping `n` of `m` heads, `n < m`, is not injective, whichever are kept: two caches that hold
different values at some head keep the same. A cache is the value of each head; values are those
of any type with two different ones. -/
theorem head_gather_not_injective {n m : Nat} (fewer : n < m) (pick : Nat → Nat)
    {α : Type} {x y : α} (two_values : x ≠ y) :
    ∃ cache other : Nat → α, (∃ head, head < m ∧ cache head ≠ other head) ∧
      ∀ i, i < n → cache (pick i) = other (pick i) := by
  have ⟨head, below, missed⟩ := some_head_is_missed fewer pick
  refine ⟨fun _ => x, fun h => if h = head then y else x, ⟨head, below, ?_⟩, ?_⟩
  · show x ≠ if head = head then y else x
    rw [if_pos rfl]
    exact two_values
  · intro i h
    show x = if pick i = head then y else x
    rw [if_neg (missed i h)]

/-! ### X4: a geometry that a layout cannot hold -/

/-- An axis of `d` is no whole number of groups of `x` unless `x` divides it. -/
theorem factor_needs_divisibility {x d : Nat} (remainder : d % x ≠ 0) : ¬ ∃ n, n * x = d := by
  intro ⟨n, e⟩
  cases x with
  | zero => exact remainder (by rw [← e]; rfl)
  | succ x =>
    apply remainder
    rw [← e]
    exact (div_mod_unique (q := n) (zero_lt_succ x)).right

/-- Nor do any two maps between an axis of `d` and whole groups of `x` undo each other. -/
theorem no_whole_groups {x d : Nat} (remainder : d % x ≠ 0) (groups : Nat) :
    ¬ ∃ to back : Nat → Nat,
      (∀ i, i < d → to i < groups * x ∧ back (to i) = i) ∧
      (∀ j, j < groups * x → back j < d ∧ to (back j) = j) := by
  intro ⟨to, back, there, back_again⟩
  exact factor_needs_divisibility remainder
    ⟨groups, (inverse_maps_need_equal_sizes there back_again).symm⟩
end ExactTransform
