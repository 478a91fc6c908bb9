"""`lockstep layouts`: list the declared layouts, derive one, give the steps between two."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from lockstep.cli import layouts_compare, layouts_convert, layouts_observe
from lockstep.cli.layouts_files import REFERENCE
from lockstep.cli.layouts_geometry import sizes, with_geometry

if TYPE_CHECKING:
    from lockstep.layouts.geometry import Geometry


def register(app: typer.Typer) -> None:
    """Add the group `layouts`."""
    group = typer.Typer(no_args_is_help=True, help="Declared KV-cache layouts.")
    app.add_typer(group, name="layouts")
    group.command("list")(list_layouts)
    group.command("show")(show)
    group.command("recipe")(recipe)
    layouts_convert.register(group)
    layouts_compare.register(group)
    layouts_observe.register(group)


def list_layouts() -> None:
    """List the declared layouts: name, block, quantisation and axes of each tensor.

    Example: lockstep layouts list
    """
    from lockstep.cli import say
    from lockstep.layouts import catalogue

    for member in catalogue.members():
        layout = catalogue.find(member)
        tensors = ", ".join(f"{one.name} [{' '.join(one.axes)}]" for one in layout.tensors)
        about = f"block {layout.block}" if layout.block else "by token"
        if layout.quantisation != "none":
            about += f", {layout.quantisation}"
        say(f"{member:40} {layout.attention}  {about:22} {tensors}")


@with_geometry
def show(
    name: str = typer.Argument(help=f"Layout. {REFERENCE}"),
    *,
    geometry: Geometry,
) -> None:
    """Derive a layout at a geometry: shapes, strides, positions, padding, steps.

    Sizes that are not given are those of the set engines.

    Example: lockstep layouts show vllm/vllm-lbnhc --tokens 40 --kv-heads 2 --head-dim 8
    """
    from lockstep.cli import say
    from lockstep.convert.names import resolve
    from lockstep.layouts.index_map import image_sha256, is_identity
    from lockstep.layouts.realise import realise
    from lockstep.layouts.steps import steps

    layout = resolve(name)
    cited = layout.citation
    say(f"{layout.name} ({layout.engine}, {layout.attention}), {sizes(geometry)}")
    say(f"  {cited.repository} {cited.path} @{cited.commit or 'no commit found'}")
    say(f"  {cited.note}")
    one = realise(layout, geometry)
    if one is None:
        say("  not realisable at this geometry [LAY-10]")
        return
    for tensor in one.tensors:
        say(f"  {tensor.name}: shape {list(tensor.shape)}, slots of {tensor.slot_bits} bits")
        for axis, extent, stride in zip(tensor.axes, tensor.extents, tensor.strides, strict=True):
            say(f"    {axis:3} extent {extent:>8}  stride {stride:>10}")
    say(f"  positions a layer {one.positions}, of them padding {one.padding_positions}")
    say(f"  bytes a layer {one.native_bytes}, replicas {one.replicas}, identity {is_identity(one)}")
    say(f"  image sha256 {image_sha256(one)}")
    say("  steps from the canonical tensors:")
    for number, step in enumerate(steps(layout, geometry), start=1):
        say(f"    {number:2} {step}")


@with_geometry
def recipe(
    src: str = typer.Argument(help=f"The layout that the bytes are in. {REFERENCE}"),
    dst: str = typer.Argument(help="The layout that they are to be in, likewise."),
    *,
    geometry: Geometry,
) -> None:
    """Give the steps that turn one layout's tensors into another's, and the words for them.

    Sizes that are not given are those of the set engines.

    Example: lockstep layouts recipe llamacpp-no-flash hf-dynamic --tokens 40
    """
    from lockstep.cli import say
    from lockstep.convert.names import resolve
    from lockstep.layouts import steps
    from lockstep.layouts.words import transformations

    source, target = resolve(src), resolve(dst)
    found = steps.recipe(source, target, geometry)
    say(f"{source.name} to {target.name}, {sizes(geometry)}, one layer")
    words = transformations(source, target, geometry)
    say(f"  in words: {', '.join(words) or 'nothing to do'}")
    for number, step in enumerate(found, start=1):
        say(f"  {number:2} {step}")
