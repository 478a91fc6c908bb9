prelude
import Lockstep.Compose
import Lockstep.Factor
import Lockstep.Sampling.Weights
/-! Drawing a token: the scan of cumulative weights ends at the right place, and a bounded draw by
rejection has no bias. -/
set_option linter.all false
set_option genSizeOf false
noncomputable section
namespace Sampling
open Nat List ExactTransform

/-! ### the categorical scan -/

/-- The weight before place `k`. -/
def before : List Nat → Nat → Nat
  | [], _ => 0
  | _ :: _, .zero => 0
  | w :: l, .succ k => w + before l k
/-- The weight at place `k`; 0 outside. -/
def weightAt : List Nat → Nat → Nat
  | [], _ => 0
  | w :: _, .zero => w
  | _ :: l, .succ k => weightAt l k
/-- The first place whose cumulative weight is above `r`, with `sum` passed so far; counted from
`k`. Past the end where no cumulative weight is. -/
def scanFrom (r : Nat) : List Nat → Nat → Nat → Nat
  | [], _, k => k
  | w :: l, sum, k => cond (Nat.ble (r + 1) (sum + w)) k (scanFrom r l (sum + w) (k + 1))
/-- The categorical scan: the first place whose cumulative weight is above the draw `r`. -/
def scan (weights : List Nat) (r : Nat) : Nat := scanFrom r weights 0 0

theorem scanFrom_spec (r : Nat) (l : List Nat) (sum k : Nat) (reached : sum ≤ r)
    (below : r < sum + sumOf l) : ∃ i, scanFrom r l sum k = k + i ∧ i < length l ∧
      sum + before l i ≤ r ∧ r < sum + before l i + weightAt l i := by
  induction l generalizing sum k with
  | nil => exact (not_le_of_lt below reached).elim
  | cons w l ih =>
    match e : Nat.ble (r + 1) (sum + w) with
    | true =>
      refine ⟨0, ?_, zero_lt_succ _, reached, le_of_ble e⟩
      show cond (Nat.ble (r + 1) (sum + w)) _ _ = k
      rw [e]; rfl
    | false =>
      have passed : sum + w ≤ r := by
        match lt_or_ge r (sum + w) with
        | .inl less => exact (Bool.clash (e.symm.trans (ble_of_le less))).elim
        | .inr le => exact le
      have still : r < sum + w + sumOf l := by rw [add_assoc]; exact below
      have ⟨i, place, inside, low, high⟩ := ih (sum + w) (k + 1) passed still
      refine ⟨i + 1, ?_, succ_le_succ inside, ?_, ?_⟩
      · show cond (Nat.ble (r + 1) (sum + w)) _ _ = k + (i + 1)
        rw [e]
        exact place.trans (succ_add k i)
      · show sum + (w + before l i) ≤ r
        rw [← add_assoc]; exact low
      · show r < sum + (w + before l i) + weightAt l i
        rw [← add_assoc]; exact high

/-- The scan of a draw below the sum of the weights ends within the list. -/
theorem scan_in_range {weights : List Nat} {r : Nat} (below : r < sumOf weights) :
    scan weights r < length weights := by
  have ⟨i, place, inside, _, _⟩ := scanFrom_spec r weights 0 0 (zero_le r)
    (by rw [zero_add]; exact below)
  show scanFrom r weights 0 0 < length weights
  rw [place, zero_add]
  exact inside

/-- It ends where the draw falls between the weight before and the weight with that place. -/
theorem scan_brackets {weights : List Nat} {r : Nat} (below : r < sumOf weights) :
    before weights (scan weights r) ≤ r ∧
      r < before weights (scan weights r) + weightAt weights (scan weights r) := by
  have ⟨i, place, _, low, high⟩ := scanFrom_spec r weights 0 0 (zero_le r)
    (by rw [zero_add]; exact below)
  have place : scan weights r = i := place.trans (zero_add i)
  rw [zero_add] at low high
  rw [place]
  exact ⟨low, high⟩

/-- What it finds has a weight above 0: a token of weight 0 is never drawn. -/
theorem scan_finds_weight {weights : List Nat} {r : Nat} (below : r < sumOf weights) :
    0 < weightAt weights (scan weights r) := by
  have ⟨low, high⟩ := scan_brackets below
  apply pos_of_ne_zero
  intro none
  rw [none, add_zero] at high
  exact not_le_of_lt high low

