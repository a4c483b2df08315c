"""Cycles of the MLPerf Tiny models on a Cortex-M4F at 120 MHz, with and without the waits for its flash.

python benchmarks/flash.py                              # the table of docs/cycles.md
python benchmarks/flash.py --models vww_96_int8         # of one model

Estimates by the rules of docs/cycles.md, on `mps2-an386` at `--optimize speed`, beside the best latency that
MLPerf Tiny publishes for the NUCLEO-L4R5ZI at 120 MHz. The last columns are of boards/mps2-an386-l4r5.toml,
which has that part's memories: with weights copied to SRAM at start-up, as its access costs say that it pays;
with `--memory-model`, which chooses kernels by cycles; and what that choice predicted. Deterministic.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # this checkout, not the installed one

from codegen.board import load_memory_model
from codegen.driver.build import build
from codegen.driver.cycle_estimate import estimate_cycles
from codegen.driver.inputs.cases import pattern_case
from codegen.driver.options import Options

HERE = Path(__file__).resolve().parent
SHARED = Path(os.environ.get("CODEGEN_TESTDATA") or HERE.parents[1] / "shared" / "testdata")
PUBLISHED = {
    "kws_ref_model": 5.18,
    "vww_96_int8": 10.7,
    "pretrainedResnet_quant": 19.8,
    "ad01_int8": 0.49,
}
"""Million cycles: the best published latency times 120 MHz."""
PARTS = ("stm32l4r5", "stm32l4r5-single-bank")


COPIED = HERE / "boards" / "mps2-an386-l4r5.toml"


def measure(model: str) -> list[float]:
    """Million cycles of one inference: without waits, with each part's flash, with weights in its SRAM, with
    kernels chosen by cycles, as these were predicted.

    Raises CodegenError.
    """
    totals = _totals(model, Options(board="mps2-an386", optimize="speed"), PARTS)
    copied = Options(board=str(COPIED), optimize="speed")
    chosen = _totals(model, replace(copied, memory_model=PARTS[0]), PARTS[:1])
    return [*totals, *_totals(model, copied, PARTS[:1])[1:], *chosen[1:]]


def _totals(model: str, options: Options, parts: Sequence[str]) -> list[float]:
    """Million cycles without waits, then with the flash of each part, then as predicted, where they are."""
    path = SHARED / "models" / "mlperf_tiny" / f"{model}.tflite"
    with tempfile.TemporaryDirectory(prefix="codegen-flash-") as folder:
        built = build([path], options, Path(folder) / "b", emulated=True)
        case = pattern_case([tensor.type for tensor in built.models[0].program.signature.inputs], 0)
        totals: list[float] = []
        for part in parts:
            estimate = estimate_cycles(built, case, memory=load_memory_model(part))
            waits = estimate.total_waits
            assert waits is not None  # a memory model was given
            totals.append((estimate.total + waits.total) / 1e6)
            if len(totals) == 1:
                totals.insert(0, estimate.total / 1e6)
        if options.memory_model is not None:
            totals.append(sum(prim.cycles or 0 for prim in built.models[0].program.steps.prim_funcs) / 1e6)
        return totals


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", nargs="+", choices=list(PUBLISHED), default=list(PUBLISHED))
    given = parser.parse_args()
    columns = [f"`{part}`" for part in PARTS] + ["in SRAM"]
    columns += ["`--memory-model`", "predicted"]
    print("| model | published | no waits |", *(f"{column} |" for column in columns))
    print("|---|---|---|" + "---|" * len(columns))
    for model in given.models:
        figures = " | ".join(f"{figure:.3g}" for figure in (PUBLISHED[model], *measure(model)))
        print(f"| {model} | {figures} |", flush=True)


if __name__ == "__main__":
    main()
