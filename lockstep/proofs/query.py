"""A query to a solver: what it shows, the answer that shows it, and its SMT-LIB 2 text [SMT-1]."""

import hashlib
import re
from dataclasses import dataclass
from typing import Literal

from lockstep.errors import LockstepError

Expected = Literal["unsat", "sat"]
"""`unsat` where the text asks for a counterexample, which must not exist; `sat` for a witness."""

NAME = re.compile(r"[a-z0-9][a-z0-9._/-]{0,199}")
_NAMED = re.compile(
    r"^\((?:declare-const ([^ ]+) |(?:declare|define)-fun ([^ ]+) \(\) )", re.MULTILINE
)


@dataclass(frozen=True)
class Query:
    """One question that a solver answers by `sat` or `unsat`.

    Attributes:
        name: unique within a run, a path of words such as `vllm-lbnhc/llama-3-8b/injective`.
        shows: in plain words, what holds once both solvers gave the expected answer.
        expected: that answer.
        text: SMT-LIB 2, ASCII, each line ended by a newline, the last one `(check-sat)`; it sets
            its logic and declares its constants with a line each, and asks for no model.

    Raises:
        LockstepError: BAD_VALUE where the name or the text has another form.
    """

    name: str
    shows: str
    expected: Expected
    text: str

    def __post_init__(self) -> None:
        lines = self.text.split("\n")
        faults = (
            ("a name of lower-case words joined by / . _ -", not NAME.fullmatch(self.name)),
            ("an ASCII text", not self.text.isascii()),
            ("(check-sat) as its last line", lines[-2:] != ["(check-sat)", ""]),
            ("one (check-sat)", self.text.count("(check-sat)") != 1),
            ("(set-logic …) as its first line", not lines[0].startswith("(set-logic ")),
        )
        for expected, broken in faults:
            if broken:
                raise LockstepError("BAD_VALUE", f"query {self.name}", expected, "another form")

    @property
    def sha256(self) -> str:
        """The hex SHA-256 of the text."""
        return hashlib.sha256(self.text.encode("ascii")).hexdigest()

    @property
    def constants(self) -> tuple[str, ...]:
        """The constants that the text declares or defines, in their order."""
        return tuple(one or other for one, other in _NAMED.findall(self.text))


def script(queries: tuple[Query, ...]) -> str:
    """Join queries, each below its name, into a script that gives an answer a query [SMT-12]."""
    return "(reset)\n".join(f"; {query.name}\n{query.text}" for query in queries)
