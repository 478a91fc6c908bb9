prelude
import Lockstep.Compose
import Lockstep.Index
/-! Layouts as lists of steps on arrays [LAY-20].

The state of a layout under construction is a list of shapes, one an array. An element of it is the
number of an array and an index in that array. A step says which states it applies to and what state
it gives (`Step.apply`), where it takes an element (`Step.to`), and which element, if any, a place
of the new state holds (`Step.back`); a place that holds none is padding. -/
set_option linter.all false
set_option genSizeOf false
noncomputable section
namespace ExactTransform
open Nat List Option

/-- The number of an array and an index in it. -/
abbrev Element := Prod Nat (List Nat)

/-- What becomes of one axis, or of two that stand together.

* `pad n m`: an axis of extent `n` gets extent `m`, the new slots at its end.
* `reserve n r`: an axis of extent `n` gets `r` new slots at its start.
* `split p q`: an axis of extent `p * q` becomes two, of extents `p` and `q`.
* `merge p q`: two axes of extents `p` and `q` become one of extent `p * q`.
* `exchange`: two axes change places.
* `replicate n`: the array's last axis, which numbers the `n` copies, moves to this place. -/
inductive Move where
  | pad (n m : Nat)
  | reserve (n r : Nat)
  | split (p q : Nat)
  | merge (p q : Nat)
  | exchange
  | replicate (n : Nat)

/-- One step of a layout.

* `on a k move`: the move at axis `k` of array `a`.
* `swap a`: arrays `a` and `a + 1` change places in the list.
* `join a k n m`: array `a + 1` is appended to array `a` along axis `k`, where they have extents
  `m` and `n`; they agree in all other extents. -/
inductive Step where
  | on (array axis : Nat) (move : Move)
  | swap (array : Nat)
  | join (array axis n m : Nat)

/-! ### lists of numbers -/

/-- Whether two lists of numbers are the same, by computation. -/
def beqList : List Nat → List Nat → Bool
  | [], [] => true
  | a :: l, b :: m => cond (Nat.beq a b) (beqList l m) false
  | _, _ => false

/-- Whether two lists of shapes are the same, by computation. -/
def beqShapes : List (List Nat) → List (List Nat) → Bool
  | [], [] => true
  | a :: l, b :: m => cond (beqList a b) (beqShapes l m) false
  | _, _ => false

/-- `a` behind the first entry of a list, alone where there is none. -/
def putSecond (a : Nat) : List Nat → List Nat
  | [] => a :: []
  | b :: l => b :: a :: l

/-- The last entry moved to the front. -/
def lastFirst : List Nat → List Nat
  | [] => []
  | a :: l => putSecond a (lastFirst l)

/-- The list, where `n` is its first entry. -/
def headed (n : Nat) : List Nat → Option (List Nat)
  | [] => none
  | a :: l => guardSome (Nat.beq a n) (some (a :: l))

/-! ### moves at the first axis -/

/-- The shape that a move gives, where it applies. -/
def Move.apply : Move → List Nat → Option (List Nat)
  | .pad n m, d :: s => guardSome (and (Nat.beq d n) (Nat.ble n m)) (some (m :: s))
  | .reserve n r, d :: s => guardSome (Nat.beq d n) (some (Nat.add r n :: s))
  | .split p q, d :: s => guardSome (Nat.beq d (Nat.mul p q)) (some (p :: q :: s))
  | .merge p q, a :: b :: s =>
    guardSome (and (Nat.beq a p) (Nat.beq b q)) (some (Nat.mul p q :: s))
  | .exchange, a :: b :: s => some (b :: a :: s)
  | .replicate n, s => headed n (lastFirst s)
  | _, _ => none

/-- Where a move takes an index. -/
def Move.to : Move → List Nat → List Nat
  | .pad _ _, i => i
  | .reserve _ r, a :: i => Nat.add r a :: i
  | .split _ q, a :: i => Nat.div a q :: Nat.mod a q :: i
  | .merge _ q, a :: b :: i => Nat.add (Nat.mul a q) b :: i
  | .exchange, a :: b :: i => b :: a :: i
  | .replicate _, i => lastFirst i
  | _, i => i

/-- The index that a move took here, if any did. -/
def Move.back : Move → List Nat → Option (List Nat)
  | .pad n _, a :: i => guardSome (Nat.ble (succ a) n) (some (a :: i))
  | .reserve _ r, a :: i => guardSome (Nat.ble r a) (some (Nat.sub a r :: i))
  | .split _ q, a :: b :: i => some (Nat.add (Nat.mul a q) b :: i)
  | .merge _ q, a :: i => some (Nat.div a q :: Nat.mod a q :: i)
  | .exchange, a :: b :: i => some (b :: a :: i)
  | .replicate _, a :: i => some (i ++ [a])
  | _, _ => none

