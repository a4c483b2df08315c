"""Neural networks on bare-metal boards: a model file in, planned plain C out.

    report = codegen.build("kws.tflite", "out", codegen.Options(board="stm32"))
    print(report.plan.peak_bytes)

Supported are `build`, `run`, `plan`, `Options`, `Case`, `Report` and `CodegenError`; all else may change.
"""

import sys

# In words that Python 3.7 reads too: without them the reader gets a SyntaxError of a later line.
if sys.version_info < (3, 11) or sys.platform == "win32":
    _version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    _problem = f"codegen needs Python 3.11 or newer; {sys.executable} is Python {_version}"
    if sys.platform == "win32":
        _problem = "codegen runs on Linux and macOS; on Windows run it in WSL (docs/guides/install.md)"
    if sys.argv[:1] != ["-m"]:
        raise ImportError(_problem)
    sys.stderr.write(_problem + "\n")
    sys.exit(5)

from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from codegen.api import Case, CodegenError, Options, Report, build, plan, run

__version__ = "0.2.0"
__all__ = ["Case", "CodegenError", "Options", "Report", "__version__", "build", "plan", "run"]


def __getattr__(name: str) -> Any:
    """Import the interface when it is asked for: the command line lists its verbs without it."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module("codegen.api"), name)


def __dir__() -> list[str]:
    return sorted(__all__)


class _Package(ModuleType):
    """This package. `codegen.plan` is a sub-package as well as a function of the interface.

    Importing a sub-package sets it as an attribute of its parent, so which of both `codegen.plan` is would
    hang on what was imported first. A property of the parent's class comes before its attributes, and this
    one ignores what is set: `codegen.plan` and `from codegen import plan` are the function in any order.
    `from codegen.plan import ...` finds the sub-package in `sys.modules`, as before.
    """

    @property
    def plan(self) -> Any:
        """The function of the interface."""
        return __getattr__("plan")

    @plan.setter
    def plan(self, package: ModuleType) -> None:
        del package


sys.modules[__name__].__class__ = _Package
