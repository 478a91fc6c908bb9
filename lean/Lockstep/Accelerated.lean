prelude
import Lockstep.Arith
set_option linter.all false
noncomputable section

/-!
# What the kernel computes without looking

On literals the kernel evaluates some operations on `Nat` with arithmetic of its own, by the names
of the constants alone. Were a definition under such a name anything else, the kernel would believe
both, and `False` would follow without an axiom. So each definition is held here to a specification
that only one function meets, and that the kernel's arithmetic does meet.

The lemmas are about variables, so that no proof step falls to that arithmetic, and name the
operations themselves, so that no notation can stand between. Division and remainder are specified
at the divisor `d + 1`, remainder at most `d`, and apart from that at zero.

The kernel of Lean 4.35 treats so `add`, `sub`, `mul`, `div`, `mod`, `gcd`, `pow`, `beq`, `ble`,
`land`, `lor`, `xor`, `shiftLeft` and `shiftRight`. Those that are not specified here are not
defined, and a build that defines one without a specification is refused.
-/

namespace Nat

/-- A number is zero or a successor, and not both; successors of different numbers differ. The
kernel's literals stand for exactly these. -/
theorem nat_spec (n m : Nat) :
    (n = .zero ∨ ∃ k, n = .succ k) ∧ (Nat.zero = .succ n → False) ∧
      (Nat.succ n = .succ m → n = m) := by
  refine ⟨?_, ?_, ?_⟩
  · cases n with
    | zero => exact .inl rfl
    | succ k => exact .inr ⟨k, rfl⟩
  · exact fun h => succ_ne_zero n h.symm
  · exact succ_inj

/-- Addition adds one at a time. -/
theorem add_spec (n m : Nat) :
    Nat.add n .zero = n ∧ Nat.add n (.succ m) = .succ (Nat.add n m) :=
  ⟨rfl, rfl⟩

/-- Multiplication adds once for each unit. -/
theorem mul_spec (n m : Nat) :
    Nat.mul n .zero = .zero ∧ Nat.mul n (.succ m) = Nat.add (Nat.mul n m) n :=
  ⟨rfl, rfl⟩

/-- Subtraction undoes addition, and gives zero where there is less than is to be taken away. -/
theorem sub_spec (n k : Nat) :
    Nat.sub (Nat.add n k) k = n ∧ Nat.sub n (Nat.add n k) = .zero := by
  refine ⟨add_sub_cancel n k, ?_⟩
  induction k with
  | zero =>
    have self := add_sub_cancel 0 n
    rw [zero_add] at self
    exact self
  | succ k ih => exact congrArg pred ih

/-- Equality of truth value and proposition. -/
theorem beq_spec (n m : Nat) : Nat.beq n m = true ↔ n = m :=
  ⟨eq_of_beq_eq_true, fun h => h ▸ beq_refl n⟩

/-- The first number is at most the second if and only if something can be added to reach it. -/
theorem ble_spec (n m : Nat) : Nat.ble n m = true ↔ ∃ k, Nat.add n k = m := by
  refine ⟨fun h => ?_, fun h => ?_⟩
  · exact ⟨m - n, (add_comm n (m - n)).trans (sub_add_cancel (le_of_ble h))⟩
  · match h with
    | ⟨k, e⟩ =>
      have below := le_add_right n k
      rw [show n + k = m from e] at below
      exact ble_of_le below

/-- Quotient and remainder. -/
theorem div_mod_spec (n d : Nat) :
    Nat.add (Nat.mul (Nat.div n (.succ d)) (.succ d)) (Nat.mod n (.succ d)) = n ∧
      (∃ k, Nat.add (Nat.mod n (.succ d)) k = d) ∧
      Nat.div n .zero = .zero ∧ Nat.mod n .zero = n := by
  refine ⟨div_add_mod n (d + 1), ?_, div_zero n, mod_zero n⟩
  have below : n % (d + 1) ≤ d := le_of_succ_le_succ (mod_lt n (zero_lt_succ d))
  exact ⟨d - n % (d + 1), (add_comm (n % (d + 1)) (d - n % (d + 1))).trans (sub_add_cancel below)⟩

/-- A power multiplies once for each unit of its exponent. -/
theorem pow_spec (n m : Nat) :
    Nat.pow n .zero = .succ .zero ∧ Nat.pow n (.succ m) = Nat.mul (Nat.pow n m) n :=
  ⟨rfl, rfl⟩

end Nat
