"""Write the cases of sampling, and the document that its certificates come from.

Usage: python tools/sampling_cases [--check]

What is known of upstream's answers are outcomes of its own code (tests/sampling/upstream); those of
sampling/v1 are the producer's, and each reason is written here by hand and compared with them. The
verifier, which shares no line with the producer, has no part in it.
"""

from __future__ import annotations

import itertools
import json
import re
import sys
from typing import Any

import functions
import sequences
import supports
from certificates import of_certificates
from changes import edit, of_min_p, of_sequence, of_whole
from vector import ROOT, V1, Vector

CASES = ROOT / "spec/cases/sampling.toml"
DOCUMENTS = ROOT / "spec/cases/documents"
HEAD = """# The sampler: functions of both profiles, positions, sequences, certificates.
#
# Written by tools/sampling_cases, and reviewed like the rest. DIVERGENCES.md has the defects of
# upstream that cases named `upstream` keep, and that the same case of sampling/v1 refuses.
"""
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def toml(value: Any) -> str:
    """Write a value as TOML on one line; null is a name that cases resolve."""
    if value is None:
        return '"$null"'
    if isinstance(value, dict):
        pairs = (f"{k if _BARE.fullmatch(k) else toml(k)} = {toml(v)}" for k, v in value.items())
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    text = json.dumps(value, ensure_ascii=False)
    return "".join(c if " " <= c <= "~" else f"\\U{ord(c):08x}" for c in text)


def case(entry: dict[str, Any]) -> str:
    """Write one case."""
    lines = [f"{name} = {toml(value)}" for name, value in entry.items()]
    return "\n".join(["", "[[case]]", *lines, ""])


def of_function(vector: Vector) -> dict[str, Any]:
    """Give the case of a vector of one function."""
    entry: dict[str, Any] = {"id": vector.name, "rule": vector.rule, "note": vector.note}
    if vector.flags:
        entry["flags"] = list(vector.flags)
    known: dict[str, Any] = {"code": "BAD_VALUE"}
    if vector.value is not None:
        known = {"expect": {"value": vector.value}}
    return {**entry, **known, "scenario": {"op": vector.op, **vector.inputs}}


def of_sequences() -> list[dict[str, Any]]:
    """Give the cases of sequences of sampling/v1: honest ones, and changes of the first."""
    found = []
    for name in sequences.REQUESTS:
        one = sequences.honest(name)
        value = sequences.told(one)
        assert value["verdict"] == "honest", value  # noqa: S101 - an honest executor's
        scenario = {"op": "sampling_sequence", "profile": V1, **one}
        note = f"An honest sequence under the support rule {one['artifact']['support']}."
        found.append({"id": f"sequence-{name}", "rule": "SAMP-34", "note": note,
                      "expect": {"value": value}, "scenario": scenario})  # fmt: skip
    one = sequences.honest("top-k")
    # Texts are tried at a position, whose vectors are shorter.
    texts = re.compile(r"(token|number)-[0-9]+")
    changes = [("top-k", each) for each in of_sequence(one) if not texts.fullmatch(each.name)]
    changes += [("whole", change) for change in of_whole(sequences.honest("whole"))]
    changes += [("min-p", change) for change in of_min_p(sequences.honest("min-p"))]
    for name, change in changes:
        value = sequences.told(sequences.changed(sequences.honest(name), change.at, change.value))
        assert value["reason"] == change.reason, (change, value)  # noqa: S101 - as written by hand
        found.append({"id": f"sequence-{change.name}", "parent": f"sequence-{name}",
                      "rule": change.rule, "note": change.note, "expect": {"value": value},
                      "edits": [edit(change.at, change.value)]})  # fmt: skip
    return [*found, *of_positions(one)]


def of_positions(one: dict[str, Any]) -> list[dict[str, Any]]:
    """Give the cases of one position: honest, and what the changes of a sequence do to it."""
    signed = one["artifact"]["positions"][1]
    scenario = {"op": "sampling_position", "profile": V1, "request": one["request"],
                "choice": one["choice"], "position": 1, **signed}  # fmt: skip
    found = [{"id": "position-honest", "rule": "SAMP-33", "note": "An honest position.",
              "expect": {"value": {"reason": ""}}, "scenario": scenario}]  # fmt: skip
    for change in of_sequence(one):
        at = change.at.removeprefix("/artifact/positions/1")
        if at in ("/token", "/support") or at.startswith("/support/"):
            found.append({"id": f"position-{change.name}", "parent": "position-honest",
                          "rule": change.rule, "note": change.note,
                          "expect": {"value": {"reason": change.reason}},
                          "edits": [edit(at, change.value)]})  # fmt: skip
    return found


def main() -> None:
    """Write the cases and the document, or say by the exit status whether they are as committed."""
    made = itertools.chain(
        functions.draws(), functions.seeds(), functions.powers(), supports.weighed_by_upstream(),
        supports.weighed(), functions.scans(), sequences.upstream_sequences(),
    )  # fmt: skip
    greedy = sequences.honest("whole")
    greedy["request"] |= {"inference_id": "chain-greedy", "temperature": "0"}
    parts = (sequences.honest("top-k"), sequences.honest("top-k", 1), sequences.honest("whole"))
    statement = sequences.statement(*parts, greedy)
    entries = [*of_certificates(statement), *map(of_function, made), *of_sequences()]
    texts = {
        CASES: HEAD + "".join(map(case, entries)),
        DOCUMENTS / "sampling.json": json.dumps(statement, indent=1) + "\n",
    }
    if sys.argv[1:] == ["--check"]:
        sys.exit(any(path.read_text("ascii") != text for path, text in texts.items()))
    for path, text in texts.items():
        path.write_text(text, "ascii")
    print(f"{len(entries)} cases")


if __name__ == "__main__":
    main()
