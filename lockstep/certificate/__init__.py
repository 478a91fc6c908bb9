"""From a predicate to a signed file: canonical form, statement, envelope, keys, writing."""
