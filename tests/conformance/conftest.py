"""Fixtures of the tests of the Go implementation: one build for all of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conformance.built import Go, toolchain


@pytest.fixture(scope="session")
def go(tmp_path_factory: pytest.TempPathFactory) -> Go:
    command = toolchain()
    if command is None:
        pytest.skip("no Go toolchain: the dev extra brings one")
    return Go(command, tmp_path_factory.mktemp("go"))


@pytest.fixture(scope="session")
def binary(go: Go, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bin") / "lockstep-verify-go"
    go.run("build", "-o", str(path), "./cmd/lockstep-verify-go")
    return path
