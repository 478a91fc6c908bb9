prelude
import Lockstep.Layouts
import Lockstep.Reflect
/-! Certificates of layouts, checked by computation.

A certificate states a layout's map and its inverse as literal tables, as an implementation emits
them at one geometry. A check decides whether they are what the layout's steps give. -/
set_option linter.all false
set_option genSizeOf false
noncomputable section
namespace ExactTransform
open Nat List Option

/-! ### statement -/

/-- What a layout's implementation emits at one geometry: `forward`, the position of each element in
canonical order, each copy after the other; `inverse`, the canonical number of the element at each
position, copies not told apart. -/
structure Certificate where
  layout : Layout
  copies : Nat
  forward : List Segment
  inverse : List Segment

/-- The number of elements, each copy counted. -/
def Certificate.elements (c : Certificate) : Nat := total c.layout.canonical

/-- The number of positions, padding counted. -/
def Certificate.positions (c : Certificate) : Nat := total c.layout.native

/-- A certificate holds when its tables are what the layout's steps give and undo each other. -/
structure Certificate.Holds (c : Certificate) : Prop where
  /-- The steps apply to the canonical tensors and give the native ones. -/
  applies : c.layout.applies = true
  /-- There is an entry for each element, and one for each position. -/
  whole : lengthOf c.forward = c.elements ∧ lengthOf c.inverse = c.positions
  /-- The steps take each element where the table says. -/
  forward : ∀ n, n < c.elements → lookup c.forward n = c.layout.index n
  /-- The steps took to each position the element that the inverse table says, or none. -/
  inverse : ∀ p, p < c.positions →
    lookup c.inverse p = mapSome (fun n => Nat.div n c.copies) (c.layout.unindex p)
  /-- The table puts each element within the buffers, and the inverse table finds it there. -/
  round_trip : ∀ n, n < c.elements → ∃ p, lookup c.forward n = some p ∧ p < c.positions ∧
    lookup c.inverse p = some (Nat.div n c.copies)
  /-- No two elements, and no two copies of one, are at one position. -/
  injective : ∀ n m p, n < c.elements → m < c.elements →
    lookup c.forward n = some p → lookup c.forward m = some p → n = m
  /-- Padding is exactly what no element is put at. -/
  padding : ∀ p, p < c.positions →
    (lookup c.inverse p = none ↔ ∀ n, n < c.elements → ¬ lookup c.forward n = some p)

/-- Each certificate of a list holds. -/
def AllHold : List Certificate → Prop
  | [] => True
  | c :: rest => c.Holds ∧ AllHold rest

/-- The number of positions of all certificates of a list. -/
def allPositions : List Certificate → Nat
  | [] => 0
  | c :: rest => Nat.add c.positions (allPositions rest)

/-- Two certificates differ when they state other images [LAY-17]: other numbers of positions, or
another position of some element. -/
def Certificate.Differs (c d : Certificate) : Prop :=
  ¬ c.positions = d.positions ∨ ∃ n, ¬ lookup c.forward n = lookup d.forward n

/-- A certificate differs from each of a list. -/
def Certificate.DiffersFromAll (c : Certificate) : List Certificate → Prop
  | [] => True
  | d :: rest => c.Differs d ∧ c.DiffersFromAll rest

/-- No two certificates of a list state one image. -/
def AllDiffer : List Certificate → Prop
  | [] => True
  | c :: rest => c.DiffersFromAll rest ∧ AllDiffer rest

/-! ### check -/

/-- Whether some copy of element `i` is at position `p`. -/
def Certificate.isAt (c : Certificate) (i p : Nat) : Bool :=
  anyBelow (fun copy =>
    and (Nat.ble (succ (Nat.add (Nat.mul i c.copies) copy)) c.elements)
      (isNumber (lookup c.forward (Nat.add (Nat.mul i c.copies) copy)) p)) c.copies

/-- Whether the table puts element `n` at position `p` as the component's maps do, and the inverse
table finds it there. The first component has shape `a` and map `f`, the second the map `g`. -/
def Certificate.agrees (c : Certificate) (a : List Nat) (f g : Nat → Nat) (p n : Nat) : Bool :=
  and (Nat.beq p (Bool.rec (g (Nat.sub n (size a))) (f n) (Nat.ble (succ n) (size a))))
    (and (Nat.ble (succ p) c.positions) (isNumber (lookup c.inverse p) (Nat.div n c.copies)))

