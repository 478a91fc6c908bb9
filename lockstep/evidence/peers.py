"""Certificates of real servers and of their caches: their names, their keys and their figures.

They are made where the servers are, which is not everywhere; `make evidence` keeps them as they
are. Each peer's have a key of their own, so that one peer can be certified anew by itself.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from lockstep.certificate.keys import sole_policy
from lockstep.evidence.index import at_pointer, statement_of

NAME = re.compile(
    r"(?P<kind>certification|layout-observation)-"
    r"(?P<run>(?P<peer>[a-z0-9]+)(-[a-z0-9-]+)?)\.cert\.json"
)
"""A certificate's file: its kind, the peer, and which of its runs, where it has several."""
FIGURES = {
    "certification": (
        ("verdict", "/predicate/verdict"),
        ("cells", "/predicate/counts/cells_run"),
        ("cells-divergent", "/predicate/counts/cells_divergent"),
        ("lifetimes", "/predicate/counts/lifetimes"),
        ("rounds", "/predicate/counts/rounds_scored"),
        ("pairs", "/predicate/counts/pairs"),
        ("pairs-differing", "/predicate/counts/pairs_differing"),
    ),
    "layout-observation": (
        ("observed-matches", "/predicate/counts/matches"),
        ("observed-differs", "/predicate/counts/differs"),
        ("observed-elements", "/predicate/counts/elements"),
        ("observed-wrong", "/predicate/counts/wrong"),
    ),
}
"""What is published of each kind: (end of the id, pointer into the statement)."""


def policy_with(
    policy: dict[str, Any], public: Any, peer: str, span: tuple[str, str]
) -> dict[str, Any]:
    """Give a policy that also trusts the key of a peer's run, in the place of an earlier one.

    Args:
        policy: the one until now.
        public: key, Ed25519.
        peer: name of its adapter.
        span: from and to when the key may sign.
    """
    name = f"peer-{peer}"
    own = sole_policy(public, name, "lockstep", span)
    ruled = {rule["predicateType"] for rule in policy["rules"]}
    return {
        **policy,
        "version": policy["version"] + 1,
        "keys": [entry for entry in policy["keys"] if entry["name"] != name] + own["keys"],
        "rules": policy["rules"]
        + [rule for rule in own["rules"] if rule["predicateType"] not in ruled],
    }


def index_with(
    index: dict[str, Any], certificates: Mapping[str, bytes], peer: str
) -> dict[str, Any]:
    """Give an index that also has the figures of a peer's certificates, and no earlier ones of it.

    Args:
        index: the one until now.
        certificates: bytes by file name.
        peer: that they are of.

    Raises:
        ValueError: a name is no peer's certificate's.
    """
    figures = {
        name: entry for name, entry in index["figures"].items() if peer_of(entry["file"]) != peer
    }
    for file, data in certificates.items():
        match = NAME.fullmatch(file)
        if match is None:
            raise ValueError(f"{file} is no peer's certificate by its name")
        statement = statement_of(data)
        for end, pointer in FIGURES[match["kind"]]:
            figures[f"peer-{match['run']}-{end}"] = {
                "file": file,
                "pointer": pointer,
                "value": at_pointer(statement, pointer),
            }
    return {**index, "figures": figures}


def peer_of(file: str) -> str | None:
    """Give the peer that a certificate's file is of by its name; None for another file."""
    match = NAME.fullmatch(file)
    return match["peer"] if match else None
