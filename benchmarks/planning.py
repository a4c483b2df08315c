"""Planning every shared model, kernels of `stm32`: peak, bound, proof, processor seconds of the whole search.

python benchmarks/planning.py [--board BOARD]
"""

import argparse
import time

from models import SHARED

from codegen import importers, passes
from codegen.board import load_board
from codegen.driver.build import pipeline, search_choices
from codegen.driver.options import Options
from codegen.errors import CodegenError
from codegen.plan.problem import peak_bytes
from codegen.search import search
from codegen.toolchain import LEVELS


def main() -> None:
    """Print one row a model and level; models that are not supported are counted."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--board", default="stm32")
    board = load_board(parser.parse_args().board)
    row = "{:<44} {:<9} {:>9} {:>9} {:>7} {:>8}"
    print(row.format("model", "optimize", "peak", "bound", "proved", "seconds"))
    slowest, unsupported = 0.0, 0
    for path in sorted((SHARED / "models").rglob("*.tflite")):
        for level in LEVELS:
            options = Options(optimize=level)
            try:
                module = passes.run_passes(importers.load(path), pipeline(options))
                begun = time.process_time()
                program = search(module, board, search_choices(options, emulated=False), name="model")
            except CodegenError:
                unsupported += level == "speed"
                continue
            seconds = time.process_time() - begun
            slowest = max(slowest, seconds)
            peaks = sum(
                peak_bytes(program.problem, program.plan, pool.name) for pool in program.problem.pools
            )
            bounds = sum(program.plan.lower_bounds.values())
            proved = "yes" if program.plan.proved_optimal else "no"
            name = f"{path.parent.name}/{path.stem}"
            print(row.format(name, level, f"{peaks:,}", f"{bounds:,}", proved, f"{seconds:.2f}"))
    print(f"slowest {slowest:.2f} s; {unsupported} models are not supported")


if __name__ == "__main__":
    main()
