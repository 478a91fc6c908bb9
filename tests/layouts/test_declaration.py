"""The strict reader: every refusal says which file, which key and what to do."""

from pathlib import Path

import pytest

from lockstep.errors import LockstepError
from lockstep.layouts.declaration import Geometry, load

GOOD = """engine = "vllm"
attention = "gqa"
block = 16
quantisation = "none"

[[tensors]]
name = "kv"
components = ["K", "V"]
axes = ["KV", "Tb", "Ti", "(H D)"]

[citation]
repository = "a/b"
path = "c.py"
note = "a case"
"""


def write(folder: Path, text: str, name: str = "case.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_declaration_is_read_with_its_defaults(tmp_path: Path) -> None:
    layout = load(write(tmp_path, GOOD))
    assert (layout.name, layout.kv_heads, layout.ranks, layout.rank_axis) == ("case", 0, 1, "none")
    assert layout.tensors[0].opened == ("KV", "Tb", "Ti", "H", "D")
    assert layout.citation.commit is None
    assert layout.source_path == "case.toml"
    entry = layout.as_json(Geometry(40, 3, 2, 8, 0, 0, "float32"))
    assert entry["tensors"][0]["components"] == [
        {"name": "K", "bits": 32},
        {"name": "V", "bits": 32},
    ]
    assert entry["source"] == {"path": "case.toml", "sha256": layout.source_sha256}


@pytest.mark.parametrize(
    ("old", "new", "code", "pointer"),
    [
        ("block = 16", "block = 16\nshape = [2, 3]", "UNKNOWN_FIELD", ":/shape"),
        ("block = 16", "block = true", "WRONG_TYPE", ":/block"),
        ("block = 16", "block = -1", "BAD_VALUE", ":/block"),
        ('attention = "gqa"\n', "", "MISSING_FIELD", ":/attention"),
        ('attention = "gqa"', 'attention = "mha"', "BAD_VALUE", ":/attention"),
        ('"none"', '"int3"', "BAD_VALUE", ":/quantisation"),
        ('"KV", "Tb"', '"KV", "B"', "BAD_VALUE", ":/tensors/0/axes"),
        ('"KV", "Tb"', '"KV", 2', "WRONG_TYPE", ":/tensors/0/axes"),
        ('["K", "V"]', '["K", { name = "V", bit = 8 }]', "UNKNOWN_FIELD", "/components/1/bit"),
        ('path = "c.py"', 'path = "c.py"\ncommit = "HEAD"', "BAD_VALUE", ":/citation/commit"),
        ('note = "a case"', 'note = "a case"\nurl = "x"', "UNKNOWN_FIELD", ":/citation/url"),
    ],
)
def test_what_the_reader_refuses(
    tmp_path: Path, old: str, new: str, code: str, pointer: str
) -> None:
    assert old in GOOD
    path = write(tmp_path, GOOD.replace(old, new, 1))
    with pytest.raises(LockstepError) as refused:
        load(path)
    assert refused.value.code == code
    assert refused.value.pointer.endswith(pointer)
    assert refused.value.pointer.startswith(str(path))
    assert refused.value.hint or code == "WRONG_TYPE"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"Ti", "(H D)"', '"Ti", "H", "D", "D"'),
        ('"Ti", "(H D)"', '"Ti", "D"'),
        ('"Ti", "(H D)"', '"Ti", "H", "C"'),
        ('"KV", "Tb"', '"Tb"'),
        ('"KV", "Tb", "Ti"', '"KV", "T"'),
        ('"KV", "Tb"', '"R", "KV", "Tb"'),
        ("block = 16", "block = 0"),
        ("block = 16", 'block = 16\nranks = 2\nrank_axis = "sharded"'),
        ('"(H D)"]', '"(H D)"]\nx = 4'),
        ('"(H D)"]', '"(H D)"]\npad_tokens = 4'),
        ('["K", "V"]', '["V", "K"]'),
        ('["K", "V"]', '["K", "rope"]'),
        ('["K", "V"]', '["K"]'),
    ],
)
def test_ill_formed_declarations_are_refused(tmp_path: Path, old: str, new: str) -> None:
    """[LAY-8]"""
    assert old in GOOD
    with pytest.raises(LockstepError) as refused:
        load(write(tmp_path, GOOD.replace(old, new, 1)))
    assert refused.value.code == "BIJECTION_NOT_DERIVED"
    assert "case.toml" in str(refused.value)


def test_bits_stand_exactly_with_a_quantisation(tmp_path: Path) -> None:
    """[LAY-9]"""
    quantised = GOOD.replace('"none"', '"int8"', 1)
    with_bits = '[{ name = "K", bits = 8 }, { name = "V", bits = 8 }]'
    for text in (quantised, GOOD.replace('["K", "V"]', with_bits)):
        with pytest.raises(LockstepError, match="COVERAGE_DENOMINATOR_NOT_DERIVED"):
            load(write(tmp_path, text))
    layout = load(write(tmp_path, quantised.replace('["K", "V"]', with_bits)))
    assert layout.bits(layout.tensors[0].components[0], Geometry(1, 1, 1, 1, 0, 0, "float32")) == 8


def test_files_that_are_no_declaration(tmp_path: Path) -> None:
    for path in (tmp_path / "absent.toml", write(tmp_path, "engine = ")):
        with pytest.raises(LockstepError, match="FILE_UNREADABLE"):
            load(path)
    with pytest.raises(LockstepError, match="BAD_VALUE"):
        load(write(tmp_path, GOOD, "Bad_Name.toml"))
    with pytest.raises(LockstepError, match="LIMIT_SIZE"):
        load(write(tmp_path, GOOD + "#" * 70_000))


@pytest.mark.parametrize(
    "sizes",
    [
        (0, 1, 1, 1, 0, 0, "float16"),
        (1, 1, 1, 8192, 0, 0, "float16"),
        (1, 1, 1, 1, -1, 0, "float16"),
        (1, 1, 1, 1, 0, 0, "float8"),
        (16_777_216, 1, 1024, 4096, 0, 0, "float16"),
    ],
)
def test_impossible_geometries_are_refused(
    sizes: tuple[int, int, int, int, int, int, str],
) -> None:
    """[LAY-1, LAY-4]"""
    with pytest.raises(LockstepError, match="BAD_VALUE"):
        Geometry(*sizes)


def test_a_misspelt_key_is_named_where_the_right_one_is_missed(
    catalogue: Path, tmp_path: Path
) -> None:
    text = (catalogue / "seed-004" / "sglang.toml").read_text(encoding="utf-8")
    (tmp_path / "one.toml").write_text(text.replace("quantisation", "quantization"), "utf-8")
    with pytest.raises(LockstepError, match="Rename `quantization`") as caught:
        load(tmp_path / "one.toml")
    assert caught.value.code == "MISSING_FIELD"
