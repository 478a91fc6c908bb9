"""A workshop for certificates: keys, policies, a tiny claim kind and whatever a test breaks."""

import base64
import hashlib
import json
import pickle
import runpy
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from lockstep_verify import derive, lcj, spec, trust
from lockstep_verify.derive import Derivation, Options
from lockstep_verify.ed25519 import key_id, pre_authentication_encoding
from lockstep_verify.envelope import PAYLOAD_TYPE
from lockstep_verify.errors import Refusal
from lockstep_verify.times import seconds
from lockstep_verify.verify import Verification

KIND = "urn:lockstep:certificate:tiny:v1"
OTHER_KIND = "urn:lockstep:certificate:other:v1"
NOW = "2026-06-01T00:00:00Z"
TINY = {
    "type": "object",
    "additionalProperties": False,
    "required": ["issued_at", "critical", "terms", "sum", "exact", "note"],
    "properties": {
        "critical": {"type": "array", "items": {"type": "string"}, "maxItems": 16},
        "exact": {"type": ["boolean", "null"], "x-class": "derived"},
        "issued_at": {"type": "string", "x-class": "attested"},
        "note": {"type": "string", "maxLength": 100000},
        "sum": {"type": "integer", "x-class": "derived"},
        "terms": {
            "type": "array",
            "x-class": "witnessed",
            "maxItems": 1000,
            "items": {"type": "integer", "minimum": 0},
        },
    },
}


def derive_tiny(statement, options):
    predicate = statement["predicate"]
    total = sum(predicate["terms"])
    if predicate["sum"] != total:
        got = predicate["sum"]
        raise Refusal("H10_COUNTS_DO_NOT_RECOMPUTE", "/predicate/sum", total, got)
    return Derivation("SUMS", {"terms": len(predicate["terms"])}, (f"note: {predicate['note']}",))


class Signer:
    """A key pair made from a seed, so that tests repeat."""

    def __init__(self, name, owner=None):
        self.name, self.owner = name, owner or name
        self.private = Ed25519PrivateKey.from_private_bytes(hashlib.sha256(name.encode()).digest())
        self.public = self.private.public_key().public_bytes_raw()
        self.keyid = key_id(self.public)

    def entry(self, **changes):
        return {
            "name": self.name,
            "owner": self.owner,
            "public": self.public.hex(),
            "roles": ["claimant"],
            "not_before": "2026-01-01T00:00:00Z",
            "not_after": "2027-01-01T00:00:00Z",
            "revoked_at": None,
            **changes,
        }

    def sign(self, payload, payload_type=PAYLOAD_TYPE):
        return self.private.sign(pre_authentication_encoding(payload_type, payload))


class Workshop:
    """Makes valid documents; a test changes one thing and states the code."""

    def __init__(self):
        self.ann, self.bob, self.eve = Signer("ann"), Signer("bob"), Signer("eve")

    def statement(self, **predicate):
        return {
            "_type": "https://in-toto.io/Statement/v1",
            "subject": [{"name": "spec", "digest": {"sha256": spec.digest("tiny")}}],
            "predicateType": KIND,
            "predicate": {
                "issued_at": "2026-05-01T00:00:00Z",
                "critical": [],
                "terms": [1, 2, 3],
                "sum": 6,
                "exact": None,
                "note": "",
                **predicate,
            },
        }

    def signature(self, signer, payload, **changes):
        sig = base64.b64encode(signer.sign(payload)).decode()
        return {"keyid": signer.keyid, "sig": sig, **changes}

    def envelope(self, payload=None, signers=None, **changes):
        payload = lcj.encode(self.statement()) if payload is None else payload
        signatures = [self.signature(s, payload) for s in (signers or [self.ann])]
        return {
            "payload": base64.b64encode(payload).decode(),
            "payloadType": PAYLOAD_TYPE,
            "signatures": sorted(signatures, key=lambda s: s["keyid"]),
            **changes,
        }

    def certificate(self, payload=None, signers=None, **changes):
        return lcj.encode(self.envelope(payload, signers, **changes))

    def policy(self, keys=None, **changes):
        keys = [self.ann.entry(), self.bob.entry()] if keys is None else keys
        rule = {"predicateType": KIND, "roles": ["claimant"], "threshold": 1, "max_age_days": None}
        return {
            "version": 1,
            "expires": "2027-01-01T00:00:00Z",
            "keys": keys,
            "rules": [rule],
            "limits": {"envelope_bytes": 17 << 20, "payload_bytes": 12 << 20},
            "floors": [],
            **changes,
        }

    def rule(self, **changes):
        return [{**self.policy()["rules"][0], **changes}]

    def judge(self, data, policy=None, at=NOW, subject=None):
        """Give the result for certificate bytes under a policy document (False: no policy)."""
        loaded = None
        if policy is not False:
            loaded = trust.load(lcj.encode(self.policy() if policy is None else policy))
        return Verification("it", loaded, seconds(at), Options(), subject).run(data)

    def judge_statement(self, statement, **arguments):
        return self.judge(self.certificate(lcj.encode(statement)), **arguments)


