"""The page: every figure is backed, nothing is loaded, the same certificates are the same bytes."""

from __future__ import annotations

import base64
import copy
import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from lockstep import spec
from lockstep.cli.payload_tables import describe
from lockstep.errors import LockstepError
from lockstep.evidence.index import at_pointer
from lockstep.measure import drawn
from lockstep.report import kills, matrix, page, servers
from lockstep.report.classes import CLASSES, by_member
from lockstep.report.figures import Judged, Withdrawn, figure
from lockstep.report.page import build
from lockstep.report.views import DRAWN, VIEWED, VIEWS
from tests.report.pages import Page, committed, taken, told

pytestmark = pytest.mark.xdist_group("report")
HOSTILE = "</script></style><img src=x onerror=alert(1)>\"'&amp;\u202e\x1b[31m"
BUDGET_BYTES = 1_000_000


@pytest.fixture(scope="module")
def certificates() -> list[Judged]:
    return committed()


@pytest.fixture(scope="module")
def whole(certificates: list[Judged]) -> bytes:
    return build(certificates)


@pytest.fixture(scope="module")
def parsed(whole: bytes) -> Page:
    return Page(whole)


def test_all_committed_certificates_fit_into_a_megabyte(whole: bytes) -> None:
    assert len(whole) < BUDGET_BYTES


def test_the_same_certificates_are_the_same_bytes(certificates: list[Judged]) -> None:
    """Of some here; test_browser.py has all of them made under two seeds of hashes."""
    some = [one for one in certificates if one.kind not in ("hunt", "mutation")]
    assert build(some) == build([copy.deepcopy(one) for one in some])


def test_every_pointer_leads_to_a_value_of_its_certificate(
    certificates: list[Judged], parsed: Page
) -> None:
    held = {one.anchor: one.statement for one in certificates}
    assert len(parsed.pointers) > 4000
    for certificate, pointer in parsed.pointers:
        at_pointer(held[certificate], pointer)
    seen = Counter(certificate for certificate, _ in parsed.pointers)
    assert set(seen) == set(held)


def test_cells_of_matrices_are_all_rows_of_their_certificates(
    certificates: list[Judged], parsed: Page
) -> None:
    for one in certificates:
        pointers = [
            pointer for certificate, pointer in parsed.pointers if certificate == one.anchor
        ]
        if one.kind == "hunt":
            rows = {f"/predicate/rows/{n}" for n in range(one.predicate["counts"]["rows"])}
            assert rows <= set(pointers)
        if one.kind == "mutation":
            cells = [pointer for pointer in pointers if "/cells/" in pointer]
            assert len(cells) == one.predicate["counts"]["cells"]
        if one.kind == "invariance":
            ticks = {pointer for pointer in pointers if "/runs/" in pointer}
            assert len(ticks) == one.predicate["counts"]["runs"]


def test_every_view_draws_what_there_is_evidence_for(parsed: Page) -> None:
    sections = {own["id"] for own in parsed.all("section")}
    assert sections == {"certificates", "assurance", "tables", *(view.name for view in VIEWS)}


def test_a_browser_is_told_to_load_nothing(whole: bytes, parsed: Page) -> None:
    (policy,) = (
        own["content"] for own in parsed.all("meta")
        if own.get("http-equiv") == "Content-Security-Policy"
    )  # fmt: skip
    assert policy.startswith("default-src 'none'; ")
    for tag in ("style", "script"):
        text = re.findall(rf"<{tag}>(.*?)</{tag}>", whole.decode(), re.S)
        digest = base64.b64encode(hashlib.sha256("".join(text).encode()).digest()).decode()
        assert len(text) == 1
        assert f"{tag}-src 'sha256-{digest}'" in policy
    for _, own in parsed.elements:
        assert not own.keys() & {"src", "style", "srcset", "action"}
        assert not any(name.startswith("on") for name in own)
        assert not own.get("href", "").startswith(("http", "//", "javascript", "data"))


