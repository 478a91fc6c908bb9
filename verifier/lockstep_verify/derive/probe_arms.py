"""Who was measured and what it was asked: arms, pins, bodies, settings (spec/probe.md)."""

import hashlib
from typing import Any

from lockstep_verify import spec
from lockstep_verify.errors import Refusal

Document = dict[str, Any]

_OUTCOME = "OUTCOME_NOT_DERIVED"
_DENOMINATOR = "COVERAGE_DENOMINATOR_NOT_DERIVED"


def require(code: str, pointer: str, expected: object, got: object) -> None:
    """Refuse a value that is not the one due; true is not 1."""
    if type(expected) is not type(got) or expected != got:
        raise Refusal(code, pointer, expected, got)


def order(seed: int, block: int, names: list[str]) -> list[str]:
    """Give the order of a block's entries (PROBE-2)."""
    found = []
    for name in names:
        text = f"lockstep/order/1/{seed}/{block}/{name}"
        found.append((hashlib.sha256(text.encode("ascii")).hexdigest(), name))
    return [name for _, name in sorted(found)]


def metrics(adapter: str) -> dict[str, str | None] | None:
    """Give the metrics of an adapter's servers by question, None where there is no such one."""
    for entry in spec.load("probe.json")["adapters"]:
        if entry["name"] == adapter:
            found: dict[str, str | None] = entry["metrics"]
            return found
    return None


def check_arms(arms: list[Document], at: str) -> None:
    """See that arms are told apart, and each pin held to its own constant (PROBE-9, PROBE-10).

    Raises:
        Refusal: at the first arm's first offence.
    """
    names: set[str] = set()
    for i, arm in enumerate(arms):
        if arm["name"] in names:
            raise Refusal("BAD_VALUE", f"{at}/{i}/name", "a name that no arm has", arm["name"])
        names.add(arm["name"])
    for i, arm in enumerate(arms):
        here = f"{at}/{i}"
        if metrics(arm["adapter"]) is None:
            raise Refusal("BAD_VALUE", f"{here}/adapter", "an adapter", arm["adapter"])
        due = spec.load("probe.json")["pins"]
        require(_DENOMINATOR, f"{here}/pins", due, [pin["name"] for pin in arm["pins"]])
        for j, pin in enumerate(arm["pins"]):
            agrees = None if pin["recorded"] is None else pin["recorded"] == pin["observed"]
            require(_OUTCOME, f"{here}/pins/{j}/agrees", agrees, pin["agrees"])
        check_ascending([one["name"] for one in arm["server_settings"]], f"{here}/server_settings")


def check_ascending(names: list[str], at: str) -> None:
    """See that each name stands behind a smaller one."""
    for i in range(1, len(names)):
        if names[i] <= names[i - 1]:
            raise Refusal("BAD_VALUE", f"{at}/{i}/name", f"above {names[i - 1]}", names[i])


def check_bodies(bodies: list[Document], at: str) -> None:
    """See that bodies have the form of PROBE-12, and that no two are equal."""
    unshared = spec.load("probe.json")["unshared"]
    seen: set[tuple[str, tuple[tuple[str, str], ...]]] = set()
    for i, body in enumerate(bodies):
        names = [field["name"] for field in body["fields"]]
        for j, name in enumerate(names):
            here = f"{at}/{i}/fields/{j}/name"
            if j and name <= names[j - 1]:
                raise Refusal("BAD_VALUE", here, f"above {names[j - 1]}", name)
            if any(name == one or name.startswith(one + ".") for one in unshared):
                raise Refusal("BAD_VALUE", here, "a field that is no prompt", name)
        told = (body["route"], tuple((one["name"], one["value"]) for one in body["fields"]))
        if told in seen:
            raise Refusal("BAD_VALUE", f"{at}/{i}", "a body of its own", "an earlier one")
        seen.add(told)


def check_settings(
    stated: list[Document],
    arms: list[Document],
    samples: list[Document],
    bodies: list[Document],
    at: str,
) -> None:
    """See that settings are read back from what each arm was sent (PROBE-13, PROBE-14).

    Raises:
        Refusal: at the first arm's first offence.
    """
    names = [arm["name"] for arm in arms]
    require(_DENOMINATOR, at, names, [one["arm"] for one in stated])
    data = spec.load("probe.json")["settings"]
    for i, one in enumerate(stated):
        used = {
            request["body"]
            for sample in samples
            if sample["arm"] == one["arm"]
            for request in sample["requests"]
        }
        here = f"{at}/{i}/entries"
        due = [entry["name"] for entry in data]
        require(_DENOMINATOR, here, due, [entry["name"] for entry in one["entries"]])
        for j, (rule, entry) in enumerate(zip(data, one["entries"], strict=True)):
            resolved = _resolved(rule, [bodies[place] for place in sorted(used)])
            require(_OUTCOME, f"{here}/{j}/resolved", resolved, entry["resolved"])
            cause = _cause(entry["requested"], resolved)
            require(_OUTCOME, f"{here}/{j}/cause", cause, entry["cause"])


def _resolved(rule: Document, bodies: list[Document]) -> str | None:
    values = {_sent(rule, body) for body in bodies}
    if len(values) > 1:
        return "varies"
    return values.pop() if values else None


def _sent(rule: Document, body: Document) -> str | None:
    fields = {field["name"]: field["value"] for field in body["fields"]}
    value: str | None = rule["routes"].get(body["route"])
    for name in rule["at"]:
        if name in fields:
            value = fields[name]
            break
    if value is None:
        return None
    same: dict[str, str] = rule["same"]
    return same.get(value, value)


def _cause(requested: str | None, resolved: str | None) -> str:
    if requested is not None and resolved is not None:
        return "requested" if requested == resolved else "altered"
    if requested is not None:
        return "dropped"
    return "harness" if resolved is not None else "unchosen"
