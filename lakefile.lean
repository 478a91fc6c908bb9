import Lake

open Lake DSL

/-- The lemmas behind Lockstep's certificates. They import nothing but one another. -/
package lockstep where
  srcDir := "lean"
  -- A warning is how Lean tells of a `sorry`.
  leanOptions := #[⟨`warningAsError, true⟩]

/-- Every module: `lean/Lockstep.lean` imports them all. -/
@[default_target]
lean_lib Lockstep where
  roots := #[`Lockstep]