/-- Whether a certificate over two components holds, the first of shape `a`; `f` and `g` are their
maps. -/
def Certificate.check (c : Certificate) (a : List Nat) (f g : Nat → Nat) : Bool :=
  and c.layout.applies
    (and (Nat.beq (lengthOf c.forward) c.elements)
      (and (Nat.beq (lengthOf c.inverse) c.positions)
        (and (areFull c.forward)
          (and (everywhere (c.agrees a f g) c.forward 0)
            (everywhere c.isAt c.inverse 0)))))

/-- Whether two certificates have other numbers of positions, or put an element elsewhere. -/
def Certificate.differs (c d : Certificate) : Bool :=
  or (not (Nat.beq c.positions d.positions))
    (anyBelow (fun n => not (sameNumber (lookup c.forward n) (lookup d.forward n))) c.elements)

/-- Whether no two certificates of a list state one image. -/
def allDiffer (certificates : List Certificate) : Bool :=
  List.rec true (fun c rest others => and (all c.differs rest) others) certificates

/-! ### soundness -/

/-- An element that was found at a position is put there by the table. -/
theorem Certificate.isAt_sound {c : Certificate} {i p : Nat} (h : c.isAt i p = true) :
    ∃ n, n < c.elements ∧ lookup c.forward n = some p := by
  have ⟨copy, _, found⟩ := anyBelow_sound h
  exact ⟨Nat.add (Nat.mul i c.copies) copy, le_of_ble (Bool.and_true_left found),
    isNumber_sound (Bool.and_true_right found)⟩

