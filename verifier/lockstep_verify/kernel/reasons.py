"""Why a declaration is refused: one name a reason, of those in spec/lean-kernel.json."""

from typing import NoReturn

from lockstep_verify import spec
from lockstep_verify.errors import Refusal

REASONS: dict[str, str] = spec.load("lean-kernel.json")["reasons"]


class KernelRefusal(Refusal):
    """Thrown when a declaration does not check; `reason` is a name of `REASONS`."""

    def __init__(self, reason: str, detail: str, line: int = 0) -> None:
        super().__init__("KERNEL_REFUSED", f"/{line}", f"no {reason}", detail, REASONS[reason])
        self.reason = reason
        self.detail = detail


def refuse(reason: str, detail: str) -> NoReturn:
    """Refuse the declaration that is being checked."""
    raise KernelRefusal(reason, detail)
