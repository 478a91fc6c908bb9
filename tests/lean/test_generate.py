"""Generated Lean sources are as made, drift is named, and each is made by one generator."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path

import pytest

from lockstep import spec
from lockstep.errors import LockstepError
from lockstep.layouts.sets import load_set
from lockstep.lean import build, generate, layout_certificates, position_certificates
from lockstep.lean import size_certificates as sizes
from lockstep.proofs.geometries import geometries

SOURCE_BYTES = 200_000
"""No source is longer, so that each can be read and compared."""


@pytest.fixture(scope="module")
def made() -> dict[str, str]:
    return generate.generated()


@pytest.fixture
def tree(made: dict[str, str], tmp_path: Path) -> Path:
    """A folder with every generated source."""
    assert sorted(generate.write(tmp_path, made)) == sorted(made)
    return tmp_path


def test_the_committed_sources_are_as_made(made: dict[str, str]) -> None:
    assert generate.drifted(build.source_folder(), made) == []


def test_sources_are_of_a_readable_size_and_imported(made: dict[str, str]) -> None:
    root = (build.source_folder() / "Lockstep.lean").read_text("utf-8")
    for path, text in made.items():
        assert len(text.encode()) < SOURCE_BYTES, path
        module = path.removesuffix(".lean").replace("/", ".")
        assert f"import {module}\n" in root


def test_nothing_is_written_twice(made: dict[str, str], tree: Path) -> None:
    generate.check(tree, made)
    assert generate.write(tree, made) == []


def test_each_source_that_drifted_is_named_and_mended(made: dict[str, str], tree: Path) -> None:
    changed, missing = "Lockstep/Cert/Tpu.lean", "Lockstep/Cert/Vllm.lean"
    unmade, own = "Lockstep/Cert/Gone.lean", "Lockstep/Arith.lean"
    (tree / changed).write_text(made[changed].replace("_", "", 1), "utf-8")
    (tree / missing).unlink()
    (tree / unmade).write_text("prelude\n", "utf-8")
    (tree / own).write_text("prelude\n", "utf-8")
    with pytest.raises(LockstepError, match="LEAN_SOURCE_DRIFTED") as caught:
        generate.check(tree, made)
    assert caught.value.pointer == f"{unmade}, {changed}, {missing}"
    assert "lockstep lean generate" in (caught.value.hint or "")
    assert generate.write(tree, made) == [unmade, changed, missing]
    generate.check(tree, made)
    assert (tree / own).is_file(), "a source that is not generated stays"


def test_a_source_of_two_generators_is_refused() -> None:
    twice = (lambda: {"A.lean": "prelude\n"}, lambda: {"A.lean": "prelude\n"})
    with pytest.raises(LockstepError, match=r"INTERNAL at A\.lean: .*got two"):
        generate.generated(twice)


def test_one_theorem_counts_every_position() -> None:
    path = spec.root().parent / "evidence" / "exact-transformations.cert.json"
    envelope = json.loads(path.read_text("utf-8"))
    counts = json.loads(base64.b64decode(envelope["payload"]))["predicate"]["counts"]
    images = position_certificates.distinct_images()
    assert len(images) == counts["distinct_images"]
    assert sum(image.positions for image in images) == counts["distinct_positions"]
    assert {image.geometry for image in images} == {load_set(position_certificates.SET).geometry}
    (text,) = position_certificates.files().values()
    assert (
        "AllHold publishedImages ∧ AllDiffer publishedImages ∧ "
        f"allPositions publishedImages = {counts['distinct_positions']} :="
    ) in text
    listed = text.split("def publishedImages")[1].split("[]")[0]
    assert listed.count(".certificate ::") == len(images)
    assert len(re.findall(r"^theorem \w+ : \w+\.certificate\.Holds :=", text, re.M)) == len(images)


def test_real_sizes_leave_out_only_what_does_not_exist_there() -> None:
    """Every lossless layout is stated at each model of its kind, but for a rank count."""
    left_out = {
        (lemma.name, name)
        for lemma in layout_certificates.lemmas()
        for name, geometry in geometries().items()
        if (geometry.latent_dim > 0) == lemma.layout.holds_latent and name not in sizes.sizes(lemma)
    }
    assert left_out == set()
    (text,) = sizes.files().values()
    stated = re.findall(r"^theorem (\w+)_at_real_sizes :", text, re.M)
    assert stated == [lemma.name for lemma in layout_certificates.lemmas()]
