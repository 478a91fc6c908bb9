"""The built-in server, `lockstep serve`: what vLLM's has, and an account of what it is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from lockstep.certify import numbers
from lockstep.certify.adapters.adapter import Description, Resolved
from lockstep.certify.adapters.openai import listed_model, text_of
from lockstep.certify.adapters.vllm import VLLM
from lockstep.certify.ask import member

if TYPE_CHECKING:
    from lockstep.certify.client import Client

_TOLD = (
    ("backend", "backend"),
    ("dtype", "dtype"),
    ("mode", "mode"),
    ("pool.blocks", "pool-blocks"),
    ("pool.block_size", "block-size"),
    ("driving.policy", "policy"),
    ("driving.max_batch", "max-batch"),
    ("driving.chunk_tokens", "chunk-tokens"),
    ("driving.seed", "seed"),
)
"""Members of /version, and the option that each is asked for by."""


class Lockstep(VLLM):
    """A server of Lockstep's own."""

    name = "lockstep"
    distributions = ("lockstep-llm", "numpy", "starlette", "torch", "triton", "uvicorn")
    startup = re.compile(r"^lockstep: |started")
    startup_version = re.compile(r"\blockstep (?P<version>[0-9][0-9A-Za-z.+_-]*)")

    async def describe(self, client: Client) -> Description:
        """Read /version, which is read back from what computes."""
        version = await client.document("/version")
        entry = await listed_model(client, self.model)
        told = [
            Resolved(name, value, "/version")
            for path, name in _TOLD
            if (value := text_of(version, path)) is not None
        ]
        cached = numbers.at(version, "driving.prefix_cache")
        if isinstance(cached, bool):
            told.append(Resolved("prefix_cache", "on" if cached else "off", "/version"))
        told.append(Resolved("fault", text_of(version, "fault") or "none", "/version"))
        return Description(
            version=text_of(version, "version"),
            version_source="/version",
            model=_model(version),
            model_source="/version",
            context=numbers.as_integer(member(entry, "max_model_len")),
            block_size=numbers.as_integer(numbers.at(version, "pool.block_size")),
            chunk=numbers.as_integer(numbers.at(version, "driving.chunk_tokens")),
            settings=tuple(told),
        )

    def resolved_by(self, lines: tuple[str, ...]) -> tuple[Resolved, ...]:
        """Give nothing: /version tells all."""
        return ()


def _model(version: Any) -> str | None:
    name, digest = text_of(version, "model.name"), text_of(version, "model.sha256")
    return f"{name} sha256:{digest}" if name and digest else name
