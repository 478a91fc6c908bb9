"""What a server says of itself: mode and fault, versions, environment, and what is turned off."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from lockstep import __version__
from lockstep.engine.opening import Opened
from lockstep.lifecycle import Pool
from lockstep.serve import chat
from lockstep.serve.policy import Driving
from lockstep.serve.text import Texts

MODES = {"invariant": "host", "fast": "fast"}
"""The backend of each mode. `fast` is a control: its bits depend on the batch."""


@dataclass(frozen=True)
class Identity:
    """What serves.

    Attributes:
        name: of the model, as calls name it.
        mode: a name of `MODES`.
        fault: the operator that the engine is mutated by, None for the engine as it is.
        commit: the checkout's, in parentheses; empty where it is not known.
    """

    name: str
    mode: str
    fault: str | None
    commit: str

    @property
    def mark(self) -> str:
        """Mode and fault in few words, for `system_fingerprint`."""
        return f"lockstep-{__version__}-{self.mode}" + (
            f"-fault:{self.fault}" if self.fault else ""
        )

    def server(self) -> dict[str, Any]:
        """Give what each answer says of the server."""
        return {"mode": self.mode, "fault": self.fault}

    def labels(self) -> dict[str, str]:
        """Give the labels of the metric that tells what serves."""
        return {"model": self.name, "mode": self.mode, "fault": self.fault or "none"}

    def version(self, opened: Opened, pool: Pool, driving: Driving, texts: Texts) -> dict[str, Any]:
        """Give what /version tells, the settings read back from what computes."""
        backend = opened.model.backend
        binding = backend.binding()
        return {
            "version": __version__,
            "commit": self.commit.strip(" ()") or None,
            "mode": self.mode,
            "fault": self.fault,
            "batch_invariant": backend.invariant and self.fault is None,
            "backend": backend.name,
            "dtype": backend.dtype,
            "kernels_sha256": binding.get("kernels_sha256"),
            "environment": opened.environment(),
            "model": {**opened.statement(), "name": self.name},
            "pool": {"blocks": pool.blocks, "block_size": pool.block_size},
            "driving": asdict(driving),
            "turned_off": [] if driving.prefix_cache else ["prefix_cache"],
            "tokenizer_sha256": texts.sha256 or None,
            "chat_template": chat.NAME,
        }
