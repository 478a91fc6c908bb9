import Lake

open Lake DSL

/-- The lemmas behind Lockstep's certificates. No library is declared until one is proved. -/
package lockstep where
  srcDir := "lean"
