prelude
import Lockstep.Accelerated
import Lockstep.Arith
import Lockstep.Arrays
import Lockstep.Compose
import Lockstep.Counting
import Lockstep.ElementTypes
import Lockstep.ElementTypes.Samples
import Lockstep.Exchange
import Lockstep.Factor
import Lockstep.Foundation.Base
import Lockstep.Foundation.Core
import Lockstep.Foundation.Show
import Lockstep.Foundation.Syntax
import Lockstep.Frontier
import Lockstep.Index
import Lockstep.Joins
import Lockstep.Layouts
import Lockstep.Lifecycle.Grams
import Lockstep.Lifecycle.Invariant
import Lockstep.Lifecycle.Invariants
import Lockstep.Lifecycle.Lists
import Lockstep.Lifecycle.Pool
import Lockstep.Lifecycle.Relation
import Lockstep.Lifecycle.Runs
import Lockstep.Moves
import Lockstep.Padding
import Lockstep.Sampling.Draw
import Lockstep.Sampling.Extras
import Lockstep.Sampling.Weights
import Lockstep.Shards
import Lockstep.Single
import Lockstep.Steps
import Lockstep.Verdict
import Lockstep.Verdict.Table

/-! Every module, so that building this one builds all. -/
