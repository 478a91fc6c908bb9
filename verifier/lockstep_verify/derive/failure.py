"""What a failure of a case may say of itself (FUZZ-6)."""

from typing import Any

from lockstep_verify.errors import Refusal

PARTS: dict[str, tuple[str, ...]] = {
    "stuck": ("machine", "policy"),
    "refused": ("refusal", "fault"),
    "starved": ("steps",),
    "illegal": ("relation",),
    "differs_alone": ("logits", "tokens", "ending"),
}
"""The parts of each kind; those of `differs_again` are whatever two runs differ in."""

_SILENT = ("starved", "illegal", "differs_alone")
"""Kinds in which nothing is raised, so that there is no code."""


def check_failure(failure: dict[str, Any], at: str) -> None:
    """Judge part and code of a failure by its kind.

    Args:
        failure: in the form of a kind's schema.
        at: where it stands.

    Raises:
        Refusal: BAD_VALUE, at the member that its kind has not.
    """
    kind, part, code = failure["kind"], failure["part"], failure["code"]
    if part not in PARTS.get(kind, (part,)):
        raise Refusal("BAD_VALUE", f"{at}/part", PARTS[kind], part)
    if code and kind in _SILENT:
        raise Refusal("BAD_VALUE", f"{at}/code", "", code)
    if not code and kind == "refused":
        raise Refusal("BAD_VALUE", f"{at}/code", "what refused or stumbled", code)
