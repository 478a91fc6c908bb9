"""Conversions of caches between declared layouts: plans of copies, and their execution."""
