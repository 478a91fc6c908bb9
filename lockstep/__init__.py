"""Producer of Lockstep's certificates: it observes, folds observations into claims, and signs."""

__all__ = ["__version__"]

__version__ = "0.1.0"
