"""The certificate's cells as JUnit XML: one testcase a cell, whatever came of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from lockstep.certify.report import POSITIVE, message, name, seconds

_FORM = {
    "clean": None,
    "divergent": "failure",
    "first_run_only": "failure",
    "malformed": "failure",
    "error": "error",
    "hang": "error",
    "missing": "skipped",
    "not_cached": "skipped",
    "not_batched": "skipped",
    "not_alone": "skipped",
    "not_run": "skipped",
}


def junit(predicate: Mapping[str, Any]) -> bytes:
    """Give the report of a predicate, in UTF-8.

    A cell that was not scored is skipped, or an error where a request failed or hung. A positive
    control is there to differ: it passes where it was scored.
    """
    suites = Element("testsuites", name="lockstep certify")
    suite = SubElement(suites, "testsuite", name=predicate["plan"]["observable"])
    told: Counter[str] = Counter()
    for cell in predicate["cells"]:
        case = SubElement(
            suite, "testcase", classname=cell["case"], name=name(cell), time=seconds(cell)
        )
        form = _FORM[cell["verdict"]]
        if cell["control"] in POSITIVE and form == "failure":
            form = None if cell["verdict"] != "malformed" else "skipped"
        if form is not None:
            told[form] += 1
            inner = SubElement(case, form, message=message(cell))
            if form != "skipped":
                inner.set("type", cell["verdict"])
    numbers = {
        "tests": len(predicate["cells"]),
        "failures": told["failure"],
        "errors": told["error"],
        "skipped": told["skipped"],
    }
    for label, number in numbers.items():
        suites.set(label, str(number))
        suite.set(label, str(number))
    suite.set("timestamp", predicate["issued_at"].removesuffix("Z"))
    properties = Element("properties")
    for label in ("verdict", "subject_sha256"):
        SubElement(properties, "property", name=label, value=str(predicate[label]))
    for limit in predicate["limits"]:
        SubElement(properties, "property", name="limit", value=limit)
    suite.insert(0, properties)
    indent(suites)
    text: bytes = tostring(suites, "utf-8")
    return b'<?xml version="1.0" encoding="UTF-8"?>\n' + text + b"\n"
