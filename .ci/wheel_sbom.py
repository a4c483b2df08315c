"""Build hook of the wheel: writes its bill of materials, which hatchling puts into its metadata (PEP 770).

Listed are the package with its licence, the declared dependencies, and each file of the runtime.
"""

import importlib.util
import re
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_PLACE = Path("build") / "sbom" / "codegen-baremetal.cdx.json"


class WheelBill(BuildHookInterface):  # type: ignore[type-arg]
    """Called by hatchling for every build."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the bill and name it; an editable install has no files of its own to list."""
        if version == "editable":
            return
        root = Path(self.root)
        materials = _loaded(root / "codegen" / "emit" / "folder" / "materials.py")
        project = self.metadata.core
        main = materials.library(project.name, self.metadata.version, "Apache-2.0")
        runtime = materials.library(materials.RUNTIME, self.metadata.version, "Apache-2.0")
        paths = sorted(
            path for path in (root / "runtime_c").rglob("*") if path.suffix in (".c", ".h", ".S", ".inc")
        )
        runtime["components"] = [
            materials.file_component(path.relative_to(root).as_posix(), path.read_bytes()) for path in paths
        ]
        needed = [_dependency(materials, requirement) for requirement in sorted(project.dependencies)]
        (root / _PLACE).parent.mkdir(parents=True, exist_ok=True)
        (root / _PLACE).write_text(materials.bill(main, [runtime, *needed], []), encoding="utf-8")
        build_data["sbom_files"].append(_PLACE.as_posix())


def _dependency(materials: Any, requirement: str) -> dict[str, Any]:
    """A declared dependency: its range is a property, as which version is installed is not known here."""
    component = materials.library(re.split(r"[^\w.-]", requirement)[0], None, None)
    return {**component, "properties": [{"name": "codegen:requirement", "value": requirement}]}


def _loaded(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
