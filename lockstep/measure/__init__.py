"""Measuring servers: samples with guards around them, from which every figure is folded."""
