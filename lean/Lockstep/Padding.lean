prelude
import Lockstep.Single
/-! Where padding lies: behind the last token of the last block, behind the end of a pitched row,
and before a base offset. Positions are written by strides, as engines compute them [LAY-12]. -/
set_option linter.all false
set_option genSizeOf false
noncomputable section
namespace ExactTransform
open Nat List Option

/-! ### blocks -/

/-- The number of blocks that `tokens` tokens need. -/
def blocks (tokens block : Nat) : Nat := (tokens + (block - 1)) / block

/-- The blocks hold all tokens, and no block could be spared. -/
theorem blocks_hold (tokens : Nat) {block : Nat} (h : 0 < block) :
    tokens ≤ blocks tokens block * block ∧ blocks tokens block * block < tokens + block := by
  cases block with
  | zero => exact (lt_irrefl 0 h).elim
  | succ k =>
    have e : blocks tokens (k + 1) * (k + 1) + (tokens + k) % (k + 1) = tokens + k :=
      div_add_mod (tokens + k) (k + 1)
    have r := mod_lt (tokens + k) h
    constructor
    · have q := add_le_add_left (blocks tokens (k + 1) * (k + 1)) (le_of_succ_le_succ r)
      rw [e, add_comm tokens k, add_comm (blocks tokens (k + 1) * (k + 1)) k] at q
      exact le_of_add_le_add_left k q
    · show blocks tokens (k + 1) * (k + 1) + 1 ≤ tokens + k + 1
      apply succ_le_succ
      rw [← e]
      exact le_add_right _ _

/-- Token-major blocks: (T, …) padded to whole blocks and split to (block, token in block, …). -/
def paged (tokens block : Nat) (rest : List Nat) : Layout :=
  single (tokens :: rest) (blocks tokens block :: block :: rest)
    [.on 0 0 (.pad tokens (blocks tokens block * block)),
      .on 0 0 (.split (blocks tokens block) block)]

/-- Head-major blocks: (T, H, …) to (block, head, token in block, …). -/
def pagedByHead (tokens block heads : Nat) (rest : List Nat) : Layout :=
  single (tokens :: heads :: rest) (blocks tokens block :: heads :: block :: rest)
    [.on 0 0 (.pad tokens (blocks tokens block * block)),
      .on 0 0 (.split (blocks tokens block) block), .on 0 1 .exchange]

/-- Token-major blocks exist for every number of tokens. -/
theorem paged_applies (tokens : Nat) {block : Nat} (h : 0 < block) (rest : List Nat) :
    (paged tokens block rest).applies = true := by
  apply single_applies
  rw [on_applies (k := 0) (pad_applies rest (blocks_hold tokens h).1),
    on_applies (k := 0) (split_applies (blocks tokens block) block rest)]
  rfl

/-- Head-major blocks exist for every number of tokens. -/
theorem pagedByHead_applies (tokens heads : Nat) {block : Nat} (h : 0 < block) (rest : List Nat) :
    (pagedByHead tokens block heads rest).applies = true := by
  apply single_applies
  rw [on_applies (k := 0) (pad_applies (heads :: rest) (blocks_hold tokens h).1),
    on_applies (k := 0) (split_applies (blocks tokens block) block (heads :: rest))]
  rfl

/-- Element (t, …) lies in block t / N at place t mod N: by strides, as a kernel addresses it. -/
theorem paged_position (tokens block t : Nat) (rest i : List Nat) :
    (paged tokens block rest).run ⟨0, t :: i⟩ =
      strided (blocks tokens block :: block :: rest) (t / block :: t % block :: i) :=
  ravel_eq_strides _ _

/-- Element (t, h, …) lies in block t / N, head h, at place t mod N. -/
theorem pagedByHead_position (tokens block heads t h : Nat) (rest i : List Nat) :
    (pagedByHead tokens block heads rest).run ⟨0, t :: h :: i⟩ =
      strided (blocks tokens block :: heads :: block :: rest) (t / block :: h :: t % block :: i) :=
  ravel_eq_strides _ _

/-- Where the block does not divide the tokens, the padding is exactly the places of the last block
past the last token: place `n` of block `b` is padding when `b * block + n`, the token that would
stand there, is not below `tokens`. -/
theorem block_tail_padding {tokens block b n : Nat} {rest i : List Nat}
    (within : InBounds (blocks tokens block :: block :: rest) (b :: n :: i)) :
    Padding (paged tokens block rest)
      (strided (blocks tokens block :: block :: rest) (b :: n :: i)) ↔ tokens ≤ b * block + n := by
  show (single _ _ _).back _ = none ↔ _
  rw [single_back within]
  exact mapSome_none.trans (guardSome_none.trans ble_false_iff)

/-- The same where heads stand between block and place. -/
theorem block_tail_padding_by_head {tokens block heads b h n : Nat} {rest i : List Nat}
    (within : InBounds (blocks tokens block :: heads :: block :: rest) (b :: h :: n :: i)) :
    Padding (pagedByHead tokens block heads rest)
      (strided (blocks tokens block :: heads :: block :: rest) (b :: h :: n :: i)) ↔
    tokens ≤ b * block + n := by
  show (single _ _ _).back _ = none ↔ _
  rw [single_back within]
  exact mapSome_none.trans (guardSome_none.trans ble_false_iff)

