"""Committed certificates: how they are made, and the index of figures that they back."""
