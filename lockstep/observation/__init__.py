"""Layouts as engines have them: numbers that an engine's own code writes, read from its memory."""
