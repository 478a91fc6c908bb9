"""Mutation testing: what the harness finds of faults put into the engine (spec/mutation.md).

This module imports nothing, so that a mutation can be installed before the engine is imported.
"""
