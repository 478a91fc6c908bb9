"""Sets of layouts: which layouts are hunted together, at which geometry, in which groups."""

import re
from dataclasses import dataclass, field
from pathlib import Path

from lockstep import spec
from lockstep.errors import LockstepError
from lockstep.layouts.declaration import NAME, Layout, layouts_root, load
from lockstep.layouts.geometry import Geometry, limit
from lockstep.layouts.toml_fields import Fields, read_toml

MEMBER = re.compile(r"[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)*")


@dataclass(frozen=True)
class Group:
    """Layouts that are hunted against one another; names of layouts [HUNT-1]."""

    anchor: str
    members: tuple[str, ...]


@dataclass(frozen=True)
class LayoutSet:
    """A set: its geometry and groups; every layout, and the file it was read from, by name."""

    name: str
    geometry: Geometry
    groups: tuple[Group, ...]
    layouts: dict[str, Layout]
    files: dict[str, Path] = field(default_factory=dict)


def load_set(name_or_path: str | Path) -> LayoutSet:
    """Read a set by its name in `layouts/sets`, or by the path of a TOML file.

    Raises:
        LockstepError: what `declaration.load` raises, or BAD_VALUE where two members have one
            name or an anchor is no member of its group, FILE_UNREADABLE where a member's file is
            neither in the catalogue nor beside the set's.
    """
    path = Path(name_or_path)
    if path.suffix != ".toml":
        path = layouts_root() / "sets" / f"{name_or_path}.toml"
        if not path.is_file():
            names = sorted(entry.stem for entry in path.parent.glob("*.toml"))
            raise LockstepError(
                "USAGE", str(name_or_path), f"one of {', '.join(names)}", str(name_or_path)
            )
    fields = Fields(read_toml(path)[1], str(path), "")
    geometry = _geometry(fields.table("geometry"))
    groups: list[Group] = []
    layouts: dict[str, Layout] = {}
    files: dict[str, Path] = {}
    for entry in fields.tables("groups"):
        members: list[str] = []
        anchor = entry.text("anchor", NAME)
        for member in entry.texts("members", MEMBER):
            file = _member_file(member, path, entry.place("members"))
            layout = load(file)
            files.setdefault(layout.name, file)
            known = layouts.setdefault(layout.name, layout)
            if known.source_path != layout.source_path or layout.name in members:
                raise LockstepError(
                    "BAD_VALUE",
                    entry.place("members"),
                    "members of different names",
                    member,
                    "Remove the second one, or rename its file.",
                )
            members.append(layout.name)
        if anchor not in members:
            raise LockstepError(
                "BAD_VALUE", entry.place("anchor"), "a member", anchor, "Add it to `members`."
            )
        entry.close()
        groups.append(Group(anchor, tuple(members)))
    fields.close()
    check_latent(geometry, layouts)
    name = Fields({"name": path.stem}, str(path), "").text("name", NAME)
    return LayoutSet(name, geometry, tuple(groups), layouts, files)


def _member_file(member: str, set_file: Path, place: str) -> Path:
    """Find a member in the catalogue, else beside the file of its set."""
    places = [folder / f"{member}.toml" for folder in (layouts_root(), set_file.parent)]
    for file in places:
        if file.is_file():
            return file
    raise LockstepError(
        "FILE_UNREADABLE",
        place,
        "the path of a layout's file without .toml, in layouts/ or beside the set's file",
        member,
        f"Put the file at {places[0]} or {places[1]}; `lockstep layouts list` lists the catalogue.",
    )


def check_latent(geometry: Geometry, layouts: dict[str, Layout]) -> None:
    """Refuse latent extents that no layout has a use for [LAY-1].

    Raises:
        LockstepError: BAD_VALUE at the geometry's field.
    """
    for extent in ("latent_dim", "rope_dim"):
        value = getattr(geometry, extent)
        if value and not any(layout.holds_latent for layout in layouts.values()):
            raise LockstepError(
                "BAD_VALUE",
                f"/geometry/{extent}",
                "0, as no layout holds a latent",
                value,
                "Set it to 0, or add a layout with latent and rope.",
            )


def _geometry(fields: Fields) -> Geometry:
    geometry = Geometry(
        tokens=fields.number("tokens", 1, limit("tokens")),
        layers=fields.number("layers", 1, limit("layers")),
        kv_heads=fields.number("kv_heads", 1, limit("kv_heads")),
        head_dim=fields.number("head_dim", 1, limit("head_dim")),
        latent_dim=fields.number("latent_dim", 0, limit("latent_dim"), 0),
        rope_dim=fields.number("rope_dim", 0, limit("rope_dim"), 0),
        dtype=fields.choice("dtype", tuple(spec.load("hunt.json")["dtypes"])),
    )
    fields.close()
    return geometry
