import Lake

open Lake DSL

/-- The lemmas behind Lockstep's certificates. They import nothing but one another. -/
package lockstep where
  srcDir := "lean"
  -- A warning is how Lean tells of a `sorry`; a name that it does not know is not to be read as a
  -- variable.
  leanOptions := #[⟨`warningAsError, true⟩, ⟨`autoImplicit, false⟩]

/-- Every module: `lean/Lockstep.lean` imports them all. -/
@[default_target]
lean_lib Lockstep where
  roots := #[`Lockstep]
