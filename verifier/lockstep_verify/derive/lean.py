"""Re-derive a certificate of the lemmas that a Lean kernel accepted (spec/lean.md).

What the theorems state, and which axioms they may rest on, comes from the specification's registry
and, where an export is at hand, from that. The kernel's acceptance is attested and stays so. The
order of the checks below is the normative order of derivation; the first offence gives the code.
"""

import hashlib
from typing import Any

from lockstep_verify import lcj, limits, spec
from lockstep_verify.bytes import check_name, evidence
from lockstep_verify.derive import Derivation, Options
from lockstep_verify.errors import Refusal

_AXIOM = "AXIOM_NOT_ALLOWED"
_STATEMENT = "LEMMA_STATEMENT_MISMATCH"
_THEOREMS = "/predicate/theorems"
_MODULES = "/predicate/modules"
OBSERVATIONS = ("kernel_accepted", "gates_passed", "official_toolchain_agrees")


def derive(statement: dict[str, Any], options: Options) -> Derivation:
    """Re-derive the statement of a build of the lemmas.

    Raises:
        Refusal: the first offence in the order of derivation of spec/lean.md.
    """
    predicate = statement["predicate"]
    _check_theorems(predicate)
    _check_modules(predicate["modules"])
    verdict = fold(predicate["observations"])
    counts = _counts(predicate)
    for name, count in counts.items():
        _require("H10_COUNTS_DO_NOT_RECOMPUTE", f"/predicate/counts/{name}", count,
                 predicate["counts"][name])  # fmt: skip
    if predicate["export"] is not None:
        check_name(predicate["export"]["path"], "/predicate/export/path")
    _check_subject(statement)
    compared = _check_evidence(predicate, options)
    return Derivation(verdict, counts, _lines(predicate, counts, compared))


def _require(code: str, pointer: str, expected: object, got: object) -> None:
    """Refuse with `code` unless two values of one type are equal."""
    if expected != got:
        raise Refusal(code, pointer, expected, got)


def _check_names(at: str, stated: list[str], registered: list[str]) -> None:
    """Refuse the first name that is not the registered one of its place, or a gap at the end."""
    for i, name in enumerate(stated):
        expected = registered[i] if i < len(registered) else "no further one"
        _require("H3_PROOF_MISSING", f"{at}/{i}/name", expected, name)
    if len(stated) < len(registered):
        raise Refusal("H3_PROOF_MISSING", at, registered[len(stated)], "no further one")


def _check_theorems(predicate: dict[str, Any]) -> None:
    """Compare theorems and allow-list with the registry (LEAN-6; steps 1 to 3)."""
    data = spec.load("lemmas.json")
    allowed, registered = data["allowed_axioms"], data["lemmas"]
    _require(_AXIOM, "/predicate/allowed_axioms", allowed, predicate["allowed_axioms"])
    stated = predicate["theorems"]
    _check_names(_THEOREMS, [theorem["name"] for theorem in stated],
                 [lemma["name"] for lemma in registered])  # fmt: skip
    for i, (theorem, lemma) in enumerate(zip(stated, registered, strict=True)):
        at = f"{_THEOREMS}/{i}"
        digest = lemma["statement_sha256"]
        _require(_STATEMENT, f"{at}/statement_sha256", digest, theorem["statement_sha256"])
        for j, axiom in enumerate(theorem["axioms"]):
            if axiom not in allowed:
                raise Refusal(_AXIOM, f"{at}/axioms/{j}", allowed or "no axiom", axiom)
        _require(_AXIOM, f"{at}/axioms", lemma["axioms"], theorem["axioms"])


def _check_modules(modules: list[dict[str, str]]) -> None:
    """Compare the modules with the registry, and each path with its name (LEAN-7; step 4)."""
    _check_names(_MODULES, [module["name"] for module in modules],
                 spec.load("lemmas.json")["modules"])  # fmt: skip
    for i, module in enumerate(modules):
        path = module["name"].replace(".", "/") + ".lean"
        _require("BAD_VALUE", f"{_MODULES}/{i}/path", path, module["path"])


def fold(observations: dict[str, bool | None]) -> str:
    """Give the verdict of the three observations (LEAN-8; step 5).

    Raises:
        Refusal: H9_GUARD_FAILED_OPEN, one was made and is false.
    """
    for name in OBSERVATIONS:
        if observations[name] is False:
            raise Refusal("H9_GUARD_FAILED_OPEN", f"/predicate/observations/{name}", True, False)
    if observations["kernel_accepted"] is None or observations["gates_passed"] is None:
        return "UNPROVEN"
    return "ACCEPTED" if observations["official_toolchain_agrees"] is None else "REPRODUCED"