/-! ### moves at any axis of any array -/

/-- `f` on what is left of a list after its first `k` entries. -/
def underAxis (f : List Nat → List Nat) : Nat → List Nat → List Nat
  | .zero, l => f l
  | .succ k, a :: l => a :: underAxis f k l
  | .succ _, [] => []

/-- Optional `f` on what is left of a list after its first `k` entries. -/
def underAxisSome (f : List Nat → Option (List Nat)) : Nat → List Nat → Option (List Nat)
  | .zero, l => f l
  | .succ k, a :: l => mapSome (cons a) (underAxisSome f k l)
  | .succ _, [] => none

/-- The element in the list that has one more array in front. -/
def later (e : Element) : Element := ⟨succ e.1, e.2⟩

/-- `f` on the arrays after the first `a`. -/
def underArray (f : Element → Element) : Nat → Element → Element
  | .zero, e => f e
  | .succ _, ⟨.zero, i⟩ => ⟨.zero, i⟩
  | .succ a, ⟨.succ j, i⟩ => later (underArray f a ⟨j, i⟩)

/-- Optional `f` on the arrays after the first `a`. -/
def underArraySome (f : Element → Option Element) : Nat → Element → Option Element
  | .zero, e => f e
  | .succ _, ⟨.zero, i⟩ => some ⟨.zero, i⟩
  | .succ a, ⟨.succ j, i⟩ => mapSome later (underArraySome f a ⟨j, i⟩)

/-- Optional `f` on the shapes after the first `a`. -/
def underShapes (f : List (List Nat) → Option (List (List Nat))) :
    Nat → List (List Nat) → Option (List (List Nat))
  | .zero, shapes => f shapes
  | .succ a, s :: shapes => mapSome (cons s) (underShapes f a shapes)
  | .succ _, [] => none

/-! ### joining two arrays -/

/-- The shape of two arrays joined along axis `k`, where they fit. -/
def joinShape (n m : Nat) : Nat → List Nat → List Nat → Option (List Nat)
  | .zero, a :: s, b :: t =>
    guardSome (and (Nat.beq a n) (and (Nat.beq b m) (beqList s t))) (some (Nat.add n m :: s))
  | .succ k, a :: s, b :: t => guardSome (Nat.beq a b) (mapSome (cons a) (joinShape n m k s t))
  | _, _, _ => none

/-- Whether the coordinate at axis `k` is below `n`. -/
def isBelow (n : Nat) : Nat → List Nat → Bool
  | .zero, a :: _ => Nat.ble (succ a) n
  | .succ k, _ :: i => isBelow n k i
  | _, [] => false

/-- `n` added to the coordinate at axis `k`. -/
def addAt (n k : Nat) (i : List Nat) : List Nat := underAxis (Move.to (.reserve 0 n)) k i

/-- `n` taken from the coordinate at axis `k`. -/
def subAt (n : Nat) : Nat → List Nat → List Nat
  | .zero, a :: i => Nat.sub a n :: i
  | .succ k, a :: i => a :: subAt n k i
  | _, [] => []

/-- The move on the first array; elements of others stay. -/
def onFirst (f : List Nat → List Nat) : Element → Element
  | ⟨.zero, i⟩ => ⟨.zero, f i⟩
  | ⟨.succ j, i⟩ => ⟨.succ j, i⟩

/-- The optional move on the first array; elements of others stay. -/
def onFirstSome (f : List Nat → Option (List Nat)) : Element → Option Element
  | ⟨.zero, i⟩ => mapSome (Prod.mk .zero) (f i)
  | ⟨.succ j, i⟩ => some ⟨.succ j, i⟩

/-- The first two arrays change places. -/
def swapFirst : Element → Element
  | ⟨.zero, i⟩ => ⟨1, i⟩
  | ⟨.succ .zero, i⟩ => ⟨.zero, i⟩
  | ⟨.succ (.succ j), i⟩ => ⟨.succ (.succ j), i⟩

/-- The second array is appended to the first along axis `k`, where the first has extent `n`. -/
def joinFirst (k n : Nat) : Element → Element
  | ⟨.zero, i⟩ => ⟨.zero, i⟩
  | ⟨.succ .zero, i⟩ => ⟨.zero, addAt n k i⟩
  | ⟨.succ (.succ j), i⟩ => ⟨.succ j, i⟩

