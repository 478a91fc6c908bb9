"""What an operator is: the real sources with one change, and where the change is read [MUT-1]."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Literal, NamedTuple

BlackBox = Literal["visible", "invisible"]


class Edit(NamedTuple):
    """A change of a module's text.

    Attributes:
        old: the text that is replaced; it occurs in the module exactly once.
        new: what stands there instead.
        module: the module's full name; empty for the operator's own.
    """

    old: str
    new: str
    module: str = ""


@dataclass(frozen=True)
class Operator:
    """A fault, as edits of the engine's sources.

    Attributes:
        id: its name, lower case with underscores.
        subsystem: what it is a fault of; a name of spec/mutation.json.
        module: full name of the module that the fault stands in.
        edits: the fault. Where it takes effect, the new text calls `sentinel.ran()`.
        live: edits that only observe. Where the faulty value is read, they compare it with what
            the sources would have given there, and call `sentinel.read`. Empty where the fault
            is read in the very place that it stands in, and `edits` call it.
        cause: what goes wrong, in one sentence.
        source: where such a fault was seen: a report, or the seed's list.
        black_box: whether a client that sees tokens and log-probabilities alone can notice.
        reason: why it can, or cannot.
    """

    id: str
    subsystem: str
    module: str
    edits: tuple[Edit, ...]
    cause: str
    source: str
    black_box: BlackBox
    reason: str
    live: tuple[Edit, ...] = ()

    @property
    def by_module(self) -> dict[str, tuple[Edit, ...]]:
        """All edits, by the full name of the module that each is of."""
        found: dict[str, tuple[Edit, ...]] = {}
        for edit in (*self.edits, *self.live):
            module = edit.module or self.module
            found[module] = (*found.get(module, ()), edit)
        return found

    @property
    def sha256(self) -> str:
        """Digest of module, old and new text of each edit, the fault's before the observers'.

        The digested text is JSON with sorted keys and no spaces [MUT-2].
        """
        rows = [
            {"module": edit.module or self.module, "new": edit.new, "old": edit.old, "role": role}
            for role, edits in (("fault", self.edits), ("observer", self.live))
            for edit in edits
        ]
        text = json.dumps(rows, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(text.encode("utf-8")).hexdigest()