def test_every_place_in_the_page_that_a_link_names_is_there_once(parsed: Page) -> None:
    ids = Counter(own["id"] for _, own in parsed.elements if "id" in own)
    assert set(ids.values()) == {1}
    inside = [own["href"][1:] for own in parsed.all("a") if own.get("href", "").startswith("#")]
    assert set(inside) <= set(ids)


def test_tables_and_drawings_have_names(parsed: Page) -> None:
    for own in parsed.all("svg"):
        assert own["aria-label"]
        assert own["role"] in ("img", "group")
    assert len(parsed.all("h1")) == 1
    named = sum(1 for own in parsed.all("table") if own.get("aria-label"))
    assert named + len(parsed.all("caption")) == len(parsed.all("table"))
    for own in parsed.all("th"):
        assert own["scope"] in ("row", "col")


def test_what_a_certificate_says_is_text_wherever_it_is_shown(
    certificates: list[Judged], parsed: Page
) -> None:
    """Every short text of every certificate that can be anything is made hostile."""
    changed = []
    for one in certificates:
        statement = copy.deepcopy(dict(one.statement or {}))
        _poison(statement["predicate"])
        changed.append(taken(one.number, HOSTILE + one.name, statement))
    data = build(changed)
    text = data.decode("utf-8")
    assert HOSTILE not in text
    assert "<img" not in text
    assert "\u202e" not in text
    assert "\x1b" not in text
    assert text.count("\\u{202e}") > 100
    found = Page(data)
    assert Counter(tag for tag, _ in found.elements) == Counter(tag for tag, _ in parsed.elements)


_FREE = frozenset(
    [
        "note",
        "says",
        "reason",
        "command",
        "machine",
        "observed",
        "title",
        "written_by",
        "detail",
        "weights",
        "schedule",
        "of",
    ]
)


def _poison(value: Any) -> None:
    """Put a hostile text in place of members that hold words for people."""
    members = value.items() if isinstance(value, dict) else enumerate(value)
    for key, member in list(members):
        if isinstance(member, str) and member and (key in _FREE):
            value[key] = HOSTILE
        elif isinstance(member, (dict, list)):
            _poison(member)


def test_members_add_up_to_the_ledger_of_the_verifier(certificates: list[Judged]) -> None:
    """Two implementations of one count: this one, and the verifier's over the same schema."""
    from lockstep_verify.ledger import ledger

    for one in certificates:
        schema = spec.load(f"schemas/{one.kind}.schema.json")
        held = ledger(one.predicate, schema)
        members = by_member(one.predicate, one.kind).values()
        sums = tuple(sum(own[sort] for own in members) for sort in CLASSES)
        assert sums == held[:3], one.name


def test_tables_that_are_left_out_are_there_to_be_left_out(certificates: list[Judged]) -> None:
    for one in certificates:
        titles = {table.title for table in describe(dict(one.statement or {}), False)}
        assert set(DRAWN.get(one.kind, ())) <= titles
    assert set(DRAWN) == VIEWED


def test_every_law_of_a_fit_can_be_drawn() -> None:
    assert set(drawn.AXES) == {law["name"] for law in spec.load("measurement.json")["laws"]}


def test_a_residual_that_is_not_the_certificates_makes_no_report(
    certificates: list[Judged],
) -> None:
    (one,) = (one for one in certificates if one.kind == "measurement")
    statement = copy.deepcopy(dict(one.statement or {}))
    statement["predicate"]["fits"][0]["largest_residual"]["num"] += "0"
    with pytest.raises(LockstepError) as caught:
        build([replace(one, statement=statement)])
    assert caught.value.code == "STATISTICS_DO_NOT_RECOMPUTE"


