"""Build hook: puts the spec's data, the declared layouts and the vectors into the wheel.

Each package carries its own copy of ``spec/``, since neither may import the other. A
forced inclusion is keyed by its source, so that a folder wanted twice is listed file by file.
"""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PackageData(BuildHookInterface):  # type: ignore[type-arg]
    """Maps data folders of the checkout into the packages of a wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Adds the folders to a wheel, and nothing to an editable install.

        Raises:
            FileNotFoundError: a data folder is absent or empty, so that no wheel lacks its spec.
        """
        if version == "editable":
            return
        include: dict[str, str] = build_data["force_include"]
        for name in ("spec", "layouts", "conformance/vectors"):
            if not self._files(name):
                raise FileNotFoundError(f"no data to package in {Path(self.root, name)}")
        include["spec"] = "lockstep_verify/_spec"
        include["layouts"] = "lockstep/_layouts"
        include["conformance/vectors"] = "lockstep/_vectors"
        for path in self._files("spec"):
            include[path] = f"lockstep/_{path}"

    def _files(self, name: str) -> list[str]:
        root = Path(self.root)
        return sorted(
            path.relative_to(root).as_posix() for path in (root / name).rglob("*") if path.is_file()
        )
