"""RAM of random networks with layers on an NPU and on the core, against Vela's own arena.

    python benchmarks/npu_arena.py [--device ethos-u55-128] [--first 0] [--count 40] [--run]

Networks are those of `tests.graphs`. Columns: number, command streams, layers on the core, values copied into
scratches, bytes of the plan, of Vela's arena, their quotient. `--run`: the C runs on this machine with the
functional model linked in, and its outputs are compared with TFLite's of the file before Vela.
"""

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from codegen import CodegenError, Options, run  # noqa: E402
from codegen import board as boards  # noqa: E402
from codegen.driver.build import plan_model  # noqa: E402
from codegen.driver.inputs.cases import Case  # noqa: E402
from codegen.driver.report.npu_report import npu_report  # noqa: E402
from codegen.engines.ruling import ruling_engine  # noqa: E402
from tests.engines import evaluate  # noqa: E402
from tests.graphs.drawing import graph  # noqa: E402
from tests.opgen.sketch import Drawn  # noqa: E402
from tests.opgen.standing import answered, asked  # noqa: E402


def planned(path: Path, options: Options) -> tuple[str, float, bool]:
    """Words of a row, plan / Vela, and whether layers are on both sides."""
    program = plan_model(path, boards.load_board(options.board), options, emulated=True).program
    report: Any = npu_report(program)
    if report is None:
        return "no layer for the NPU", 0.0, False
    core, plan, arena = len(report["on_the_core"]), report["plan_bytes"], report["vela_arena_bytes"]
    copied = sum(step["copied_in"] for step in report["steps"])
    ratio = plan / arena
    words = f"{len(report['steps']):7} {core:4} {copied:6} {plan:8,} {arena:8,} {ratio:5.2f}"
    return words, ratio, core > 0


def compared(path: Path, drawn: Drawn, options: Options) -> str:
    """A word for a run whose outputs are TFLite's, or the message that says where they differ."""
    [answer] = evaluate([asked(drawn, ruling_engine("CONV_2D"))])
    cases = [
        Case(name=f"case{number}", inputs=tuple(inputs), expected=tuple(outputs))
        for number, (inputs, outputs) in enumerate(
            zip(drawn.inputs, answered(drawn, answer.outputs), strict=True)
        )
    ]
    try:
        run(path, options, cases={path.stem: cases}, folder=path.parent / "out")
    except CodegenError as error:
        return str(error).splitlines()[0]
    return "equal"


def main() -> int:
    """Print a row for each network and a summary; 1 if a plan is larger than Vela's arena."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="ethos-u55-128")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--run", action="store_true")
    arguments = parser.parse_args()
    options = Options(board="host", npu=arguments.device)
    ratios: list[tuple[float, bool]] = []
    print("network streams core copied     plan     Vela", flush=True)
    for seed in range(arguments.first, arguments.first + arguments.count):
        drawn = graph(seed)
        with tempfile.TemporaryDirectory() as name:
            path = Path(name) / f"graph{seed}.tflite"
            path.write_bytes(drawn.model)
            try:
                words, ratio, is_mixed = planned(path, options)
                if ratio and arguments.run:
                    words += " " + compared(path, drawn, options)
            except CodegenError as error:
                words, ratio, is_mixed = str(error).splitlines()[0], 0.0, False
        ratios += [(ratio, is_mixed)] if ratio else []
        print(f"{seed:7} {words}", flush=True)
    larger = sum(ratio > 1 for ratio, _ in ratios)
    low = sum(ratio <= 0.8 and is_mixed for ratio, is_mixed in ratios)
    mixed = sum(is_mixed for _, is_mixed in ratios)
    print(f"{len(ratios)} planned, {larger} larger than Vela's arena")
    print(f"{low} of {mixed} with layers on both sides take at most 0.8 of it")
    return 1 if larger else 0


if __name__ == "__main__":
    sys.exit(main())
