"""All adapters, by name."""

from __future__ import annotations

from lockstep import spec
from lockstep.certify.adapters.adapter import Adapter
from lockstep.certify.adapters.llamacpp import LlamaCpp
from lockstep.certify.adapters.lockstep import Lockstep
from lockstep.certify.adapters.openai import OpenAI
from lockstep.certify.adapters.sglang import SGLang
from lockstep.certify.adapters.tgi import TGI
from lockstep.certify.adapters.transformers import Transformers
from lockstep.certify.adapters.vllm import VLLM

ADAPTERS: dict[str, type[Adapter]] = {
    one.name: one for one in (OpenAI, Lockstep, VLLM, SGLang, LlamaCpp, Transformers, TGI)
}


def is_verified(name: str, gauge: str | None = None) -> bool:
    """Whether a certificate of a real server of this kind is published, by the specification.

    Args:
        name: of the adapter.
        gauge: that is polled; one of the user's own is not what was verified [CERT-23].
    """
    entries = {one["name"]: one for one in spec.load("certification.json")["adapters"]}
    return bool(entries[name]["verified"]) and gauge in (None, *entries[name]["running"])
