"""Engines in environments of their own: a made-up vLLM, and everything that can be missing."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from lockstep.claims.layout_observation import predicate
from lockstep.errors import LockstepError
from lockstep.layouts.geometry import Geometry
from lockstep.observation import environment, observe
from lockstep.observation.environment import Environment

INTERPRETER = """#!{python}
import json, sys
asked = json.load(sys.stdin)
if sys.argv[2].endswith("identity.py"):
    answer = {{"version": "1", "files": dict.fromkeys(asked["files"], "0" * 64), "missing": None}}
else:
    assert sys.argv[1] == "-I"
    answer = {{"runs": [{write} for run in asked["runs"]]}}
print(json.dumps(answer))
"""


def made(folder: Path, write: str) -> Environment:
    """Give an environment whose interpreter answers with what an expression gives for a run."""
    place = folder / "bin" / "python"
    place.parent.mkdir(parents=True)
    place.write_text(INTERPRETER.format(python=sys.executable, write=write), "utf-8")
    place.chmod(0o755)
    return Environment(folder)


def test_what_an_environment_tells_is_held_against_declarations(tmp_path: Path) -> None:
    # Two blocks of sixteen slots; nothing is written but zeros, so that each element is elsewhere.
    slots = "2 * 2 * asked['heads'] * 16 * 2 * asked['dim']"
    width = "(4 if run['dtype'] == 'float32' else 2)"
    write = f"{{'extents': [{slots}], 'held': ['00' * ({slots} * {width})] * 2}}"
    seen = observe.observe("vllm", environment=made(tmp_path, write))
    folded = predicate(seen, issued_at="", producer={})
    assert (seen.name, seen.version, len(seen.observations)) == ("vllm", "1", 6)
    assert [len(one.runs) for one in seen.observations] == [3, 1, 1, 1, 1, 1]
    assert {one["verdict"] for one in folded["observations"]} == {"DIFFERS"}
    assert folded["counts"]["wrong"] == folded["counts"]["elements"]
    assert "vllm/vllm-lbnhc" not in seen.cited
    assert "vllm/vllm-cpu" in seen.cited


def test_what_a_cache_makes_of_another_engine_stays_cited(tmp_path: Path) -> None:
    buffer = "{'tensor': 'kv', 'layer': None, 'extents': [1]}"
    write = f"{{'buffers': [{buffer}], 'held': [['0' * 8], ['0' * 8]]}}"
    seen = observe.observe("lmcache", environment=made(tmp_path, write))
    folded = predicate(seen, issued_at="", producer={})
    assert {one["verdict"] for one in folded["observations"]} == {"NOT_REPRESENTABLE"}
    layouts = {one.layout.name for one in seen.observations}
    assert {"lmcache-kv-2ltd", "vllm-0.22-nhd", "trtllm-pool"} <= layouts
    assert "lmcache/lmcache-kv-2ltd" not in seen.cited
    assert {"vllm/vllm-0.22-nhd", "trtllm/trtllm-pool"} <= set(seen.cited)


@pytest.mark.parametrize(
    ("write", "told"),
    [
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("sys.exit('no triton')", "no triton"),
        ("sys.exit(print('no document'))", "'no document\\n'"),
    ],
)
def test_an_engine_that_fails_is_told(tmp_path: Path, write: str, told: str) -> None:
    with pytest.raises(LockstepError) as fault:
        observe.observe("vllm-cpu", environment=made(tmp_path, write))
    assert (fault.value.code, fault.value.got) == ("ENGINE_NOT_OBSERVED", told)


def test_an_engine_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "OBSERVED_SECONDS", 0.05)
    with pytest.raises(LockstepError) as fault:
        made(tmp_path, "__import__('time').sleep(60)").ask("vllm_cache.py", {"runs": [0]})
    assert fault.value.code == "ENGINE_NOT_OBSERVED"


def test_what_is_missing_is_told(tmp_path: Path) -> None:
    absent: list[tuple[Path | None, str, list[str]]] = [
        (tmp_path / "nowhere", "numpy", []),
        (None, "no-such-distribution", []),
        (None, "numpy", ["numpy/no_such_file.py"]),
    ]
    for folder, name, files in absent:
        with pytest.raises(LockstepError) as fault:
            Environment(folder).identity((name,), files)
        assert fault.value.code == "LIBRARY_MISSING"
    with pytest.raises(LockstepError) as fault:
        observe.observe("transformers", environment=made(tmp_path, "0"))
    assert fault.value.code == "USAGE"
    version, digests = Environment().identity(("numpy",), ("numpy/__init__.py",))
    assert version
    assert [len(one) for one in digests.values()] == [64]


def test_an_engine_goes_by_either_of_its_names(tmp_path: Path) -> None:
    found = Environment().identity(("no-such-distribution", "numpy"), ())
    assert found == Environment().identity(("numpy",), ())
    with pytest.raises(LockstepError) as fault:
        Environment().identity(("no-such-distribution", "nor-this-one"), ())
    assert "no-such-distribution or nor-this-one" in str(fault.value)
    assert "--environment" in str(fault.value)


def test_a_geometry_that_tells_axes_not_apart_is_refused_before_anything_runs() -> None:
    with pytest.raises(LockstepError) as fault:
        observe.observe("vllm", replace(Geometry(21, 2, 3, 8, 0, 0, "bfloat16"), tokens=8))
    assert fault.value.code == "BAD_VALUE"
