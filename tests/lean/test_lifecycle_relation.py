"""The relation that Lean speaks of is the specification's, and so are the numbers it proves."""

import re
from itertools import pairwise, product

import pytest

from lockstep import spec
from lockstep.lean import lifecycle_relation

LEAN = spec.root().parent / "lean"
Cells = dict[tuple[str, str], str]


def _cells() -> Cells:
    return {
        (cell["state"], cell["event"]): cell["next"]
        for cell in spec.load("lifecycle.json")["cells"]
    }


def _grams(cells: Cells, length: int) -> int:
    """Count words of events by paths of cells, where Lean runs the relation from each state."""
    paths: list[tuple[tuple[str, str], ...]] = [(cell,) for cell in cells]
    for _ in range(length - 1):
        paths = [
            (*path, cell) for path, cell in product(paths, cells) if cells[path[-1]] == cell[0]
        ]
    assert all(cells[a] == b[0] for path in paths for a, b in pairwise(path))
    return len({tuple(event for _, event in path) for path in paths})


def _stated(name: str) -> list[int]:
    """Give the right sides of the equations that a theorem of Grams.lean states."""
    text = (LEAN / "Lockstep" / "Lifecycle" / "Grams.lean").read_text("utf-8")
    found = re.search(rf"theorem {name} :(.*?):= by", text, re.DOTALL)
    assert found is not None, name
    return [int(number) for number in re.findall(r"= (\d+)", found[1])]


def test_the_committed_module_is_what_the_generator_gives() -> None:
    committed = (LEAN / lifecycle_relation.PATH).read_text("utf-8")
    assert committed == lifecycle_relation.files()[lifecycle_relation.PATH]


def test_each_cell_of_the_specification_stands_in_the_module_and_no_other() -> None:
    text = lifecycle_relation.files()[lifecycle_relation.PATH]
    found = re.findall(r"\| \.(\w+), \.(\w+) => \.some \.(\w+)", text)
    name = lifecycle_relation.constructor
    wanted = [(name(state), name(event), name(after)) for (state, event), after in _cells().items()]
    assert found == wanted


@pytest.mark.parametrize(
    ("word", "wanted"),
    [("QUEUED", "queued"), ("cache_hit", "cacheHit"), ("preempt_rc", "preemptRc")],
)
def test_constructors(word: str, wanted: str) -> None:
    assert lifecycle_relation.constructor(word) == wanted


def test_no_two_words_become_one_constructor() -> None:
    relation = spec.load("lifecycle.json")
    for words in (relation["states"], relation["events"]):
        assert len({lifecycle_relation.constructor(word) for word in words}) == len(words)


def test_lean_states_the_numbers_of_cells_and_grams_that_follow_from_the_specification() -> None:
    cells = _cells()
    assert _stated("thirteen_cells") == [len(cells)]
    assert _stated("two_grams_are_25") == [_grams(cells, 2)]
    assert _stated("three_grams_are_79") == [_grams(cells, 3)]


@pytest.mark.parametrize(
    ("name", "cell", "after"),
    [
        ("grams_with_admitted_preempted", ("ADMITTED", "preempt_rc"), "PREEMPTED"),
        ("grams_with_decoding_evict", ("DECODING", "evict"), "DECODING"),
    ],
)
def test_lean_states_the_numbers_of_grams_that_another_cell_would_give(
    name: str, cell: tuple[str, str], after: str
) -> None:
    cells = {**_cells(), cell: after}
    assert _stated(name) == [_grams(cells, 2), _grams(cells, 3)]


def test_a_relation_of_another_form_is_refused() -> None:
    relation = dict(spec.load("lifecycle.json"))
    del relation["cells"]
    with pytest.raises(KeyError):
        lifecycle_relation.render(relation)
