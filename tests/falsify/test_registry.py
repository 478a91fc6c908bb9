"""The list of falsifications against the schema, the registry of codes and the published one."""

import json
import re
import tomllib
from pathlib import Path

from lockstep import spec
from lockstep.errors import registry
from lockstep.falsify import (
    content,
    declarations,
    engines,
    envelopes,
    lemmas,
    payload_text,
    surroundings,
)
from lockstep.falsify.forge import Forge
from lockstep.falsify.registry import entries, placeholders
from lockstep.falsify.run import trials

ROOT = Path(__file__).parents[2]


def document():
    return tomllib.loads(spec.read("falsifications.toml").decode())


def test_names_and_codes_match_the_schema():
    schema = spec.load("schemas/hunt.schema.json")["$defs"]
    names = schema["falsification"]["properties"]["name"]
    assert len({entry.name for entry in entries()}) == len(entries())
    for entry in entries():
        assert re.fullmatch(names["pattern"], entry.name) and len(entry.name) <= names["maxLength"]
        assert re.fullmatch(schema["code"]["pattern"], entry.expected)
    most = spec.load("schemas/hunt.schema.json")["properties"]["falsifications"]["maxItems"]
    assert len(entries()) <= most
    assert set(placeholders()[0]) == set(schema["falsification"]["required"])


def test_every_expected_code_is_registered_or_a_verdict():
    known = {*registry(), *spec.load("hunt.json")["verdicts"], "OK"}
    assert {entry.expected for entry in entries()} <= known
    assert set(document()) == {"falsification"}


def test_verdicts_that_must_not_change_are_said_of_the_verifier_alone():
    assert {entry.origin for entry in entries() if entry.expected == "OK"} == {"verifier"}
    assert {entry.origin for entry in entries()} == {"published", "attack", "verifier"}


def test_cited_rules_exist():
    text = "".join(path.read_text() for path in (ROOT / "spec").glob("*.md"))
    for entry in entries():
        assert f"[{entry.rule}]" in text, entry.rule


def test_the_published_ones_come_first_in_their_order_with_their_codes():
    published = json.loads((ROOT / "conformance/published/seed-004.json").read_text())
    wanted = [
        (foil["name"].removeprefix("verifier:"), foil["declared_guard"].split("@")[0])
        for foil in published["falsifications"]
    ]
    ours = entries()[: len(wanted)]
    assert [(entry.name, entry.seed_code) for entry in ours] == wanted
    assert {entry.origin for entry in ours} == {"published"}
    assert not any(entry.seed_code for entry in entries()[len(wanted) :])


def test_the_file_keeps_to_one_line_strings():
    # Readers without a TOML library rely on it.
    for line in spec.read("falsifications.toml").decode().splitlines():
        plain = re.fullmatch(r'(#.*|\[\[[a-z_]+\]\]|[a-z_]+ = "[^"\\]*"|)', line)
        assert plain, line


def test_each_one_is_carried_out_in_one_place(small_draft, arguments):
    held = [
        *engines.OUTCOMES,
        *content.MUTATIONS,
        *declarations.MUTATIONS,
        *payload_text.EDITS,
        *envelopes.MADE,
        *lemmas.MUTATIONS,
        *surroundings.CONDITIONS,
    ]
    assert len(held) == len(set(held))
    draft, subjects, issued_at = arguments(small_draft)
    statement = {"_type": "", "subject": subjects, "predicateType": "", "predicate": draft}
    carried = {trial.name.split("/")[0] for trial in trials(Forge(statement, issued_at))}
    assert carried | set(engines.OUTCOMES) == {
        "the-draft-itself",
        "the-lemmas-themselves",
        *(entry.name for entry in entries()),
    }
