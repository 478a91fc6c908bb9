prelude
import Lockstep.Foundation.Show
set_option genSizeOf false
set_option linter.all false
universe u v w
noncomputable section

/-!
# Natural numbers

Addition, multiplication, order, subtraction, division with remainder, powers. The lemmas have the
names that Lean's library gives them, where it has them.
-/

/-! ### Induction, order and their notation -/

/-- Induction, in the form that `induction` uses. -/
@[induction_eliminator, elab_as_elim]
protected theorem Nat.recProp {motive : Nat → Prop} (zero : motive 0)
    (succ : (n : Nat) → motive n → motive (n.succ)) (t : Nat) : motive t :=
  t.rec zero succ

instance : Add Nat := ⟨Nat.add⟩
instance : Sub Nat := ⟨Nat.sub⟩
instance : Mul Nat := ⟨Nat.mul⟩

/-- `n ≤ m`. -/
inductive Nat.le (n : Nat) : Nat → Prop where
  | refl : Nat.le n n
  | step {m : Nat} (h : Nat.le n m) : Nat.le n (.succ m)

instance : LE Nat := ⟨Nat.le⟩

/-- `n < m`, which is `n + 1 ≤ m`. -/
protected def Nat.lt (n m : Nat) : Prop := Nat.le (.succ n) m

instance : LT Nat := ⟨Nat.lt⟩

attribute [simp] eq_self

/-! ### Conditionals -/

theorem if_pos {c : Prop} [d : Decidable c] {α : Sort u} {a b : α} (h : c) :
    (if c then a else b) = a :=
  match d with
  | isTrue _ => rfl
  | isFalse k => (k h).elim

theorem if_neg {c : Prop} [d : Decidable c] {α : Sort u} {a b : α} (h : ¬ c) :
    (if c then a else b) = b :=
  match d with
  | isTrue k => (h k).elim
  | isFalse _ => rfl

namespace Nat

/-! ### Addition -/

theorem add_zero (n : Nat) : n + 0 = n := rfl

theorem add_succ (n m : Nat) : n + (m + 1) = n + m + 1 := rfl

theorem zero_add (n : Nat) : 0 + n = n := by
  induction n with
  | zero => rfl
  | succ n ih => exact congrArg succ ih

theorem succ_add (n m : Nat) : (n + 1) + m = n + m + 1 := by
  induction m with
  | zero => rfl
  | succ m ih => exact congrArg succ ih

theorem add_comm (n m : Nat) : n + m = m + n := by
  induction m with
  | zero => exact (zero_add n).symm
  | succ m ih => exact (congrArg succ ih).trans (succ_add m n).symm

theorem add_assoc (a b c : Nat) : a + b + c = a + (b + c) := by
  induction c with
  | zero => rfl
  | succ c ih => exact congrArg succ ih

theorem add_right_comm (a b c : Nat) : a + b + c = a + c + b := by
  rw [add_assoc, add_comm b c, ← add_assoc]

theorem add_left_comm (a b c : Nat) : a + (b + c) = b + (a + c) := by
  rw [← add_assoc, add_comm a b, add_assoc]

theorem succ_inj {n m : Nat} (h : n + 1 = m + 1) : n = m := congrArg pred h

theorem succ_ne_zero (n : Nat) (h : n + 1 = 0) : False := by cases h

theorem add_right_cancel {a b : Nat} (c : Nat) (h : a + c = b + c) : a = b := by
  induction c with
  | zero => exact h
  | succ c ih => exact ih (succ_inj h)

theorem add_left_cancel {a b : Nat} (c : Nat) (h : c + a = c + b) : a = b :=
  add_right_cancel c (by rw [add_comm a c, add_comm b c, h])

/-! ### Multiplication -/

theorem mul_zero (n : Nat) : n * 0 = 0 := rfl

theorem mul_succ (n m : Nat) : n * (m + 1) = n * m + n := rfl

theorem zero_mul (n : Nat) : 0 * n = 0 := by
  induction n with
  | zero => rfl
  | succ n ih => exact ih

theorem succ_mul (n m : Nat) : (n + 1) * m = n * m + m := by
  induction m with
  | zero => rfl
  | succ m ih =>
    show (n + 1) * m + n + 1 = (n * m + n) + m + 1
    exact congrArg succ (by rw [ih, add_right_comm])

