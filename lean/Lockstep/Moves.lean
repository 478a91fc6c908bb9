prelude
import Lockstep.Factor
import Lockstep.Steps
/-! Each move of a layout step is a placement, at every axis of every shape. -/
set_option linter.all false
set_option genSizeOf false
noncomputable section
namespace ExactTransform
open Nat List Option

/-- A move from shape `s` to shape `t` is a placement of the indices of `s` among those of `t`. -/
abbrev Moves (s t : List Nat) (f : List Nat → List Nat) (g : List Nat → Option (List Nat)) : Prop :=
  Placement (InBounds s) (InBounds t) f g

/-! ### the moves at the first axis -/

/-- Padding an axis at its end leaves every element where it is. -/
theorem pad_moves {n m : Nat} (s : List Nat) (h : n ≤ m) :
    Moves (n :: s) (m :: s) (Move.to (.pad n m)) (Move.back (.pad n m)) where
  bounds := fun i b =>
    match i, b with
    | _ :: _, ⟨p, q⟩ => ⟨lt_of_lt_of_le p h, q⟩
  left := fun i b =>
    match i, b with
    | _ :: _, ⟨p, _⟩ => guardSome_true (ble_of_le p) _
  source := fun j i b e =>
    match j, b with
    | _ :: _, ⟨_, q⟩ => by
      have ⟨c, k⟩ := guardSome_eq e
      rw [← some_inj k]
      exact ⟨le_of_ble c, q⟩
  right := fun j i b e =>
    match j, b with
    | _ :: _, _ => (some_inj (guardSome_eq e).2).symm

/-- Slots kept free before an axis move every element behind them. -/
theorem reserve_moves (n r : Nat) (s : List Nat) :
    Moves (n :: s) ((r + n) :: s) (Move.to (.reserve n r)) (Move.back (.reserve n r)) where
  bounds := fun i b =>
    match i, b with
    | _ :: _, ⟨p, q⟩ => ⟨add_lt_add_left r p, q⟩
  left := fun i b =>
    match i, b with
    | a :: i, _ => by
      show guardSome (Nat.ble r (r + a)) (some ((r + a - r) :: i)) = _
      rw [guardSome_true (ble_of_le (le_add_right r a)), add_comm r a, add_sub_cancel]
  source := fun j i b e =>
    match j, b with
    | a :: _, ⟨p, q⟩ => by
      have ⟨c, k⟩ := guardSome_eq e
      rw [← some_inj k]
      refine ⟨?_, q⟩
      show a - r + 1 ≤ n
      apply le_of_add_le_add_left r
      show r + (a - r) + 1 ≤ r + n
      rw [add_comm r (a - r), sub_add_cancel (le_of_ble c)]
      exact p
  right := fun j i b e =>
    match j, b with
    | a :: _, _ => by
      have ⟨c, k⟩ := guardSome_eq e
      rw [← some_inj k]
      show (r + (a - r)) :: _ = _
      rw [add_comm r (a - r), sub_add_cancel (le_of_ble c)]

/-- Splitting an axis. -/
theorem split_moves (p q : Nat) (s : List Nat) :
    Moves (p * q :: s) (p :: q :: s) (Move.to (.split p q)) (Move.back (.split p q)) where
  bounds := fun i b =>
    match i, b with
    | _ :: _, ⟨c, d⟩ => ⟨div_lt_of_lt_mul c, mod_lt _ (factor_pos c), d⟩
  left := fun i b =>
    match i, b with
    | a :: i, _ => congrArg (fun z => some (z :: i)) (div_add_mod a q)
  source := fun j i b e =>
    match j, b with
    | _ :: _ :: _, ⟨c, d, r⟩ => some_inj e ▸ ⟨mul_add_lt c d, r⟩
  right := fun j i b e =>
    match j, b with
    | a :: b' :: _, ⟨_, d, _⟩ => by
      rw [← some_inj e]
      have ⟨x, y⟩ := div_mod_unique (q := a) d
      show (a * q + b') / q :: (a * q + b') % q :: _ = _
      rw [x, y]

