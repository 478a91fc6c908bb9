"""Generate lean/Lockstep/Cert/Positions.lean: every position of the published set, one theorem.

For each distinct image of the set [LAY-17] a certificate at the set's own geometry, each checked
by itself, and a theorem that all hold and how many positions they count.
"""

from lockstep.layouts.index_map import same_image
from lockstep.layouts.realise import Realised, realise
from lockstep.layouts.sets import load_set
from lockstep.lean import certificate_text as text

SET = "seed-004"
PATH = f"{text.FOLDER}/Positions.lean"
"""Where the module stands, below lean/."""
THEOREM = "every_position"

_ENDING = "_published"
"""What follows a layout's name in that of its certificate here."""


def distinct_images() -> tuple[Realised, ...]:
    """List the first layout of each image at the set's geometry, in declared order [HUNT-12]."""
    given = load_set(SET)
    kept: list[Realised] = []
    for layout in given.layouts.values():
        realised = realise(layout, given.geometry)
        if realised is not None and not any(same_image(realised, other) for other in kept):
            kept.append(realised)
    return tuple(kept)


def files() -> dict[str, str]:
    """Give the generated module by its path below lean/."""
    images = distinct_images()
    names = [f"{text.identifier(image.layout.name)}{_ENDING}" for image in images]
    parts = [
        text.certificate(name, f"{SET}/{image.layout.name}.", image)
        for name, image in zip(names, images, strict=True)
    ]
    about = f"Each distinct image of the set {SET} at its geometry, position by position."
    return {PATH: text.module(about, [*parts, _theorem(names, images)])}


def _theorem(names: list[str], images: tuple[Realised, ...]) -> str:
    rows = "".join(f"  {name}.certificate ::\n" for name in names)
    total = sum(image.positions for image in images)
    proofs = "".join(f"    {name},\n" for name in names)
    return f"""
/-- A certificate for each distinct image of the set {SET}. -/
def publishedImages : List Certificate :=
{rows}  []

/-- At the geometry of the set {SET}, {total} positions of {len(images)} distinct images: each
holds what the implementation's tables say, by the layouts' steps and by their inverse. -/
theorem {THEOREM} :
    AllHold publishedImages ∧ AllDiffer publishedImages ∧ allPositions publishedImages = {total} :=
  ⟨⟨
{proofs}    True.intro⟩, allDiffer_sound (by decide +kernel), rfl⟩
"""
