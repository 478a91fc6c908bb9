from __future__ import annotations

import pytest

from lockstep.engine.model import Model
from lockstep.engine.opening import open_model
from lockstep.engine.tiny import TinyModel


@pytest.fixture(scope="session")
def model() -> Model:
    return open_model(TinyModel()).model