@pytest.fixture
def shop(tmp_path, monkeypatch):
    """A workshop, with the tiny kind registered for the length of a test."""
    folder = tmp_path / "spec"
    (folder / "schemas").mkdir(parents=True)
    for name in ("errors.json", "schemas/trust.schema.json"):
        (folder / name).write_bytes(spec.read(name))
    for kind in ("tiny", "other"):
        (folder / "schemas" / f"{kind}.schema.json").write_text(json.dumps(TINY))
    real = spec.root()
    monkeypatch.setattr(spec, "root", lambda: str(folder))
    spec.load.cache_clear()
    for kind in ("tiny", "other"):
        module = ModuleType(f"lockstep_verify.derive.{kind}")
        module.derive = derive_tiny
        monkeypatch.setitem(__import__("sys").modules, module.__name__, module)
    monkeypatch.setattr(derive, "KINDS", {KIND: "tiny", OTHER_KIND: "other"})
    yield Workshop()
    spec.load.cache_clear()
    assert Path(real).is_dir()


@pytest.fixture
def refuses():
    """Call a function and give the code, or the whole refusal, that it raises."""

    def call(function, *arguments):
        with pytest.raises(Refusal) as caught:
            function(*arguments)
        return caught.value.code

    return call


FOILS = [
    ("a-verdict-relabelled", "H2_VERDICT_NOT_DERIVED"),
    ("a-proof-deleted", "H3_PROOF_MISSING"),
]


@pytest.fixture(scope="session")
def by_hand():
    """The reading of the layout and hunt rules by enumeration, `hunt_by_hand.py`."""
    return SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("hunt_by_hand.py"))))


@pytest.fixture(scope="session")
def bench():
    """Statements of relations between executions, to be broken, `invariance_bench.py`."""
    return SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("invariance_bench.py"))))


@pytest.fixture(scope="session")
def whole_invariance(bench):
    """The statement of records that all hold, as bytes to be read anew by each test."""
    path = Path(__file__).parents[1] / "invariance_records.py"
    return pickle.dumps(bench.fold(runpy.run_path(str(path))["Records"]()))


@pytest.fixture
def stated(whole_invariance):
    """A statement of relations between executions that is for a test to break."""
    return pickle.loads(whole_invariance)


@pytest.fixture
def foils(monkeypatch):
    """Two registered falsifications in the place of those of the spec."""
    from lockstep_verify.derive import hunt_totals

    text = "".join(f'[[falsification]]\nname = "{n}"\nexpected = "{c}"\n' for n, c in FOILS)
    read = spec.read
    hunt_totals.registered.cache_clear()
    monkeypatch.setattr(
        spec, "read", lambda path: text.encode() if path == "falsifications.toml" else read(path)
    )
    yield FOILS
    hunt_totals.registered.cache_clear()