theorem mul_comm (n m : Nat) : n * m = m * n := by
  induction m with
  | zero => exact (zero_mul n).symm
  | succ m ih =>
    show n * m + n = (m + 1) * n
    rw [succ_mul, ih]

theorem mul_one (n : Nat) : n * 1 = n := zero_add n

theorem one_mul (n : Nat) : 1 * n = n := (mul_comm 1 n).trans (mul_one n)

theorem mul_add (a b c : Nat) : a * (b + c) = a * b + a * c := by
  induction c with
  | zero => rfl
  | succ c ih =>
    show a * (b + c) + a = a * b + (a * c + a)
    rw [ih, add_assoc]

theorem add_mul (a b c : Nat) : (a + b) * c = a * c + b * c := by
  rw [mul_comm, mul_add, mul_comm c a, mul_comm c b]

theorem mul_assoc (a b c : Nat) : a * b * c = a * (b * c) := by
  induction c with
  | zero => rfl
  | succ c ih =>
    show a * b * c + a * b = a * (b * c + b)
    rw [ih, mul_add]

/-! ### Order -/

theorem le_refl (n : Nat) : n ≤ n := .refl

theorem le_succ (n : Nat) : n ≤ n + 1 := .step .refl

theorem le_trans {a b c : Nat} (h : a ≤ b) (k : b ≤ c) : a ≤ c := by
  induction k with
  | refl => exact h
  | step _ ih => exact .step ih

theorem zero_le (n : Nat) : 0 ≤ n := by
  induction n with
  | zero => exact .refl
  | succ n ih => exact .step ih

theorem succ_le_succ {a b : Nat} (h : a ≤ b) : a + 1 ≤ b + 1 := by
  induction h with
  | refl => exact .refl
  | step _ ih => exact .step ih

theorem zero_lt_succ (n : Nat) : 0 < n + 1 := succ_le_succ (zero_le n)

theorem not_succ_le_zero (n : Nat) (h : n + 1 ≤ 0) : False := by cases h

theorem pred_le_pred {a b : Nat} (h : a ≤ b) : pred a ≤ pred b := by
  induction h with
  | refl => exact .refl
  | @step m _ ih =>
    cases m with
    | zero => exact ih
    | succ m => exact .step ih

theorem le_of_succ_le_succ {a b : Nat} (h : a + 1 ≤ b + 1) : a ≤ b := pred_le_pred h

theorem lt_irrefl (n : Nat) (h : n < n) : False := by
  induction n with
  | zero => exact not_succ_le_zero _ h
  | succ n ih => exact ih (le_of_succ_le_succ h)

theorem lt_of_lt_of_le {a b c : Nat} (h : a < b) (k : b ≤ c) : a < c := le_trans h k

theorem lt_of_le_of_lt {a b c : Nat} (h : a ≤ b) (k : b < c) : a < c :=
  le_trans (succ_le_succ h) k

theorem le_of_lt {a b : Nat} (h : a < b) : a ≤ b := le_trans (le_succ a) h

theorem lt_or_eq_of_le {a b : Nat} (h : a ≤ b) : a < b ∨ a = b :=
  match h with
  | .refl => .inr rfl
  | .step k => .inl (succ_le_succ k)

theorem lt_or_ge (a b : Nat) : a < b ∨ b ≤ a := by
  induction a with
  | zero =>
    cases b with
    | zero => exact .inr .refl
    | succ b => exact .inl (zero_lt_succ b)
  | succ a ih =>
    match ih with
    | .inl h =>
      match lt_or_eq_of_le h with
      | .inl k => exact .inl k
      | .inr k => right; rw [← k]; exact .refl
    | .inr h => exact .inr (.step h)

theorem not_le_of_lt {a b : Nat} (h : a < b) (k : b ≤ a) : False :=
  lt_irrefl a (lt_of_lt_of_le h k)

theorem le_antisymm {a b : Nat} (h : a ≤ b) (k : b ≤ a) : a = b :=
  match lt_or_eq_of_le h with
  | .inl l => (lt_irrefl a (lt_of_lt_of_le l k)).elim
  | .inr e => e

