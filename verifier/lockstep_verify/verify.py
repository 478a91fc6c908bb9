"""The order of checks over one certificate, without any input or output (ORDER-1).

Invariants:
- nothing of the payload is parsed before its signatures have been judged;
- with a policy, nothing of the payload is parsed unless a key of the policy has signed;
- a result has exit status 0 only at the end of every stage, under a policy;
- without a policy the code is UNTRUSTED_SIGNER, whatever the re-derivation gives.
"""

import hashlib
from collections.abc import Sequence
from typing import Any

from lockstep_verify import derive, lcj, limits, spec, trust
from lockstep_verify.derive import Derivation, Options
from lockstep_verify.envelope import open_envelope
from lockstep_verify.errors import Refusal
from lockstep_verify.ledger import ledger
from lockstep_verify.result import DERIVED_UNSIGNED, OK, Result
from lockstep_verify.statement import check_statement, check_subjects
from lockstep_verify.withdrawals import Withdrawal, applied


class Verification:
    """One certificate on its way through the stages; what was found so far is in `result`.

    Once every stage has passed, `predicate` and `signers` are its own.
    """

    def __init__(
        self,
        file: str,
        policy: trust.Policy | None,
        clock: int,
        options: Options,
        subject_sha256: str | None = None,
    ) -> None:
        self.policy = policy
        self.clock = clock
        self.options = options
        self.subject_sha256 = subject_sha256
        self.withdrawals: Sequence[Withdrawal] = ()
        self.result = Result(file)
        self.predicate: dict[str, Any] | None = None
        self.signers: tuple[trust.Key, ...] = ()

    @property
    def envelope_limit(self) -> int:
        """The size, in bytes, that the file may have (BYTES-2)."""
        return self.policy.envelope_bytes if self.policy else limits.ENVELOPE_BYTES

    def run(self, data: bytes) -> Result:
        """Judge the bytes of a certificate; every refusal becomes a result."""
        self.result = self.result._replace(file_sha256=hashlib.sha256(data).hexdigest())
        try:
            self._run(data)
        except Refusal as refusal:
            return refused(self.result, refusal)
        return self.result._replace(code=OK, exit=0, time="unproven")

    def _run(self, data: bytes) -> None:
        if len(data) > self.envelope_limit:
            raise Refusal("LIMIT_SIZE", "", f"at most {self.envelope_limit} bytes", len(data))
        payload_limit = self.policy.payload_bytes if self.policy else limits.PAYLOAD_BYTES
        parsed = lcj.parse(data, "NONCANONICAL_ENVELOPE", limits.ENVELOPE_MARKS)
        envelope = open_envelope(parsed, payload_limit)
        digest = hashlib.sha256(envelope.payload).hexdigest()
        self.result = self.result._replace(payload_sha256=digest)
        signers = trust.check_signatures(envelope, self.policy)
        self.result = self.result._replace(
            signers=tuple((key.name, key.owner, key.keyid) for key in signers.known),
            unknown_signatures=signers.unknown,
        )
        if self.policy is None:
            self._inform(envelope.payload)
            raise Refusal("UNTRUSTED_SIGNER", "/signatures", "a trust policy", "none")
        if not signers.known:
            keyids = [signature.keyid for signature in envelope.signatures]
            raise Refusal("UNTRUSTED_SIGNER", "/signatures", "a key of the policy", keyids)
        statement, issued_at = self._statement(envelope.payload)
        kind = statement["predicateType"]
        rule = trust.check_rule(self.policy, kind, signers.known)
        check_subjects(statement, self.subject_sha256)
        trust.check_time(signers.known, rule, issued_at, self.clock)
        derivation = self._derive(statement)
        trust.check_floors(self.policy, kind, derivation.counts)
        check_solved(derivation, self.options)
        self.predicate, self.signers = statement["predicate"], signers.known
        self._withdraw(statement, digest)

    def _inform(self, payload: bytes) -> None:
        """Re-derive without a policy, for information (SIG-5)."""
        try:
            statement, _ = self._statement(payload)
            check_subjects(statement, self.subject_sha256)
            self._derive(statement)
        except Refusal as refusal:
            self.result = self.result._replace(rederivation=refusal.code)
        else:
            self.result = self.result._replace(rederivation=OK, time="unproven")

    def _statement(self, payload: bytes) -> tuple[dict[str, Any], int]:
        statement = lcj.parse(payload, "NONCANONICAL_PAYLOAD")
        issued_at = check_statement(statement)
        predicate = statement["predicate"]
        kind = derive.kind_of(statement["predicateType"])
        self.result = self.result._replace(
            predicate_type=statement["predicateType"],
            subjects=tuple(statement["subject"]),
            issued_at=predicate["issued_at"],
            ledger=ledger(predicate, spec.load(f"schemas/{kind}.schema.json")),
        )
        return statement, issued_at

    def _withdraw(self, statement: dict[str, Any], digest: str) -> None:
        """Apply what has been withdrawn of the certificate (WDR-5)."""
        if self.policy is None or not self.withdrawals:
            return
        pointers, lines = applied(statement, digest, self.policy, self.withdrawals)
        self.result = self.result._replace(lines=(*self.result.lines, *lines))
        if pointers:
            raise Refusal(
                "CLAIM_WITHDRAWN", pointers[0], "no withdrawal", f"{len(pointers)} claims"
            )

    def _derive(self, statement: dict[str, Any]) -> Derivation:
        derivation = derive.derive(statement, self.options)
        self.result = self.result._replace(
            verdict=derivation.verdict, counts=derivation.counts, lines=derivation.lines
        )
        return derivation


def check_solved(derivation: Derivation, options: Options) -> None:
    """Refuse to call it success that no solver was asked although one was to be (OUT-1, SMT-14).

    Raises:
        Refusal: USAGE.
    """
    if options.solvers is not None and not derivation.solved:
        expected = "--solve, --solver: a certificate with queries, which kind smt has"
        raise Refusal("USAGE", "", expected, "nothing to solve")


def refused(result: Result, refusal: Refusal) -> Result:
    """Turn a refusal into a result, keeping what was found before it."""
    return result._replace(
        code=refusal.code,
        exit=refusal.exit,
        pointer=refusal.pointer,
        expected=refusal.expected,
        got=refusal.got,
        hint=refusal.hint,
    )


def derive_unsigned(file: str, data: bytes, options: Options) -> Result:
    """Re-derive a published document that names no key (EXIT-1: never 0)."""
    digest = hashlib.sha256(data).hexdigest()
    result = Result(file, file_sha256=digest, payload_sha256=digest)
    try:
        derivation = derive.derive_published(data, options)
        check_solved(derivation, options)
    except Refusal as refusal:
        return refused(result, refusal)
    return result._replace(
        code=DERIVED_UNSIGNED,
        exit=5,
        verdict=derivation.verdict,
        counts=derivation.counts,
        lines=derivation.lines,
    )
