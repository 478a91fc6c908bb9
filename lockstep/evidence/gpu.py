"""Certificates of the engine on a GPU: their names, their key and their figures."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from lockstep.evidence.figures import FIGURES
from lockstep.evidence.index import at_pointer, statement_of
from lockstep.evidence.make import MAKERS

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

BACKEND = "triton"
KINDS = ("invariance", "fidelity", "replay")
"""Kinds of claim about the engine; others say nothing of a device."""
DIGEST_DIGITS = 8
"""Hex digits of the binding's digest in a name, which tell two environments of a device apart."""


def makers() -> dict[str, str]:
    """Give the kinds that are made, each with the name of its certificate on a CPU."""
    names = {kind: f"{kind}.cert.json" for kind in KINDS}
    return {kind: name for kind, name in names.items() if name in MAKERS}


def label(device: str, binding_sha256: str) -> str:
    """Name an environment: the device, and what else can change the bits, by digest.

    Args:
        device: as its driver calls it.
        binding_sha256: of the backend's binding settings [TUPLE-4].
    """
    words = re.findall("[a-z0-9]+", device.lower()) or ["device"]
    return "-".join([*words, binding_sha256[:DIGEST_DIGITS]])


def file_name(kind: str, labelled: str) -> str:
    """Name a certificate so that it says where it was made."""
    return f"{kind}-gpu-{labelled}.cert.json"


def policy_with(
    policy: dict[str, Any], key: Ed25519PrivateKey, labelled: str, span: tuple[str, str]
) -> dict[str, Any]:
    """Give a policy that also trusts the key of this environment, in the place of an earlier one.

    Args:
        policy: the one until now.
        key: what the new certificates are signed with.
        labelled: the environment's label.
        span: from and to when the key may sign.
    """
    from lockstep.certificate.keys import sole_policy

    name = f"gpu-{labelled}"
    own = sole_policy(key.public_key(), name, "lockstep", span)
    ruled = {rule["predicateType"] for rule in policy["rules"]}
    return {
        **policy,
        "version": policy["version"] + 1,
        "keys": [entry for entry in policy["keys"] if entry["name"] != name] + own["keys"],
        "rules": policy["rules"]
        + [rule for rule in own["rules"] if rule["predicateType"] not in ruled],
    }


def index_with(
    index: dict[str, Any], certificates: dict[str, bytes], labelled: str
) -> dict[str, Any]:
    """Give an index that also has the figures of these certificates, under ids of their own.

    Args:
        index: the one until now.
        certificates: bytes by kind.
        labelled: the environment's label.
    """
    figures = dict(index["figures"])
    for kind, data in certificates.items():
        statement = statement_of(data)
        for name, pointer in FIGURES[makers()[kind]]:
            figures[f"gpu-{labelled}-{name}"] = {
                "file": file_name(kind, labelled),
                "pointer": pointer,
                "value": at_pointer(statement, pointer),
            }
    return {**index, "figures": figures}
