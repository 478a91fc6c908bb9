"""What a command asks of a server, by its own options."""

from __future__ import annotations

import pytest

from lockstep.certify.subject import options


@pytest.mark.parametrize(
    ("command", "asked"),
    [
        ("serve --offline -c 18432 --alias tiny", {"offline": "on", "alias": "tiny"}),
        ("serve --metrics --offline", {"metrics": "on", "offline": "on"}),
        ("serve --top-k -1 --temp=-0.5", {"top-k": "-1", "temp": "-0.5"}),
        ("serve --no-cache --model x", {"cache": "off"}),
        ("SEED=3 API_KEY=x serve --seed 4", {"SEED": "3", "seed": "4"}),
        ("", {}),
    ],
)
def test_options_of_a_command(command: str, asked: dict[str, str]) -> None:
    assert options(command) == asked