theorem before_grows (l : List Nat) {i k : Nat} (h : i < k) :
    before l i + weightAt l i ≤ before l k := by
  induction l generalizing i k with
  | nil => exact le_refl 0
  | cons w l ih =>
    match i, k, h with
    | _, .zero, h => exact (not_succ_le_zero _ h).elim
    | .zero, .succ k, _ =>
      show 0 + w ≤ w + before l k
      rw [zero_add]
      exact le_add_right w _
    | .succ i, .succ k, h =>
      show w + before l i + weightAt l i ≤ w + before l k
      rw [add_assoc]
      exact add_le_add_left w (ih (le_of_succ_le_succ h))

/-- The draws that end at place `k` are those from `before k` to `before k` plus the weight of `k`,
and no others: as many as the weight of `k`. -/
theorem scan_is_proportional {weights : List Nat} {r k : Nat} (below : r < sumOf weights) :
    scan weights r = k ↔ before weights k ≤ r ∧ r < before weights k + weightAt weights k := by
  have ⟨low, high⟩ := scan_brackets below
  constructor
  · intro e
    rw [← e]
    exact ⟨low, high⟩
  · intro ⟨low', high'⟩
    match lt_or_ge (scan weights r) k with
    | .inl less =>
      exact (not_le_of_lt high (le_trans (before_grows weights less) low')).elim
    | .inr ge =>
      match lt_or_eq_of_le ge with
      | .inl less => exact (not_le_of_lt high' (le_trans (before_grows weights less) low)).elim
      | .inr same => exact same.symm

/-! ### the bounded draw

A draw below `n` from draws `u` below `range` (2^64): `u` is accepted below `limit range n`, the
largest multiple of `n` not above `range`, and gives `u % n`. -/

/-- The largest multiple of `n` that is not above `range`. -/
def limit (range n : Nat) : Nat := range / n * n

theorem limit_le (range n : Nat) : limit range n ≤ range := div_mul_le range n
/-- The next multiple is above `range`. -/
theorem limit_is_largest (range : Nat) {n : Nat} (positive : 0 < n) :
    range < limit range n + n := by
  have less := add_lt_add_left (range / n * n) (mod_lt range positive)
  rw [div_add_mod] at less
  exact less
/-- More than half of all draws are accepted, for any `n` up to `range`. -/
theorem most_draws_are_accepted {range n : Nat} (positive : 0 < n) (fits : n ≤ range) :
    range < limit range n + limit range n := by
  have once : 1 ≤ range / n := pos_of_ne_zero fun none => by
    have e := div_add_mod range n
    rw [none, zero_mul, zero_add] at e
    have less := mod_lt range positive
    rw [e] at less
    exact not_le_of_lt less fits
  have le : n ≤ limit range n := by
    have le := mul_le_mul_right n once
    rw [one_mul] at le
    exact le
  exact lt_of_lt_of_le (limit_is_largest range positive) (add_le_add_left _ le)

/-- The accepted draws as residues and rounds. -/
def accepted (range n : Nat) : Bijection (Fin (limit range n)) (Fin n × Fin (range / n)) where
  to := fun u => (⟨u.val % n, mod_lt _ (factor_pos u.isLt)⟩, ⟨u.val / n, div_lt_of_lt_mul u.isLt⟩)
  inv := fun p => ⟨p.2.val * n + p.1.val, mul_add_lt p.2.isLt p.1.isLt⟩
  left := fun u => Fin.ext (div_add_mod u.val n)
  right := fun ⟨residue, round⟩ => by
    have below := mul_add_lt round.isLt residue.isLt
    have ⟨quotient, rest⟩ := div_mod_unique (q := round.val) residue.isLt
    have first : Fin.mk _ (mod_lt _ (factor_pos below)) = residue := Fin.ext rest
    have second : Fin.mk _ (div_lt_of_lt_mul below) = round := Fin.ext quotient
    exact (congrArg (Prod.mk _) second).trans (congrArg (fun r => Prod.mk r round) first)

/-- A bounded draw is unbiased: the accepted draws correspond one to one to pairs of a residue below
`n` and a round below `range / n`, so that each residue comes from equally many, for every `n`. -/
theorem bounded_draw_is_unbiased (range n : Nat) :
    ∃ e : Bijection (Fin (limit range n)) (Fin n × Fin (range / n)),
      ∀ u, (e.to u).1.val = u.val % n := ⟨accepted range n, fun _ => rfl⟩

/-! Over a whole sequence of draws, rejected ones included. -/

/-- The residue that a sequence of draws gives: that of the first one accepted. -/
def drawn (range n : Nat) : List Nat → Option Nat
  | [] => .none
  | u :: l => if u < limit range n then .some (u % n) else drawn range n l

/-- `a` and `b` exchanged. -/
def exchange (a b r : Nat) : Nat := if r = a then b else if r = b then a else r
/-- A draw with its residue exchanged if it is accepted, and as it was if not. -/
def exchangeDraw (range n a b u : Nat) : Nat :=
  if u < limit range n then u / n * n + exchange a b (u % n) else u

theorem exchange_first (a b : Nat) : exchange a b a = b := if_pos rfl
theorem exchange_second (a b : Nat) : exchange a b b = a := by
  by_cases e : b = a
  · rw [e]; exact if_pos rfl
  · exact (if_neg e).trans (if_pos rfl)
theorem exchange_twice (a b r : Nat) : exchange a b (exchange a b r) = r := by
  by_cases e : r = a
  · rw [e, exchange_first, exchange_second]
  · by_cases k : r = b
    · rw [k, exchange_second, exchange_first]
    · have same : exchange a b r = r := (if_neg e).trans (if_neg k)
      rw [same, same]
theorem exchange_below {a b r n : Nat} (ha : a < n) (hb : b < n) (hr : r < n) :
    exchange a b r < n := by
  by_cases e : r = a
  · rw [e, exchange_first]; exact hb
  · by_cases k : r = b
    · rw [k, exchange_second]; exact ha
    · rw [show exchange a b r = r from (if_neg e).trans (if_neg k)]; exact hr

/-- Of an accepted draw the exchange is accepted, of the same round, with the other residue. -/
theorem exchangeDraw_accepted {range n a b u : Nat} (ha : a < n) (hb : b < n)
    (h : u < limit range n) : exchangeDraw range n a b u < limit range n ∧
      exchangeDraw range n a b u / n = u / n ∧
      exchangeDraw range n a b u % n = exchange a b (u % n) := by
  have e : exchangeDraw range n a b u = u / n * n + exchange a b (u % n) := if_pos h
  have small := exchange_below ha hb (mod_lt u (factor_pos h))
  have ⟨quotient, rest⟩ := div_mod_unique (q := u / n) small
  rw [e]
  exact ⟨mul_add_lt (div_lt_of_lt_mul h) small, quotient, rest⟩
/-- Exchanging twice changes nothing. -/
theorem exchangeDraw_twice {range n a b : Nat} (ha : a < n) (hb : b < n) (u : Nat) :
    exchangeDraw range n a b (exchangeDraw range n a b u) = u := by
  by_cases h : u < limit range n
  · have ⟨below, quotient, rest⟩ := exchangeDraw_accepted ha hb h
    have e : exchangeDraw range n a b (exchangeDraw range n a b u) = _ := if_pos below
    rw [e, quotient, rest, exchange_twice, div_add_mod]
  · have e : exchangeDraw range n a b u = u := if_neg h
    rw [e, e]
/-- Exchanged draws are draws. -/
theorem exchangeDraw_below {range n a b u : Nat} (ha : a < n) (hb : b < n) (h : u < range) :
    exchangeDraw range n a b u < range := by
  by_cases k : u < limit range n
  · exact lt_of_lt_of_le (exchangeDraw_accepted ha hb k).left (limit_le range n)
  · rw [show exchangeDraw range n a b u = u from if_neg k]; exact h

/-- No residue is likelier than another, however many draws it takes: exchanging two residues in
each accepted draw turns each sequence of draws that gives `a` into one of as many draws, below the
same range, that gives `b`; and the exchange undoes itself. -/
theorem rejection_is_unbiased {range n a b : Nat} (ha : a < n) (hb : b < n) (draws : List Nat) :
    (drawn range n draws = .some a →
      drawn range n (map (exchangeDraw range n a b) draws) = .some b) ∧
    map (exchangeDraw range n a b) (map (exchangeDraw range n a b) draws) = draws := by
  induction draws with
  | nil => exact ⟨fun h => (nomatch h), rfl⟩
  | cons u l ih =>
    constructor
    · intro h
      have h : (if u < limit range n then .some (u % n) else drawn range n l) = .some a := h
      show (if exchangeDraw range n a b u < limit range n
        then .some (exchangeDraw range n a b u % n)
        else drawn range n (map (exchangeDraw range n a b) l)) = .some b
      by_cases k : u < limit range n
      · have ⟨below, _, rest⟩ := exchangeDraw_accepted ha hb k
        rw [if_pos k] at h
        rw [if_pos below, rest, some_inj h, exchange_first]
      · rw [if_neg k] at h
        rw [show exchangeDraw range n a b u = u from if_neg k, if_neg k]
        exact ih.left h
    · show exchangeDraw range n a b (exchangeDraw range n a b u) :: _ = u :: l
      rw [exchangeDraw_twice ha hb, ih.right]
end Sampling
