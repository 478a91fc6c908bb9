"""Tell the version of a distribution and the digests of files of it; needs no library."""

import contextlib
import hashlib
import importlib.metadata
import json
import sys


def main() -> None:
    """Read a request, and write the answer: version, digests by path, and what is missing."""
    asked = json.load(sys.stdin)
    answer: dict[str, object] = {"version": None, "files": {}, "missing": None}
    try:
        found = first(asked["distributions"])
        answer["version"] = found.version
        answer["files"] = {
            path: hashlib.sha256(found.locate_file(path).read_bytes()).hexdigest()  # type: ignore[attr-defined]
            for path in asked["files"]
        }
    except importlib.metadata.PackageNotFoundError:
        answer["missing"] = "such distribution"
    except FileNotFoundError as fault:
        answer["missing"] = f"file {fault.filename.rpartition('/')[2]}"
    json.dump(answer, sys.stdout)


def first(names: list[str]) -> importlib.metadata.Distribution:
    """Give the first distribution of these names that is there.

    Raises:
        PackageNotFoundError: none is.
    """
    for name in names[:-1]:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            return importlib.metadata.distribution(name)
    return importlib.metadata.distribution(names[-1])


if __name__ == "__main__":
    main()
