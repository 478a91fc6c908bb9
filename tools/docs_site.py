"""What MkDocs is given besides docs/, and a check that a built site asks nothing of elsewhere.

MkDocs loads this as a hook (`mkdocs.yml`). As a program it checks a site:
`python tools/docs_site.py results/site`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]

_INFO = re.compile(r"(?m)^```([a-z]+) .*$")
_LOADED = re.compile(
    r"""<(?:script|img|iframe|source|video|audio|embed)\b[^>]*\b(?:src|srcset)\s*=\s*["']?([^"'\s>]+)"""
    r"""|<link\b[^>]*\bhref\s*=\s*["']?([^"'\s>]+)"""
    r"""|url\(\s*["']?([^"')]+)|@import\s+["']([^"']+)""",
    re.IGNORECASE,
)


def on_config(config: Any) -> Any:
    """Put the reference and the rules behind what `mkdocs.yml` lists."""
    sys.path.insert(0, str(ROOT))
    from tools.reference import pages

    config.nav = [*config.nav, {"Reference": sorted(pages(), key=_order)}]
    config.nav += [{"Rules": sorted(rules(), key=_order)}]
    return config


def _order(path: str) -> tuple[bool, bool, str]:
    """Order a folder's pages: its first page, its others, then those of its folders."""
    return "/kinds/" in path, not path.endswith("index.md"), path


def on_files(files: Any, config: Any) -> Any:
    """Put the front page, the rules of spec/ and the reference among the files."""
    from mkdocs.structure.files import File

    from tools.reference import pages

    made = {"index.md": front(), **rules(), **pages()}
    for path, text in made.items():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Leave the language of each block's info string, and what the tests read out of it."""
    return _INFO.sub(r"```\1", markdown)


def front() -> str:
    """Give the README as the front page: its links are relative to docs/."""
    return (ROOT / "README.md").read_text("utf-8").replace("](docs/", "](")


def rules() -> dict[str, str]:
    """Give the rules of spec/, by path below docs/."""
    found = sorted((ROOT / "spec").glob("*.md"))
    return {
        f"spec/{'index' if path.stem == 'README' else path.stem}.md": path.read_text("utf-8")
        for path in found
    }


def remote(folder: Path) -> Iterator[tuple[Path, str]]:
    """Give each asset that a page or a style sheet of a site would load from elsewhere.

    A link that a reader may follow is none. What the theme's program would load for a diagram is
    found by the diagram.
    """
    for path in sorted(folder.rglob("*")):
        if path.suffix not in (".html", ".css", ".svg"):
            continue
        text = path.read_text("utf-8")
        for found in _LOADED.finditer(text):
            target = next(group for group in found.groups() if group)
            if re.match(r"(?:[a-z]+:)?//", target):
                yield path, target
        if re.search(r"""class=["']?mermaid""", text):
            yield path, "mermaid"


def main(folder: Path) -> int:
    """Print what a site would load from elsewhere; gives an exit status."""
    pages = list(folder.rglob("*.html"))
    if not pages:
        print(f"{folder}: no site", file=sys.stderr)
        return 2
    found = list(remote(folder))
    for path, target in found:
        print(f"{path}: {target}")
    print(f"{len(pages)} pages, {len(found)} remote assets")
    return 3 if found else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1])))
