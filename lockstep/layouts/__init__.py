"""Declared KV-cache layouts and everything that follows from a declaration (spec/layout.md)."""