def test_a_refused_certificate_is_red_with_its_code_and_nothing_else_of_it(
    certificates: list[Judged],
) -> None:
    reason = {"exit": 3, "code": "SIGNATURE_INVALID", "pointer": "/signatures/0/sig"}
    result = told(None, **reason, ledger=None, verdict=None, payload_sha256=None, issued_at=None)
    lost = Judged(0, "lost.cert.json", "../lost.cert.json", result, None)
    data = build([lost, certificates[-1]])
    text = data.decode("utf-8")
    assert "REFUSED SIGNATURE_INVALID" in text
    assert "<code>/signatures/0/sig</code>" in text
    assert '<b>1</b> verified, <b class="refused-word">1 refused</b>' in text
    found = Page(data)
    assert [own["class"] for own in found.all("li") if own.get("id") == "c0"] == ["entry refused"]
    assert {certificate for certificate, _ in found.pointers} == {certificates[-1].anchor}


def test_withdrawn_claims_are_marked_and_what_holds_them_in_part(
    certificates: list[Judged],
) -> None:
    (one,) = (one for one in certificates if one.kind == "measurement")
    gone = (Withdrawn("/predicate/published/5", "wrong by a thousand", "966.1"),)
    result = {**one.result, "exit": 3, "code": "CLAIM_WITHDRAWN"}
    judged = Judged(0, one.name, one.href, result, one.statement, gone)
    assert judged.mark("/predicate/published/5/value") == "WITHDRAWN"
    assert judged.mark("/predicate/published") == "WITHDRAWN IN PART"
    assert judged.mark("/predicate/published/53") is None
    text = build([judged]).decode("utf-8")
    assert "REFUSED CLAIM_WITHDRAWN" in text
    assert "wrong by a thousand" in text
    says = one.predicate["published"][5]["says"]
    marked = re.findall(r"<s><a [^>]*>([^<]*)</a></s> <strong>WITHDRAWN</strong>", text)
    assert says in marked
    assert one.predicate["published"][53]["says"] not in marked


@pytest.mark.parametrize(
    ("kind", "member", "draw"),
    [
        ("hunt", "rows", matrix.draw),
        ("mutation", "rows", kills.draw),
        ("certification", "cells", servers.draw),
    ],
)
def test_withdrawn_cells_of_a_matrix_are_struck_through(
    certificates: list[Judged], kind: str, member: str, draw: Callable[[Judged], str]
) -> None:
    one = next(one for one in certificates if one.kind == kind)
    struck = re.compile(r'<td class="[^"]*" data-i="([^"]*)" title="WITHDRAWN"[^>]*><s>[^<]+</s>')
    assert not struck.findall(draw(one))
    gone = (Withdrawn(f"/predicate/{member}/1", "a slip", None),)
    found = struck.findall(draw(replace(one, withdrawn=gone)))
    assert {place.partition(":")[0] for place in found} == {"1"}


def test_a_figure_that_nothing_backs_is_none(certificates: list[Judged]) -> None:
    with pytest.raises(KeyError):
        figure(certificates[0], "/predicate/counts/never")


def test_a_report_that_no_browser_would_open_is_refused(
    certificates: list[Judged], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "REPORT_BYTES", 1000)
    with pytest.raises(LockstepError) as caught:
        build(certificates[-1:])
    assert caught.value.code == "LIMIT_SIZE"


def test_long_tables_say_how_much_is_left_out(certificates: list[Judged], whole: bytes) -> None:
    (one,) = (one for one in certificates if one.kind == "lean")
    (theorems,) = (
        table for table in describe(dict(one.statement or {}), True) if table.title == "theorems"
    )
    left = len(theorems.rows) - page.tables.REPORT_TABLE_ROWS
    assert f"{left:,} more rows are in the certificate" in whole.decode("utf-8")


def test_the_data_of_the_script_is_json_that_ends_no_element(whole: bytes) -> None:
    held = re.findall(r'<script type="application/json" id="[^"]*">(.*?)</script>', whole.decode())
    assert held
    for text in held:
        assert "<" not in text
        json.loads(text)
