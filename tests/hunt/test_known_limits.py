from __future__ import annotations

import numpy as np
import pytest

from lockstep import spec
from lockstep.hunt import checks, known_limits, reference
from lockstep.hunt.reference import corrupted_tokens, reference_tokens
from lockstep.hunt.small_layouts import SEED, TOKEN_MAJOR, bench, cache


def test_the_limits_are_those_of_the_spec() -> None:
    assert list(known_limits.LIMITS) == spec.load("hunt.json")["known_limits"]


@pytest.mark.parametrize("name", known_limits.LIMITS)
def test_the_limit_holds(name: str) -> None:
    assert known_limits.LIMITS[name]()


def test_a_limit_that_no_longer_held_would_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_limits, "zeroing", lambda moves, value: moves)
    assert not known_limits.a_data_dependent_layout_passes_the_probes()
    monkeypatch.setattr(known_limits, "reference_tokens", lambda *arguments: (1, 2))
    assert not known_limits.token_identity_is_relative_to_a_model()
    monkeypatch.setattr(known_limits, "grade", lambda row: "UNPROVEN")
    assert not known_limits.no_engine_runs_here()
    assert not known_limits.exactness_depends_on_the_geometry()
    assert not known_limits.byte_or_token_depends_on_the_padding_model()


def test_a_round_trip_alone_is_not_exactness() -> None:
    assert checks.round_trip_alone_is_not_exactness()


def test_the_exchange_of_axes_is_numpys_transpose(monkeypatch: pytest.MonkeyPatch) -> None:
    assert checks.axis_exchange_equals_numpy_transpose()
    monkeypatch.setattr(
        checks, "exchanged_index", lambda extents, axis: np.arange(int(np.prod(extents)))
    )
    assert not checks.axis_exchange_equals_numpy_transpose()


def test_a_corrupted_position_changes_the_tokens() -> None:
    contents, side = bench(), cache(TOKEN_MAJOR)
    assert corrupted_tokens(contents, side, SEED) != reference_tokens(contents, side, SEED)


def test_the_model_is_searched_for_and_a_vacuous_one_is_admitted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    contents, anchors = bench(), {"a": cache(TOKEN_MAJOR)}
    seed, references, holds = reference.choose_models(contents, anchors, SEED)
    assert (seed, holds) == (SEED, True)
    assert references["a"] == reference_tokens(contents, anchors["a"], SEED)
    constant = (5,) * 8
    monkeypatch.setattr(reference, "decode", lambda *arguments: constant)
    seed, references, holds = reference.choose_models(contents, anchors, SEED)
    assert (seed, references, holds) == (SEED + 15, {"a": constant}, False)
