"""Tools around the core, found in the folder `codegen/tools`: nothing here names one."""

import importlib
import pkgutil
from functools import cache

import codegen.tools
from codegen.api.tool import ToolDeclaration


@cache
def installed_tools() -> tuple[ToolDeclaration, ...]:
    """The `TOOL` of each folder, by the folders' names."""
    names = sorted(module.name for module in pkgutil.iter_modules(codegen.tools.__path__))
    return tuple(importlib.import_module(f"codegen.tools.{name}").TOOL for name in names)
