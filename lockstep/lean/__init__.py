"""Lean without a toolchain of its own: building the lemmas, and what may stand in their sources."""
