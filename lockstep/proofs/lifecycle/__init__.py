"""The lifecycle as a transition system: proofs by an inductive invariant, witnesses, foils."""

from lockstep.proofs.lifecycle.queries import queries

__all__ = ["queries"]