/-- Block padding lies in the last block only. -/
theorem block_tail_in_last {tokens block b n : Nat} (hb : b < blocks tokens block) (hn : n < block)
    (padding : tokens ≤ b * block + n) : b + 1 = blocks tokens block := by
  match lt_or_eq_of_le hb with
  | .inr e => exact e
  | .inl more =>
    have positive := pos_of_lt hn
    have upper := (blocks_hold tokens positive).2
    have two : (b + 1) * block + block ≤ blocks tokens block * block := by
      rw [← succ_mul]
      exact mul_le_mul_right block more
    have k := lt_of_le_of_lt two upper
    rw [add_comm _ block, add_comm tokens block] at k
    have k' : (b + 1) * block < tokens := le_of_add_le_add_left block k
    rw [succ_mul] at k'
    exact (lt_irrefl _ (lt_of_lt_of_le k'
      (le_trans padding (add_le_add_left (b * block) (le_of_lt hn))))).elim

/-! ### pitch -/

/-- Rows of `width` elements that start every `pitch` slots. -/
def pitched (rows width pitch : Nat) : Layout :=
  single [rows, width] [rows, pitch] [.on 0 1 (.pad width pitch)]

/-- A pitch at least as great as the width will do. -/
theorem pitched_applies (rows : Nat) {width pitch : Nat} (h : width ≤ pitch) :
    (pitched rows width pitch).applies = true := by
  apply single_applies
  have k : underAxisSome (Move.apply (.pad width pitch)) 1 [rows, width] = some [rows, pitch] :=
    congrArg (mapSome (cons rows)) (pad_applies [] h)
  rw [on_applies k]
  rfl

/-- Element (r, c) lies at `r * pitch + c`. -/
theorem pitched_position (rows width pitch r c : Nat) :
    (pitched rows width pitch).run ⟨0, [r, c]⟩ = r * pitch + c := by
  show r * (pitch * 1) + (c * 1 + 0) = r * pitch + c
  rw [mul_one, mul_one]
  rfl

/-- The padding of pitched rows is exactly what lies at or behind the width of its row. -/
theorem pitch_padding {rows width pitch r c : Nat} (hr : r < rows) (hc : c < pitch) :
    Padding (pitched rows width pitch) (r * pitch + c) ↔ width ≤ c := by
  have e : strided [rows, pitch] [r, c] = r * pitch + c := by
    show r * (pitch * 1) + (c * 1 + 0) = r * pitch + c
    rw [mul_one, mul_one]
    rfl
  rw [← e]
  show (single _ _ _).back _ = none ↔ _
  rw [single_back (t := [rows, pitch]) (i := [r, c]) ⟨hr, hc, True.intro⟩]
  exact mapSome_none.trans (mapSome_none.trans (guardSome_none.trans ble_false_iff))

/-! ### base offset -/

/-- `reserve` slots of an engine's own before the first token. -/
def offset (tokens reserve : Nat) (rest : List Nat) : Layout :=
  single (tokens :: rest) ((reserve + tokens) :: rest) [.on 0 0 (.reserve tokens reserve)]

/-- Any number of slots can be reserved. -/
theorem offset_applies (tokens reserve : Nat) (rest : List Nat) :
    (offset tokens reserve rest).applies = true := by
  apply single_applies
  rw [on_applies (k := 0) (reserve_applies tokens reserve rest)]
  rfl

/-- A base offset moves every element by the same number of positions. -/
theorem base_offset (tokens reserve : Nat) (rest : List Nat) {i : List Nat} (t : Nat) :
    (offset tokens reserve rest).run ⟨0, t :: i⟩ =
      reserve * size rest + ravel (tokens :: rest) (t :: i) := by
  show (reserve + t) * size rest + ravel rest i =
    reserve * size rest + (t * size rest + ravel rest i)
  rw [add_mul, add_assoc]

/-- A quotient is below a number exactly when what was divided is below its multiple. -/
theorem div_lt_iff {p r d : Nat} (h : 0 < d) : p / d < r ↔ p < r * d := by
  refine ⟨fun k => ?_, div_lt_of_lt_mul⟩
  have e := mul_add_lt k (mod_lt p h)
  rw [div_add_mod] at e
  exact e

/-- The padding of a base offset is exactly the positions below it. -/
theorem base_offset_padding {tokens reserve p : Nat} {rest : List Nat}
    (within : p < (reserve + tokens) * size rest) :
    Padding (offset tokens reserve rest) p ↔ p < reserve * size rest := by
  have inside := unravel_in_bounds ((reserve + tokens) :: rest) p within
  have e := ravel_unravel ((reserve + tokens) :: rest) p within
  rw [ravel_eq_strides] at e
  have k := single_back (s := tokens :: rest) (steps := [.on 0 0 (.reserve tokens reserve)]) inside
  rw [show strided ((reserve + tokens) :: rest) _ = p from e] at k
  show (single _ _ _).back p = none ↔ _
  rw [k]
  refine Iff.trans (mapSome_none.trans (guardSome_none.trans ?_))
    (div_lt_iff (size_pos (d := reserve + tokens) within))
  exact ⟨fun c => (lt_or_ge (p / size rest) reserve).elim id fun l =>
    (Bool.clash (c.symm.trans (ble_of_le l))).elim,
    fun l => Bool.eq_false_of_ne_true fun c => not_le_of_lt l (le_of_ble c)⟩

end ExactTransform
