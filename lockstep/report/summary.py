"""The list of certificates: what the verifier said of each, and what it is about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lockstep.errors import registry
from lockstep.report.figures import Judged
from lockstep.report.markup import Content, Markup, element
from lockstep.report.parts import badge, details, pairs

DIGITS = 16
"""Hex digits of a digest that are shown at once; the entry has all of them."""


def headline(certificates: Sequence[Judged]) -> Markup:
    """Say how many certificates there are, and how many of them are refused."""
    refused = [one for one in certificates if not one.verified]
    parts: list[Content] = [
        element("b", f"{len(certificates)}"),
        " certificates, ",
        element("b", f"{len(certificates) - len(refused)}"),
        " verified",
    ]
    if refused:
        parts += [", ", element("b", f"{len(refused)} refused", class_="refused-word")]
    return element("p", parts, ".", class_="headline")


def draw(certificates: Sequence[Judged]) -> Markup:
    """Give an entry for each certificate; one that is refused in red, with its code and place."""
    return element("ol", [_entry(one) for one in certificates], class_="certificates")


def _entry(judged: Judged) -> Markup:
    result = judged.result
    status = (
        element("span", "verified", class_="badge good")
        if judged.verified
        else element("span", f"REFUSED {result['code']}", class_="badge refused-word")
    )
    head = element(
        "p",
        status,
        " ",
        element("a", judged.name, href=judged.href, class_="file"),
        " ",
        element("span", judged.kind or "kind not read", class_="kind"),
        " ",
        badge(result["verdict"]) if judged.verified and result["verdict"] else None,
        class_="entry-head",
    )
    return element(
        "li",
        head,
        None if judged.verified else _refusal(judged),
        _facts(judged),
        id=judged.anchor,
        class_="entry" if judged.verified else "entry refused",
        data_sha=str(result["payload_sha256"] or ""),
        data_file=judged.name,
        data_kind=judged.kind,
        data_href=judged.href,
    )


def _refusal(judged: Judged) -> Markup:
    """Say why one is refused: meaning, place, what is expected and what is there, what to do."""
    result = judged.result
    entry = registry().get(result["code"], {})
    said: list[tuple[Content, Content]] = [
        ("what", entry.get("meaning", "a code that this version does not know")),
        ("where", element("code", result["pointer"] or "the document")),
    ]
    said += [(name, result[name]) for name in ("expected", "got") if result[name] is not None]
    said.append(("to do", entry.get("action", "")))
    if result["rederivation"] is not None:
        said.append(("re-derivation, for information", result["rederivation"]))
    told = [element("li", line) for line in _told(result)]
    if told:
        said.append(("withdrawn", element("ul", told, class_="lines")))
    if judged.statement is None:
        said.append(("shown below", "nothing of it"))
    return pairs(said)


def _told(result: Any) -> list[str]:
    return [line for line in result["lines"] if line.startswith(("WITHDRAWN", "not counted"))]


def _facts(judged: Judged) -> Markup:
    result = judged.result
    told = _told(result)
    lines = [line for line in result["lines"] if line not in told] if judged.statement else []
    known = pairs(
        [
            ("payload sha256", element("code", result["payload_sha256"] or "not read")),
            ("file sha256", element("code", result["file_sha256"] or "not read")),
            ("issued at", f"{result['issued_at'] or 'not read'}, the signer's claim"),
            ("signed by", element("code", ", ".join(result["signers"]) or "no key of the policy")),
        ]
    )
    return details(
        ["sha256 ", element("code", str(result["payload_sha256"] or "not read")[:DIGITS])],
        known,
        element("ul", [element("li", line) for line in lines], class_="lines") if lines else None,
    )
