"""The layouts' source files, and the subject that binds them (HUNT-16; step 9 of the order)."""

import hashlib
from typing import Any

from lockstep_verify import lcj, limits, spec
from lockstep_verify.bytes import check_name, evidence
from lockstep_verify.derive import Options
from lockstep_verify.derive.hunt_pairs import require
from lockstep_verify.errors import Refusal

_LAYOUTS = "/predicate/layouts"
_ABSENT = {"kv_heads": 0, "ranks": 1, "rank_axis": "none", "block": 0}
_ABSENT_IN_TENSOR = {"x": 0, "pad_tokens": 0, "pad_head_dim": 0, "reserve": 0}


def check_sources(statement: dict[str, Any], options: Options) -> None:
    """Compare the subject `layouts` with the sources, and declarations with supplied files.

    Raises:
        Refusal: BAD_VALUE, SUBJECT_MISMATCH, and the codes of `bytes.evidence`.
    """
    predicate = statement["predicate"]
    bound: dict[str, str] = {}
    for i, layout in enumerate(predicate["layouts"]):
        source, at = layout["source"], f"{_LAYOUTS}/{i}/source"
        check_name(source["path"], f"{at}/path")
        first = bound.setdefault(source["path"], source["sha256"])
        require("SUBJECT_MISMATCH", f"{at}/sha256", first, source["sha256"])
    expected = hashlib.sha256(lcj.encode(bound)).hexdigest()
    names = [subject["name"] for subject in statement["subject"]]
    if "layouts" not in names:
        raise Refusal("SUBJECT_MISMATCH", "/subject", f"layouts {expected}", "no subject layouts")
    subject = names.index("layouts")
    got = statement["subject"][subject]["digest"]["sha256"]
    require("SUBJECT_MISMATCH", f"/subject/{subject}/digest/sha256", expected, got)
    if options.evidence is None:
        return
    bits = spec.load("hunt.json")["dtypes"][predicate["geometry"]["dtype"]]
    for i, layout in enumerate(predicate["layouts"]):
        source, at = layout["source"], f"{_LAYOUTS}/{i}"
        data = evidence(
            options.evidence,
            source["path"],
            source["sha256"],
            f"{at}/source/sha256",
            limits.LAYOUT_SOURCE_BYTES,
        )
        _compare(layout, data, bits, at)


def _compare(layout: dict[str, Any], data: bytes, bits: int, at: str) -> None:
    """Compare a declaration with the TOML text that it was made from.

    Raises:
        Refusal: BAD_VALUE, at the first field that the text gives another value.
    """
    # Costs a tenth of a whole verification, and few runs need it.
    import tomllib

    # What a TOML reader spends on a dotted name grows with the square of its length.
    if max(line.count(b".") for line in data.split(b"\n")) > limits.LAYOUT_SOURCE_DOTS:
        expected = f"at most {limits.LAYOUT_SOURCE_DOTS} dots a line"
        raise Refusal("BAD_VALUE", f"{at}/source/path", expected, "more")
    try:
        declared = {**_ABSENT, **tomllib.loads(data.decode("utf-8"))}
        declared["citation"] = {"commit": None, **declared["citation"]}
        declared["tensors"] = [_tensor(tensor, bits) for tensor in declared["tensors"]]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        got = f"{type(error).__name__}: {error}"
        raise Refusal("BAD_VALUE", f"{at}/source/path", "a declared layout", got) from None
    for field in layout:
        if field not in ("name", "source", "derived"):
            expected, got = declared.get(field, "no such field in the file"), layout[field]
            if not _same(expected, got):
                raise Refusal("BAD_VALUE", f"{at}/{field}", expected, got)


def _same(declared: object, held: object) -> bool:
    """Tell whether two values are equal in value and type; `held` bounds how deep it looks."""
    if type(declared) is not type(held):
        return False
    if isinstance(declared, dict) and isinstance(held, dict):
        if declared.keys() != held.keys():
            return False
        return all(_same(declared[name], value) for name, value in held.items())
    if isinstance(declared, list) and isinstance(held, list):
        return len(declared) == len(held) and all(map(_same, declared, held))
    return declared == held


def _tensor(tensor: dict[str, Any], bits: int) -> dict[str, Any]:
    components = [
        {"bits": bits, **({"name": component} if isinstance(component, str) else component)}
        for component in tensor["components"]
    ]
    return {**_ABSENT_IN_TENSOR, **tensor, "components": components}