/-- Which of the two joined arrays an element comes from, and where it was. -/
def cutFirst (k n : Nat) : Element → Element
  | ⟨.zero, i⟩ => cond (isBelow n k i) ⟨.zero, i⟩ ⟨1, subAt n k i⟩
  | ⟨.succ j, i⟩ => ⟨.succ (.succ j), i⟩

/-! ### steps -/

/-- The state that a step gives, where it applies. -/
def Step.apply : Step → List (List Nat) → Option (List (List Nat))
  | .on a k move, shapes =>
    underShapes (fun
      | [] => none
      | s :: rest => mapSome (fun t => t :: rest) (underAxisSome move.apply k s)) a shapes
  | .swap a, shapes =>
    underShapes (fun
      | s :: t :: rest => some (t :: s :: rest)
      | _ => none) a shapes
  | .join a k n m, shapes =>
    underShapes (fun
      | s :: t :: rest => mapSome (fun u => u :: rest) (joinShape n m k s t)
      | _ => none) a shapes

/-- Where a step takes an element. -/
def Step.to : Step → Element → Element
  | .on a k move => underArray (onFirst (underAxis move.to k)) a
  | .swap a => underArray swapFirst a
  | .join a k n _ => underArray (joinFirst k n) a

/-- The element that a step took here, if any. -/
def Step.back : Step → Element → Option Element
  | .on a k move => underArraySome (onFirstSome (underAxisSome move.back k)) a
  | .swap a => underArraySome (fun e => some (swapFirst e)) a
  | .join a k n _ => underArraySome (fun e => some (cutFirst k n e)) a

/-- The state that steps give one after another, where each applies. -/
def applySteps : List Step → List (List Nat) → Option (List (List Nat))
  | [], shapes => some shapes
  | step :: steps, shapes => andThen (step.apply shapes) (applySteps steps)

/-- Where steps take an element. -/
def runSteps : List Step → Element → Element
  | [], e => e
  | step :: steps, e => runSteps steps (step.to e)

/-- The element that steps took here, if any. -/
def backSteps : List Step → Element → Option Element
  | [], e => some e
  | step :: steps, e => andThen (backSteps steps e) step.back

/-! ### the arrays in memory, one after another [LAY-13] -/

/-- The number of positions of all arrays. -/
def total : List (List Nat) → Nat
  | [] => 0
  | s :: shapes => Nat.add (size s) (total shapes)

/-- The position of an element: the sizes of the arrays before its own, and its row-major position
in that. -/
def place : List (List Nat) → Element → Nat
  | [], _ => 0
  | s :: _, ⟨.zero, i⟩ => ravel s i
  | s :: shapes, ⟨.succ j, i⟩ => Nat.add (size s) (place shapes ⟨j, i⟩)

/-- The element at a position, nothing behind the last array. -/
def take : List (List Nat) → Nat → Option Element
  | [], _ => none
  | s :: shapes, n =>
    cond (Nat.ble (succ n) (size s)) (some ⟨.zero, unravel s n⟩)
      (mapSome later (take shapes (Nat.sub n (size s))))

/-! ### layouts -/

/-- A layout: the shapes of the canonical tensors, those of the native ones, and the steps that lead
from these to those. An element with copies or of several slots has coordinates for the copy and the
slot at the end of its canonical index. -/
structure Layout where
  canonical : List (List Nat)
  native : List (List Nat)
  steps : List Step

/-- Whether the steps apply to the canonical shapes and give the native ones, by computation. -/
def Layout.applies (layout : Layout) : Bool :=
  match applySteps layout.steps layout.canonical with
  | none => false
  | some shapes => beqShapes shapes layout.native

/-- The position of an element. -/
def Layout.run (layout : Layout) (e : Element) : Nat :=
  place layout.native (runSteps layout.steps e)

/-- The element at a position; nothing where the position is padding or beyond the buffers. -/
def Layout.back (layout : Layout) (n : Nat) : Option Element :=
  andThen (take layout.native n) (backSteps layout.steps)

/-- The position of the element with a canonical index [LAY-3]; nothing where there is none. -/
def Layout.index (layout : Layout) (n : Nat) : Option Nat :=
  mapSome layout.run (take layout.canonical n)

/-- The canonical index of the element at a position; nothing where the position is padding. -/
def Layout.unindex (layout : Layout) (n : Nat) : Option Nat :=
  mapSome (place layout.canonical) (layout.back n)

end ExactTransform
