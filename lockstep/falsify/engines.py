"""Falsifications of the hunt itself."""


def outcomes() -> dict[str, str]:
    """Give the outcome of each falsification of the hunt, by name."""
    return {}
