"""Whose servers are asked: the user's own, and nobody else's."""

from __future__ import annotations

from urllib.parse import urlsplit

from lockstep.errors import LockstepError

HOSTED = (
    "ai21.com",
    "aleph-alpha.com",
    "aliyuncs.com",
    "anthropic.com",
    "anyscale.com",
    "azure.com",
    "baseten.co",
    "bigmodel.cn",
    "cerebras.ai",
    "cohere.ai",
    "cohere.com",
    "deepinfra.com",
    "deepseek.com",
    "fireworks.ai",
    "generativelanguage.googleapis.com",
    "github.ai",
    "groq.com",
    "hyperbolic.xyz",
    "inference.ai.azure.com",
    "lambda.ai",
    "minimax.io",
    "mistral.ai",
    "moonshot.ai",
    "moonshot.cn",
    "nebius.com",
    "novita.ai",
    "octo.ai",
    "openai.com",
    "openrouter.ai",
    "perplexity.ai",
    "replicate.com",
    "router.huggingface.co",
    "api-inference.huggingface.co",
    "sambanova.ai",
    "siliconflow.cn",
    "siliconflow.com",
    "stability.ai",
    "together.ai",
    "together.xyz",
    "volces.com",
    "writer.com",
    "x.ai",
    "z.ai",
)
"""Domains of providers whose servers are shared by their customers."""
_HOSTED_PARTS = ("bedrock", "aiplatform.googleapis.com", "nvidia.com")
"""Parts of host names of further ones, which stand among domains for other purposes."""


def require_own(url: str, controlled: bool) -> str:
    """Give the URL of a server in its plain form, after looking whose it is.

    Args:
        url: as given; `/v1` at its end is taken off.
        controlled: whether the user states that the server is under their control.

    Raises:
        LockstepError: USAGE, it is no URL of HTTP, or holds a password; ENDPOINT_NOT_CONTROLLED.
    """
    parts = urlsplit(url)
    try:
        host, _ = (parts.hostname or "").rstrip(".").lower(), parts.port
    except ValueError:
        host = ""
    if parts.scheme not in ("http", "https") or not host or parts.query or parts.fragment:
        raise LockstepError("USAGE", "--endpoint", "a URL as http://127.0.0.1:8000", None)
    if parts.username is not None or parts.password is not None:
        hint = "Name a variable by --api-key-env."
        raise LockstepError("USAGE", "--endpoint", "a URL without a password", None, hint)
    if is_hosted(host):
        hint = "Certify a server of your own; this one is shared with others, who would feel it."
        raise LockstepError("ENDPOINT_NOT_CONTROLLED", "--endpoint", "your own server", host, hint)
    if not controlled:
        hint = "Add --i-control-this-endpoint if it is so."
        raise LockstepError("ENDPOINT_NOT_CONTROLLED", "--endpoint", hint=hint)
    return url.rstrip("/").removesuffix("/v1")


def is_hosted(host: str) -> bool:
    """Whether a host is one of a provider's."""
    owned = any(host == domain or host.endswith(f".{domain}") for domain in HOSTED)
    return owned or any(part in host for part in _HOSTED_PARTS)
