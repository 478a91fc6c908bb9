"""Declarations of layouts, and the reader of the TOML files that hold them [LAY-5..7].

A file states engine, attention, block, quantisation, tensors and citation; the name is the
file's own. Fields at their usual value (0, 1 rank) may be left out. Nothing that follows from
these is stated.
"""

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lockstep import spec
from lockstep.layouts import well_formed
from lockstep.layouts.geometry import COMPONENT_ORDER, Geometry, limit
from lockstep.layouts.toml_fields import Fields, read_toml

__all__ = [
    "Citation",
    "Component",
    "Geometry",
    "Layout",
    "Tensor",
    "layouts_root",
    "load",
]

NAME = re.compile(r"[a-z0-9][a-z0-9.-]{0,63}")
AXIS_NAME = "(?:1|L|KV|C|T|Tb|Ti|R|H|D|Dg|Dx)"
AXIS = re.compile(rf"{AXIS_NAME}|\({AXIS_NAME}(?: {AXIS_NAME})+\)")


@dataclass(frozen=True)
class Component:
    """A component of the cache; `bits` None means the geometry's dtype [LAY-6]."""

    name: str
    bits: int | None = None


@dataclass(frozen=True)
class Tensor:
    """One native tensor: components, axes from slowest to fastest, and its padding [LAY-6]."""

    name: str
    components: tuple[Component, ...]
    axes: tuple[str, ...]
    x: int = 0
    pad_tokens: int = 0
    pad_head_dim: int = 0
    reserve: int = 0

    @property
    def opened(self) -> tuple[str, ...]:
        """The axes with groups opened."""
        return tuple(part for axis in self.axes for part in axis.strip("()").split())

    @property
    def component_names(self) -> tuple[str, ...]:
        """The names of the components, in order."""
        return tuple(component.name for component in self.components)


@dataclass(frozen=True)
class Citation:
    """Where a layout was read: repository, path, commit (None when not found), own words."""

    repository: str
    path: str
    commit: str | None
    note: str


@dataclass(frozen=True)
class Layout:
    """A declared layout [LAY-5], with the path and digest of the file that declares it."""

    name: str
    engine: str
    attention: str
    kv_heads: int
    ranks: int
    rank_axis: str
    block: int
    quantisation: str
    tensors: tuple[Tensor, ...]
    citation: Citation
    source_path: str
    source_sha256: str

    def __post_init__(self) -> None:
        well_formed.check(self)

    @property
    def component_names(self) -> tuple[str, ...]:
        """The components that the layout holds, in the order of [LAY-2]."""
        held = {name for tensor in self.tensors for name in tensor.component_names}
        return tuple(name for name in COMPONENT_ORDER if name in held)

    @property
    def holds_latent(self) -> bool:
        """Whether the components are the latent ones rather than K and V."""
        return "latent" in self.component_names

    def effective_heads(self, geometry: Geometry) -> int:
        """Give the number of KV heads that this cache holds [LAY-10]."""
        return self.kv_heads or geometry.kv_heads

    def bits(self, component: Component, geometry: Geometry) -> int:
        """Give a component's element width in bits, resolved [LAY-9]."""
        if component.bits is None or self.quantisation == "none":
            return geometry.element_bits
        return component.bits

    def as_json(self, geometry: Geometry) -> dict[str, Any]:
        """Give the declaration as a certificate carries it, bits resolved, without `derived`."""
        return {
            "name": self.name,
            "engine": self.engine,
            "attention": self.attention,
            "kv_heads": self.kv_heads,
            "ranks": self.ranks,
            "rank_axis": self.rank_axis,
            "block": self.block,
            "quantisation": self.quantisation,
            "tensors": [
                {
                    "name": tensor.name,
                    "components": [
                        {"name": part.name, "bits": self.bits(part, geometry)}
                        for part in tensor.components
                    ],
                    "axes": list(tensor.axes),
                    "x": tensor.x,
                    "pad_tokens": tensor.pad_tokens,
                    "pad_head_dim": tensor.pad_head_dim,
                    "reserve": tensor.reserve,
                }
                for tensor in self.tensors
            ],
            "citation": {
                "repository": self.citation.repository,
                "path": self.citation.path,
                "commit": self.citation.commit,
                "note": self.citation.note,
            },
            "source": {"path": self.source_path, "sha256": self.source_sha256},
        }


def layouts_root() -> Path:
    """Give the folder of declared layouts: shipped with the package, else the checkout's.

    Raises:
        FileNotFoundError: neither is there, so that the installation is incomplete.
    """
    package = Path(__file__).resolve().parent.parent
    for folder in (package / "_layouts", package.parent / "layouts"):
        if (folder / "sets").is_dir():
            return folder
    raise FileNotFoundError("lockstep was installed without its layouts; install it again")


def load(path: Path | str) -> Layout:
    """Read a layout's TOML file; its name is the file's, its source path relative to the root.

    Raises:
        LockstepError: FILE_UNREADABLE, UNKNOWN_FIELD, MISSING_FIELD, WRONG_TYPE or BAD_VALUE at
            `file:/key`, or what `well_formed.check` refuses.
    """
    path = Path(path)
    data, table = read_toml(path)
    resolved = path.resolve()
    root = layouts_root().resolve()
    inside = resolved.is_relative_to(root)
    fields = Fields(table, str(path), "")
    citation = fields.table("citation")
    layout = Layout(
        name=Fields({"name": path.stem}, str(path), "").text("name", NAME),
        engine=fields.text("engine", NAME),
        attention=fields.choice("attention", ("gqa", "mla")),
        kv_heads=fields.number("kv_heads", 0, limit("kv_heads"), 0),
        ranks=fields.number("ranks", 1, limit("ranks"), 1),
        rank_axis=fields.choice("rank_axis", ("none", "sharded", "replicated"), "none"),
        block=fields.number("block", 0, limit("block"), 0),
        quantisation=fields.choice("quantisation", tuple(spec.load("hunt.json")["quantisations"])),
        tensors=tuple(_tensor(entry) for entry in fields.tables("tensors")),
        citation=Citation(
            repository=citation.text("repository", re.compile(r"[A-Za-z0-9._-]+/[A-Za-z0-9._-]+")),
            path=citation.text("path", re.compile(r".{1,400}")),
            commit=citation.optional_text("commit", re.compile(r"[0-9a-f]{7,40}")),
            note=citation.text("note", re.compile(r".{1,400}")),
        ),
        source_path=resolved.relative_to(root).as_posix() if inside else path.name,
        source_sha256=hashlib.sha256(data).hexdigest(),
    )
    citation.close()
    fields.close()
    return layout


def _component(entry: Fields) -> Component:
    component = Component(
        entry.choice("name", COMPONENT_ORDER), entry.optional_number("bits", 1, 64)
    )
    entry.close()
    return component


def _tensor(entry: Fields) -> Tensor:
    components = tuple(_component(part) for part in entry.tables("components"))
    tensor = Tensor(
        name=entry.text("name", NAME),
        components=components,
        axes=entry.texts("axes", AXIS),
        x=entry.number("x", 0, limit("head_dim"), 0),
        pad_tokens=entry.number("pad_tokens", 0, limit("tokens"), 0),
        pad_head_dim=entry.number("pad_head_dim", 0, limit("head_dim"), 0),
        reserve=entry.number("reserve", 0, limit("tokens"), 0),
    )
    entry.close()
    return tensor
