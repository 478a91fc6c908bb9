"""Without a GPU, or with interpreted kernels, nothing is opened and it is said why."""

from __future__ import annotations

import builtins
from typing import Any

import pytest

from lockstep.engine.device import open_device, require_device
from lockstep.errors import LockstepError

torch = pytest.importorskip("torch")


def refusal() -> LockstepError:
    with pytest.raises(LockstepError) as caught:
        open_device()
    return caught.value


def test_no_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert refusal().code == "DEVICE_MISSING"
    assert "doctor" in str(refusal())


def test_interpreted_kernels_are_not_those_of_a_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "a GPU")
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    assert refusal().code == "DEVICE_MISSING"
    monkeypatch.setenv("TRITON_INTERPRET", "0")
    assert require_device() == "a GPU"


@pytest.mark.parametrize("library", ["torch", "triton"])
def test_no_library(monkeypatch: pytest.MonkeyPatch, library: str) -> None:
    imported = builtins.__import__

    def lacks(name: str, *arguments: Any, **named: Any) -> Any:
        if name == library:
            raise ModuleNotFoundError(name, name=name)
        return imported(name, *arguments, **named)

    monkeypatch.setattr(builtins, "__import__", lacks)
    assert refusal().code == "LIBRARY_MISSING"
