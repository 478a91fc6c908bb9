"""The committed vectors, evaluated once: what is sent, and what is required."""

import json

import pytest

from lockstep.vectors import build, score

HELD_BYTES = 1 << 20


class Held:
    """The vectors and their requests; very long ones are kept for the runner's own tests."""

    def __init__(self):
        self.folder = build.folder()
        self.vectors = score.load(self.folder)
        self.scratch = score.Scratch()
        self.requests = []
        for vector in self.vectors:
            found = score.inputs(vector, self.folder, self.scratch)
            if sum(len(value) for value in found.values() if type(value) is bytes) < HELD_BYTES:
                # Through text, so that nothing of the runner's values reaches an implementation.
                request = json.loads(json.dumps(score.request(vector, found)))
                self.requests.append((vector, request))

    def judge(self, answer, flag):
        """Give the outcomes of an implementation in this process, on the vectors with a flag."""
        return [
            score.judge(vector, answer(request))
            for vector, request in self.requests
            if flag in vector["flags"]
        ]


@pytest.fixture(scope="session")
def held():
    """The committed vectors."""
    held = Held()
    yield held
    held.scratch.close()
