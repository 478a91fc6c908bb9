"""Independent verifier: it re-derives what a certificate claims from what it carries."""

__all__ = ["__version__"]

__version__ = "0.1.0"
