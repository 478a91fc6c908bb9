"""The cases of sampling are what their tool writes, and reach what can be reached."""

import re
import subprocess
import sys

from lockstep import spec
from lockstep.vectors import cases

UNREACHED = {
    "SAMP-6": "whoever resolves a request gives it a seed",
    "SAMP-49": "what stands in for an artifact, which no verifier sees",
    "SAMP-48": "what trying seeds costs, which is shown in kind sampling-experiments",
    "SAMP-8": "how an executor writes a number, which no verifier sees",
    "SAMP-10": "every support has it",
    "SAMP-13": "every weight has it",
    "SAMP-26": "the shape of an artifact is the schema's",
    "SAMP-32": "limits are the schema's, and of payloads too long for a vector",
    "SAMP-41": "weights-upstream-… have it",
    "SAMP-44": "as SAMP-23",
}


def test_the_tool_writes_what_is_committed():
    tool = spec.root().parent / "tools" / "sampling_cases"
    command = [sys.executable, str(tool), "--check"]
    assert subprocess.run(command, check=False).returncode == 0


def test_every_rule_has_a_case_or_a_reason():
    text = (spec.root() / "sampling.md").read_text("utf-8")
    rules = set(re.findall(r"\*\*\[(SAMP-[0-9]+)\]\*\*", text))
    cited = {case.rule for case in cases.load("sampling")} & rules
    assert rules - cited == UNREACHED.keys()


def test_every_reason_has_a_case():
    reasons = {row["reason"] for row in spec.load("sampling.json")["reasons"]}
    seen = {case.expect.get("value", {}).get("reason") for case in cases.load("sampling")}
    assert reasons <= seen
