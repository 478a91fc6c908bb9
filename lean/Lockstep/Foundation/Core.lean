prelude
import Lockstep.Foundation.Syntax
set_option genSizeOf false
set_option linter.all false
universe u v w
noncomputable section

/-!
# Operators, decisions, truth values, lists

The classes behind the notation, the lemmas that tactics look up by name, the part of `Nat` that
elaboration itself computes with, decidability, and lists. Order matters: tactics that tell
constructors apart work from `attribute [gen_constructor_elims]` on, and types of several
constructors can be declared only after it.
-/

/-! ### Classes behind the notation -/

/-- `a + b`. -/
class HAdd (α : Type u) (β : Type v) (γ : outParam (Type w)) where hAdd : α → β → γ
/-- `a - b`. -/
class HSub (α : Type u) (β : Type v) (γ : outParam (Type w)) where hSub : α → β → γ
/-- `a * b`. -/
class HMul (α : Type u) (β : Type v) (γ : outParam (Type w)) where hMul : α → β → γ
/-- `a / b`. -/
class HDiv (α : Type u) (β : Type v) (γ : outParam (Type w)) where hDiv : α → β → γ
/-- `a % b`. -/
class HMod (α : Type u) (β : Type v) (γ : outParam (Type w)) where hMod : α → β → γ
/-- `a ++ b`. -/
class HAppend (α : Type u) (β : Type v) (γ : outParam (Type w)) where hAppend : α → β → γ
/-- `a + b` within a type. -/
class Add (α : Type u) where add : α → α → α
/-- `a - b` within a type. -/
class Sub (α : Type u) where sub : α → α → α
/-- `a * b` within a type. -/
class Mul (α : Type u) where mul : α → α → α
/-- `a / b` within a type. -/
class Div (α : Type u) where div : α → α → α
/-- `a % b` within a type. -/
class Mod (α : Type u) where mod : α → α → α
/-- `a ++ b` within a type. -/
class Append (α : Type u) where append : α → α → α
/-- `a ≤ b`. -/
class LE (α : Type u) where le : α → α → Prop
/-- `a < b`. -/
class LT (α : Type u) where lt : α → α → Prop
/-- `a == b`. -/
class BEq (α : Type u) where beq : α → α → Bool

@[default_instance] instance instHAdd {α : Type u} [Add α] : HAdd α α α := ⟨Add.add⟩
@[default_instance] instance instHSub {α : Type u} [Sub α] : HSub α α α := ⟨Sub.sub⟩
@[default_instance] instance instHMul {α : Type u} [Mul α] : HMul α α α := ⟨Mul.mul⟩
@[default_instance] instance instHDiv {α : Type u} [Div α] : HDiv α α α := ⟨Div.div⟩
@[default_instance] instance instHMod {α : Type u} [Mod α] : HMod α α α := ⟨Mod.mod⟩
@[default_instance] instance instHAppend {α : Type u} [Append α] : HAppend α α α :=
  ⟨Append.append⟩

-- With `Nat.add` below, these let `n + 1` stand for a successor in patterns.
attribute [match_pattern] HAdd.hAdd Add.add

/-- `a ≥ b`, which is `b ≤ a`. -/
@[reducible] def GE.ge {α : Type u} [LE α] (a b : α) : Prop := LE.le b a

/-- `a > b`, which is `b < a`. -/
@[reducible] def GT.gt {α : Type u} [LT α] (a b : α) : Prop := LT.lt b a

/-- `a ≠ b`. -/
@[reducible] def Ne {α : Sort u} (a b : α) : Prop := Not (Eq a b)

/-! ### Equality and equivalence -/

/-- Moves an element along an equality of types; `rw … at` is made of it. -/
def Eq.mp {α β : Sort u} (h : α = β) (a : α) : β := h ▸ a

/-- Moves an element back along an equality of types; `rw` is made of it. -/
def Eq.mpr {α β : Sort u} (h : α = β) (b : β) : α := h ▸ b

theorem Ne.symm {α : Sort u} {a b : α} (h : a ≠ b) : b ≠ a := fun e => h e.symm

