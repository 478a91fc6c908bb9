"""The assurance ledger: what is derived, bound by digest, or only said (LEDGER-1 to LEDGER-3)."""

from typing import Any, NamedTuple

from lockstep_verify.lcj import utf16_order
from lockstep_verify.schema import escape, resolve

_SCALARS = ("string", "integer", "boolean", "null")


class Ledger(NamedTuple):
    """Numbers of leaf fields by class, and the attested kinds as pointers with `*` for indexes."""

    derived: int
    witnessed: int
    attested: int
    attested_kinds: tuple[str, ...]


def ledger(value: Any, schema: dict[str, Any]) -> Ledger:
    """Count the leaves of a value that matches a root schema."""
    counts = {"derived": 0, "witnessed": 0, "attested": 0}
    kinds: set[str] = set()

    def visit(value: Any, node: dict[str, Any], inherited: str, path: str) -> None:
        target = resolve(node, schema)
        own = node.get("x-class") or target.get("x-class") or inherited
        if type(value) is list:
            items = target.get("items", {})
            if value and items.get("type") in _SCALARS:
                # Elements of one class and one path: most leaves stand in such arrays.
                counts[items.get("x-class") or own] += len(value) - 1
                value = value[:1]
            for item in value:
                visit(item, items, own, path + "/*")
        elif type(value) is dict and ("properties" in target):
            for name, member in value.items():
                visit(member, target["properties"][name], own, f"{path}/{escape(name)}")
        else:
            counts[own] += 1
            if own == "attested":
                kinds.add(path)

    visit(value, schema, "attested", "")
    return Ledger(**counts, attested_kinds=tuple(sorted(kinds, key=utf16_order)))
