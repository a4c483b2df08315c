"""C of a model on mps2-an386 within a limit of flash, and what one of its steps runs."""

import re
from collections.abc import Mapping
from pathlib import Path

from codegen.board import load_board
from codegen.driver.build import Share, plan_model
from codegen.driver.options import Options
from codegen.emit import render
from codegen.joint import together
from codegen.program.interface import EntryMode, Interface
from codegen.toolchain import Optimize


def rendered_files(
    path: Path, flash: int, optimize: Optimize, *, entry: EntryMode = EntryMode.RUN
) -> Mapping[str, str]:
    """Text of each emitted file."""
    options = Options(
        board="mps2-an386",
        optimize=optimize,
        pool_limits={"flash": flash},
        interface=Interface(entry=entry),
    )
    return render(
        together([plan_model(path, load_board("mps2-an386"), options, share=Share(alone=True)).program])
    ).files


def step(text: str, index: int) -> str:
    """What step `index` runs."""
    found = re.search(rf"CG_STEP_BEGIN\({index}u\);\n(.*?)    CG_STEP_END", text, flags=re.S)
    assert found is not None
    return found[1]
