"""Fidelity of the engine's logits against binary64, and golden digests of their raw bytes."""
