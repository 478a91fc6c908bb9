"""What a hunt's layouts are: axes, steps, positions of a small slice, and lemmas.

Steps and positions are computed here, from the declaration and the geometry that the certificate
states; the verifier has derived the same map in its own way.
"""

from __future__ import annotations

from collections.abc import Sequence

from lockstep.claims.hunt import opened
from lockstep.claims.hunt_lemmas import lemmas_of
from lockstep.layouts.declaration import Layout
from lockstep.layouts.geometry import Geometry
from lockstep.layouts.index_map import canonical_to_native
from lockstep.layouts.realise import Realised, RealisedComponent, realise
from lockstep.layouts.steps import steps
from lockstep.report.figures import Judged, figure
from lockstep.report.markup import Content, Markup, element
from lockstep.report.parts import details, pairs, table


def draw(judged: Judged) -> Markup:
    """Give every layout of a hunt, folded."""
    geometry = Geometry(**judged.predicate["geometry"])
    return element(
        "div",
        element("h4", "Layouts"),
        [
            _layout(judged, number, opened(one), geometry)
            for number, one in enumerate(judged.predicate["layouts"])
        ],
        class_="layouts",
    )


def identity(judged: Judged, number: int) -> str:
    """Give the id of a layout's entry."""
    return f"{judged.anchor}-l{number}"


def lemmas(judged: Judged, number: int) -> tuple[str, ...]:
    """Name a layout's own lemmas, which are those of each row that it is in [HUNT-18]."""
    geometry = Geometry(**judged.predicate["geometry"])
    return lemmas_of(opened(judged.predicate["layouts"][number]), geometry)


def _layout(judged: Judged, number: int, layout: Layout, geometry: Geometry) -> Markup:
    pointer = f"/predicate/layouts/{number}"
    cited, found = layout.citation, realise(layout, geometry)
    about = pairs(
        [
            ("read from", f"{cited.repository} {cited.path} at {cited.commit or 'no commit'}"),
            ("in words", cited.note),
            (
                "holds",
                [
                    figure(judged, f"{pointer}/derived/positions"),
                    " positions a layer, ",
                    figure(judged, f"{pointer}/derived/padding_positions"),
                    " of them padding",
                ],
            ),
            ("lemmas", ", ".join(lemmas(judged, number)) or "none registered"),
        ]
    )
    return details(
        [layout.name, " ", element("small", f"{layout.engine}, {layout.attention}")],
        about,
        element("p", "Not realisable at this geometry.") if found is None else _map(found, layout),
        id=identity(judged, number),
    )


def _map(found: Realised, layout: Layout) -> Markup:
    listed = [element("li", str(step)) for step in steps(layout, found.geometry)]
    return element(
        "div",
        table(
            "Axes, slowest first",
            ("tensor", "axes", "extents", "strides"),
            [
                (
                    tensor.name,
                    " ".join(tensor.axes),
                    " × ".join(map(str, tensor.extents)),
                    " ".join(map(str, tensor.strides)),
                )
                for tensor in found.tensors
            ],
        ),
        element("p", "Steps from the canonical tensors:"),
        element("ol", listed, class_="steps") if listed else element("p", "none: it is canonical"),
        _slice(found),
    )


def _slice(found: Realised) -> Markup:
    """Show where a few elements of layer 0 stand."""
    rows: list[Sequence[Content]] = []
    for _, part in found.components:
        for token in _few(part.tokens, found.layout.block):
            rows.append((f"{part.name} token {token}", *_row(found, part, token)))
    columns = ("element", "h0 d0", "h0 d1", "h0 last d", "last h, d0", "last h, last d")
    return table("Index map, a slice of layer 0: position of each element", columns, rows)


def _few(tokens: int, block: int) -> list[int]:
    """Choose tokens that show the map: the first two, the first of the next block, the last."""
    return sorted({one for one in (0, 1, block, tokens - 1) if one < tokens})


def _row(found: Realised, part: RealisedComponent, token: int) -> list[str]:
    places = []
    for head, dim in ((0, 0), (0, 1), (0, -1), (-1, 0), (-1, -1)):
        h, d = head % part.heads, min(dim, part.head_dim - 1) % part.head_dim
        element_ = part.canonical_base + (token * part.heads + h) * part.head_dim + d
        places.append(str(int(canonical_to_native(found, element_, element_ + 1)[0, 0])))
    return places
