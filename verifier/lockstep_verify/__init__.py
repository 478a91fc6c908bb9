"""Independent verifier: it re-derives what a certificate claims from what it carries."""

__all__ = ["__version__"]


def __getattr__(name: str) -> str:
    """Look the version up on demand: reading package metadata costs more than a verification."""
    if name != "__version__":
        raise AttributeError(name)
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("lockstep-llm")
    except PackageNotFoundError:
        # Run from a source tree that was never installed.
        return "0+unknown"
