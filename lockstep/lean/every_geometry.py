"""Generate lean/Lockstep/Cert/EveryGeometry/: each lossless layout as declared, at every geometry.

Tokens, heads and dimensions are variables. One theorem of a layout says that it is exact whatever
these are; another, that at the slice of its certificate it has the map of the steps that
`lockstep.layouts` emits; where an axis is the layer, a third that all layers are exact together.
"""

from lockstep.layouts.declaration import Layout
from lockstep.layouts.geometry import Geometry
from lockstep.lean import certificate_text as text
from lockstep.lean.declared_tensors import DIMENSIONS, DeclaredTensor, declared_tensors
from lockstep.lean.layout_certificates import Lemma, lemmas
from lockstep.lean.layout_slices import slice_geometry
from lockstep.lean.layout_terms import lean_layout

FOLDER = f"{text.FOLDER}/EveryGeometry"
_LABELS = ("f", "g", "f'", "g'")


def files() -> dict[str, str]:
    """Give the generated modules by their paths below lean/, one for each folder of layouts."""
    parts: dict[str, list[str]] = {}
    for lemma in lemmas():
        folder = lemma.layout.source_path.split("/")[0]
        name = "".join(part.capitalize() for part in folder.split("-"))
        parts.setdefault(name, []).append(theorems(lemma))
    return {f"{FOLDER}/{name}.lean": _module(name, found) for name, found in parts.items()}


def theorems(lemma: Lemma) -> str:
    """Give a layout's tensors and its theorems."""
    layout, name = lemma.layout, lemma.name
    geometry = slice_geometry(layout)
    realised = text.realised_at(layout, geometry)
    about = ", ".join(lemma.layouts)
    tensors = declared_tensors(realised)
    sizes = _sizes(layout)
    values = " ".join(str(_value(size, geometry)) for size in sizes)
    declared = lean_layout(realised, tuple(step for tensor in tensors for step in tensor.steps))
    maps = zip(_LABELS, (*declared.maps, *lean_layout(realised).maps), strict=True)
    given = "".join(f"\n    ({label} := {term})" for label, term in maps)
    same = f"""\
/-- {about}:
as declared it has the map of the steps that are emitted, at its certificate's slice. -/
theorem {name}_same_map :
    SameMap (declared ({name}.tensors {values}))
      {name}.layout :=
  same_map{given}
    rfl rfl rfl (fun _ => rfl) (fun _ => rfl) (fun _ => rfl) (fun _ => rfl) (by decide +kernel)
"""
    one = _exact(lemma, ("tensors", "every_geometry"), "one layer", sizes, tensors)
    if not all("L" in tensor.opened for tensor in layout.tensors):
        return f"{one}{same}"
    layered = declared_tensors(realised, layered=True)
    names = ("layers", "every_layer")
    return f"{one}{same}{_exact(lemma, names, 'all layers', (*sizes, 'layers'), layered)}"


def _exact(
    lemma: Lemma,
    names: tuple[str, str],
    what: str,
    sizes: tuple[str, ...],
    tensors: tuple[DeclaredTensor, ...],
) -> str:
    """Give the definition of tensors, and the theorem that they are exact at all sizes.

    `names` are the definition's, within the layout's own namespace, and the theorem's ending.
    """
    name, about = lemma.name, ", ".join(lemma.layouts)
    asked = _conditions(lemma.layout)
    conditions = "".join(f"\n    ({label} : {condition})" for label, condition in asked)
    where = "".join(f", where {condition}" for _, condition in asked)
    listed = ",\n    ".join(tensor.term for tensor in tensors)
    made = "".join(f"\n    {tensor.made}," for tensor in tensors)
    return f"""
/-- {about}: {what} as declared. -/
def {name}.{names[0]} ({" ".join(sizes)} : Nat) : List Tensor :=
  [ {listed} ]
/-- {about}: {what},
exact for all {", ".join(sizes[:-1])} and {sizes[-1]}{where}. -/
theorem {name}_{names[1]} ({" ".join(sizes)} : Nat){conditions} :
    Exact ({name}.{names[0]} {" ".join(sizes)}) :=
  exact_of_made ⟨{made}
    True.intro⟩
"""


def _sizes(layout: Layout) -> tuple[str, ...]:
    """Name the sizes that a layout leaves open."""
    if layout.holds_latent:
        return ("tokens", "latent_dim", "rope_dim")
    return ("tokens", "head_dim") if layout.kv_heads else ("tokens", "heads", "head_dim")


def _value(size: str, geometry: Geometry) -> int:
    return int(getattr(geometry, "kv_heads" if size == "heads" else size))


def _conditions(layout: Layout) -> list[tuple[str, str]]:
    """List what [LAY-10] asks of the sizes: a name for each condition, and the condition."""
    widths = {
        (DIMENSIONS[name], tensor.x)
        for tensor in layout.tensors
        for name in tensor.component_names
        if tensor.x
    }
    asked = [("vectors", f"{dim} % {width} = 0") for dim, width in sorted(widths)]
    if layout.rank_axis == "sharded":
        asked.append(("shards", f"{layout.kv_heads or 'heads'} % {layout.ranks} = 0"))
    if layout.rank_axis == "replicated" and not layout.holds_latent:
        # Stated for what the declaration means; the proof has no need of it.
        asked.append(("_copies", f"{layout.ranks} % {layout.kv_heads or 'heads'} = 0"))
    return asked


def _module(name: str, parts: list[str]) -> str:
    return (
        "prelude\n"
        "import Lockstep.EveryGeometry\n"
        f"import Lockstep.Cert.{name}\n"
        f"/-! The layouts of Cert/{name}.lean as they are declared, at every geometry.\n"
        "Generated by `lockstep lean generate`; not edited by hand. -/\n"
        "set_option linter.all false\n"
        "set_option maxRecDepth 4096\n"
        "noncomputable section\n"
        f"namespace {text.NAMESPACE}\n"
        "open ExactTransform Nat List Option\n" + "".join(parts) + f"\nend {text.NAMESPACE}\n"
    )
