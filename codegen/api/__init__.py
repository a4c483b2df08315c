"""The supported Python interface: `codegen.build`, `codegen.run`, `codegen.plan`.

In: model files and `Options`. Out: a `Report`, the values of report.json with types. What goes wrong is a
`CodegenError` with every message, as on the command line. Start reading at `calls.py`.
"""

import sys
from types import ModuleType
from typing import Any

from codegen.api.calls import build, plan, run
from codegen.api.report import Report
from codegen.driver.cases import Case
from codegen.driver.options import Options
from codegen.errors import CodegenError


class _Room(ModuleType):
    """The package `codegen.plan`, which has the name of a function of the interface: called, it is that."""

    def __call__(self, *arguments: Any, **named: Any) -> Report:
        return plan(*arguments, **named)


sys.modules["codegen.plan"].__class__ = _Room

__all__ = ["Case", "CodegenError", "Options", "Report", "build", "plan", "run"]
