"""The committed vectors are what the cases give, and they reach what can be reached."""

import hashlib
import json
import re
from collections import Counter
from itertools import product
from pathlib import Path

import pytest

from lockstep import spec
from lockstep.certificate.statement import KINDS
from lockstep.vectors import build, cases, edits
from lockstep.vectors.blob import Blob, difference, evaluate
from lockstep.vectors.cases import CaseError

FAMILIES = {
    "bytes", "json", "envelope", "signature", "trust", "statement", "derivation", "hunt",
    "proofs", "lifecycle", "schedule",
}  # fmt: skip
LARGEST_SET_BYTES = 8_000_000
"""All vectors: some 15 kinds of at most 400 kB each, and 2 MB of the sampler's functions."""


@pytest.mark.slow  # `make check` compares them too
def test_the_committed_vectors_are_what_the_cases_give():
    files = build.build()
    assert build.differences(files) == ()
    assert sum(map(len, files.values())) < LARGEST_SET_BYTES


def test_every_code_is_reached_or_listed_with_a_reason(held):
    reached = {vector["expect"]["code"] for vector in held.vectors}
    wanted = {e["code"] for e in spec.load("errors.json")["codes"] if e["family"] in FAMILIES}
    listed = build.unreached()
    assert wanted - reached == listed.keys()
    assert all(len(reason) > 20 for reason in listed.values())


def test_each_area_has_valid_and_refused_vectors(held):
    assert len(held.vectors) >= 250
    for area in cases.AREAS:
        codes = Counter(v["expect"]["code"] for v in held.vectors if v["area"] == area)
        assert codes["OK"] >= 2
        # A verdict is judged, never refused; its area is a table instead.
        refusals = 0 if area == "verdict" else 20
        assert sum(codes.values()) - codes["OK"] >= refusals


def test_the_readme_names_the_kinds_without_vectors():
    text = (spec.root().parent / "conformance/README.md").read_text("utf-8")
    told = text.partition("Kinds without vectors: ")[2].partition("\n")[0]
    assert set(re.findall(r"`([a-z-]+)`", told)) == set(KINDS) - set(cases.AREAS)


def test_the_manifest_counts_and_digests(held):
    manifest = json.loads((held.folder / "manifest.json").read_text())
    assert manifest["vectors"] == len(held.vectors)
    assert manifest["by_code"] == Counter(v["expect"]["code"] for v in held.vectors)
    assert manifest["by_area"] == Counter(v["area"] for v in held.vectors)


def test_every_assignment_of_observations_has_its_verdict(held):
    tables = [v["input"] for v in held.vectors if v["op"] == "verdict"]
    without_code = [tuple(i["observations"]) for i in tables if i["frontier_code"] is None]
    assert sorted(without_code, key=str) == sorted(product((True, False, None), repeat=4), key=str)
    codes = {i["frontier_code"] for i in tables} - {None}
    assert codes == set(spec.load("hunt.json")["frontier_codes"])


def test_a_refused_vector_has_a_parent_whose_digest_it_carries(held):
    for vector in held.vectors:
        if vector["mutation"] is None:
            assert vector["parent"] is None
            continue
        path = held.folder / f"{vector['parent']['id']}.json"
        assert hashlib.sha256(path.read_bytes()).hexdigest() == vector["parent"]["sha256"]


def test_each_rule_of_the_cited_families_exists(held):
    assert {vector["rule"] for vector in held.vectors} <= build.rules()


def test_no_two_vectors_send_the_same(held):
    sent = Counter(
        json.dumps({**request, "id": "", "area": ""}, sort_keys=True)
        for _, request in held.requests
    )
    # One text stands in two areas, for what each of them says of it.
    assert max(sent.values()) <= 2


def test_the_producer_runs_no_verifier_to_make_vectors():
    import lockstep.vectors as package

    for folder in package.__path__:
        for path in Path(folder).glob("*.py"):
            assert "lockstep_verify" not in path.read_text("utf-8"), path


@pytest.mark.parametrize(
    ("expression", "wanted"),
    [
        ({"text": "é"}, b"\xc3\xa9"),
        ({"hex": "00ff"}, b"\x00\xff"),
        ({"base64": "AP8="}, b"\x00\xff"),
        ({"concat": [{"text": "a"}, {"text": "b"}]}, b"ab"),
        ({"repeat": {"text": "ab"}, "times": 3}, b"ababab"),
        ({"base64_of": {"hex": "00ff"}}, b"AP8="),
        ({"splice": {"text": "abc"}, "at": 1, "delete": 1, "insert": {"text": "xy"}}, b"axyc"),
    ],
)
def test_expressions(expression, wanted, tmp_path):
    assert evaluate(expression, tmp_path) == wanted


def test_a_difference_gives_the_bytes_back(tmp_path):
    base = Blob(b"abcabc", {"text": "abcabc"})
    for data in (b"", b"abcabc", b"abc", b"abcabcabc", b"xabcabc", b"abXabc", b"aabcabc"):
        assert evaluate(difference(data, base).expression(), tmp_path) == data


def test_a_difference_in_several_places_is_several_splices(tmp_path):
    lines = [
        b"line %d of the text, which is long enough to be found again\n" % n for n in range(200)
    ]
    base = Blob(b"".join(lines), {"text": b"".join(lines).decode()})
    few = [line.replace(b"line 5 ", b"LINE FIVE ") for line in lines if b"line 90 " not in line]
    many = [line.upper() if n % 4 == 0 else line for n, line in enumerate(lines)]
    for changed, places in ((few, 2), (many, 1)):
        data = b"".join(changed)
        form = difference(data, base).expression()
        assert evaluate(form, tmp_path) == data
        assert json.dumps(form).count('"splice"') == places


def test_a_mutation_that_changes_nothing_is_refused():
    with pytest.raises(edits.BadCase):
        edits.edit_value({"a": "X"}, {"op": "upper", "at": "/a"})
    with pytest.raises(edits.BadCase):
        edits.edit_value({}, {"op": "set", "at": "/a", "value": 1})
    with pytest.raises(edits.BadCase):
        edit = {"op": "replace", "in": "data", "find": "x", "by": {"text": ""}}
        edits.edit_blob(Blob(b"xx"), edit, None)


def test_a_case_of_another_form_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(cases.keys, "cases_root", lambda: tmp_path)
    head = '[[case]]\nid = "x"\nrule = "LCJ-1"\nnote = ""\n'
    for text in (
        head,
        head + 'parent = "y"\nedits = [{op = "remove"}]\n',
        head + 'scenario = {op = "lcj"}\nwrong = 1\n',
        (head + 'scenario = {op = "lcj"}\n') * 2,
    ):
        (tmp_path / "json.toml").write_text(text)
        with pytest.raises(CaseError):
            cases.load("json")
