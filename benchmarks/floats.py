"""The shared float32 networks with and without blocks, beside four times what the int8 network takes.

python benchmarks/floats.py                  # plans only: peak bytes
python benchmarks/floats.py --run            # and instructions of one inference, measured on QEMU
python benchmarks/floats.py --boards mps2-an386 --models vww_96_float --optimize size

Columns: peak bytes with every value whole (`--no-blocks`) and with blocks, four times the int8 network's,
instructions whole and with blocks. Outputs of measured runs must equal the goldens, measured peaks the plans.
"""

import argparse
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from codegen.board import load_board  # noqa: E402
from codegen.driver.build import plan_model  # noqa: E402
from codegen.driver.options import Options  # noqa: E402
from codegen.driver.run import complaints, execute  # noqa: E402
from codegen.errors import CodegenError  # noqa: E402
from codegen.problem.problem import peak_bytes  # noqa: E402
from codegen.toolchain import LEVELS, Optimize  # noqa: E402
from tests.public.e2e.models import build_model, golden_cases  # noqa: E402
from tests.public.testdata import model_path  # noqa: E402

BOARDS = ("mps2-an386", "mps3-an547")
PAIRS = {
    "mlperf_tiny/vww_96_float": "mlperf_tiny/vww_96_int8",
    "mlperf_tiny/pretrainedResnet": "mlperf_tiny/pretrainedResnet_quant",
    "mlperf_tiny/pretrainedResnet_large_float": "mlperf_tiny/pretrainedResnet_large_int8",
    "mlperf_tiny/ad01_fp32": "mlperf_tiny/ad01_int8",
    "tflm/hello_world_float": "tflm/hello_world_int8",
}
"""Float network -> the same network of int8."""


def peak(key: str, options: Options) -> int:
    """Bytes of all pools together, planned."""
    program = plan_model(model_path(key), load_board(options.board), options, emulated=True).program
    problem = program.memory.problem
    return sum(peak_bytes(problem, program.memory.plan, pool.name) for pool in problem.pools)


def instructions(key: str, options: Options) -> int:
    """Of one inference on QEMU. Raises CodegenError if an output or a peak is wrong."""
    with tempfile.TemporaryDirectory(prefix="codegen-bench-") as folder:
        built = build_model(key, options, Path(folder) / "build")
        cases = golden_cases(key)[1:2]
        measured = execute(built, cases)
        wrong = complaints(built.models[0], cases, measured, built.image.sizes.stack_bound_bytes)
        if wrong:
            raise CodegenError(wrong)
        return measured.result.cases[0].instructions or 0


def main() -> None:
    """Print the table."""
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=layout)
    parser.add_argument("--boards", nargs="+", default=BOARDS)
    parser.add_argument("--models", nargs="+", default=[key.rsplit("/", 1)[1] for key in PAIRS])
    parser.add_argument("--optimize", choices=tuple(LEVELS), default="balanced")
    parser.add_argument("--run", action="store_true", help="measure instructions, too")
    wanted = parser.parse_args()
    level: Optimize = wanted.optimize
    line = "{:<29} {:<11} {:>9} {:>9} {:>9} {:>12} {:>12}"
    print(line.format("model", "board", "whole", "blocks", "4 x int8", "instructions", "with blocks"))
    for key, integer in PAIRS.items():
        for board in wanted.boards if key.rsplit("/", 1)[1] in wanted.models else ():
            blocks = Options(board=board, optimize=level)
            whole = Options(board=board, optimize=level, blocks=False)
            figures = [peak(key, whole), peak(key, blocks), 4 * peak(integer, blocks)]
            figures += [instructions(key, each) for each in (whole, blocks) if wanted.run]
            words = [f"{figure:,}" for figure in figures] + [""] * (5 - len(figures))
            print(line.format(key.rsplit("/", 1)[1], board, *words), flush=True)


if __name__ == "__main__":
    main()