theorem pos_of_lt {a b : Nat} (h : a < b) : 0 < b := lt_of_le_of_lt (zero_le a) h

theorem pos_of_ne_zero {n : Nat} (h : n ≠ 0) : 0 < n := by
  cases n with
  | zero => exact (h rfl).elim
  | succ n => exact zero_lt_succ n

/-! ### Order, addition and multiplication -/

theorem le_add_right (a b : Nat) : a ≤ a + b := by
  induction b with
  | zero => exact .refl
  | succ b ih => exact .step ih

theorem le_add_left (a b : Nat) : a ≤ b + a := by rw [add_comm]; exact le_add_right a b

theorem add_le_add_left {a b : Nat} (c : Nat) (h : a ≤ b) : c + a ≤ c + b := by
  induction h with
  | refl => exact .refl
  | step _ ih => exact .step ih

theorem add_lt_add_left {a b : Nat} (c : Nat) (h : a < b) : c + a < c + b :=
  add_le_add_left c h

theorem add_le_add {a b c d : Nat} (h : a ≤ b) (k : c ≤ d) : a + c ≤ b + d := by
  apply le_trans (add_le_add_left a k)
  rw [add_comm a d, add_comm b d]
  exact add_le_add_left d h

theorem le_of_add_le_add_left {a b : Nat} (c : Nat) (h : c + a ≤ c + b) : a ≤ b := by
  match lt_or_ge b a with
  | .inl less => exact (not_le_of_lt (add_lt_add_left c less) h).elim
  | .inr le => exact le

theorem mul_le_mul_right {a b : Nat} (c : Nat) (h : a ≤ b) : a * c ≤ b * c := by
  induction h with
  | refl => exact .refl
  | @step m _ ih =>
    rw [show succ m * c = m * c + c from succ_mul m c]
    exact le_trans ih (le_add_right _ _)

theorem mul_lt_mul_right {a b c : Nat} (positive : 0 < c) (h : a < b) : a * c < b * c := by
  have le : (a + 1) * c ≤ b * c := mul_le_mul_right c h
  rw [succ_mul] at le
  exact lt_of_lt_of_le (add_lt_add_left (a * c) positive) le

theorem mul_lt_mul_left {a b c : Nat} (positive : 0 < c) (h : a < b) : c * a < c * b := by
  rw [mul_comm c a, mul_comm c b]
  exact mul_lt_mul_right positive h

theorem mul_right_cancel {a b c : Nat} (positive : 0 < c) (h : a * c = b * c) : a = b := by
  match lt_or_ge a b with
  | .inl less => exact (not_le_of_lt (mul_lt_mul_right positive less) (h ▸ le_refl _)).elim
  | .inr ge =>
    match lt_or_eq_of_le ge with
    | .inl less => exact (not_le_of_lt (mul_lt_mul_right positive less) (h ▸ le_refl _)).elim
    | .inr same => exact same.symm

theorem mul_left_cancel {a b c : Nat} (positive : 0 < c) (h : c * a = c * b) : a = b := by
  rw [mul_comm c a, mul_comm c b] at h
  exact mul_right_cancel positive h

/-! ### Order as a truth value -/

theorem le_of_ble : {n m : Nat} → Nat.ble n m = true → n ≤ m
  | .zero, m, _ => zero_le m
  | .succ _, .zero, h => (Bool.clash h).elim
  | .succ _, .succ _, h => succ_le_succ (le_of_ble h)

theorem ble_of_le {n m : Nat} (h : n ≤ m) : Nat.ble n m = true := by
  induction n generalizing m with
  | zero => rfl
  | succ n ih =>
    cases m with
    | zero => exact (not_succ_le_zero n h).elim
    | succ m => exact ih (le_of_succ_le_succ h)

theorem beq_false_of_ne {a b : Nat} (h : a = b → False) : Nat.beq a b = false :=
  Bool.eq_false_of_ne_true fun k => h (eq_of_beq_eq_true k)

instance decLe (n m : Nat) : Decidable (n ≤ m) :=
  match h : Nat.ble n m with
  | true => isTrue (le_of_ble h)
  | false => isFalse fun k => Bool.clash (h.symm.trans (ble_of_le k))

