"""The one object that every way of reporting starts from (OUT-2)."""

from typing import Any, NamedTuple

from lockstep_verify.ledger import Ledger

OK = "OK"
DERIVED_UNSIGNED = "DERIVED_UNSIGNED"
UNSIGNED_NOTICE = "not checked, the document names no key"

_RESULTS = {
    0: "verified",
    1: "unreadable",
    2: "usage",
    3: "refused",
    4: "internal",
    5: "derived_unsigned",
}
# A run over many files reports the gravest (EXIT-2).
_GRAVITY = (4, 1, 3, 2, 5, 0)


class Result(NamedTuple):
    """What verification says of one file; what was not reached is None or empty.

    Attributes:
        policy: the policy's path, where the policy itself is what is refused.
        signers: (name, owner, key id) of each known signer.
        rederivation: `OK` or a code, for a certificate judged without a policy (SIG-5).
        subjects: the statement's subjects, as they stand there.
    """

    file: str
    code: str = "INTERNAL"
    exit: int = 4
    pointer: str = ""
    expected: object = None
    got: object = None
    hint: str | None = None
    policy: str | None = None
    predicate_type: str | None = None
    verdict: str | None = None
    counts: dict[str, int] | None = None
    lines: tuple[str, ...] = ()
    ledger: Ledger | None = None
    signers: tuple[tuple[str, str, str], ...] = ()
    unknown_signatures: int = 0
    rederivation: str | None = None
    issued_at: str | None = None
    time: str | None = None
    file_sha256: str | None = None
    payload_sha256: str | None = None
    subjects: tuple[dict[str, Any], ...] = ()

    @property
    def result(self) -> str:
        """The exit status in a word."""
        return _RESULTS[self.exit]


def worst(results: list[Result]) -> int:
    """Give the exit status of a run (EXIT-2)."""
    return min((result.exit for result in results), key=_GRAVITY.index)