/-- What the check says of any element. -/
theorem Certificate.element {c : Certificate} {a b : List Nat} {f g : Nat → Nat}
    (shapes : c.layout.canonical = a :: b :: [])
    (run : ∀ n, c.layout.run ⟨0, unravel a n⟩ = f n)
    (run' : ∀ n, c.layout.run ⟨1, unravel b n⟩ = g n)
    (length : lengthOf c.forward = c.elements) (full : areFull c.forward = true)
    (h : everywhere (c.agrees a f g) c.forward 0 = true) (n : Nat) (k : n < c.elements) :
    ∃ p, c.layout.index n = some p ∧ lookup c.forward n = some p ∧ p < c.positions ∧
      lookup c.inverse p = some (Nat.div n c.copies) := by
  have ⟨p, entry⟩ := areFull_sound full (length.symm ▸ k)
  have found : c.agrees a f g p n = true := zero_add n ▸ everywhere_sound h entry
  have rest := Bool.and_true_right found
  have same : p = Bool.rec (g (Nat.sub n (size a))) (f n) (Nat.ble (succ n) (size a)) :=
    eq_of_beq_eq_true (Bool.and_true_left found)
  refine ⟨p, ?_, entry, le_of_ble (Bool.and_true_left rest),
    isNumber_sound (Bool.and_true_right rest)⟩
  have k' : n < total (a :: b :: []) := shapes ▸ k
  show mapSome c.layout.run (take c.layout.canonical n) = some p
  rw [shapes]
  show mapSome c.layout.run (cond (Nat.ble (succ n) (size a)) (some ⟨0, unravel a n⟩)
    (mapSome later (take (b :: []) (Nat.sub n (size a))))) = some p
  match within : Nat.ble (succ n) (size a) with
  | true =>
    rw [within] at same
    exact congrArg some ((run n).trans same.symm)
  | false =>
    rw [within] at same
    have below : n - size a < size b := by
      have k'' : size a + (n - size a) < size a + size b := by
        rw [add_comm, sub_add_cancel (least_of_not_below within)]; exact k'
      exact le_of_add_le_add_left (size a) k''
    show mapSome c.layout.run (mapSome later (cond (Nat.ble (succ (n - size a)) (size b))
      (some ⟨0, unravel b (n - size a)⟩) _)) = _
    rw [ble_of_le below]
    exact congrArg some ((run' _).trans same.symm)

/-- A certificate over two components holds when its check answers `true`. -/
theorem Certificate.holds_of_check {c : Certificate} {a b : List Nat} {f g : Nat → Nat}
    (shapes : c.layout.canonical = a :: b :: [])
    (run : ∀ n, c.layout.run ⟨0, unravel a n⟩ = f n)
    (run' : ∀ n, c.layout.run ⟨1, unravel b n⟩ = g n)
    (h : c.check a f g = true) : c.Holds := by
  have applies := Bool.and_true_left h
  have h₁ := Bool.and_true_right h
  have h₂ := Bool.and_true_right h₁
  have h₃ := Bool.and_true_right h₂
  have h₄ := Bool.and_true_right h₃
  have length := eq_of_beq_eq_true (Bool.and_true_left h₁)
  have element := element shapes run run' length (Bool.and_true_left h₃) (Bool.and_true_left h₄)
  have source : ∀ p i, lookup c.inverse p = some i →
      ∃ n, n < c.elements ∧ lookup c.forward n = some p := fun p i e => by
    have found := everywhere_sound (Bool.and_true_right h₄) e
    rw [zero_add] at found
    exact isAt_sound found
  have forward : ∀ n, n < c.elements → lookup c.forward n = c.layout.index n := fun n k =>
    have ⟨_, index, entry, _⟩ := element n k
    entry.trans index.symm
  exact
    { applies := applies
      whole := ⟨length, eq_of_beq_eq_true (Bool.and_true_left h₂)⟩
      forward := forward
      round_trip := fun n k =>
        have ⟨p, _, rest⟩ := element n k
        ⟨p, rest⟩
      inverse := fun p _ => by
        match back : c.layout.unindex p with
        | some n =>
          have ⟨index, below, _⟩ := index_unindex applies back
          have ⟨q, index', _, _, found⟩ := element n below
          rw [some_inj (index.symm.trans index')]
          exact found
        | none =>
          match found : lookup c.inverse p with
          | none => rfl
          | some i =>
            have ⟨n, below, at'⟩ := source p i found
            have ⟨e, _⟩ := unindex_index applies ((forward n below).symm.trans at')
            rw [back] at e
            cases e
      injective := fun n m p k l e e' =>
        some_inj ((unindex_index applies ((forward n k).symm.trans e)).left.symm.trans
          (unindex_index applies ((forward m l).symm.trans e')).left)
      padding := fun p _ => by
        constructor
        · intro nothing n k e
          have ⟨q, _, entry, _, found⟩ := element n k
          rw [some_inj (entry.symm.trans e), nothing] at found
          cases found
        · intro nowhere
          match found : lookup c.inverse p with
          | none => rfl
          | some i =>
            have ⟨n, below, at'⟩ := source p i found
            exact (nowhere n below at').elim }

/-- What was found to differ differs. -/
theorem Certificate.differs_sound {c d : Certificate} (h : c.differs d = true) : c.Differs d := by
  match same : Nat.beq c.positions d.positions with
  | false => exact .inl fun e => ne_of_beq_eq_false same e
  | true =>
    have h' : or (not (Nat.beq c.positions d.positions))
      (anyBelow (fun n => not (sameNumber (lookup c.forward n) (lookup d.forward n))) c.elements) =
        true := h
    rw [same] at h'
    have ⟨n, _, found⟩ := anyBelow_sound (show anyBelow _ _ = true from h')
    refine .inr ⟨n, fun e => ?_⟩
    have found' : not (sameNumber (lookup c.forward n) (lookup d.forward n)) = true := found
    rw [e, sameNumber_refl] at found'
    exact Bool.clash found'

/-- Certificates that were found to differ differ. -/
theorem allDiffer_sound {certificates : List Certificate} (h : allDiffer certificates = true) :
    AllDiffer certificates := by
  induction certificates with
  | nil => exact True.intro
  | cons c rest ih =>
    have both : and (all c.differs rest) (allDiffer rest) = true := h
    refine ⟨?_, ih (Bool.and_true_right both)⟩
    have others := Bool.and_true_left both
    clear ih both h
    induction rest with
    | nil => exact True.intro
    | cons d rest ih =>
      have both : and (c.differs d) (all c.differs rest) = true := others
      exact ⟨Certificate.differs_sound (Bool.and_true_left both), ih (Bool.and_true_right both)⟩

end ExactTransform
