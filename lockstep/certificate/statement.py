"""The in-toto Statement that is signed, and its subjects [STMT-1, STMT-9]."""

import hashlib
from typing import Any

from lockstep import spec
from lockstep.certificate import lcj

KINDS = (
    "hunt",
    "lean",
    "smt",
    "invariance",
    "fidelity",
    "replay",
    "campaign",
    "finding",
    "mutation",
    "certification",
    "sampling",
    "detection",
    "throughput",
    "distance-calibration",
    "sampling-experiments",
    "measurement",
    "withdrawal",
    "layout-observation",
)
"""The claim kinds that this package makes."""
STATEMENT_TYPE = "https://in-toto.io/Statement/v1"


def predicate_type(kind: str) -> str:
    """Give the predicateType of a claim kind in version 1."""
    return f"urn:lockstep:certificate:{kind}:v1"


def subject(name: str, sha256: str) -> dict[str, Any]:
    """Give one subject by its name and hex SHA-256."""
    return {"name": name, "digest": {"sha256": sha256}}


def hunt_subjects(predicate: dict[str, Any]) -> list[dict[str, Any]]:
    """Give the subjects of a hunt: the spec that it follows and the layout files [HUNT-16]."""
    sources = {
        layout["source"]["path"]: layout["source"]["sha256"] for layout in predicate["layouts"]
    }
    layouts = hashlib.sha256(lcj.encode(sources)).hexdigest()
    return [subject("spec", spec.digest("hunt")), subject("layouts", layouts)]


def lean_subjects(predicate: dict[str, Any]) -> list[dict[str, Any]]:
    """Give the subjects of a build of the lemmas: the spec and the sources [LEAN-7]."""
    sources = {module["path"]: module["sha256"] for module in predicate["modules"]}
    digest = hashlib.sha256(lcj.encode(sources)).hexdigest()
    return [subject("spec", spec.digest("lean")), subject("sources", digest)]


def smt_subjects(predicate: dict[str, Any]) -> list[dict[str, Any]]:
    """Give the subjects of proofs by SMT: the spec and the declared layouts [SMT-13]."""
    layouts = hashlib.sha256(lcj.encode({"layouts": predicate["layouts"]})).hexdigest()
    return [subject("spec", spec.digest("smt")), subject("layouts", layouts)]


def model_subjects(kind: str, predicate: dict[str, Any]) -> list[dict[str, Any]]:
    """Give the subjects of a claim about one model: the spec and the model [FID-10]."""
    return [subject("spec", spec.digest(kind)), subject("model", predicate["model"]["sha256"])]


def replay_subjects(predicate: dict[str, Any]) -> list[dict[str, Any]]:
    """Give the subjects of an execution: spec, model, workload and schedule [RPL-8]."""
    documents = [
        subject(name, hashlib.sha256(lcj.encode(predicate[name])).hexdigest())
        for name in ("workload", "schedule")
    ]
    return [*model_subjects("replay", predicate), *documents]


def certification_subjects(predicate: dict[str, Any]) -> list[dict[str, Any]]:
    """Give the subjects of a certified server: spec and server [CERT-19]."""
    return [
        subject("spec", spec.digest("certification")),
        subject("server", predicate["subject_sha256"]),
    ]


def detection_subjects(predicate: dict[str, Any]) -> list[dict[str, Any]]:
    """Give the subjects of what the certifier detects: spec and certificates [DET-20]."""
    held = {
        one["name"]: one["certificate"] and one["certificate"]["sha256"]
        for one in predicate["trials"]
    }
    digest = hashlib.sha256(lcj.encode(held)).hexdigest()
    return [subject("spec", spec.digest("detection")), subject("trials", digest)]


def finding_subjects(predicate: dict[str, Any]) -> list[dict[str, Any]]:
    """Give the subjects of a finding: spec, model and case [FIND-11]."""
    return [*model_subjects("finding", predicate), subject("case", predicate["case_sha256"])]


def sampling_subjects(predicate: dict[str, Any]) -> list[dict[str, Any]]:
    """Give the subjects of judged sequences: spec and the requests, each once [SAMP-40]."""
    requests = {one["request"]["inference_id"]: one["request"] for one in predicate["sequences"]}
    digest = hashlib.sha256(lcj.encode(list(requests.values()))).hexdigest()
    return [subject("spec", spec.digest("sampling")), subject("requests", digest)]


def throughput_subjects(predicate: dict[str, Any]) -> list[dict[str, Any]]:
    """Give the subjects of a comparison of servers: spec and arms [THR-14]."""
    return [
        subject("spec", spec.digest("throughput")),
        subject("arms", predicate["arms_sha256"]),
    ]


def measurement_subjects(predicate: dict[str, Any]) -> list[dict[str, Any]]:
    """Give the subjects of measurements: spec and records [MEAS-15]."""
    digest = hashlib.sha256(lcj.encode({"records": predicate["records"]})).hexdigest()
    return [subject("spec", spec.digest("measurement")), subject("records", digest)]


def withdrawal_subjects(predicate: dict[str, Any]) -> list[dict[str, Any]]:
    """Give the subjects of a withdrawal: spec and the certificate [WDR-2]."""
    target = predicate["certificate"]["payload_sha256"]
    return [subject("spec", spec.digest("withdrawal")), subject("certificate", target)]


def observation_subjects(predicate: dict[str, Any]) -> list[dict[str, Any]]:
    """Give the subjects of an observation: spec, the layout files and the engine [OBS-9]."""
    sources = {one["source"]["path"]: one["source"]["sha256"] for one in predicate["layouts"]}
    layouts = hashlib.sha256(lcj.encode(sources)).hexdigest()
    engine = hashlib.sha256(lcj.encode(predicate["engine"])).hexdigest()
    return [
        subject("spec", spec.digest("layout-observation")),
        subject("layouts", layouts),
        subject("engine", engine),
    ]


def distance_subjects(predicate: dict[str, Any], calibration: str) -> list[dict[str, Any]]:
    """Give the subjects of a calibration: spec, model, and its own digest [DIST-19]."""
    return [
        *model_subjects("distance-calibration", predicate),
        subject("calibration", calibration),
    ]


def experiments_subjects(predicate: dict[str, Any], observations: str) -> list[dict[str, Any]]:
    """Give the subjects of experiments: spec, model, and what was observed [EXP-15]."""
    return [
        *model_subjects("sampling-experiments", predicate),
        subject("observations", observations),
    ]


def statement(
    kind: str, subjects: list[dict[str, Any]], predicate: dict[str, Any]
) -> dict[str, Any]:
    """Wrap a predicate in a Statement v1."""
    return {
        "_type": STATEMENT_TYPE,
        "subject": subjects,
        "predicateType": predicate_type(kind),
        "predicate": predicate,
    }
