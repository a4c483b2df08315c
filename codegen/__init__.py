"""Neural networks on bare-metal boards: a model file in, planned plain C out.

    report = codegen.build("kws.tflite", "out", codegen.Options(board="stm32"))
    print(report.plan.peak_bytes)

Supported are `build`, `run`, `plan`, `Options`, `Case`, `Report` and `CodegenError`; all else may change.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from codegen.api import Case, CodegenError, Options, Report, build, plan, run

__version__ = "0.1.0"
__all__ = ["Case", "CodegenError", "Options", "Report", "__version__", "build", "plan", "run"]


def __getattr__(name: str) -> Any:
    """Import the interface when it is asked for: the command line lists its verbs without it."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module("codegen.api"), name)
