"""Results as text for people, as LCJ lines for tools, and as a verification summary (OUT-2, 4)."""

import os
from typing import Any

import lockstep_verify
from lockstep_verify import lcj, limits
from lockstep_verify.errors import registry
from lockstep_verify.result import DERIVED_UNSIGNED, OK, UNSIGNED_NOTICE, Result
from lockstep_verify.times import written

_MEANING = {
    OK: "Verified: signed by trusted keys, every derived field re-derived.",
    DERIVED_UNSIGNED: "Derived, but unsigned: the document follows from its own declarations.",
}


def safe(text: object) -> str:
    """Make a text safe for a terminal: no control, bidi or other invisible character (OUT-4)."""
    return "".join(c if " " <= c <= "~" else f"\\u{{{ord(c):x}}}" for c in str(text))


def shown(value: object) -> str | None:
    """Write a value from a document or a rule in one short string; None stays None."""
    if value is None:
        return None
    if type(value) is str:
        text = value
    else:
        try:
            text = lcj.encode_text(list(value) if isinstance(value, tuple) else value)
        except (TypeError, ValueError, RecursionError):
            text = _plain(value)
    cut = limits.SHOWN_CHARACTERS
    # A lone surrogate cannot be written in UTF-8; file names may hold one.
    text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return text if len(text) <= cut else f"{text[:cut]}… ({len(text)} characters)"


def _plain(value: object) -> str:
    """Write a value that is no JSON, as an evidence file may hold; nothing of it may raise."""
    try:
        return str(value)
    except (ValueError, RecursionError):
        # Python writes neither integers of thousands of digits nor nests of thousands of levels.
        return f"a value too large to show ({type(value).__name__})"


def explain(code: str) -> str:
    """Give the registry's entry of a code for people.

    Raises:
        KeyError: the code is not registered.
    """
    entry = registry()[code]
    rows = [
        f"{code} (exit {entry['exit']}, {entry['family']}, since version {entry['since']})",
        f"  what      {entry['meaning']}",
        f"  example   {entry['example']}",
        f"  to do     {entry['action']}",
    ]
    return "\n".join(safe(row) for row in rows)


def text(result: Result) -> str:
    """Write a result for people; the first line is code and file (EXIT-3)."""
    rows = [f"{result.code} {result.file}"]
    if result.code in _MEANING:
        rows.append(f"  {_MEANING[result.code]}")
    else:
        entry = registry()[result.code]
        rows.append(f"  what      {entry['meaning']}")
        place = result.file if result.policy is None else f"policy {result.policy}"
        rows.append(f"  where     {place}{' ' if result.pointer else ''}{result.pointer}")
        for label, value in (("expected", result.expected), ("got", result.got)):
            if value is not None:
                rows.append(f"  {label:<9} {shown(value)}")
        rows.append(f"  to do     {result.hint or entry['action']}")
    rows += _findings(result)
    return "\n".join(safe(row) for row in rows)


def _findings(result: Result) -> list[str]:
    rows: list[str] = []
    if result.rederivation is not None:
        rows.append(f"  re-derivation, for information: {result.rederivation}")
    if result.verdict is not None:
        rows.append(f"  verdict   {result.verdict}")
    rows += [f"  {line}" for line in result.lines]
    if result.code == DERIVED_UNSIGNED:
        rows.append(f"  signature: {UNSIGNED_NOTICE}")
    rows += [f"  signed by {name} ({owner}), key {key}" for name, owner, key in result.signers]
    if result.unknown_signatures:
        rows.append(f"  {result.unknown_signatures} signature(s) by unknown keys, not counted")
    if result.ledger is not None:
        derived, witnessed, attested, kinds = result.ledger
        rows.append(f"  ledger    {derived} derived, {witnessed} witnessed, {attested} attested")
        rows += [f"    attested {kind}" for kind in kinds]
    if result.time is not None:
        rows.append(f"  time: {result.time} (issued_at {result.issued_at})")
    if result.payload_sha256 is not None:
        rows.append(f"  payload   sha256 {result.payload_sha256}")
    return rows


def json_line(result: Result) -> str:
    """Write a result as one line of LCJ, without the newline (OUT-2)."""
    held = None
    if result.ledger is not None:
        held = {**result.ledger._asdict(), "attested_kinds": list(result.ledger.attested_kinds)}
    return lcj.encode_text(
        {
            "file": shown(result.file),
            "result": result.result,
            "exit": result.exit,
            "code": result.code,
            "pointer": shown(result.pointer),
            "expected": shown(result.expected),
            "got": shown(result.got),
            "predicate_type": result.predicate_type,
            "verdict": shown(result.verdict),
            "lines": [shown(line) for line in result.lines],
            "counts": result.counts,
            "ledger": held,
            "signers": [keyid for _, _, keyid in result.signers],
            "signature": UNSIGNED_NOTICE if result.exit == 5 else None,
            "unknown_signatures": result.unknown_signatures,
            "rederivation": result.rederivation,
            "issued_at": shown(result.issued_at),
            "time": result.time,
            "file_sha256": result.file_sha256,
            "payload_sha256": result.payload_sha256,
        }
    )


def attestation(result: Result, clock: int, policy: str | None, policy_sha256: str | None) -> str:
    """Write a result as an unsigned statement shaped like a SLSA verification summary, in LCJ.

    Args:
        result: what was found.
        clock: the time of verification, in seconds since 1970.
        policy: the policy's path, if there was a policy.
        policy_sha256: the digest of the policy file.
    """
    file = shown(os.path.basename(result.file))
    digest = {} if result.file_sha256 is None else {"sha256": result.file_sha256}
    passed = result.exit == 0
    predicate: dict[str, Any] = {
        "verifier": {
            "id": "urn:lockstep:verifier:python",
            "version": {"lockstep": lockstep_verify.__version__},
        },
        "timeVerified": written(clock),
        "resourceUri": file,
        "inputAttestations": [{"uri": file, "digest": digest}],
        "verificationResult": "PASSED" if passed else "FAILED",
        "verifiedLevels": [f"LOCKSTEP_{result.verdict}"] if passed else [],
        "lockstep": {"code": result.code, "exit": result.exit},
    }
    if policy is not None and policy_sha256 is not None:
        predicate["policy"] = {"uri": shown(policy), "digest": {"sha256": policy_sha256}}
    return lcj.encode_text(
        {
            "_type": "https://in-toto.io/Statement/v1",
            "subject": list(result.subjects) or [{"name": file, "digest": digest}],
            "predicateType": "https://slsa.dev/verification_summary/v1",
            "predicate": predicate,
        }
    )
