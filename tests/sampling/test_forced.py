"""Log-probabilities of given texts: the same bits in every shape on an invariant backend."""

from __future__ import annotations

import numpy as np
import pytest

from lockstep.engine.model import Model
from lockstep.engine.opening import open_model
from lockstep.engine.tiny import TinyModel
from lockstep.fidelity.corpus import Prompt
from lockstep.fidelity.forward import forward
from lockstep.sampling.forced import Lanes, Schedule, Text, forced
from tests.refusals import refused

TEXTS = (
    Text("a", (5, 6, 7), (1, 2, 3, 4)),
    Text("b", tuple(range(1, 21)), (9,)),
    Text("c", (8,), tuple(range(30, 50))),
)
SCHEDULES = (
    Schedule("alone"),
    Schedule("3, alone", 3),
    Schedule("7, together", 7, True),
    Schedule("1, together", 1, True),
)


@pytest.fixture(scope="module")
def model() -> Model:
    return open_model(TinyModel()).model


def test_rows_are_those_of_each_text_alone(model: Model) -> None:
    found = forced(model, TEXTS, SCHEDULES[0])
    for text, rows in zip(TEXTS, found, strict=True):
        whole = (*text.prompt, *text.tokens)
        wanted = tuple(range(len(text.prompt) - 1, len(whole) - 1))
        logits = forward(model, Prompt(text.id, whole, wanted))
        expected = model.backend.numpy(model.backend.log_softmax(logits))
        assert rows.shape == (len(text.tokens), 256)
        assert np.array_equal(rows, expected)


@pytest.mark.parametrize("schedule", SCHEDULES[1:], ids=lambda one: one.name)
def test_the_schedule_changes_no_bit(model: Model, schedule: Schedule) -> None:
    for one, other in zip(
        forced(model, TEXTS, SCHEDULES[0]), forced(model, TEXTS, schedule), strict=True
    ):
        assert np.array_equal(one, other)


def test_tokens_are_of_the_vocabulary_and_texts_fit(model: Model) -> None:
    outside = [Text("d", (1,), (256,))]
    refused("TOKEN_OUT_OF_RANGE", lambda: forced(model, outside, SCHEDULES[0]))
    most = model.config.max_position_embeddings
    refused("SEQUENCE_TOO_LONG", lambda: Lanes(model, [most + 1]))
