"""Make the vectors from the cases, and compare them with those that are committed."""

import hashlib
import json
import re
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

from lockstep import spec
from lockstep.errors import registry
from lockstep.vectors import cases, scenario
from lockstep.vectors.blob import INLINE_BYTES, Blob, shorten
from lockstep.vectors.cases import Case, CaseError

_RULE = re.compile(r"\[([A-Z]+-[0-9]+)\]")


def folder() -> Path:
    """Give the folder of the vectors: beside the package's `_spec`, else the checkout's.

    Raises:
        FileNotFoundError: neither is there, so that the installation is incomplete.
    """
    beside = spec.root().parent
    for place in (beside / "_vectors" / "v1", beside / "conformance" / "vectors" / "v1"):
        if place.is_dir():
            return place
    raise FileNotFoundError("lockstep was installed without its vectors; install it again")


def rules() -> frozenset[str]:
    """List the numbered rules of the specification."""
    texts = [path.read_text("utf-8") for path in sorted(spec.root().glob("*.md"))]
    return frozenset(name for text in texts for name in _RULE.findall(text))


def _pretty(value: Any) -> bytes:
    return (json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode("utf-8")


def _written(value: Any) -> Any:
    if isinstance(value, Blob):
        return value.expression()
    if isinstance(value, dict):
        return {name: _written(item) for name, item in value.items()}
    return value


class _Area:
    """One area on the way to its files."""

    def __init__(self, area: str, target: Path) -> None:
        self.area = area
        self.place = target / area / "files"
        self.cases = cases.load(area)
        self.files: dict[str, bytes] = {}
        self.parents: dict[str, tuple[scenario.Rendered, str]] = {}

    def build(self) -> None:
        for case in sorted(self.cases, key=lambda case: case.parent is not None):
            try:
                self._add(case)
            except (ValueError, KeyError, IndexError, TypeError) as error:
                raise CaseError(f"{case.id}: {type(error).__name__}: {error}") from error

    def _add(self, case: Case) -> None:
        if case.code != "OK" and case.code not in registry():
            raise CaseError(f"code {case.code} is not registered")
        if case.rule not in rules():
            raise CaseError(f"rule {case.rule} is not in the specification")
        parent = None
        if case.parent is None:
            declared = case.scenario or {}
            rendered = self._alone(case, declared)
        else:
            rendered_parent, digest = self.parents[case.parent]
            declared = next(x for x in self.cases if x.name == case.parent).scenario or {}
            base = rendered_parent.payload
            rendered = scenario.render(declared, case.edits, self.place, base)
            rendered = _shortened(rendered, rendered_parent)
            parent = {"id": f"{self.area}/{case.parent}", "sha256": digest}
        result = "ok" if case.code == "OK" else "refused"
        vector = {
            "id": case.id,
            "area": case.area,
            "op": declared["op"],
            "rule": case.rule,
            "note": case.note,
            "flags": list(case.flags),
            "parent": parent,
            "mutation": list(case.edits) or None,
            "input": _written(rendered.inputs),
            "expect": {"result": result, "code": case.code, **scenario.resolve(case.expect)},
        }
        data = _pretty(vector)
        self.files[f"{case.area}/{case.name}.json"] = data
        if case.parent is None:
            self.parents[case.name] = (rendered, hashlib.sha256(data).hexdigest())

    def _alone(self, case: Case, declared: dict[str, Any]) -> scenario.Rendered:
        rendered = scenario.render(declared, (), self.place)
        payload = rendered.payload
        if payload is None or payload.written or len(payload.data) <= INLINE_BYTES:
            return rendered
        name = f"{case.name}.payload"
        self.files[f"{case.area}/files/{name}"] = payload.data
        base = Blob(payload.data, {"file": name})
        return scenario.render(declared, (), self.place, base)


def _shortened(rendered: scenario.Rendered, parent: scenario.Rendered) -> scenario.Rendered:
    inputs = dict(rendered.inputs)
    for name, value in inputs.items():
        base = parent.inputs.get(name)
        if isinstance(value, Blob) and isinstance(base, Blob):
            inputs[name] = shorten(value, base)
    return scenario.Rendered(inputs, rendered.payload)


def _manifest(files: dict[str, bytes]) -> bytes:
    vectors = {name: json.loads(data) for name, data in files.items() if "/files/" not in name}
    entries = vectors.values()
    return _pretty(
        {
            "version": 1,
            "vectors": len(vectors),
            "by_area": Counter(vector["area"] for vector in entries),
            "by_code": Counter(vector["expect"]["code"] for vector in entries),
            "by_op": Counter(vector["op"] for vector in entries),
            "unreached": unreached(),
            "files": {name: hashlib.sha256(files[name]).hexdigest() for name in sorted(files)},
        }
    )


def unreached() -> dict[str, str]:
    """Give the codes that no vector can reach, each with its reason."""
    text = (spec.root() / "cases" / "unreached.toml").read_text("utf-8")
    table: dict[str, str] = tomllib.loads(text)["unreached"]
    return table


def build(areas: tuple[str, ...] = cases.AREAS) -> dict[str, bytes]:
    """Give the vectors' files by path below the folder, the manifest among them.

    Raises:
        CaseError: a case that cannot be made.
    """
    files: dict[str, bytes] = {}
    for area in areas:
        maker = _Area(area, folder())
        maker.build()
        files.update(maker.files)
    files["manifest.json"] = _manifest(files)
    return files


def _held(target: Path) -> dict[str, bytes]:
    return {
        path.relative_to(target).as_posix(): path.read_bytes()
        for path in sorted(target.rglob("*"))
        if path.is_file()
    }


def differences(files: dict[str, bytes]) -> tuple[str, ...]:
    """List what differs between files that were made and those that are committed."""
    held = _held(folder())
    names = sorted(files.keys() | held.keys())
    words = {True: "differs", False: "is missing"}
    return tuple(
        f"{name} {words[name in held] if name in files else 'is not made by any case'}"
        for name in names
        if files.get(name) != held.get(name)
    )


def write(files: dict[str, bytes]) -> int:
    """Write the files, remove all others, and give how many changed."""
    target = folder()
    changed = [name for name in files.keys() | _held(target).keys()]
    changed = [name for name in changed if files.get(name) != _held_one(target, name)]
    for name in changed:
        path = target / name
        if name in files:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(files[name])
        else:
            path.unlink()
    return len(changed)


def _held_one(target: Path, name: str) -> bytes | None:
    path = target / name
    return path.read_bytes() if path.is_file() else None
