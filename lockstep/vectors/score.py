"""Run the vectors against an implementation, and say which rule it breaks where."""

import base64
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lockstep.errors import registry
from lockstep.vectors import plain
from lockstep.vectors.blob import evaluate
from lockstep.vectors.session import NoAnswer, Session

Vector = dict[str, Any]
Answer = dict[str, Any]
PLAIN_OP = "certificate"
"""The one op that a plain command line can perform."""


@dataclass(frozen=True)
class Outcome:
    """What became of one vector.

    Attributes:
        state: `passed`, `failed` or `skipped`.
        expected: the code, or the member, that was required.
        got: what the implementation gave instead.
    """

    id: str
    area: str
    rule: str
    state: str
    expected: str = ""
    got: str = ""
    hint: str = ""


@dataclass(frozen=True)
class Score:
    """The outcomes of a run, and how many vectors the whole set has."""

    outcomes: tuple[Outcome, ...]
    whole: int
    fault: str | None = None

    def count(self, state: str) -> int:
        """Count the outcomes of a state."""
        return sum(outcome.state == state for outcome in self.outcomes)

    @property
    def perfect(self) -> bool:
        """Whether every selected vector passed; an empty selection proves nothing."""
        return bool(self.outcomes) and self.count("passed") == len(self.outcomes) and not self.fault


def load(folder: Path, areas: Iterable[str] = ()) -> tuple[Vector, ...]:
    """Read the committed vectors of some areas, or of all, in the order of their ids."""
    wanted = set(areas)
    paths = [path for path in folder.glob("*/*.json") if not wanted or path.parent.name in wanted]
    vectors = [json.loads(path.read_text("utf-8")) for path in sorted(paths)]
    return tuple(sorted(vectors, key=lambda vector: str(vector["id"])))


class Scratch:
    """The files on which op `read` is tried, kept for the length of a run."""

    def __init__(self) -> None:
        self._held = tempfile.TemporaryDirectory()
        folder = Path(self._held.name)
        (folder / "regular").write_bytes(b"lockstep")
        (folder / "empty").write_bytes(b"")
        (folder / "folder").mkdir()
        os.mkfifo(folder / "fifo")
        for name, target in (("link", "regular"), ("loop", "loop"), ("dangling", "nothing")):
            (folder / name).symlink_to(folder / target)
        self.folder = folder

    def path(self, kind: str) -> str:
        """Give the path of a kind of file."""
        return str(self.folder / ("regular/x" if kind == "below" else kind))

    def close(self) -> None:
        """Remove the files."""
        self._held.cleanup()


def _evaluated(value: Any, files: Path, scratch: Scratch) -> Any:
    if not isinstance(value, dict):
        return value
    if value.keys() == {"path"}:
        return scratch.path(value["path"])
    return evaluate(value, files)


def inputs(vector: Vector, folder: Path, scratch: Scratch) -> dict[str, Any]:
    """Evaluate a vector's inputs: bytes where the contract says bytes."""
    files = folder / vector["area"] / "files"
    given = dict(vector["input"])
    if vector["op"].startswith("sampling_"):
        return given
    evidence = given.pop("evidence", None)
    found = {name: _evaluated(value, files, scratch) for name, value in given.items()}
    if "evidence" in vector["input"]:
        found["evidence"] = evidence and {
            name: evaluate(value, files) for name, value in evidence.items()
        }
        if evidence == {}:
            found["evidence"] = {}
    return found


def _encoded(value: Any) -> Any:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, dict):
        return {name: _encoded(item) for name, item in value.items()}
    return value


def request(vector: Vector, found: dict[str, Any]) -> dict[str, Any]:
    """Give the request that the protocol sends for a vector."""
    head = {"id": vector["id"], "area": vector["area"], "op": vector["op"]}
    return {**head, **{name: _encoded(value) for name, value in found.items()}}


def judge(vector: Vector, answer: Answer) -> Outcome:
    """Compare an answer with what the vector requires."""
    expect = vector["expect"]
    code = expect["code"]
    hint = vector["note"] + (f" [{', '.join(vector['flags'])}]" if vector["flags"] else "")

    def outcome(state: str, expected: object = "", got: object = "") -> Outcome:
        place = (vector["id"], vector["area"], vector["rule"])
        return Outcome(*place, state, str(expected), str(got), hint if state == "failed" else "")

    if "fault" in answer:
        return outcome("failed", code, answer["fault"])
    if answer.get("result") == "unsupported":
        return outcome("skipped", code, "unsupported")
    got = answer.get("code")
    if got != code or answer.get("result") != expect["result"]:
        known = isinstance(got, str) and (got == "OK" or got in registry())
        return outcome("failed", code, got if known else f"{got!r}, which is no code")
    if "pointer" in expect and answer.get("pointer") != expect["pointer"]:
        wanted = f"{code} at {expect['pointer']!r}"
        return outcome("failed", wanted, f"{code} at {answer.get('pointer')!r}")
    value = answer.get("value") or {}
    for name, wanted in expect.get("value", {}).items():
        if not _same(value.get(name), wanted):
            return outcome("failed", f"{name} = {wanted}", f"{name} = {value.get(name)}")
    return outcome("passed")


def _same(left: Any, right: Any) -> bool:
    """Compare JSON values; true is not 1."""
    return json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True)


def run(
    folder: Path,
    command: Sequence[str],
    areas: Sequence[str] = (),
    *,
    by_command_line: bool = False,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> Score:
    """Score an implementation.

    Args:
        folder: the vectors.
        command: the implementation's command.
        areas: the areas to run; none means all.
        by_command_line: start the command once a vector instead of speaking the protocol.
        progress: told how many vectors are done, of how many.
    """
    whole = len(load(folder))
    vectors = load(folder, areas)
    if by_command_line:
        vectors = tuple(vector for vector in vectors if vector["op"] == PLAIN_OP)
    scratch, session = Scratch(), Session(command)
    outcomes = []
    fault = None
    try:
        for vector in vectors:
            found = inputs(vector, folder, scratch)
            answer = plain.ask(command, found) if by_command_line else _ask(session, vector, found)
            outcomes.append(judge(vector, answer))
            progress(len(outcomes), len(vectors))
    finally:
        fault = session.close()
        scratch.close()
    return Score(tuple(outcomes), whole, fault)


def _ask(session: Session, vector: Vector, found: dict[str, Any]) -> Answer:
    try:
        return session.ask(request(vector, found))
    except NoAnswer as fault:
        return {"fault": str(fault)}
