"""The table of root causes in docs/mutation-operators.md names operators that say so themselves."""

import re
from pathlib import Path

import pytest

from lockstep.mutation.operators import operators

PAGE = Path(__file__).parents[2] / "docs" / "mutation-operators.md"

SEEN = (
    "sglang#22819",
    "vllm#40896",
    "vllm#51226",
    "vllm PR 51789",
    "sglang PR 26510",
    "vllm#42019",
    "vllm#48271",
    "vllm#39734",
    "vllm#44701",
    "vllm PR 41400",
    "vllm PR 45357",
    "sglang#23392",
)


def rows() -> list[tuple[str, list[str]]]:
    """Give each row's report and operators."""
    lines = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("|")]
    cells = [line.strip("|").split("|") for line in lines]
    return [(cell[0].strip(), re.findall(r"`(\w+)`", cell[2])) for cell in cells[2:]]


def test_each_root_cause_has_a_row() -> None:
    assert [report for report, _ in rows()] == list(SEEN)


@pytest.mark.parametrize(("report", "named"), rows(), ids=[report for report, _ in rows()])
def test_the_operators_of_a_row_name_its_report(report: str, named: list[str]) -> None:
    assert named
    for name in named:
        assert report in operators()[name].source
