prelude
import Lockstep.Compose
import Lockstep.Factor
import Lockstep.Frontier
/-! Joining the caches of tensor-parallel ranks ([LAY-7], [LAY-10]): exact when the number of ranks
divides the heads, or the heads divide the ranks, and for no other number. -/
set_option linter.all false
set_option genSizeOf false
universe u v
noncomputable section
namespace ExactTransform
open Nat

theorem share_spec {whole parts : Nat} (divides : whole % parts = 0) :
    parts * (whole / parts) = whole := by
  have e := div_add_mod whole parts
  rw [divides, add_zero, mul_comm] at e
  exact e

/-- A number below `whole`, with `parts` a divisor of it, as the part that it falls in and its place
there. -/
def splitEqually {whole parts : Nat} (divides : whole % parts = 0) (i : Fin whole) :
    Fin parts × Fin (whole / parts) :=
  have below : i.val < parts * (whole / parts) := by rw [share_spec divides]; exact i.isLt
  (⟨i.val / (whole / parts), div_lt_of_lt_mul below⟩,
    ⟨i.val % (whole / parts), mod_lt _ (factor_pos below)⟩)

/-- The number at a place of a part. -/
def joinEqually {whole parts : Nat} (divides : whole % parts = 0)
    (p : Fin parts × Fin (whole / parts)) : Fin whole :=
  ⟨p.1.val * (whole / parts) + p.2.val, by
    have below := mul_add_lt p.1.isLt p.2.isLt
    rw [share_spec divides] at below
    exact below⟩

/-- Splitting into equal parts and joining them undo each other. -/
def equalParts {whole parts : Nat} (divides : whole % parts = 0) :
    Bijection (Fin whole) (Fin parts × Fin (whole / parts)) where
  to := splitEqually divides
  inv := joinEqually divides
  left := fun i => Fin.ext (div_add_mod i.val (whole / parts))
  right := fun ⟨part, place⟩ => by
    have ⟨quotient, rest⟩ := div_mod_unique (q := part.val) place.isLt
    have first : (splitEqually divides (joinEqually divides (part, place))).1 = part :=
      Fin.ext quotient
    have second : (splitEqually divides (joinEqually divides (part, place))).2 = place :=
      Fin.ext rest
    show Prod.mk (splitEqually divides (joinEqually divides (part, place))).1
      (splitEqually divides (joinEqually divides (part, place))).2 = (part, place)
    rw [first, second]

/-- Joint tensor-parallel shards are a bijection when the ranks divide the heads: head `h` is head
`h % share` of rank `h / share`, with a share of `heads / ranks`, and every head of every rank is
one of them. -/
theorem joint_shards_bijective {heads ranks : Nat} (divides : heads % ranks = 0) :
    ∃ e : Bijection (Fin heads) (Fin ranks × Fin (heads / ranks)), ∀ h,
      (e.to h).1.val = h.val / (heads / ranks) ∧ (e.to h).2.val = h.val % (heads / ranks) :=
  ⟨equalParts divides, fun _ => ⟨rfl, rfl⟩⟩

/-- Replicated heads: where the heads divide the ranks, rank `r` holds head `r / copies`, and the
ranks correspond one to one to heads with a number of a copy, of which each head has
`ranks / heads`. -/
theorem replicated_shards_bijective {heads ranks : Nat} (divides : ranks % heads = 0) :
    ∃ e : Bijection (Fin ranks) (Fin heads × Fin (ranks / heads)), ∀ r,
      (e.to r).1.val = r.val / (ranks / heads) ∧ (e.to r).2.val = r.val % (ranks / heads) :=
  ⟨equalParts divides, fun _ => ⟨rfl, rfl⟩⟩

/-! ### other numbers of ranks -/

/-- A map of positions as a map of numbers; 0 outside. -/
def onNumbers {m n : Nat} (f : Fin m → Fin n) (i : Nat) : Nat :=
  match decLt i m with
  | isTrue h => (f ⟨i, h⟩).val
  | isFalse _ => 0
theorem onNumbers_below {m n : Nat} (f : Fin m → Fin n) {i : Nat} (h : i < m) :
    onNumbers f i = (f ⟨i, h⟩).val := by
  show (match decLt i m with
    | isTrue h => (f ⟨i, h⟩).val
    | isFalse _ => 0) = (f ⟨i, h⟩).val
  match decLt i m with
  | isTrue _ => rfl
  | isFalse k => exact (k h).elim

/-- A bijection needs equally many positions on both sides. -/
theorem bijection_needs_equal_sizes {m n : Nat} (e : Bijection (Fin m) (Fin n)) : m = n := by
  apply inverse_maps_need_equal_sizes (to := onNumbers e.to) (back := onNumbers e.inv)
  · intro i h
    rw [onNumbers_below e.to h]
    refine ⟨(e.to ⟨i, h⟩).isLt, ?_⟩
    rw [onNumbers_below e.inv (e.to ⟨i, h⟩).isLt]
    exact congrArg Fin.val (e.left ⟨i, h⟩)
  · intro j h
    rw [onNumbers_below e.inv h]
    refine ⟨(e.inv ⟨j, h⟩).isLt, ?_⟩
    rw [onNumbers_below e.to (e.inv ⟨j, h⟩).isLt]
    exact congrArg Fin.val (e.right ⟨j, h⟩)

/-- `parts` rows of `share` in one. -/
def rows {parts share : Nat} : Bijection (Fin parts × Fin share) (Fin (parts * share)) where
  to := fun p => ⟨p.1.val * share + p.2.val, mul_add_lt p.1.isLt p.2.isLt⟩
  inv := fun i =>
    (⟨i.val / share, div_lt_of_lt_mul i.isLt⟩, ⟨i.val % share, mod_lt _ (factor_pos i.isLt)⟩)
  left := fun ⟨part, place⟩ => by
    have ⟨quotient, rest⟩ := div_mod_unique (q := part.val) place.isLt
    have below := mul_add_lt part.isLt place.isLt
    have first : Fin.mk _ (div_lt_of_lt_mul below) = part := Fin.ext quotient
    have second : Fin.mk _ (mod_lt _ (factor_pos below)) = place := Fin.ext rest
    exact (congrArg (Prod.mk _) second).trans (congrArg (fun q => Prod.mk q place) first)
  right := fun i => Fin.ext (div_add_mod i.val share)

/-- Where the ranks do not divide the heads, equal shares are never exact: no number of heads a
rank makes heads and shares correspond one to one. -/
theorem shards_need_divisibility {heads ranks : Nat} (remainder : heads % ranks ≠ 0) (share : Nat)
    (e : Bijection (Fin heads) (Fin ranks × Fin share)) : False := by
  have same := bijection_needs_equal_sizes (e.comp rows)
  apply factor_needs_divisibility remainder
  exact ⟨share, by rw [mul_comm]; exact same.symm⟩
end ExactTransform
