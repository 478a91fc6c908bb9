"""What memory is left, read from files made for it, and what does not fit into it."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest

from lockstep.engine import memory
from lockstep.engine.backends.host import HostBackend
from lockstep.engine.memory import free_bytes, require_free
from lockstep.engine.model import Model
from lockstep.engine.opening import open_model
from lockstep.engine.tiny import make_tiny
from lockstep.errors import LockstepError
from lockstep.relations.registry import RELATIONS
from lockstep.relations.relation import observe
from lockstep.relations.run import subject_of
from tests.refusals import refused


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, "ascii")
    return root


def test_the_machine_tells_what_is_available(tmp_path: Path) -> None:
    told = "MemTotal: 100 kB\nMemAvailable:    70 kB\n"
    assert free_bytes(write(tmp_path, {"proc/meminfo": told})) == 70 * 1024


def test_the_least_of_machine_and_groups_counts(tmp_path: Path) -> None:
    files = {
        "proc/meminfo": "MemAvailable: 100 kB\n",
        "proc/self/cgroup": "0::/a/b\n",
        "sys/fs/cgroup/a/b/memory.max": "max\n",
        "sys/fs/cgroup/a/b/memory.current": "5\n",
        "sys/fs/cgroup/a/memory.max": "1000\n",
        "sys/fs/cgroup/a/memory.current": "400\n",
    }
    assert free_bytes(write(tmp_path, files)) == 600


def test_groups_of_the_first_version_count_too(tmp_path: Path) -> None:
    files = {
        "proc/meminfo": "MemAvailable: 100 kB\n",
        "proc/self/cgroup": "3:cpu:/c\n2:memory,hugetlb:/c\n",
        "sys/fs/cgroup/memory/c/memory.limit_in_bytes": "300\n",
        "sys/fs/cgroup/memory/c/memory.usage_in_bytes": "100\n",
    }
    assert free_bytes(write(tmp_path, files)) == 200


def test_a_group_that_is_over_its_limit_leaves_nothing(tmp_path: Path) -> None:
    files = {
        "proc/self/cgroup": "0::/\n",
        "sys/fs/cgroup/memory.max": "10\n",
        "sys/fs/cgroup/memory.current": "11\n",
    }
    assert free_bytes(write(tmp_path, files)) == 0


def test_the_limit_of_the_process_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = resource.getpagesize()
    monkeypatch.setattr(resource, "getrlimit", lambda _: (10 * page, 10 * page))
    files = {"proc/meminfo": "MemAvailable: 1000 kB\n", "proc/self/statm": "4 1 1 1 0 1 0\n"}
    assert free_bytes(write(tmp_path, files)) == 6 * page


def test_where_nothing_is_told_nothing_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(name: str) -> int:
        raise ValueError(name)

    monkeypatch.setattr(memory.os, "sysconf", unknown)
    assert free_bytes(tmp_path) is None
    require_free(1 << 80, None, "/pool", "keys and values")


def test_what_does_not_fit_is_refused() -> None:
    require_free(10, 10, "/pool", "keys and values")
    with pytest.raises(LockstepError) as caught:
        require_free(11, 10, "/pool", "keys and values")
    assert (caught.value.code, caught.value.pointer) == ("MEMORY_SHORT", "/pool")
    assert "10 bytes" in str(caught.value) and "11 bytes" in str(caught.value)


def test_a_model_makes_no_cache_beyond_memory(
    model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[object] = []
    monkeypatch.setattr(model.backend, "new_cache", lambda *shape: made.append(shape))
    with pytest.raises(LockstepError) as caught:
        model.new_caches(1 << 20, 4096)
    assert caught.value.code == "MEMORY_SHORT"
    # 2 layers, keys and values, 2 heads of 16 in float32.
    assert caught.value.got == f"{2 * 2 * 2 * 16 * 4 << 32:,} bytes"
    assert made == []


def test_weights_beyond_memory_are_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make_tiny(tmp_path / "tiny")
    assert open_model(folder).model.config.vocab_size == 256
    monkeypatch.setattr(HostBackend, "free_bytes", lambda self: 100_000)
    error = refused("MEMORY_SHORT", lambda: open_model(folder))
    assert error.pointer == str(folder)
    assert "weights in float32" in str(error)


def test_a_relation_is_not_run_where_memory_is_short(
    model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(HostBackend, "free_bytes", lambda self: 1000)
    observed = observe(RELATIONS["MR2"], model, tmp_path, subject_of(model), 8, 0)
    assert observed.outcome == "not_run"
    assert "MEMORY_SHORT" in observed.reason
