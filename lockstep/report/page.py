"""The report as one file: views in order, with style, script and a policy that allows no more."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from importlib.resources import files

from lockstep import __version__
from lockstep.errors import LockstepError
from lockstep.limits import REPORT_BYTES
from lockstep.report import ledger, summary, tables
from lockstep.report.figures import Judged
from lockstep.report.markup import Content, Markup, element, raw
from lockstep.report.parts import details
from lockstep.report.views import DRAWN, VIEWED, VIEWS, View

_PACKAGE = "lockstep.report"


def build(certificates: Sequence[Judged]) -> bytes:
    """Give the report over certificates: HTML in UTF-8, alike for the same ones [REP-5].

    Raises:
        LockstepError: LIMIT_SIZE.
    """
    style, script = (_asset(name) for name in ("report.css", "report.js"))
    sections = [
        ("certificates", "Certificates", summary.draw(certificates)),
        ("assurance", "What rests on what", _assurance(certificates)),
        *((view.name, view.title, shown) for view in VIEWS if (shown := _view(view, certificates))),
        ("tables", "Every certificate as tables", _tables(certificates)),
    ]
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_policy(style, script)),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="referrer", content="no-referrer"),
        element("title", "Lockstep report"),
        element("style", raw(style)),
    )
    body = element(
        "body",
        element("a", "Skip to the certificates", href="#certificates", class_="skip"),
        _header(certificates, [(name, title) for name, title, _ in sections]),
        element("main", [_section(*one) for one in sections]),
        _source(),
        element("script", raw(script)),
    )
    whole = f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n".encode()
    if len(whole) > REPORT_BYTES:
        hint = "Name fewer certificates, or less of each folder."
        raise LockstepError("LIMIT_SIZE", "", f"at most {REPORT_BYTES} bytes", len(whole), hint)
    return whole


def _asset(name: str) -> str:
    return files(_PACKAGE).joinpath(name).read_text("utf-8")


def _policy(style: str, script: str) -> str:
    """Allow this style and this script by their digests, and nothing else."""
    allowed = {
        "default-src": "'none'",
        "style-src": _hash(style),
        "script-src": _hash(script),
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    return "; ".join(f"{name} {value}" for name, value in allowed.items())


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
    return f"'sha256-{digest}'"


def _header(certificates: Sequence[Judged], sections: Sequence[tuple[str, str]]) -> Markup:
    links = [element("li", element("a", title, href=f"#{name}")) for name, title in sections]
    return element(
        "header",
        element("h1", "Lockstep report"),
        summary.headline(certificates),
        element(
            "p",
            "Every figure is a link to what backs it: a certificate, the digest of its payload, "
            "and a JSON pointer into it. What is refused is shown as refused, with its code. "
            f"Made by lockstep {__version__} of what lockstep-verify said.",
        ),
        element("nav", element("ul", links), aria_label="Sections"),
    )


def _section(name: str, title: str, content: Content) -> Markup:
    heading = element("h2", title, id=f"{name}-title")
    return element("section", heading, content, id=name, aria_labelledby=f"{name}-title")


def _assurance(certificates: Sequence[Judged]) -> Content:
    about = (
        "Every field of a certificate has a class in its schema. What is derived the verifier has "
        "computed anew; what is attested nobody can, and it is as good as the signer."
    )
    return [element("p", about), ledger.draw(certificates)]


def _view(view: View, certificates: Sequence[Judged]) -> Content:
    chosen = [one for one in certificates if one.statement is not None and one.kind in view.kinds]
    if not chosen:
        return None
    drawn = [_article(one, view.kinds[one.kind](one)) for one in chosen]
    return [element("p", view.about), drawn]


def _article(judged: Judged, content: Content) -> Markup:
    """Frame what is drawn of a certificate; one that is refused is framed in red."""
    warning = None
    if not judged.verified:
        warning = element(
            "p",
            element("strong", f"REFUSED {judged.result['code']}"),
            ": claims of this certificate were withdrawn. Each is marked; the rest is shown for "
            "the record.",
            class_="refused",
        )
    return element(
        "article",
        element(
            "h3",
            element("a", judged.name, href=f"#{judged.anchor}"),
            " ",
            element("small", f"sha256 {str(judged.result['payload_sha256'])[: summary.DIGITS]}"),
        ),
        warning,
        content,
        class_="view" if judged.verified else "view withdrawn",
        data_c=judged.anchor,
    )


def _tables(certificates: Sequence[Judged]) -> Content:
    """Fold every certificate's tables, but for what a view has shown of it."""
    return [
        details(
            [one.name, " ", element("small", one.kind)],
            tables.draw(one, one.kind not in VIEWED, DRAWN.get(one.kind, ())),
            data_c=one.anchor,
            class_="tables",
        )
        for one in certificates
        if one.statement is not None
    ]


def _source() -> Markup:
    """Give the place where the script says what backs a figure."""
    close = element("button", "Close", type="button", id="source-close")
    return element(
        "aside",
        element("div", id="source-text", aria_live="polite"),
        close,
        id="source",
        hidden="hidden",
        aria_label="What backs the figure",
    )
