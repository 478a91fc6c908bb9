"""Generate lean/Lockstep/Cert/RealSizes.lean: each lossless layout at the sizes of real models.

A theorem states a layout's shapes and steps, as `steps` gives them, at each geometry of
spec/smt.json at which the layout exists, and that these steps lose nothing there. The maps'
tables are checked at slices; here the steps alone are.
"""

from lockstep.layouts.geometry import Geometry
from lockstep.layouts.realise import Realised, realise
from lockstep.lean import certificate_text as text
from lockstep.lean.layout_certificates import Lemma, lemmas
from lockstep.lean.layout_terms import lean_layout
from lockstep.proofs.geometries import geometries

PATH = f"{text.FOLDER}/RealSizes.lean"
"""Where the module stands, below lean/."""

_ENDING = "_at_real_sizes"
"""What follows a lemma's name in that of its theorem here."""


def sizes(lemma: Lemma) -> dict[str, Realised]:
    """Give a lemma's layout at each geometry at which it exists, by the geometry's name."""
    found = {name: _realised(lemma, geometry) for name, geometry in geometries().items()}
    return {name: realised for name, realised in found.items() if realised is not None}


def files() -> dict[str, str]:
    """Give the generated module by its path below lean/."""
    parts = [_theorem(lemma, found) for lemma in lemmas() if (found := sizes(lemma))]
    about = "Each lossless layout at the sizes of real models: its steps lose nothing."
    return {PATH: text.module(about, parts, imports="Lockstep.RealSizes")}


def _realised(lemma: Lemma, geometry: Geometry) -> Realised | None:
    """Realise the layout where the model has a cache of its kind."""
    latent = geometry.latent_dim > 0
    return realise(lemma.layout, geometry) if lemma.layout.holds_latent == latent else None


def _theorem(lemma: Lemma, found: dict[str, Realised]) -> str:
    names = {size: f"at_{text.identifier(size)}" for size in found}
    definitions = "\n".join(
        text.layout_definition(names[size], lean_layout(realised))
        for size, realised in found.items()
    )
    claims = " ∧\n".join(
        f"    {lemma.name}.{names[size]}.Lossless {_copies(realised)} {realised.padding_positions}"
        for size, realised in found.items()
    )
    proof = "Layout.lossless_of_fits (by decide +kernel)"
    proofs = ",\n   ".join(proof for _ in found)
    proofs = f"⟨{proofs}⟩" if len(found) > 1 else proofs
    tokens = ",\n".join(
        f"{size} ({realised.geometry.tokens} tokens)" for size, realised in found.items()
    )
    return f"""
namespace {lemma.name}
{definitions}
end {lemma.name}
/-- {" and ".join(lemma.layouts)}.
A layer's elements, copies counted, and its padding, at
{tokens}. -/
theorem {lemma.name}{_ENDING} :
{claims} :=
  {proofs}
"""


def _copies(realised: Realised) -> int:
    return realised.canonical_elements * realised.replicas
