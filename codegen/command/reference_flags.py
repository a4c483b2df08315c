"""`--reference` and `--engine-python`: what says whether outputs are right."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from codegen.command.option_table import ENGINE_PYTHON, REFERENCE, option
from codegen.settings import ReferenceChoice, ReferenceMode


def reference_flags(verb: Callable[..., int]) -> Callable[..., int]:
    """Decorator: adds both flags, and hands them to the verb as `choice`."""

    @option(REFERENCE)
    @option(ENGINE_PYTHON)
    @wraps(verb)
    def called(*args: Any, reference: ReferenceMode, engine_python: str | None, **words: Any) -> int:
        return verb(*args, choice=ReferenceChoice(mode=reference, python=engine_python), **words)

    return called
