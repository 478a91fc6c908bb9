"""Reducing a failing case to one of which nothing can be removed (spec/finding.md)."""
