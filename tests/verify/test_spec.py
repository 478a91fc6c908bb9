"""The spec's data is found beside the package or in the checkout."""

import shutil

import pytest

from lockstep_verify import spec


def test_shipped_data_comes_first(tmp_path, monkeypatch):
    real = spec.root()
    package = tmp_path / "lib" / "lockstep_verify"
    package.mkdir(parents=True)
    monkeypatch.setattr(spec, "__file__", str(package / "spec.py"))
    find = spec.root.__wrapped__
    with pytest.raises(FileNotFoundError):
        find()
    shutil.copytree(real, tmp_path / "spec")
    assert find() == str(tmp_path / "spec")
    (package / "_spec").mkdir()
    assert find() == str(package / "_spec")


def test_normative_files_of_a_kind(tmp_path, monkeypatch):
    (tmp_path / "schemas").mkdir()
    (tmp_path / "schemas" / "k.schema.json").write_text("{}")
    monkeypatch.setattr(spec, "root", lambda: str(tmp_path))
    assert spec.paths("k") == ["schemas/k.schema.json"]
    alone = spec.digest("k")
    (tmp_path / "k.json").write_text("{}")
    assert spec.paths("k") == ["schemas/k.schema.json", "k.json"]
    assert spec.digest("k") != alone and len(alone) == 64
