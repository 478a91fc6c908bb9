"""The certificate's cells as SARIF 2.1.0 (OASIS, sarif-v2.1.0-errata01)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from lockstep.certify.issue import exit_status
from lockstep.certify.report import POSITIVE, SAYS, Cell, message, name

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)

_LEVELS = {
    "divergent": "error",
    "malformed": "error",
    "hang": "error",
    "error": "error",
    "first_run_only": "warning",
}
"""Of a result whose kind is `fail`; any other kind has the level `none`."""


def sarif(predicate: Mapping[str, Any], certificate: str | None = None) -> bytes:
    """Give the report of a predicate, in UTF-8.

    Args:
        predicate: of the certificate.
        certificate: its file's name, to which results point; None where there is none.
    """
    rules = list(SAYS)
    told = {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "lockstep certify",
                        "version": predicate["producer"]["version"],
                        "rules": [
                            {
                                "id": rule,
                                "shortDescription": {"text": SAYS[rule]},
                                "defaultConfiguration": {"level": _LEVELS.get(rule, "none")},
                            }
                            for rule in rules
                        ],
                    }
                },
                "invocations": [
                    {
                        "executionSuccessful": True,
                        "exitCode": exit_status(predicate["verdict"]),
                        "endTimeUtc": predicate["issued_at"],
                    }
                ],
                "results": [
                    _result(index, cell, rules, certificate)
                    for index, cell in enumerate(predicate["cells"])
                ],
                "properties": {
                    "verdict": predicate["verdict"],
                    "subject_sha256": predicate["subject_sha256"],
                    "limits": predicate["limits"],
                },
            }
        ],
    }
    return json.dumps(told, indent=1, ensure_ascii=True).encode("ascii") + b"\n"


def _result(index: int, cell: Cell, rules: list[str], certificate: str | None) -> dict[str, Any]:
    level = _LEVELS.get(cell["verdict"], "none")
    kind = "fail"
    if cell["control"] in POSITIVE:
        # Such a cell is there to differ: what it shows is no finding.
        level, kind = "none", "informational"
    elif level == "none":
        kind = "pass" if cell["verdict"] == "clean" else "open"
    place: dict[str, Any] = {
        "logicalLocations": [
            {"fullyQualifiedName": f"{cell['case']}: {name(cell)}", "kind": "cell"}
        ]
    }
    if certificate is not None:
        place["physicalLocation"] = {"artifactLocation": {"uri": certificate}}
    return {
        "ruleId": cell["verdict"],
        "ruleIndex": rules.index(cell["verdict"]),
        "kind": kind,
        "level": level,
        "message": {"text": message(cell)},
        "locations": [place],
        "partialFingerprints": {"cell/v1": f"{index}:{cell['requests_sha256']}"},
    }
