"""Lean declarations as this verifier reads them: exports, what statements mean, what they rest on.

Nothing here is imported by an ordinary verification before a document calls for it.
"""
