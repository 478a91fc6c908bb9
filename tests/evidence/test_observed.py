"""The catalogue says of each layout whether it was observed: what the certificates say, no more."""

from __future__ import annotations

from pathlib import Path

import pytest

from lockstep.evidence.index import statement_of
from lockstep.evidence.observed import HEAD, observed_table, with_table

ROOT = Path(__file__).resolve().parents[2]
EVIDENCE, README = ROOT / "evidence", ROOT / "layouts" / "README.md"


def test_the_catalogue_has_the_table_of_the_certificates() -> None:
    text = README.read_text("utf-8")
    assert observed_table(EVIDENCE) in text
    assert with_table(text, observed_table(EVIDENCE)) == text


def test_a_layout_that_its_engine_wrote_is_not_among_the_cited() -> None:
    for path in EVIDENCE.glob("layout-observation*.cert.json"):
        predicate = statement_of(path.read_bytes())["predicate"]
        # The published set has declarations of its own, some under the same names.
        paths = [name for name in predicate["cited"] if not name.startswith("seed-004/")]
        cited = {name.rpartition("/")[2] for name in paths}
        for declared in predicate["layouts"]:
            own = predicate["engine"]["name"].startswith(declared["engine"])
            assert (declared["name"] in cited) == (not own), declared["name"]


def test_a_table_takes_the_place_of_another() -> None:
    other = HEAD + "| `a` | b | as declared (float16) | `c` |\n"
    assert with_table(f"before\n\n{HEAD}| old |\n\nafter\n", other) == f"before\n\n{other}\nafter\n"
    with pytest.raises(ValueError, match="no table"):
        with_table("nothing", other)
