"""Replay of many positions at once by an exact path, with NumPy; docs/exact-batch.md proves it."""
