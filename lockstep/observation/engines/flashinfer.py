"""FlashInfer's pages, written by the reference in torch that it gives for its kernel.

The kernel itself is compiled for a device and runs on one alone; it is not run here.
"""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.layouts.geometry import Geometry
from lockstep.observation.seen import Both, Cache, both_of
from lockstep.observation.writing import Writing

NAME = "flashinfer"
ENGINE = "flashinfer"
"""What declarations of its layouts call it."""
DISTRIBUTIONS = ("flashinfer-python",)
FILES = ("flashinfer/page.py", "flashinfer/trace/templates/page.py")
WRITTEN_BY = (
    "the reference of append_paged_kv_cache's trace template, in pages of the shape that the call"
    " asks for: all tokens but one, and then the last"
)
GEOMETRY = Geometry(69, 2, 3, 4, 0, 0, "bfloat16")
"""Four extents that differ, and a last page that is not full."""
CACHES = (
    Cache("NHD", "flashinfer/flashinfer-nhd", ("bfloat16", "float16", "float32")),
    Cache("HND", "flashinfer/flashinfer-hnd", ("bfloat16",)),
)


def written(writing: Writing) -> Iterator[Both]:
    """Have the reference write digits, and give the pages after each writing.

    Raises:
        LockstepError: ENGINE_NOT_OBSERVED.
    """
    request = writing.request(CACHES)
    for run in writing.environment.ask("flashinfer_pages.py", request)["runs"]:
        yield both_of(run)
