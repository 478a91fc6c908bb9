"""The report in Chromium: what is there, what a click does, and that nothing is asked for."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lockstep.evidence.index import statement_of
from tests.report.pages import EVIDENCE

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("chrome")
MINUTES = 5 * 60_000
"""Milliseconds that a step may take, on a machine that may be busy."""
LACKS = [
    name
    for name, there in (
        ("the module playwright (the extra 'browser' brings it)",
         importlib.util.find_spec("playwright")),
        ("the program chromium (Debian's package of that name)", CHROMIUM),
    )
    if not there
]  # fmt: skip

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("browser"),
    pytest.mark.skipif(bool(LACKS), reason=f"no browser: lacks {' and '.join(LACKS)}"),
]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report over all committed certificates, made by the command."""
    out = tmp_path_factory.mktemp("report") / "report.html"
    report(out, "0")
    return out


def report(out: Path, seed: str) -> None:
    """Run the command in a process of its own, under a seed of Python's hashes."""
    subprocess.run(
        [sys.executable, "-c", "import sys; from lockstep.cli import main; sys.exit(main())",
         "report", str(EVIDENCE), "--trust", str(EVIDENCE / "trust.json"),
         "--withdrawals", str(EVIDENCE / "withdrawals"), "--out", str(out)],
        check=True,
        env={**os.environ, "PYTHONHASHSEED": seed, "LC_ALL": "C"},
    )  # fmt: skip


def counts(name: str) -> dict[str, Any]:
    """Give the counts of a committed certificate."""
    found: dict[str, Any] = statement_of((EVIDENCE / f"{name}.cert.json").read_bytes())["predicate"]
    return dict(found["counts"])


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        # A container's root has no sandbox of its own; the page is a file of this test's making.
        options = ["--no-sandbox"] if os.geteuid() == 0 else []
        started = driver.chromium.launch(executable_path=CHROMIUM, args=options, timeout=MINUTES)
        yield started
        started.close()


@pytest.fixture
def said() -> list[str]:
    """What the page wrote to its console, threw, or asked for besides itself."""
    return []


@pytest.fixture
def page(browser: Any, file: Path, said: list[str]) -> Iterator[Any]:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    opened = context.new_page()
    opened.set_default_timeout(MINUTES)
    opened.on("console", lambda message: said.append(message.text))
    opened.on("pageerror", lambda fault: said.append(str(fault)))
    opened.on("request", lambda request: said.append(request.url))
    opened.goto(file.as_uri())
    assert said == [file.as_uri()]
    said.clear()
    yield opened
    assert said == []
    context.close()


def test_another_order_of_hashes_gives_the_same_bytes(file: Path, tmp_path: Path) -> None:
    # Beside the first, so that links are alike.
    other = file.with_name("other.html")
    report(other, "1")
    assert other.read_bytes() == file.read_bytes()


def test_content_is_there(page: Any) -> None:
    assert page.title() == "Lockstep report"
    names = page.eval_on_selector_all("main > section > h2", "all => all.map(e => e.textContent)")
    assert "Layouts of KV caches" in names
    assert page.locator("#invariance svg a").count() == counts("invariance")["runs"]
    assert page.locator("#mutation td[data-i]").count() == counts("mutation")["cells"]
    assert page.locator("#measurement figure").count() == counts("measurement-seed-001")["fits"]
    assert page.locator(".entry.refused").count() == 1
    assert "CLAIM_WITHDRAWN" in page.locator(".entry.refused").inner_text()
    assert page.locator("#measurement .gone strong").first.inner_text() == "WITHDRAWN"


def test_a_click_on_a_pair_shows_axes_steps_map_and_lemmas(page: Any) -> None:
    cell = page.locator("#layouts table.grid td.v-t").first
    cell.click()
    detail = page.locator("#layouts .detail").first.inner_text()
    for word in ("EXACT_TOKEN", "Axes, slowest first", "Index map", "Steps from the canonical",
                 "ExactTransform.comp_roundtrip", "positions of the source"):  # fmt: skip
        assert word in detail
    assert cell.get_attribute("aria-selected") == "true"
    source = page.locator("#source").inner_text()
    assert "engine-layouts.cert.json" in source
    assert f"/predicate/rows/{cell.get_attribute('data-i')}" in source
    page.keyboard.press("Escape")
    assert not page.locator("#source").is_visible()


def test_a_figure_says_what_backs_it_and_on_whose_word(page: Any) -> None:
    page.locator('#invariance a[data-p="/predicate/counts/runs"]').first.click()
    source = page.locator("#source").inner_text()
    digest = page.locator("#invariance article small").first.inner_text().removeprefix("sha256 ")
    assert digest in source
    assert "/predicate/counts/runs" in source
    assert "Derived by the verifier" in source
    page.evaluate("""() => showSource(document.querySelector('[data-kind=fidelity]').id,
                                      '/predicate/issued_at')""")
    assert "signer's word" in page.locator("#source").inner_text()
    page.locator('#measurement a.gone[title="WITHDRAWN"]').first.click()
    assert page.locator("#source").inner_text().startswith("WITHDRAWN\n")


def test_a_cell_of_a_server_shows_every_round(page: Any) -> None:
    page.locator("#servers table.grid td.s-divergent").first.click()
    detail = page.locator("#servers .detail").first
    assert "All pairs of rounds" in detail.inner_text()
    assert detail.locator("td.differs").count() > 0


def test_matrices_are_walked_with_the_keyboard(page: Any) -> None:
    grid = page.locator("#mutation table.grid")
    assert grid.locator('td[tabindex="0"]').count() == 1
    grid.locator('td[tabindex="0"]').focus()
    for key in ("ArrowDown", "ArrowRight", "ArrowRight", "ArrowLeft", "ArrowUp", "Enter"):
        page.keyboard.press(key)
    chosen = grid.locator("td[aria-selected]")
    assert chosen.get_attribute("data-i") == "0:1"
    assert chosen.get_attribute("aria-label").startswith("not exercised")
    assert "/predicate/rows/0/cells/1" in page.locator("#source").inner_text()


def test_dark_narrow_and_printed(page: Any, browser: Any, file: Path, said: list[str]) -> None:
    ground = "() => getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    page.emulate_media(color_scheme="dark")
    assert page.evaluate(ground) != light
    page.set_viewport_size({"width": 360, "height": 740})
    width = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(width) == 0
    page.emulate_media(media="print", color_scheme="light")
    assert not page.locator("nav").is_visible()
    assert page.pdf(format="A4").startswith(b"%PDF")


def test_without_script_the_figures_and_the_matrices_are_there(browser: Any, file: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    opened = context.new_page()
    opened.set_default_timeout(MINUTES)
    opened.goto(file.as_uri())
    hunts = [counts(name) for name in ("engine-layouts", "exact-transformations")]
    assert opened.locator("#layouts td.v-t").count() == sum(one["exact_token"] for one in hunts)
    link = opened.locator("#layouts a[data-p]").first
    assert opened.locator(link.get_attribute("href") + ".entry").count() == 1
    context.close()
