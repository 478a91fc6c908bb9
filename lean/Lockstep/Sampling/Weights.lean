prelude
import Lockstep.Arith
/-! Sampling weights by largest remainder: whole numbers in proportion to probabilities, which sum
to the total exactly and of which none is negative. -/
set_option linter.all false
set_option genSizeOf false
noncomputable section
namespace Sampling
open Nat List

/-- The sum of a list. -/
def sumOf : List Nat → Nat
  | [] => 0
  | a :: l => a + sumOf l

/-! Shares of a whole number `total` in proportion to `weights` that sum to `S`: each gets its quota
`⌊w · total / S⌋`, and what is left goes, one each, to those of the largest remainders
`w · total mod S`, of equal ones to the earlier. -/

/-- A share on the way: its quota, what its division left, and whether it has one more. -/
structure Share where
  quota : Nat
  remainder : Nat
  extra : Bool

/-- What a share comes to. It is a natural number: its quota, or one more. -/
def Share.weight (s : Share) : Nat := s.quota + cond s.extra 1 0
/-- What shares come to together. -/
def totalWeight : List Share → Nat
  | [] => 0
  | s :: l => s.weight + totalWeight l
/-- How many shares have none more yet. -/
def openShares : List Share → Nat
  | [] => 0
  | s :: l => cond s.extra 0 1 + openShares l

/-- The larger of two numbers. -/
def larger (a b : Nat) : Nat := cond (Nat.ble a b) b a
/-- One more than the largest remainder of a share that has none more yet; 0 if all have. -/
def largestOpen : List Share → Nat
  | [] => 0
  | s :: l => cond s.extra (largestOpen l) (larger (s.remainder + 1) (largestOpen l))
/-- Give one more to the first share that has none more yet and whose remainder is `m - 1`. -/
def giveTo (m : Nat) : List Share → List Share
  | [] => []
  | s :: l =>
    cond (or s.extra (not (Nat.beq (s.remainder + 1) m)))
      (s :: giveTo m l) (⟨s.quota, s.remainder, true⟩ :: l)
/-- Give one more to each of the `n` largest remainders, one after another. -/
def give : Nat → List Share → List Share
  | .zero, l => l
  | .succ n, l => give n (giveTo (largestOpen l) l)

/-- The quotas of a `total` in proportion to weights whose sum is `whole`. -/
def quotas (total whole : Nat) : List Nat → List Share
  | [] => []
  | w :: l => ⟨w * total / whole, w * total % whole, false⟩ :: quotas total whole l
/-- The shares of `total` by largest remainder. -/
def apportion (total : Nat) (weights : List Nat) : List Share :=
  let shares := quotas total (sumOf weights) weights
  give (total - totalWeight shares) shares

theorem larger_cases (a b : Nat) : (larger a b = a ∧ b ≤ a) ∨ (larger a b = b ∧ a ≤ b) := by
  match lt_or_ge b a with
  | .inl less =>
    have e : Nat.ble a b = false :=
      Bool.eq_false_of_ne_true fun k => not_le_of_lt less (le_of_ble k)
    refine .inl ⟨?_, le_of_lt less⟩
    show cond (Nat.ble a b) b a = a
    rw [e]; rfl
  | .inr le =>
    refine .inr ⟨?_, le⟩
    show cond (Nat.ble a b) b a = b
    rw [ble_of_le le]; rfl

/-- Whether a share with none more yet has the remainder `m - 1`. -/
def isOpenAt (m : Nat) (s : Share) : Bool := not (or s.extra (not (Nat.beq (s.remainder + 1) m)))
/-- Some share is open at `m`. -/
inductive SomeOpen (m : Nat) : List Share → Prop where
  | here {s : Share} {l : List Share} (h : isOpenAt m s = true) : SomeOpen m (s :: l)
  | later {s : Share} {l : List Share} (h : SomeOpen m l) : SomeOpen m (s :: l)

