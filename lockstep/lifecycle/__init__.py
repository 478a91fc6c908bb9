"""The request lifecycle: its relation, its n-grams, and the reference machine (spec/lifecycle.md).

The machine is small and slow on purpose: it says what the rules say, state by state, so that a
scheduler, a witness of a solver and a random run can each be held against it.
"""

from lockstep.lifecycle.machine import Machine
from lockstep.lifecycle.relation import Cell, Relation, relation
from lockstep.lifecycle.state import Pool, Request, State, Step

__all__ = ["Cell", "Machine", "Pool", "Relation", "Request", "State", "Step", "relation"]
