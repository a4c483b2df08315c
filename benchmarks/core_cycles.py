"""Cycles of an instruction by core, over whole networks: what a time follows from where nothing is counted.

python benchmarks/core_cycles.py               # the table of docs/cycles.md
python benchmarks/core_cycles.py --cores e31   # of one core
python benchmarks/core_cycles.py --published   # plans beside cycles that MLPerf Tiny has of other code

Every network of MLPerf Tiny that a core's emulated memories hold runs once under the cycle model
(docs/cycles.md). Of each core: cycles over instructions of all of them together, then of the network with the
fewest and of the one with the most. Deterministic; a quarter of an hour.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # this checkout, not the installed one

from codegen.driver.build import Built, build
from codegen.driver.cycle_estimate import estimate_cycles
from codegen.driver.inputs.cases import Case, pattern_case
from codegen.driver.options import Options
from codegen.driver.planning import plan_only
from codegen.driver.report.single import report
from codegen.driver.run import execute
from codegen.errors import CodegenError
from codegen.report_file import typed

HERE = Path(__file__).resolve().parent
SHARED = Path(os.environ.get("CODEGEN_TESTDATA") or HERE.parents[1] / "shared" / "testdata")
NETWORKS = ("ad01_int8", "kws_ref_model", "vww_96_int8", "pretrainedResnet_quant", "str_ww_ref_model")
BOARDS: Mapping[str, tuple[str, str]] = {
    "cortex-m0": (str(HERE / "boards" / "mps2-an385-v6m.toml"), "cortex-m0"),
    "cortex-m0plus": (str(HERE / "boards" / "mps2-an385-v6m.toml"), "cortex-m0plus"),
    "cortex-m3": ("mps2-an385", "cortex-m3"),
    "cortex-m4": ("mps2-an386", "cortex-m4"),
    "cortex-m7": ("mps2-an500", "cortex-m7"),
    "cortex-m33": ("mps2-an505", "cortex-m33"),
    "cortex-m55": ("mps3-an547", "cortex-m55"),
    "e31": ("qemu-virt-rv32", "e31"),
    "hazard3": ("qemu-virt-rv32b", "hazard3"),
}
"""By core: the emulated board that runs its code, and the core whose timings count."""


PUBLISHED: Mapping[str, Mapping[str, float]] = {
    "nucleo-l4r5zi": {
        "ad01_int8": 0.575,
        "kws_ref_model": 5.21,
        "pretrainedResnet_quant": 19.9,
        "vww_96_int8": 10.7,
    },
    "b-u585i-iot02a": {
        "ad01_int8": 0.513,
        "kws_ref_model": 4.64,
        "pretrainedResnet_quant": 17.5,
        "vww_96_int8": 9.48,
    },
}
"""Million cycles that MLPerf Tiny has for boards with these parts, of another engine's code."""


def compare() -> None:
    """Print what `codegen plan` says of these parts beside what was published for other code."""
    print("| board | network | published | `plan` says |\n|---|---|---|---|")
    for board, figures in PUBLISHED.items():
        for model, published in figures.items():
            path = SHARED / "models" / "mlperf_tiny" / f"{model}.tflite"
            planned = plan_only(path, Options(board=board, optimize="speed"))
            time = typed(report(planned, board)).time
            assert time is not None and time.cycles is not None, "both boards have clock and timings"
            print(f"| {board} | {model} | {published} | {time.cycles / 1e6:.3g} |", flush=True)


def counts(model: str, board: str, core: str) -> tuple[int, int] | None:
    """(instructions, cycles) of an inference; None where the board has no room for the network."""
    path = SHARED / "models" / "mlperf_tiny" / f"{model}.tflite"
    with tempfile.TemporaryDirectory(prefix="codegen-cycles-") as folder:
        try:
            built = build([path], Options(board=board), Path(folder) / "b", emulated=True)
        except CodegenError:
            return None
        case = pattern_case([tensor.type for tensor in built.models[0].program.signature.inputs], 0)
        return _instructions(built, case), estimate_cycles(timed_as(built, core), case).total


def timed_as(built: Built, core: str) -> Built:
    """`built` with the timings of another core that runs the same instructions."""
    target = replace(built.board.target, cpu=core)
    return replace(built, board=replace(built.board, target=target))


def _instructions(built: Built, case: Case) -> int:
    counted = execute(built, [case]).result.cases[0].instructions
    assert counted is not None, "every board here counts"
    return counted


def main() -> None:
    """Print one row a core."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--cores", nargs="+", choices=list(BOARDS), default=list(BOARDS))
    parser.add_argument("--models", nargs="+", choices=NETWORKS, default=NETWORKS)
    parser.add_argument("--published", action="store_true", help="plans beside published cycles, nothing run")
    asked = parser.parse_args()
    if asked.published:
        compare()
        return
    print("| core | cycles an instruction | fewest | most |\n|---|---|---|---|")
    for core in asked.cores:
        found = {model: pair for model in asked.models if (pair := counts(model, *BOARDS[core])) is not None}
        ratios = {model: cycles / instructions for model, (instructions, cycles) in found.items()}
        mean = sum(cycles for _, cycles in found.values()) / sum(count for count, _ in found.values())
        low, high = min(ratios, key=lambda each: ratios[each]), max(ratios, key=lambda each: ratios[each])
        ends = " | ".join(f"{ratios[each]:.3f} ({each})" for each in (low, high))
        print(f"| {core} | {mean:.3f} | {ends} |", flush=True)


if __name__ == "__main__":
    main()