/-- Where some share is open, one of the largest remainder is. -/
theorem largest_is_open (l : List Share) (h : 0 < openShares l) : SomeOpen (largestOpen l) l := by
  induction l with
  | nil => exact (lt_irrefl 0 h).elim
  | cons s l ih =>
    match s, h with
    | ⟨q, r, true⟩, h =>
      have h : 0 < 0 + openShares l := h
      rw [zero_add] at h
      exact .later (ih h)
    | ⟨q, r, false⟩, _ =>
      show SomeOpen (larger (r + 1) (largestOpen l)) (⟨q, r, false⟩ :: l)
      match larger_cases (r + 1) (largestOpen l) with
      | .inl ⟨e, _⟩ =>
        rw [e]
        refine .here ?_
        show not (not (Nat.beq (r + 1) (r + 1))) = true
        rw [beq_refl]; rfl
      | .inr ⟨e, le⟩ =>
        rw [e]
        refine .later (ih ?_)
        match l, le with
        | [], le => exact (not_succ_le_zero _ le).elim
        | ⟨_, _, false⟩ :: l, _ =>
          show 0 < 1 + openShares l
          rw [add_comm]; exact zero_lt_succ _
        | ⟨q', r', true⟩ :: l, le =>
          match lt_or_ge 0 (openShares (⟨q', r', true⟩ :: l)) with
          | .inl positive => exact positive
          | .inr none => exact (not_succ_le_zero _ (le_trans le (none_open _ none))).elim
where
  none_open (l : List Share) (h : openShares l ≤ 0) : largestOpen l ≤ 0 := by
    induction l with
    | nil => exact le_refl 0
    | cons s l ih =>
      match s, h with
      | ⟨_, _, true⟩, h =>
        have h : 0 + openShares l ≤ 0 := h
        rw [zero_add] at h
        exact ih h
      | ⟨_, _, false⟩, h =>
        have h : 1 + openShares l ≤ 0 := h
        rw [add_comm] at h
        exact (not_succ_le_zero _ h).elim

/-- Giving one more adds one, and leaves one open share less. -/
theorem giving_adds_one {m : Nat} {l : List Share} (h : SomeOpen m l) :
    totalWeight (giveTo m l) = totalWeight l + 1 ∧
      openShares (giveTo m l) + 1 = openShares l := by
  induction l with
  | nil => cases h
  | cons s l ih =>
    match s with
    | ⟨q, r, true⟩ =>
      match h with
      | .here k => exact (Bool.clash k).elim
      | .later k =>
        have ⟨a, b⟩ := ih k
        constructor
        · show q + 1 + totalWeight (giveTo m l) = q + 1 + totalWeight l + 1
          rw [a]; rfl
        · show 0 + openShares (giveTo m l) + 1 = 0 + openShares l
          rw [zero_add, zero_add, b]
    | ⟨q, r, false⟩ =>
      match e : Nat.beq (r + 1) m with
      | true =>
        have given : giveTo m (⟨q, r, false⟩ :: l) = ⟨q, r, true⟩ :: l := by
          show cond (not (Nat.beq (r + 1) m)) _ _ = _
          rw [e]; rfl
        rw [given]
        constructor
        · show q + 1 + totalWeight l = q + totalWeight l + 1
          exact succ_add q (totalWeight l)
        · show 0 + openShares l + 1 = 1 + openShares l
          rw [zero_add, add_comm]
      | false =>
        have given : giveTo m (⟨q, r, false⟩ :: l) = ⟨q, r, false⟩ :: giveTo m l := by
          show cond (not (Nat.beq (r + 1) m)) _ _ = _
          rw [e]; rfl
        have k : SomeOpen m l := by
          match h with
          | .later k => exact k
          | .here k =>
            have k : not (not (Nat.beq (r + 1) m)) = true := k
            rw [e] at k
            exact (Bool.clash k).elim
        have ⟨a, b⟩ := ih k
        rw [given]
        constructor
        · show q + 0 + totalWeight (giveTo m l) = q + 0 + totalWeight l + 1
          rw [a]; rfl
        · show 1 + openShares (giveTo m l) + 1 = 1 + openShares l
          rw [add_assoc, b]

/-- Giving `n` more adds `n`, where at least `n` shares are open. -/
theorem giving_adds (n : Nat) (l : List Share) (h : n ≤ openShares l) :
    totalWeight (give n l) = totalWeight l + n := by
  induction n generalizing l with
  | zero => rfl
  | succ n ih =>
    have ⟨a, b⟩ := giving_adds_one (largest_is_open l (lt_of_lt_of_le (zero_lt_succ n) h))
    show totalWeight (give n (giveTo (largestOpen l) l)) = totalWeight l + (n + 1)
    rw [← b] at h
    rw [ih _ (le_of_succ_le_succ h), a, succ_add]
    rfl

