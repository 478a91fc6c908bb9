"""Every limit of the producer, with its unit and its reason."""

PROBE_CHUNK_POSITIONS = 1 << 17
"""Positions walked at once: a chunk's arrays of 8 bytes then stay within a core's cache."""

LAYER_PROBE_POSITIONS = 4096
"""Positions probed at each end of a layer for the layer axis, which moves all of them alike."""

PAIR_WALK_ELEMENTS = 100_000
"""Canonical elements of a layer up to which each pair is walked by itself, not only composed,
is moved in every layer under every payload, and is decoded from its own bytes."""

IMAGE_BYTES = 1 << 30
"""Bytes of layouts' images that a hunt keeps; past these an image is written anew when needed."""

MODEL_SEEDS = 16
"""Weight seeds that are tried in turn for a reference that is not degenerate."""

TRANSFER_THREADS = 2
"""Pairs moved at once in large layers; each holds some copies of a layer."""
