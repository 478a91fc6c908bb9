prelude
import Lockstep.Arith
/-! Placements: maps that put each element at a place of its own, with a partial inverse that tells
what a place holds. Layouts are placements; what is proved here of placements in general holds for
every layout at every geometry. -/
set_option linter.all false
set_option genSizeOf false
universe u v w
noncomputable section
namespace ExactTransform
open Nat Option

/-! ### optional values -/

/-- `f` of the value, where there is one. -/
def mapSome {α : Type u} {β : Type v} (f : α → β) : Option α → Option β
  | none => none
  | some a => some (f a)

/-- The optional `f` of the value, where there is one. -/
def andThen {α : Type u} {β : Type v} (o : Option α) (f : α → Option β) : Option β :=
  match o with
  | none => none
  | some a => f a

/-- `o` where the condition holds, nothing elsewhere. -/
def guardSome {α : Type u} (c : Bool) (o : Option α) : Option α := cond c o none

/-- Values are equal when they are so as optional ones. -/
theorem some_inj {α : Type u} {a b : α} (h : some a = some b) : a = b := by injection h

/-- What is mapped to a value is a value. -/
theorem mapSome_eq {α : Type u} {β : Type v} {f : α → β} {o : Option α} {b : β}
    (h : mapSome f o = some b) : ∃ a, o = some a ∧ f a = b :=
  match o, h with
  | some a, h => ⟨a, rfl, some_inj h⟩

/-- A chain that gives a value has one in its middle. -/
theorem andThen_eq {α : Type u} {β : Type v} {o : Option α} {f : α → Option β} {b : β}
    (h : andThen o f = some b) : ∃ a, o = some a ∧ f a = some b :=
  match o, h with
  | some a, h => ⟨a, rfl, h⟩

/-- What passes a guard meets its condition. -/
theorem guardSome_eq {α : Type u} {c : Bool} {o : Option α} {a : α}
    (h : guardSome c o = some a) : c = true ∧ o = some a :=
  match c, h with
  | true, h => ⟨rfl, h⟩

/-- A guard whose condition is met changes nothing. -/
theorem guardSome_true {α : Type u} {c : Bool} (h : c = true) (o : Option α) :
    guardSome c o = o := by
  rw [h]
  rfl

/-! ### maps with inverses -/

/-- `g` undoes `f`: what is converted and converted back is as it was. -/
def LeftInverse {α : Type u} {β : Type v} (g : β → α) (f : α → β) : Prop := ∀ a, g (f a) = a

/-- No two arguments have one value: no two elements share a position. -/
def Injective {α : Type u} {β : Type v} (f : α → β) : Prop := ∀ a b, f a = f b → a = b