/-- The remainders of quotas. -/
def remainders : List Share → Nat
  | [] => 0
  | s :: l => s.remainder + remainders l

/-- Quotas and remainders make up the whole. -/
theorem quotas_and_remainders (total whole : Nat) (weights : List Nat) :
    totalWeight (quotas total whole weights) * whole + remainders (quotas total whole weights) =
      sumOf weights * total := by
  induction weights with
  | nil =>
    show 0 * whole + 0 = 0 * total
    rw [zero_mul, zero_mul]
  | cons w l ih =>
    show (w * total / whole + 0 + totalWeight (quotas total whole l)) * whole +
      (w * total % whole + remainders (quotas total whole l)) = (w + sumOf l) * total
    rw [add_zero, add_mul, add_mul, ← ih, ← div_add_mod (w * total) whole]
    rw [div_add_mod (w * total) whole]
    rw [add_assoc, add_left_comm (totalWeight (quotas total whole l) * whole), ← add_assoc,
      div_add_mod]

/-- Remainders are below the whole. -/
theorem remainders_small {whole : Nat} (positive : 0 < whole) (total : Nat) (weights : List Nat) :
    remainders (quotas total whole weights) + length weights ≤ length weights * whole := by
  induction weights with
  | nil => exact zero_le _
  | cons w l ih =>
    show w * total % whole + remainders (quotas total whole l) + (length l + 1) ≤
      (length l + 1) * whole
    rw [succ_mul, add_comm (w * total % whole), add_assoc]
    have e : w * total % whole + (length l + 1) = length l + (w * total % whole + 1) :=
      add_left_comm (w * total % whole) (length l) 1
    rw [e, ← add_assoc]
    exact add_le_add ih (mod_lt _ positive)
theorem quotas_all_open (total whole : Nat) (weights : List Nat) :
    openShares (quotas total whole weights) = length weights := by
  induction weights with
  | nil => rfl
  | cons w l ih =>
    show 1 + openShares (quotas total whole l) = length l + 1
    rw [ih, add_comm]

/-- Quotas never come to more than the total: nothing has to be taken from anybody. -/
theorem quotas_fit {weights : List Nat} (positive : 0 < sumOf weights) (total : Nat) :
    totalWeight (quotas total (sumOf weights) weights) ≤ total := by
  have e := quotas_and_remainders total (sumOf weights) weights
  match lt_or_ge total (totalWeight (quotas total (sumOf weights) weights)) with
  | .inr le => exact le
  | .inl more =>
    have above := lt_of_lt_of_le (mul_lt_mul_right positive more) (le_add_right _
      (remainders (quotas total (sumOf weights) weights)))
    rw [e, mul_comm] at above
    exact (lt_irrefl _ above).elim

/-- What quotas leave is what the remainders come to. -/
theorem leftover_is_remainders {weights : List Nat} (positive : 0 < sumOf weights) (total : Nat) :
    remainders (quotas total (sumOf weights) weights) =
      (total - totalWeight (quotas total (sumOf weights) weights)) * sumOf weights := by
  apply add_left_cancel (totalWeight (quotas total (sumOf weights) weights) * sumOf weights)
  rw [quotas_and_remainders, ← add_mul, add_comm, sub_add_cancel (quotas_fit positive total),
    mul_comm]
/-- What quotas leave is at most one for each. -/
theorem leftover_small {weights : List Nat} (positive : 0 < sumOf weights) (total : Nat) :
    total - totalWeight (quotas total (sumOf weights) weights) ≤ length weights := by
  match lt_or_ge (length weights)
    (total - totalWeight (quotas total (sumOf weights) weights)) with
  | .inr le => exact le
  | .inl more =>
    have above := mul_lt_mul_right positive more
    rw [← leftover_is_remainders positive total] at above
    have small := remainders_small positive total weights
    exact (not_le_of_lt above (le_trans (le_add_right _ _) small)).elim

/-- Weights by largest remainder sum to the total, whatever weights with a sum above 0 they are
made from. -/
theorem largest_remainder_sums_to_total {weights : List Nat} (positive : 0 < sumOf weights)
    (total : Nat) : totalWeight (apportion total weights) = total := by
  show totalWeight (give _ _) = total
  rw [giving_adds _ _ (by rw [quotas_all_open]; exact leftover_small positive total), add_comm]
  exact sub_add_cancel (quotas_fit positive total)
end Sampling