theorem congr {α : Sort u} {β : Sort v} {f g : α → β} {a b : α} (h : f = g) (k : a = b) :
    f a = g b :=
  h ▸ k ▸ rfl

theorem Iff.refl (a : Prop) : a ↔ a := ⟨id, id⟩

theorem Iff.rfl {a : Prop} : a ↔ a := Iff.refl a

theorem Iff.symm {a b : Prop} (h : a ↔ b) : b ↔ a := ⟨h.mpr, h.mp⟩

theorem Iff.trans {a b c : Prop} (h : a ↔ b) (k : b ↔ c) : a ↔ c :=
  ⟨fun x => k.mp (h.mp x), fun x => h.mpr (k.mpr x)⟩

theorem Or.elim {a b c : Prop} (h : a ∨ b) (l : a → c) (r : b → c) : c :=
  match h with
  | .inl x => l x
  | .inr x => r x

/-- Relations that `calc` may chain. -/
class Trans.{u1, v1, w1, a1, b1, c1} {α : Sort a1} {β : Sort b1} {γ : Sort c1}
    (r : α → β → Sort u1) (s : β → γ → Sort v1) (t : outParam (α → γ → Sort w1)) where
  trans : {a : α} → {b : β} → {c : γ} → r a b → s b c → t a c

instance instTransEq {α : Sort u} {γ : Sort v} (r : α → γ → Sort w) : Trans (@Eq α) r r :=
  ⟨fun h k => h ▸ k⟩

instance instTransEq_1 {α : Sort u} {β : Sort v} (r : α → β → Sort w) : Trans r (@Eq β) r :=
  ⟨fun h k => k ▸ h⟩

/-- Values that can be applied as functions. -/
class CoeFun (α : Sort u) (γ : outParam (α → Sort v)) where coe : (f : α) → γ f

/-- Values that can stand as types. -/
class CoeSort (α : Sort u) (β : outParam (Sort v)) where coe : α → β

/-! ### What `simp` names

`simp` turns each proposition that holds into `True` by propositional extensionality, and so may
bring that axiom into a lemma. -/

/-- Equivalent propositions are equal. -/
axiom propext {a b : Prop} : (a ↔ b) → a = b

theorem congrFun' {α : Sort u} {β : Sort v} {f g : α → β} (h : f = g) (a : α) : f a = g a :=
  h ▸ rfl

theorem of_eq_true {p : Prop} (h : p = True) : p := h ▸ True.intro

theorem eq_true {p : Prop} (h : p) : p = True := propext ⟨fun _ => True.intro, fun _ => h⟩

theorem eq_false {p : Prop} (h : ¬ p) : p = False := propext ⟨h, False.elim⟩

theorem eq_self {α : Sort u} (a : α) : (a = a) = True := eq_true rfl

theorem iff_self (p : Prop) : (p ↔ p) = True := eq_true (Iff.refl p)

theorem implies_congr {p₁ p₂ : Sort u} {q₁ q₂ : Sort v} (h : p₁ = p₂) (k : q₁ = q₂) :
    (p₁ → q₁) = (p₂ → q₂) :=
  h ▸ k ▸ rfl

/-! ### Truth values -/

/-- `a && b`. -/
def and (a b : Bool) : Bool :=
  match a with
  | true => b
  | false => false

/-- `a || b`. -/
def or (a b : Bool) : Bool :=
  match a with
  | true => true
  | false => b

/-- `!a`. -/
def not (a : Bool) : Bool :=
  match a with
  | true => false
  | false => true

@[reducible] def Bool.and := _root_.and
@[reducible] def Bool.or := _root_.or
@[reducible] def Bool.not := _root_.not

theorem Bool.clash (h : false = true) : False :=
  Eq.mpr (congrArg (fun b => cond b True False) h) True.intro

/-! ### The part of `Nat` that elaboration computes with

Equality, order and subtraction are given to the code generator as calls into the library, since
elaboration runs them; the kernel sees the definitions. `Lockstep.Accelerated` holds them to what
the kernel computes under the same names. -/

end

