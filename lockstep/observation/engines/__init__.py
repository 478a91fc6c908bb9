"""Engines whose cache code runs here; each module imports its engine when it is asked to write."""