/-- Merging two axes. -/
theorem merge_moves (p q : Nat) (s : List Nat) :
    Moves (p :: q :: s) (p * q :: s) (Move.to (.merge p q)) (Move.back (.merge p q)) where
  bounds := fun i b =>
    match i, b with
    | _ :: _ :: _, ⟨c, d, r⟩ => ⟨mul_add_lt c d, r⟩
  left := fun i b =>
    match i, b with
    | a :: b' :: i, ⟨_, d, _⟩ => by
      have ⟨x, y⟩ := div_mod_unique (q := a) d
      show some ((a * q + b') / q :: (a * q + b') % q :: i) = _
      rw [x, y]
  source := fun j i b e =>
    match j, b with
    | _ :: _, ⟨c, d⟩ => some_inj e ▸ ⟨div_lt_of_lt_mul c, mod_lt _ (factor_pos c), d⟩
  right := fun j i b e =>
    match j, b with
    | a :: j, _ => some_inj e ▸ congrArg (fun z => z :: j) (div_add_mod a q)

/-- Exchanging two axes. -/
theorem exchange_moves (p q : Nat) (s : List Nat) :
    Moves (p :: q :: s) (q :: p :: s) (Move.to .exchange) (Move.back .exchange) where
  bounds := fun i b =>
    match i, b with
    | _ :: _ :: _, ⟨c, d, r⟩ => ⟨d, c, r⟩
  left := fun i b =>
    match i, b with
    | _ :: _ :: _, _ => rfl
  source := fun j i b e =>
    match j, b with
    | _ :: _ :: _, ⟨c, d, r⟩ => some_inj e ▸ ⟨d, c, r⟩
  right := fun j i b e =>
    match j, b with
    | _ :: _ :: _, _ => some_inj e ▸ rfl

/-! ### the copy axis -/

/-- An entry at the end is what comes to the front. -/
theorem lastFirst_append (l : List Nat) (a : Nat) : lastFirst (l ++ [a]) = a :: l := by
  induction l with
  | nil => rfl
  | cons b l ih =>
    show putSecond b (lastFirst (l ++ [a])) = _
    rw [ih]
    rfl

/-- Every list but the empty one has a last entry. -/
theorem exists_last (b : Nat) (l : List Nat) : ∃ m a, b :: l = m ++ [a] := by
  induction l generalizing b with
  | nil => exact ⟨[], b, rfl⟩
  | cons c l ih =>
    have ⟨m, a, e⟩ := ih c
    exact ⟨b :: m, a, congrArg (cons b) e⟩

/-- What came to the front was at the end. -/
theorem lastFirst_eq {l m : List Nat} {a : Nat} (h : lastFirst l = a :: m) : l = m ++ [a] := by
  cases l with
  | nil => cases h
  | cons b l =>
    have ⟨m', a', e⟩ := exists_last b l
    rw [e, lastFirst_append] at h
    rw [e]
    injection h with h₁ h₂
    rw [h₁, h₂]

/-- A list that is headed by `n` is `n` and a rest. -/
theorem headed_eq {n : Nat} {l t : List Nat} (h : headed n l = some t) :
    ∃ u, t = n :: u ∧ l = n :: u := by
  cases l with
  | nil => cases h
  | cons a u =>
    have ⟨c, e⟩ := guardSome_eq h
    have k := eq_of_beq_eq_true c
    exact ⟨u, (some_inj e).symm.trans (congrArg (fun z => z :: u) k), congrArg (fun z => z :: u) k⟩

/-- An index of a shape with one more axis at the end has one more coordinate at the end. -/
theorem in_bounds_split {s i : List Nat} {n : Nat} (h : InBounds (s ++ [n]) i) :
    ∃ j a, i = j ++ [a] ∧ a < n ∧ InBounds s j := by
  induction s generalizing i with
  | nil =>
    match i, h with
    | [a], ⟨p, _⟩ => exact ⟨[], a, rfl, p, True.intro⟩
  | cons d s ih =>
    match i, h with
    | b :: i, ⟨p, q⟩ =>
      have ⟨j, a, e, k, r⟩ := ih q
      exact ⟨b :: j, a, congrArg (cons b) e, k, p, r⟩

/-- A coordinate more at the end, for an axis more at the end. -/
theorem in_bounds_append {s i : List Nat} {n a : Nat} (h : InBounds s i) (k : a < n) :
    InBounds (s ++ [n]) (i ++ [a]) := by
  induction s generalizing i with
  | nil =>
    match i, h with
    | [], _ => exact ⟨k, True.intro⟩
  | cons d s ih =>
    match i, h with
    | _ :: _, ⟨p, q⟩ => exact ⟨p, ih q⟩

