"""A model within a limit of flash computes the same, at a bounded price."""

from collections.abc import Sequence
from pathlib import Path

from codegen.driver.inputs.cases import Case
from codegen.driver.options import Options
from codegen.driver.run import RunConditions, complaints, execute
from codegen.program.image import Trace
from codegen.toolchain import Optimize
from tests.e2e.models import build_file


def check_limited(
    path: Path, cases: Sequence[Case], optimize: Optimize, flash: int, most: int, folder: Path
) -> None:
    """Constants within `flash` bytes; instructions at most `most`, and not fewer than without a limit."""

    def run(place: str, limits: dict[str, int]) -> tuple[int, int]:
        """Instructions and bytes of constants."""
        options = Options(board="mps2-an386", optimize=optimize, pool_limits=limits)
        built = build_file(path, options, folder / place)
        measured = execute(built, cases, RunConditions(trace=Trace.COST))
        assert complaints(built.models[0], cases, measured, built.image.sizes.stack_bound_bytes) == []
        instructions = measured.result.cases[0].instructions
        assert instructions is not None
        return instructions, built.models[0].program.constants.size_bytes

    free, _ = run("free", {})
    limited, size = run("limited", {"flash": flash})
    assert size <= flash
    assert free <= limited <= most