set_option bootstrap.genMatcherCode false in
/-- Whether two numbers are equal. -/
@[extern "lean_nat_dec_eq"]
protected def Nat.beq : Nat → Nat → Bool
  | .zero, .zero => true
  | .zero, .succ _ => false
  | .succ _, .zero => false
  | .succ n, .succ m => Nat.beq n m

set_option bootstrap.genMatcherCode false in
/-- Whether the first number is at most the second. -/
@[extern "lean_nat_dec_le"]
protected def Nat.ble : Nat → Nat → Bool
  | .zero, _ => true
  | .succ _, .zero => false
  | .succ n, .succ m => Nat.ble n m

noncomputable section

/-- Addition. -/
@[match_pattern] protected def Nat.add : Nat → Nat → Nat
  | n, .zero => n
  | n, .succ m => .succ (Nat.add n m)

/-- Multiplication. -/
protected def Nat.mul : Nat → Nat → Nat
  | _, .zero => .zero
  | n, .succ m => Nat.add (Nat.mul n m) n

/-- The number before, 0 for 0. -/
def Nat.pred : Nat → Nat
  | .zero => .zero
  | .succ n => n

end

set_option bootstrap.genMatcherCode false in
/-- Subtraction, 0 where the second number is larger. -/
@[extern "lean_nat_sub"]
protected def Nat.sub : Nat → Nat → Nat
  | n, .zero => n
  | n, .succ m => Nat.pred (Nat.sub n m)

noncomputable section

theorem Nat.beq_refl : (n : Nat) → Nat.beq n n = true
  | .zero => rfl
  | .succ n => Nat.beq_refl n

theorem Nat.eq_of_beq_eq_true : {n m : Nat} → Nat.beq n m = true → n = m
  | .zero, .zero, _ => rfl
  | .zero, .succ _, h => (Bool.clash h).elim
  | .succ _, .zero, h => (Bool.clash h).elim
  | .succ _, .succ _, h => congrArg Nat.succ (Nat.eq_of_beq_eq_true h)

theorem Nat.ne_of_beq_eq_false {n m : Nat} (h : Nat.beq n m = false) (k : n = m) : False :=
  Bool.clash (h.symm.trans (k ▸ Nat.beq_refl n))

theorem noConfusion_of_Nat {α : Sort u} (f : α → Nat) {a b : α} (h : a = b) :
    (Nat.beq (f a) (f b)).rec False True :=
  h ▸ (Nat.beq_refl (f a)).symm ▸ True.intro

/-! ### Decidable propositions -/

set_option genCtorIdx false in
/-- A proposition with a proof of it or of its negation. -/
inductive Decidable (p : Prop) : Type where
  | isFalse (h : ¬ p) : Decidable p
  | isTrue (h : p) : Decidable p
attribute [class] Decidable
export Decidable (isTrue isFalse)

/-- The truth value of a decidable proposition. -/
def Decidable.decide (p : Prop) [h : Decidable p] : Bool :=
  Decidable.rec (fun _ => false) (fun _ => true) h
export Decidable (decide)

def Nat.decEqAux {n m : Nat} : (b : Bool) → Nat.beq n m = b → Decidable (n = m)
  | true, h => isTrue (Nat.eq_of_beq_eq_true h)
  | false, h => isFalse (Nat.ne_of_beq_eq_false h)

end

/-- Equality of numbers, decided by `Nat.beq`. -/
@[extern "lean_nat_dec_eq"]
def Nat.decEq (n m : Nat) : Decidable (n = m) := Nat.decEqAux (Nat.beq n m) rfl

attribute [gen_constructor_elims] Bool
attribute [gen_constructor_elims] Decidable
attribute [gen_constructor_elims] Nat

noncomputable section

instance instDecidableEqNat (n m : Nat) : Decidable (n = m) := Nat.decEq n m

/-- Types with decidable equality. -/
@[reducible] def DecidableEq (α : Sort u) := (a b : α) → Decidable (a = b)

theorem of_decide_eq_true {p : Prop} [h : Decidable p] (k : decide p = true) : p :=
  match h, k with
  | isTrue x, _ => x

theorem of_decide_eq_false {p : Prop} [h : Decidable p] (k : decide p = false) : ¬ p :=
  match h, k with
  | isFalse x, _ => x