/-- Moving the copy axis to the front: each copy of an element has a place of its own. -/
theorem replicate_moves (n : Nat) (s : List Nat) :
    Moves (s ++ [n]) (n :: s) (Move.to (.replicate n)) (Move.back (.replicate n)) where
  bounds := fun i b => by
    have ⟨j, a, e, k, r⟩ := in_bounds_split b
    rw [e]
    show InBounds (n :: s) (lastFirst (j ++ [a]))
    rw [lastFirst_append]
    exact ⟨k, r⟩
  left := fun i b => by
    have ⟨j, a, e, _, _⟩ := in_bounds_split b
    rw [e]
    show Move.back (.replicate n) (lastFirst (j ++ [a])) = _
    rw [lastFirst_append]
    rfl
  source := fun j i b e =>
    match j, b with
    | _ :: _, ⟨p, q⟩ => some_inj e ▸ in_bounds_append q p
  right := fun j i b e =>
    match j, b with
    | a :: j, _ => some_inj e ▸ lastFirst_append j a

/-! ### moves at any axis -/

/-- Wherever a move applies, it is a placement. -/
theorem Move.moves (move : Move) {s t : List Nat} (h : move.apply s = some t) :
    Moves s t move.to move.back :=
  match move, s, h with
  | .pad n m, d :: s, h => by
    have ⟨c, e⟩ := guardSome_eq h
    rw [← some_inj e, eq_of_beq_eq_true (Bool.and_true_left c)]
    exact pad_moves s (le_of_ble (Bool.and_true_right c))
  | .reserve n r, d :: s, h => by
    have ⟨c, e⟩ := guardSome_eq h
    rw [← some_inj e, eq_of_beq_eq_true c]
    exact reserve_moves n r s
  | .split p q, d :: s, h => by
    have ⟨c, e⟩ := guardSome_eq h
    rw [← some_inj e, eq_of_beq_eq_true c]
    exact split_moves p q s
  | .merge p q, a :: b :: s, h => by
    have ⟨c, e⟩ := guardSome_eq h
    rw [← some_inj e, eq_of_beq_eq_true (Bool.and_true_left c),
      eq_of_beq_eq_true (Bool.and_true_right c)]
    exact merge_moves p q s
  | .exchange, a :: b :: s, h => some_inj h ▸ exchange_moves a b s
  | .replicate n, s, h => by
    have ⟨u, e, k⟩ := headed_eq h
    rw [lastFirst_eq k, e]
    exact replicate_moves n u

/-- A move leaves the coordinates before its axis alone. -/
theorem Moves.behind {s t : List Nat} {f : List Nat → List Nat}
    {g : List Nat → Option (List Nat)} (k d : Nat)
    (p : Moves s t (underAxis f k) (underAxisSome g k)) :
    Moves (d :: s) (d :: t) (underAxis f (k + 1)) (underAxisSome g (k + 1)) where
  bounds := fun i b =>
    match i, b with
    | _ :: _, ⟨c, r⟩ => ⟨c, p.bounds _ r⟩
  left := fun i b =>
    match i, b with
    | a :: i, ⟨_, r⟩ => congrArg (mapSome (cons a)) (p.left i r)
  source := fun j i b e =>
    match j, b with
    | a :: j, ⟨c, r⟩ =>
      have ⟨i', e₁, e₂⟩ := mapSome_eq e
      e₂ ▸ ⟨c, p.source j i' r e₁⟩
  right := fun j i b e =>
    match j, b with
    | a :: j, ⟨_, r⟩ =>
      have ⟨i', e₁, e₂⟩ := mapSome_eq e
      e₂ ▸ congrArg (cons a) (p.right j i' r e₁)

/-- Wherever a move applies, at any axis, it is a placement. -/
theorem Move.moves_at (move : Move) (k : Nat) {s t : List Nat}
    (h : underAxisSome move.apply k s = some t) :
    Moves s t (underAxis move.to k) (underAxisSome move.back k) := by
  induction k generalizing s t with
  | zero => exact move.moves h
  | succ k ih =>
    match s, h with
    | d :: s, h =>
      have ⟨u, e₁, e₂⟩ := mapSome_eq h
      exact e₂ ▸ Moves.behind k d (ih e₁)

end ExactTransform
