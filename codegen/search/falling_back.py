"""A fault in the search for blocks ends no build: the plan is made without blocks, and says so.

The suite sets `RAISES`: there the fault is a failure.
"""

from collections.abc import Callable
from dataclasses import replace

from codegen.errors import CodegenError
from codegen.problem.shortage import DoesNotFit, DoesNotLink
from codegen.program.program import Program
from codegen.search.choices import Choices

RAISES = False
"""Let a fault of the search through, as tests need it."""


def with_or_without_blocks(choices: Choices, planned: Callable[[Choices], Program]) -> Program:
    """`planned(choices)`; if that fails by a fault of ours, the plan without blocks, with a note.

    A streamed input needs blocks: there the fault is raised.
    """
    try:
        return planned(choices)
    except (CodegenError, DoesNotFit, DoesNotLink):
        raise
    except Exception as error:
        if RAISES or not choices.blocks or choices.stream_input:
            raise
        fault = f"{type(error).__name__}: {error}".splitlines()[0]
    program = planned(replace(choices, blocks=False))
    return program.with_note(
        f"the search for layers to run row by row failed ({fault}), so every value lies in memory whole; "
        "the plan is right, but may need more bytes. Please report it with the model"
    )