instance decLt (n m : Nat) : Decidable (n < m) := decLe (n + 1) m

/-! ### Subtraction -/

theorem sub_zero (n : Nat) : n - 0 = n := rfl

theorem zero_sub (n : Nat) : 0 - n = 0 := by
  induction n with
  | zero => rfl
  | succ n ih =>
    show pred (0 - n) = 0
    rw [ih]; rfl

theorem succ_sub_succ (n m : Nat) : (n + 1) - (m + 1) = n - m := by
  induction m with
  | zero => rfl
  | succ m ih =>
    show pred ((n + 1) - (m + 1)) = pred (n - m)
    rw [ih]

theorem add_sub_cancel (n m : Nat) : n + m - m = n := by
  induction m with
  | zero => rfl
  | succ m ih =>
    show (n + m + 1) - (m + 1) = n
    rw [succ_sub_succ, ih]

theorem sub_add_cancel {n m : Nat} (h : m ≤ n) : n - m + m = n := by
  induction m generalizing n with
  | zero => rfl
  | succ m ih =>
    cases n with
    | zero => exact (not_succ_le_zero m h).elim
    | succ n =>
      show (n + 1) - (m + 1) + m + 1 = n + 1
      rw [succ_sub_succ, ih (le_of_succ_le_succ h)]

theorem sub_le (n m : Nat) : n - m ≤ n := by
  induction m with
  | zero => exact le_refl n
  | succ m ih =>
    have lower : ∀ k, pred k ≤ k := fun k => by
      cases k with
      | zero => exact le_refl 0
      | succ k => exact le_succ k
    exact le_trans (lower (n - m)) ih

/-! ### Division with remainder

By counting up: each unit adds one to the remainder, or one to the quotient where the remainder
would reach the divisor. A divisor of zero is never reached: `n / 0 = 0` and `n % 0 = n`. -/

/-- Quotient and remainder. -/
def divMod (d : Nat) : Nat → Prod Nat Nat
  | .zero => ⟨0, 0⟩
  | .succ n =>
    cond (Nat.beq ((divMod d n).2 + 1) d) ⟨(divMod d n).1 + 1, 0⟩
      ⟨(divMod d n).1, (divMod d n).2 + 1⟩

/-- The quotient. -/
protected def div (n d : Nat) : Nat := (divMod d n).1

/-- The remainder. -/
protected def mod (n d : Nat) : Nat := (divMod d n).2

instance : Div Nat := ⟨Nat.div⟩
instance : Mod Nat := ⟨Nat.mod⟩

theorem divMod_step_hit {d n : Nat} (h : (divMod d n).2 + 1 = d) :
    divMod d (n + 1) = ⟨(divMod d n).1 + 1, 0⟩ := by
  show cond (Nat.beq ((divMod d n).2 + 1) d) _ _ = _
  rw [show Nat.beq ((divMod d n).2 + 1) d = true from h.symm ▸ beq_refl _]
  rfl

theorem divMod_step_miss {d n : Nat} (h : (divMod d n).2 + 1 = d → False) :
    divMod d (n + 1) = ⟨(divMod d n).1, (divMod d n).2 + 1⟩ := by
  show cond (Nat.beq ((divMod d n).2 + 1) d) _ _ = _
  rw [beq_false_of_ne h]
  rfl

theorem div_add_mod (n d : Nat) : (n / d) * d + n % d = n := by
  show (divMod d n).1 * d + (divMod d n).2 = n
  induction n with
  | zero => exact zero_mul d
  | succ n ih =>
    show (divMod d (n+1)).1 * d + (divMod d (n+1)).2 = n + 1
    match decEq ((divMod d n).2 + 1) d with
    | isTrue h =>
      rw [divMod_step_hit h]
      show ((divMod d n).1 + 1) * d + 0 = n + 1
      rw [succ_mul, add_zero]
      exact (congrArg (fun z => (divMod d n).1 * d + z) h).symm.trans (congrArg succ ih)
    | isFalse h =>
      rw [divMod_step_miss h]
      exact congrArg succ ih

