"""Producer of Lockstep's certificates: it observes, folds observations into claims, and signs."""

from importlib.metadata import PackageNotFoundError, version

__all__ = ["__version__"]

try:
    __version__ = version("lockstep-llm")
except PackageNotFoundError:
    # Run from a source tree that was never installed.
    __version__ = "0+unknown"
