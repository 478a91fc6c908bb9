"""Proofs by SMT: queries as texts, two solvers that both answer each, layouts at real sizes."""
