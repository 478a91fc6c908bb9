"""GGUF read by its specification; it needs NumPy alone."""

from __future__ import annotations

import struct

import numpy as np

NAMES = {2: "H", 4: "I", 5: "i", 6: "f", 7: "?"}


class _File:
    """A GGUF file, read from its start as its specification has it."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def take(self, form: str) -> tuple[int, ...]:
        found = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return found

    def text(self) -> str:
        (length,) = self.take("Q")
        self.at += length
        return self.data[self.at - length : self.at].decode()

    def value(self, kind: int) -> object:
        if kind == 8:
            return self.text()
        if kind == 9:
            inner, length = self.take("IQ")
            return [self.value(inner) for _ in range(length)]
        return self.take(NAMES[kind])[0]


def opened(data: bytes) -> tuple[dict[str, object], dict[str, np.ndarray]]:
    file = _File(data)
    assert file.take("4s3I")[:2] == (b"GGUF", 3)
    file.at = 8
    tensors, named = file.take("QQ")
    header = {file.text(): file.value(*file.take("I")) for _ in range(named)}
    places = []
    for _ in range(tensors):
        name, (rank,) = file.text(), file.take("I")
        places.append((name, file.take(f"{rank}Q")[::-1], *file.take("IQ")))
    start = -(-file.at // 32) * 32
    found = {}
    for name, shape, kind, offset in places:
        assert (kind, offset % 32) == (0, 0)
        count = int(np.prod(shape))
        found[name] = np.frombuffer(data, "<f4", count, start + offset).reshape(shape)
    return header, found
