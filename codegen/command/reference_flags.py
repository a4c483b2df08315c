"""`--reference`, `--engine-python` and `--tolerance`: what says whether outputs are right."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from codegen.command.option_table import ENGINE_PYTHON, REFERENCE, TOLERANCE, option
from codegen.settings import ReferenceChoice, ReferenceMode


def reference_flags(verb: Callable[..., int]) -> Callable[..., int]:
    """Decorator: adds the flags, and hands them to the verb as `choice`."""

    @option(REFERENCE)
    @option(ENGINE_PYTHON)
    @option(TOLERANCE)
    @wraps(verb)
    def called(
        *args: Any, reference: ReferenceMode, engine_python: str | None, tolerance: float, **words: Any
    ) -> int:
        choice = ReferenceChoice(mode=reference, python=engine_python, tolerance=tolerance)
        return verb(*args, choice=choice, **words)

    return called