def _counts(predicate: dict[str, Any]) -> dict[str, int]:
    """Give the counts, in the schema's order (LEAN-9)."""
    data, theorems = spec.load("lemmas.json"), predicate["theorems"]
    return {
        "theorems": len(theorems),
        "accepted": len(theorems) if predicate["observations"]["kernel_accepted"] else 0,
        "axiom_free": sum(not theorem["axioms"] for theorem in theorems),
        "row_lemmas": len(data["rows"]),
        "layout_lemmas": len({name for names in data["layouts"].values() for name in names}),
        "modules": len(predicate["modules"]),
    }


def _check_subject(statement: dict[str, Any]) -> None:
    """Compare the subject `sources` with the modules (LEAN-7; step 7)."""
    bound = {module["path"]: module["sha256"] for module in statement["predicate"]["modules"]}
    expected = hashlib.sha256(lcj.encode(bound)).hexdigest()
    names = [subject["name"] for subject in statement["subject"]]
    if "sources" not in names:
        raise Refusal("SUBJECT_MISMATCH", "/subject", f"sources {expected}", "no subject sources")
    at = names.index("sources")
    got = statement["subject"][at]["digest"]["sha256"]
    _require("SUBJECT_MISMATCH", f"/subject/{at}/digest/sha256", expected, got)


def _check_evidence(predicate: dict[str, Any], options: Options) -> bool:
    """Compare supplied sources and the export; tell whether there was one (LEAN-11; step 8)."""
    if options.evidence is None:
        return False
    for i, module in enumerate(predicate["modules"]):
        _sidecar(options, module, f"{_MODULES}/{i}", limits.LEAN_SOURCE_BYTES)
    export = predicate["export"]
    if export is None:
        return False
    try:
        data = _sidecar(options, export, "/predicate/export", limits.EXPORT_BYTES)
    except Refusal as refusal:
        if refusal.code == "EVIDENCE_MISSING":
            return False
        raise
    _check_export(predicate["theorems"], data)
    return True


def _sidecar(options: Options, entry: dict[str, str], at: str, limit: int) -> bytes:
    """Read a file of the evidence folder by a `path` and `sha256` of the predicate."""
    try:
        return evidence(options.evidence, entry["path"], entry["sha256"], f"{at}/path", limit)
    except Refusal as refusal:
        if refusal.code == "EVIDENCE_DIGEST_MISMATCH":
            refusal.pointer = f"{at}/sha256"
        raise


def _check_export(theorems: list[dict[str, Any]], data: bytes) -> None:
    """Compare every theorem with what the export gives (LEAN-11).

    Raises:
        Refusal: H3, LEMMA_STATEMENT_MISMATCH, AXIOM_NOT_ALLOWED, and what refuses the export.
    """
    from lockstep_verify.kernel import statement_digests

    try:
        found = statement_digests.theorems(data)
    except Refusal as refusal:
        line = refusal.pointer.removeprefix("/") or "the whole"
        got = f"line {line}: {refusal.got}"
        raise Refusal(refusal.code, "/predicate/export", refusal.expected, got) from None
    for i, theorem in enumerate(theorems):
        at, name = f"{_THEOREMS}/{i}", theorem["name"]
        if name not in found:
            raise Refusal("H3_PROOF_MISSING", f"{at}/name", "a theorem of the export", name)
        digest, axioms = found[name]
        _require(_STATEMENT, f"{at}/statement_sha256", digest, theorem["statement_sha256"])
        _require(_AXIOM, f"{at}/axioms", list(axioms), theorem["axioms"])


def _lines(predicate: dict[str, Any], counts: dict[str, int], compared: bool) -> tuple[str, ...]:
    kernel, seen = predicate["kernel"], predicate["observations"]
    words = {True: "true", None: "not made"}
    return (
        f"theorems: {counts['theorems']}, each with the registered statement digest; "
        f"{counts['axiom_free']} rest on no axiom"
        + (", the others on an allowed one" if counts["axiom_free"] < counts["theorems"] else ""),
        f"of these {counts['row_lemmas']} are named by every row of a hunt, and "
        f"{counts['layout_lemmas']} speak of one declared layout each",
        f"kernel: Lean {kernel['version']} ({kernel['builder']}), commit {kernel['commit']}, "
        f"library sha256 {kernel['library_sha256']} (attested)",
        *(f"{name}: {words[seen[name]]} (attested)" for name in OBSERVATIONS),
        f"modules: {counts['modules']}, all that are registered, each bound by digest",
        "export: statement digests and axioms derived from it and equal"
        if compared
        else "export: not compared (none at hand)",
    )