/-- Inverses compose: undoing the last conversion first undoes both. -/
theorem LeftInverse.comp {α : Type u} {β : Type v} {γ : Type w} {f : α → β} {g : β → α}
    {f' : β → γ} {g' : γ → β} (h : LeftInverse g f) (h' : LeftInverse g' f') :
    LeftInverse (fun c => g (g' c)) (fun a => f' (f a)) := by
  intro a
  show g (g' (f' (f a))) = a
  rw [h', h]

/-- What can be undone loses nothing. -/
theorem LeftInverse.injective {α : Type u} {β : Type v} {f : α → β} {g : β → α}
    (h : LeftInverse g f) : Injective f := by
  intro a b e
  rw [← h a, ← h b, e]

/-- Injective maps compose. -/
theorem Injective.comp {α : Type u} {β : Type v} {γ : Type w} {f : α → β} {f' : β → γ}
    (h : Injective f) (h' : Injective f') : Injective (fun a => f' (f a)) :=
  fun a b e => h a b (h' _ _ e)

/-- The positions below `n`. -/
structure Fin (n : Nat) where
  val : Nat
  isLt : val < n

/-- Positions are equal when their numbers are. -/
theorem Fin.ext {n : Nat} : {a b : Fin n} → a.val = b.val → a = b
  | ⟨_, _⟩, ⟨_, _⟩, rfl => rfl

/-- A pair of maps that undo each other. -/
structure Bijection (α : Type u) (β : Type v) where
  to : α → β
  inv : β → α
  left : LeftInverse inv to
  right : LeftInverse to inv

/-- One bijection after another. -/
def Bijection.comp {α : Type u} {β : Type v} {γ : Type w} (e : Bijection α β) (f : Bijection β γ) :
    Bijection α γ where
  to := fun a => f.to (e.to a)
  inv := fun c => e.inv (f.inv c)
  left := e.left.comp f.left
  right := f.right.comp e.right

/-! ### placements -/

/-- `to` puts each valid element at a valid place of its own, and `back` tells which element a valid
place holds; a place that holds none is padding. -/
structure Placement {α : Type u} {β : Type v} (valid : α → Prop) (valid' : β → Prop) (to : α → β)
    (back : β → Option α) : Prop where
  bounds : ∀ a, valid a → valid' (to a)
  left : ∀ a, valid a → back (to a) = some a
  source : ∀ b a, valid' b → back b = some a → valid a
  right : ∀ b a, valid' b → back b = some a → to a = b

/-- Leaving everything where it is, is a placement. -/
theorem Placement.identity {α : Type u} (valid : α → Prop) :
    Placement valid valid (fun a => a) some where
  bounds := fun _ h => h
  left := fun _ _ => rfl
  source := fun _ _ h e => some_inj e ▸ h
  right := fun _ _ _ e => (some_inj e).symm

/-- A placement after a placement is a placement. -/
theorem Placement.comp {α : Type u} {β : Type v} {γ : Type w} {va : α → Prop} {vb : β → Prop}
    {vc : γ → Prop} {f : α → β} {g : β → Option α} {f' : β → γ} {g' : γ → Option β}
    (p : Placement va vb f g) (q : Placement vb vc f' g') :
    Placement va vc (fun a => f' (f a)) (fun c => andThen (g' c) g) where
  bounds := fun a h => q.bounds _ (p.bounds a h)
  left := fun a h => by
    show andThen (g' (f' (f a))) g = some a
    rw [q.left _ (p.bounds a h)]
    exact p.left a h
  source := fun c a h e =>
    have ⟨b, e₁, e₂⟩ := andThen_eq e
    p.source b a (q.source c b h e₁) e₂
  right := fun c a h e => by
    have ⟨b, e₁, e₂⟩ := andThen_eq e
    rw [p.right b a (q.source c b h e₁) e₂]
    exact q.right c b h e₁

/-- A placement is injective: two elements at one place are the same element. -/
theorem Placement.injective {α : Type u} {β : Type v} {va : α → Prop} {vb : β → Prop} {f : α → β}
    {g : β → Option α} (p : Placement va vb f g) {a b : α} (ha : va a) (hb : va b)
    (h : f a = f b) : a = b := by
  apply some_inj
  rw [← p.left a ha, ← p.left b hb, h]

/-- A placement's image is exactly the places at which `back` finds an element. -/
theorem Placement.image {α : Type u} {β : Type v} {va : α → Prop} {vb : β → Prop} {f : α → β}
    {g : β → Option α} (p : Placement va vb f g) {b : β} (hb : vb b) :
    (∃ a, va a ∧ f a = b) ↔ ∃ a, g b = some a :=
  ⟨fun ⟨a, ha, e⟩ => ⟨a, e ▸ p.left a ha⟩, fun ⟨a, e⟩ => ⟨a, p.source b a hb e, p.right b a hb e⟩⟩

/-! ### conversion between two placements of the same elements -/

/-- Moves the element at a place of the source to its place in the destination. -/
def convert {α : Type u} {β : Type v} {γ : Type w} (back : β → Option α) (to : α → γ) (b : β) :
    Option γ :=
  mapSome to (back b)

/-- Converting a cache from one layout to another and back gives every element where it was: for two
placements `p` and `q` of the same elements, every place `b` of `p` that holds an element is
converted to a valid place `c` of `q`, and `c` is converted back to `b`. -/
theorem comp_roundtrip {α : Type u} {β : Type v} {γ : Type w} {va : α → Prop} {vb : β → Prop}
    {vc : γ → Prop} {f : α → β} {g : β → Option α} {f' : α → γ} {g' : γ → Option α}
    (p : Placement va vb f g) (q : Placement va vc f' g') {b : β} (hb : vb b) {a : α}
    (h : g b = some a) :
    ∃ c, convert g f' b = some c ∧ vc c ∧ convert g' f c = some b := by
  have ha := p.source b a hb h
  refine ⟨f' a, congrArg (mapSome f') h, q.bounds a ha, ?_⟩
  show mapSome f (g' (f' a)) = some b
  rw [q.left a ha]
  exact congrArg some (p.right b a hb h)

/-- No two elements are converted to one place. -/
theorem convert_injective {α : Type u} {β : Type v} {γ : Type w} {va : α → Prop} {vb : β → Prop}
    {vc : γ → Prop} {f : α → β} {g : β → Option α} {f' : α → γ} {g' : γ → Option α}
    (p : Placement va vb f g) (q : Placement va vc f' g') {b b' : β} (hb : vb b) (hb' : vb b')
    {c : γ} (h : convert g f' b = some c) (h' : convert g f' b' = some c) : b = b' := by
  have ⟨a, e, k⟩ := mapSome_eq h
  have ⟨a', e', k'⟩ := mapSome_eq h'
  have same := q.injective (p.source b a hb e) (p.source b' a' hb' e') (k.trans k'.symm)
  rw [← p.right b a hb e, ← p.right b' a' hb' e', same]

end ExactTransform
