"""Certificates of real servers in a folder of evidence: keys, figures, and earlier ones' places."""

from __future__ import annotations

from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from lockstep.certificate.envelope import sign_statement
from lockstep.certificate.keys import sole_policy
from lockstep.certify.issue import issue_certification
from lockstep.evidence import peers
from tests.certification_records import seen
from tests.observed_layouts import layout, observed
from tests.observed_layouts import seen as seen_layout

SPAN = ("2026-01-01T00:00:00Z", "2036-01-01T00:00:00Z")
KEY = Ed25519PrivateKey.generate()
FILE = "certification-vllm.cert.json"
SMALLEST = "certification-vllm-smallest.cert.json"


@pytest.fixture(scope="module")
def certificate() -> bytes:
    made = issue_certification(seen(), [KEY], issued_at="2026-06-01T00:00:00Z", command="test")
    return made.certificate


@pytest.mark.parametrize(
    ("file", "peer"),
    [
        (FILE, "vllm"),
        (SMALLEST, "vllm"),
        ("layout-observation-vllm-cpu.cert.json", "vllm"),
        ("layout-observation.cert.json", None),
        ("certification-builtin.cert.json", "builtin"),
        ("replay.cert.json", None),
        ("certification-.cert.json", None),
    ],
)
def test_which_peer_a_file_is_of(file: str, peer: str | None) -> None:
    assert peers.peer_of(file) == peer


def test_a_key_takes_the_place_of_the_peers_earlier_one_alone() -> None:
    before = sole_policy(Ed25519PrivateKey.generate().public_key(), "evidence", "lockstep", SPAN)
    policy = before
    for peer in ("vllm", "llamacpp", "vllm"):
        public = Ed25519PrivateKey.generate().public_key()
        policy = peers.policy_with(policy, public, peer, SPAN)
    assert [key["name"] for key in policy["keys"]] == ["evidence", "peer-llamacpp", "peer-vllm"]
    assert policy["version"] == before["version"] + 3
    assert policy["rules"] == before["rules"]


def test_figures_are_those_of_the_certificates_and_earlier_ones_go(certificate: bytes) -> None:
    other = {"file": "replay.cert.json", "pointer": "/predicate/counts/steps", "value": 1}
    index: dict[str, Any] = {"version": 1, "figures": {"replay-steps": other}}
    both = peers.index_with(index, {FILE: certificate, SMALLEST: certificate}, "vllm")
    assert len(both["figures"]) == 1 + 2 * len(peers.FIGURES["certification"])
    assert both["figures"]["peer-vllm-smallest-verdict"]["file"] == SMALLEST
    one = peers.index_with(both, {FILE: certificate}, "vllm")
    assert {entry["file"] for entry in one["figures"].values()} == {FILE, "replay.cert.json"}
    assert one["figures"]["replay-steps"] == other
    assert one["figures"]["peer-vllm-pairs"]["value"] > 0


def test_figures_of_a_cache_stand_beside_those_of_the_server(certificate: bytes) -> None:
    observed = observed_certificate()
    index = peers.index_with(
        {"version": 1, "figures": {}},
        {FILE: certificate, "layout-observation-vllm-cpu.cert.json": observed},
        "vllm",
    )
    own = index["figures"]["peer-vllm-cpu-observed-matches"]
    assert own == {
        "file": "layout-observation-vllm-cpu.cert.json",
        "pointer": "/predicate/counts/matches",
        "value": 1,
    }
    assert len(index["figures"]) == sum(map(len, peers.FIGURES.values()))


def observed_certificate() -> bytes:
    made = observed(seen_layout(layout("huggingface/hf-dynamic")))
    return sign_statement(made, [KEY])
