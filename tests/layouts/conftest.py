from pathlib import Path

import pytest

from lockstep.layouts.declaration import layouts_root


@pytest.fixture
def catalogue() -> Path:
    return layouts_root()
