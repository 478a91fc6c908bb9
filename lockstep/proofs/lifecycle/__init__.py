"""The lifecycle as a transition system: proofs by an inductive invariant, witnesses, foils."""

from lockstep.proofs.lifecycle.transition_system import queries

__all__ = ["queries"]
