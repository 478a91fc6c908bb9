"""What a document of the cases says of lemmas: made from the registry, as its layouts ask for.

A document writes `$lemmas` where the registry decides, so that a new registry asks for new
vectors and for no new document.
"""

import hashlib
from typing import Any

from lockstep import spec
from lockstep.certificate import lcj

PLACEHOLDER = "$lemmas"
_DECLARATION = ("attention", "block", "kv_heads", "quantisation", "rank_axis", "ranks", "tensors")


def theorems(number: str) -> list[dict[str, Any]]:
    """Give the registered theorems as a certificate lists them, or the first `number` of them."""
    registered: list[dict[str, Any]] = spec.load("lemmas.json")["lemmas"]
    names = ("name", "statement_sha256", "axioms")
    made = [{name: theorem[name] for name in names} for theorem in registered]
    return made[: int(number)] if number else made


def allowed_axioms() -> list[str]:
    """Give the axioms that theorems may rest on [LEAN-4]."""
    return list(spec.load("lemmas.json")["allowed_axioms"])


def modules() -> list[dict[str, str]]:
    """Give the registered modules as a certificate lists them, each of its made-up source."""
    return [
        {"name": name, "path": path, "sha256": hashlib.sha256(text.encode()).hexdigest()}
        for name, (path, text) in _sources().items()
    ]


def sources() -> dict[str, dict[str, str]]:
    """Give the made-up sources as a scenario's folder of evidence holds them."""
    return {path: {"text": text} for path, text in _sources().values()}


def _sources() -> dict[str, tuple[str, str]]:
    """Give path and text of each registered module; no kernel sees them."""
    return {
        name: ("/".join(name.split(".")) + ".lean", f"prelude\n/-! In the place of {name}. -/\n")
        for name in spec.load("lemmas.json")["modules"]
    }


def fill(statement: dict[str, Any]) -> None:
    """Write what the registry decides into a hunt or a certificate of the lemmas."""
    predicate = statement.get("predicate", {})
    if "layouts" in predicate and "rows" in predicate:
        _fill_hunt(predicate)
    elif "theorems" in predicate:
        _fill_lean(predicate["counts"], predicate["theorems"])


def _fill_hunt(predicate: dict[str, Any]) -> None:
    """Write the lemmas of each row and how many there are [HUNT-12, HUNT-18]."""
    declared = {layout["name"]: layout for layout in predicate["layouts"]}
    named: set[str] = set()
    for row in predicate["rows"]:
        proof = row["proof"]
        if proof is not None and proof["lemmas"] == PLACEHOLDER:
            sides = (declared[row["src"]], declared[row["dst"]])
            proof["lemmas"] = _row_lemmas(*sides)
            named.update(lemma["name"] for lemma in proof["lemmas"])
    if predicate["counts"]["lemmas"] == PLACEHOLDER:
        predicate["counts"]["lemmas"] = len(named)


def _row_lemmas(src: dict[str, Any], dst: dict[str, Any]) -> list[dict[str, str]]:
    data = spec.load("lemmas.json")
    own = [data["layouts"].get(_declaration_sha256(layout), []) for layout in (src, dst)]
    names = dict.fromkeys([*data["rows"], *own[0], *own[1]])
    digests = {lemma["name"]: lemma["statement_sha256"] for lemma in data["lemmas"]}
    return [{"name": name, "statement_sha256": digests[name]} for name in names]


def _declaration_sha256(layout: dict[str, Any]) -> str:
    return hashlib.sha256(lcj.encode({name: layout[name] for name in _DECLARATION})).hexdigest()


def _fill_lean(counts: dict[str, Any], listed: list[dict[str, Any]]) -> None:
    """Write the counts that the registry decides [LEAN-9]."""
    data = spec.load("lemmas.json")
    made = {
        "theorems": len(listed),
        "accepted": len(listed),
        "axiom_free": sum(not theorem["axioms"] for theorem in listed),
        "row_lemmas": len(data["rows"]),
        "layout_lemmas": len({name for names in data["layouts"].values() for name in names}),
        "modules": len(data["modules"]),
    }
    for name, count in made.items():
        if counts[name] == PLACEHOLDER:
            counts[name] = count
