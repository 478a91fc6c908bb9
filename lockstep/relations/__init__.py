"""Metamorphic relations between executions of the engine, one module each [REL-1] to [REL-25]."""