theorem mod_lt (n : Nat) {d : Nat} (hd : 0 < d) : n % d < d := by
  show (divMod d n).2 < d
  induction n with
  | zero => exact hd
  | succ n ih =>
    show (divMod d (n+1)).2 < d
    match decEq ((divMod d n).2 + 1) d with
    | isTrue h => rw [divMod_step_hit h]; exact hd
    | isFalse h =>
      rw [divMod_step_miss h]
      match lt_or_eq_of_le ih with
      | .inl k => exact k
      | .inr k => exact (h k).elim

theorem mod_zero (n : Nat) : n % 0 = n := by
  have h := div_add_mod n 0
  rw [mul_zero, zero_add] at h
  exact h

theorem div_zero (n : Nat) : n / 0 = 0 := by
  show (divMod 0 n).1 = 0
  induction n with
  | zero => rfl
  | succ n ih =>
    show (divMod 0 (n+1)).1 = 0
    rw [divMod_step_miss (succ_ne_zero _)]
    exact ih

/-- Quotient and remainder are determined by `q * d + r` where `r < d`. -/
theorem div_mod_inj {d q r q' r' : Nat} (hr : r < d) (hr' : r' < d)
    (h : q * d + r = q' * d + r') : q = q' ∧ r = r' := by
  induction q generalizing q' with
  | zero =>
    cases q' with
    | zero => exact ⟨rfl, add_left_cancel (0 * d) h⟩
    | succ q' =>
      have k : d ≤ r := by
        have e : r = q' * d + d + r' := by
          rw [zero_mul, zero_add, succ_mul] at h
          exact h
        rw [e, add_right_comm]
        exact le_add_left _ _
      exact (lt_irrefl _ (lt_of_lt_of_le hr k)).elim
  | succ q ih =>
    cases q' with
    | zero =>
      have k : d ≤ r' := by
        have e : r' = q * d + d + r := by
          rw [zero_mul, zero_add, succ_mul] at h
          exact h.symm
        rw [e, add_right_comm]
        exact le_add_left _ _
      exact (lt_irrefl _ (lt_of_lt_of_le hr' k)).elim
    | succ q' =>
      have e : q * d + r = q' * d + r' := by
        apply add_right_cancel d
        rw [add_right_comm, ← succ_mul, add_right_comm (q' * d), ← succ_mul]
        exact h
      have ⟨a, b⟩ := ih e
      exact ⟨congrArg succ a, b⟩

theorem div_mod_unique {x q r : Nat} (hr : r < x) : (q * x + r) / x = q ∧ (q * x + r) % x = r :=
  div_mod_inj (mod_lt _ (pos_of_lt hr)) hr (div_add_mod (q * x + r) x)

theorem mod_eq_of_lt {n d : Nat} (h : n < d) : n % d = n := by
  have e := (div_mod_unique (q := 0) h).right
  rw [zero_mul, zero_add] at e
  exact e

theorem div_eq_of_lt {n d : Nat} (h : n < d) : n / d = 0 := by
  have e := (div_mod_unique (q := 0) h).left
  rw [zero_mul, zero_add] at e
  exact e

theorem div_mul_le (n d : Nat) : n / d * d ≤ n := by
  have le := le_add_right (n / d * d) (n % d)
  rw [div_add_mod] at le
  exact le

theorem div_lt_of_lt_mul {i n d : Nat} (h : i < n * d) : i / d < n := by
  match lt_or_ge (i / d) n with
  | .inl k => exact k
  | .inr k =>
    have a : n * d ≤ (i / d) * d := mul_le_mul_right d k
    have b : (i / d) * d ≤ i := by
      have c := le_add_right ((i / d) * d) (i % d)
      rw [div_add_mod] at c
      exact c
    exact (lt_irrefl i (lt_of_lt_of_le h (le_trans a b))).elim

theorem mul_add_lt {q r n d : Nat} (hq : q < n) (hr : r < d) : q * d + r < n * d := by
  have a : (q + 1) * d ≤ n * d := mul_le_mul_right d hq
  rw [succ_mul] at a
  exact lt_of_lt_of_le (add_lt_add_left (q * d) hr) a

/-! ### Powers -/

/-- `m` multiplied with itself `n` times. -/
protected def pow (m : Nat) : Nat → Nat
  | .zero => 1
  | .succ n => Nat.mul (Nat.pow m n) m

end Nat
