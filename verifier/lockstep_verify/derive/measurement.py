"""Re-derive a certificate of measurements (spec/measurement.md).

Every figure is computed again from the records, which are the signer's word. The order of the
checks is the normative one.
"""

import hashlib
from typing import Any

from lockstep_verify import lcj, spec
from lockstep_verify.derive import Derivation, Options
from lockstep_verify.derive.measurement_comparisons import (
    check_gates,
    check_published,
    check_routes,
    check_tables,
)
from lockstep_verify.derive.measurement_fits import check_fits
from lockstep_verify.derive.measurement_probes import check_probes
from lockstep_verify.derive.measurement_readings import Readings
from lockstep_verify.derive.measurement_records import check_head, read_records
from lockstep_verify.derive.not_run import check_not_run
from lockstep_verify.derive.probe_window import guarded
from lockstep_verify.errors import Refusal

_AT = "/predicate"


def derive(statement: dict[str, Any], options: Options) -> Derivation:
    """Re-derive the statement of measurements.

    Raises:
        Refusal: the first offence in the order of derivation of MEAS-15.
    """
    predicate = statement["predicate"]
    check_probes(predicate)
    check_head(predicate)
    records = read_records(predicate)
    coefficients = check_fits(predicate, records)
    readings = Readings(predicate, records, coefficients)
    readings.check_made(predicate)
    check_routes(predicate["routes"], readings.found)
    sources = {source["id"] for source in predicate["sources"]}
    check_published(predicate["published"], readings.found, sources)
    check_gates(predicate, records)
    check_tables(predicate["tables"], readings.found)
    counts = _counts(predicate, readings)
    for name, count in counts.items():
        if predicate["counts"][name] != count:
            code, got = "H10_COUNTS_DO_NOT_RECOMPUTE", predicate["counts"][name]
            raise Refusal(code, f"{_AT}/counts/{name}", count, got)
    verdict = _verdict(counts)
    if predicate["verdict"] != verdict:
        raise Refusal("OUTCOME_NOT_DERIVED", f"{_AT}/verdict", verdict, predicate["verdict"])
    check_not_run(predicate["not_run"], spec.load("measurement.json")["not_run"])
    _check_subject(statement)
    return Derivation(verdict, counts, _lines(predicate, counts))


def _counts(predicate: dict[str, Any], readings: Readings) -> dict[str, int]:
    """Count what MEAS-14 counts."""
    agreeing = [one["reading"] for one in predicate["published"] if one["outcome"] == "agrees"]
    settings = [setting["chosen"] for arm in predicate["arms"] for setting in arm["settings"]]
    refused = [record for record in predicate["records"] if record["refusal"] is not None]
    outcomes = [one["outcome"] for one in predicate["published"]]
    verdicts = [gate["verdict"] for gate in predicate["gates"]]
    counts = {name: len(predicate[name]) for name in ("sources", "profiles", "arms")}
    counts |= {"settings": len(settings), "settings_unchosen": settings.count(False)}
    counts |= {"records": len(predicate["records"]), "records_refused": len(refused)}
    counts |= {n: len(predicate[n]) for n in ("direct", "fits", "derived", "predicted", "routes")}
    counts["published"] = len(outcomes)
    counts["published_agreeing"] = outcomes.count("agrees")
    counts["published_contradicted"] = outcomes.count("contradicted")
    counts["published_not_rederivable"] = outcomes.count("not_rederivable")
    counts["published_unrecorded"] = len([n for n in agreeing if not readings.found[n].rests_on])
    counts["gates"] = len(verdicts)
    counts["gates_interchangeable"] = verdicts.count("interchangeable")
    counts["tables"] = len(predicate["tables"])
    probes = predicate["probes"] or {"arms": [], "samples": [], "settings": []}
    counts["samples"] = len(probes["samples"])
    counts["samples_guarded"] = len([one for one in probes["samples"] if guarded(one)])
    agreed = [pin["agrees"] for arm in probes["arms"] for pin in arm["pins"]]
    counts["pins_differing"] = agreed.count(False)
    causes = [entry["cause"] for one in probes["settings"] for entry in one["entries"]]
    counts["sent_altered"] = len([cause for cause in causes if cause in ("altered", "dropped")])
    return counts


def _verdict(counts: dict[str, int]) -> str:
    if counts["pins_differing"]:
        return "IDENTITY_DIFFERS"
    if counts["sent_altered"]:
        return "SETTING_ALTERED"
    return "CONTRADICTED" if counts["published_contradicted"] else "MEASURED"


def _check_subject(statement: dict[str, Any]) -> None:
    """See that the subject `records` is the digest of the records (MEAS-15)."""
    digest = hashlib.sha256(lcj.encode({"records": statement["predicate"]["records"]})).hexdigest()
    names = [subject["name"] for subject in statement["subject"]]
    if "records" not in names:
        raise Refusal("SUBJECT_MISMATCH", "/subject", f"records {digest}", names)
    at = names.index("records")
    got = statement["subject"][at]["digest"]["sha256"]
    if got != digest:
        raise Refusal("SUBJECT_MISMATCH", f"/subject/{at}/digest/sha256", digest, got)


def _lines(predicate: dict[str, Any], counts: dict[str, int]) -> tuple[str, ...]:
    """Report for people what was found."""
    refused = counts["records_refused"]
    lines = [
        f"{counts['records']} records, {refused} refused; {counts['direct']} measured, "
        f"{counts['derived']} derived, {counts['predicted']} predicted readings",
        f"{counts['published']} printed figures: {counts['published_agreeing']} agree "
        f"({counts['published_unrecorded']} by arithmetic alone), "
        f"{counts['published_contradicted']} contradicted, "
        f"{counts['published_not_rederivable']} not to be derived again",
    ]
    if counts["samples_guarded"] < counts["samples"]:
        alone = counts["samples"] - counts["samples_guarded"]
        lines.append(f"unguarded: in the windows of {alone} samples nobody counted prompt tokens")
    lines += [
        f"contradicted: {one['says']}"
        for one in predicate["published"]
        if one["outcome"] == "contradicted"
    ]
    lines += [
        f"unchosen: {setting['name']} = {setting['effective']} ({setting['cause']})"
        for arm in predicate["arms"]
        for setting in arm["settings"]
        if not setting["chosen"]
    ]
    lines += [
        f"{gate['first']} for {gate['second']}: {gate['verdict']}" for gate in predicate["gates"]
    ]
    return tuple(lines)
