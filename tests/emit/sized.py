"""A program whose sizes are ranges, as the search makes it."""

import tempfile
from pathlib import Path

from codegen.driver.build import plan_model
from codegen.driver.inputs.declared_pools import option_board
from codegen.driver.inputs.dims import parsed
from codegen.driver.options import Options
from codegen.program.interface import IoMode
from codegen.program.program import Program
from tests.search.ranges.networks import residual


def sized(*, io: IoMode = IoMode.POOL) -> Program:
    """Two joined branches of 10 to 40 rows."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sized.tflite"
        path.write_bytes(residual().data)
        options = Options(board="host", dims=parsed(["T=10..40"]), io=io)
        return plan_model(path, option_board("host", ()), options).program