/-- `if h : c then t else e`. -/
def dite {α : Sort u} (c : Prop) [h : Decidable c] (t : c → α) (e : ¬ c → α) : α :=
  match h with
  | isTrue x => t x
  | isFalse x => e x

/-- `if c then t else e`. -/
def ite {α : Sort u} (c : Prop) [h : Decidable c] (t e : α) : α :=
  match h with
  | isTrue _ => t
  | isFalse _ => e

instance instDecidableTrue : Decidable True := isTrue True.intro

instance instDecidableFalse : Decidable False := isFalse id

instance instDecidableNot {p : Prop} [hp : Decidable p] : Decidable (¬ p) :=
  match hp with
  | isTrue a => isFalse fun h => h a
  | isFalse a => isTrue a

instance instDecidableAnd {p q : Prop} [hp : Decidable p] [hq : Decidable q] :
    Decidable (p ∧ q) :=
  match hp, hq with
  | isTrue a, isTrue b => isTrue ⟨a, b⟩
  | isFalse a, _ => isFalse fun h => a h.left
  | isTrue _, isFalse b => isFalse fun h => b h.right

instance instDecidableImp {p q : Prop} [hp : Decidable p] [hq : Decidable q] :
    Decidable (p → q) :=
  match hp, hq with
  | isFalse a, _ => isTrue fun h => (a h).elim
  | isTrue _, isTrue b => isTrue fun _ => b
  | isTrue a, isFalse b => isFalse fun h => b (h a)

theorem Bool.eq_false_of_ne_true : {b : Bool} → ¬ (b = true) → b = false
  | true, h => (h rfl).elim
  | false, _ => rfl

theorem Bool.and_true_left {a b : Bool} (h : and a b = true) : a = true := by
  cases a with
  | true => rfl
  | false => exact h

theorem Bool.and_true_right {a b : Bool} (h : and a b = true) : b = true := by
  cases a with
  | true => exact h
  | false => cases h

/-! ### Lists -/

/-- A list. -/
inductive List (α : Type u) where
  | nil : List α
  | cons (head : α) (tail : List α) : List α

/-- A value or none. -/
inductive Option (α : Type u) where
  | none : Option α
  | some (val : α) : Option α

namespace List

variable {α : Type u} {β : Type v}

/-- How many elements a list has. -/
def length : List α → Nat
  | [] => 0
  | _ :: l => .succ (length l)

/-- One list after another. -/
def append : List α → List α → List α
  | [], m => m
  | a :: l, m => a :: append l m

instance : Append (List α) := ⟨append⟩

/-- The list of a function's values. -/
def map (f : α → β) : List α → List β
  | [] => []
  | a :: l => f a :: map f l

/-- Whether all elements pass a test. -/
def all (p : α → Bool) : List α → Bool
  | [] => true
  | a :: l => and (p a) (all p l)

theorem append_assoc (a b c : List α) : a ++ b ++ c = a ++ (b ++ c) := by
  induction a with
  | nil => rfl
  | cons x a ih => exact congrArg (cons x) ih

end List

/-! ### Strings and names

A message about a proof that failed carries names; without these types there would be no message.
No lemma uses them. -/

/-- A character, by its number. -/
structure Char where
  val : Nat

/-- The character of a number. -/
def Char.ofNat (n : Nat) : Char := ⟨n⟩

/-- A string, by its characters. -/
structure String where
  ofList ::
  toList : List Char

namespace Lean

/-- A name, part by part, the last part first. -/
inductive Name where
  | anonymous : Name
  | str (pre : Name) (s : String) : Name
  | num (pre : Name) (i : Nat) : Name

abbrev Name.mkStr := Name.str
abbrev Name.mkNum := Name.num
abbrev Name.mkSimple (a : String) : Name := .str .anonymous a
abbrev Name.mkStr1 (a : String) : Name := .str .anonymous a
abbrev Name.mkStr2 (a b : String) : Name := .str (.mkStr1 a) b
abbrev Name.mkStr3 (a b c : String) : Name := .str (.mkStr2 a b) c
abbrev Name.mkStr4 (a b c d : String) : Name := .str (.mkStr3 a b c) d

end Lean
