"""Doors of packages that import a name when it is asked for.

Without them every command would import NumPy and all kernels before it says that a path is wrong. A package
with such a door lists its names below `if TYPE_CHECKING:`, for people and for the type checker. The door
reads that list, so each name stands in one place.
"""

import ast
import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any


def late_imports(package: str, file: str) -> Callable[[str], Any]:
    """The `__getattr__` of `package`, whose `__init__.py` is `file`."""
    places: dict[str, tuple[str, str]] = {}

    def imported(name: str) -> Any:
        if not places:
            places.update(listed_names(Path(file).read_text(encoding="utf-8")))
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, attribute = places[name]
        value = getattr(importlib.import_module(module), attribute)
        setattr(importlib.import_module(package), name, value)  # the door is asked once
        return value

    return imported


def listed_names(source: str) -> dict[str, tuple[str, str]]:
    """Name -> module and name there, of the imports below `if TYPE_CHECKING:`."""
    return {
        alias.asname or alias.name: (str(statement.module), alias.name)
        for block in ast.parse(source).body
        if isinstance(block, ast.If) and isinstance(block.test, ast.Name) and block.test.id == "TYPE_CHECKING"
        for statement in block.body
        if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
    }
