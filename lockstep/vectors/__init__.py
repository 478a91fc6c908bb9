"""Conformance vectors: made from the reviewed cases of spec/cases, and run against anything.

The contract with an implementation is conformance/README.md. Nothing here calls a verifier to
learn which code a case requires.
"""
