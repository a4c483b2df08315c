"""Rates of RISC-V kernels, as codegen/targets/riscv/kernel_rates.py records them.

python benchmarks/rv32_rates.py

Of each kernel, over the steps of four networks that run it: instructions with Zba and Zbb for one without,
and cycles of the E31 for an instruction, by its published timings. Deterministic; two minutes.
"""

import os
import sys
import tempfile
from collections import Counter
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # this checkout, not the installed one

from benchmarks.core_cycles import timed_as
from codegen.driver.build import build
from codegen.driver.cycle_estimate import estimate_cycles
from codegen.driver.inputs.cases import pattern_case
from codegen.driver.options import Options
from codegen.driver.run import RunConditions, execute
from codegen.ir import Let
from codegen.kernels.base.weighted import CONVOLUTION
from codegen.kernels.rv32.conv3x3 import Rv32Conv3x3
from codegen.kernels.rv32.convolution import Rv32Tiled
from codegen.kernels.rv32.winograd import Rv32Winograd
from codegen.program.image import Trace

HERE = Path(__file__).resolve().parent
SHARED = Path(os.environ.get("CODEGEN_TESTDATA") or HERE.parents[1] / "shared" / "testdata")
packs_rows = Rv32Conv3x3().other_reason
NETWORKS = ("kws_ref_model", "pretrainedResnet_quant", "ad01_int8", "vww_96_int8")


def measure(model: str, board: str) -> tuple[Counter[str], Counter[str]]:
    """Instructions by kernel, and cycles of the E31 where the board has its instructions."""
    path = SHARED / "models" / "mlperf_tiny" / f"{model}.tflite"
    instructions: Counter[str] = Counter()
    cycles: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="codegen-rates-") as folder:
        built = build([path], Options(board=board, optimize="speed"), Path(folder) / "b", emulated=True)
        program = built.models[0].program
        case = pattern_case([tensor.type for tensor in program.signature.inputs], 0)
        kernels = [prim.kernel.removesuffix("_in_place") for prim in program.steps.prim_funcs]
        trace = execute(built, [case], RunConditions(trace=Trace.COST)).result.trace
        for step in trace:
            instructions[kernels[step.step]] += step.instructions or 0
        if not board.endswith("b"):
            costs = estimate_cycles(timed_as(built, "e31"), case).cycles
            for kernel, cost in zip(kernels, costs, strict=True):
                cycles[kernel] += cost
    return instructions, cycles


def _left_out(kernel: object, let: Let) -> str:
    return f"{kernel} is left out of {let.var.name}"


def _left_out_of_rows(kernel: object, let: Let) -> str | None:
    return _left_out(kernel, let) if let.call.op.name == CONVOLUTION.op and packs_rows(let) is None else None


def _add(model: str, plain: Counter[str], short: Counter[str], cycles: Counter[str]) -> None:
    instructions, timed = measure(model, "qemu-virt-rv32")
    plain.update(instructions)
    cycles.update(timed)
    short.update(measure(model, "qemu-virt-rv32b")[0])


def main() -> None:
    """Print one row a kernel."""
    plain: Counter[str] = Counter()
    short: Counter[str] = Counter()
    cycles: Counter[str] = Counter()
    for model in NETWORKS:
        _add(model, plain, short, cycles)
    with pytest.MonkeyPatch.context() as patch:  # 3x3 layers of stride 1 take the kernel that packs rows
        patch.setattr(Rv32Winograd, "other_reason", _left_out)
        patch.setattr(Rv32Tiled, "layer_reason", _left_out_of_rows)
        _add("pretrainedResnet_quant", plain, short, cycles)
    print("| kernel | with Zba, Zbb | cycles of the E31 |\n|---|---|---|")
    for kernel, count in plain.items():
        if count:
            print(f"| {kernel} | {short[kernel] / count:.3f} | {cycles[kernel] / count:.2f} |")


if __name__ == "__main__":
    main()
