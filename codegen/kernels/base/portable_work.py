"""Instructions of kernels without a model of their own: rates that were measured, by kernel and core.

They serve sums over steps. No kernel is chosen for a step by them. A rate holds for what the kernels of one
instruction set run beside: code of the same C for the same cores.
"""

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from codegen.ir import Target
from codegen.kernels.primfunc import PrimFunc
from codegen.targets.families import architecture_of

RECORDED = Path(__file__).with_name("portable_work.csv")
"""File of the measured rates; benchmarks/portable_work.py writes it."""

PER_MAC, PER_VALUE = 10, 100
"""Instructions that a kernel without a rate is taken to run for a multiply-accumulate and for a value of the
result, rather too many than too few."""


@dataclass(frozen=True, kw_only=True, slots=True)
class WorkCounts:
    """Counts of a call that its instructions are proportional to."""

    values: int
    """Elements of the result."""
    reads: int
    """Elements of the first argument that are read, each as often as it is."""
    runs: int
    """Innermost rows of the first argument that are read, each as often as it is."""

    @property
    def vector(self) -> tuple[int, ...]:
        """In the order of the recorded rates."""
        return 1, self.values, self.runs, self.reads


def work_counts(prim: PrimFunc) -> WorkCounts:
    """Counts of one call."""
    image = prim.let.call.args[0] if prim.let.call.args else None
    elements, depth = (0, 1) if image is None else (image.type.elements, (1, *image.type.shape)[-1])
    reads = round(prim.reads[0] * elements) if prim.reads else 0
    return WorkCounts(values=prim.let.var.type.elements, reads=reads, runs=reads // max(depth, 1))


def measured_work(prim: PrimFunc, target: Target) -> int | None:
    """Instructions of one call by the rates of its kernel on such cores; None if there are none."""
    for kernels in architecture_of(target.cpu).kernel_sets:
        rates = _rates().get((kernels.folder, kernel_stem(prim.kernel)))
        if rates is not None and kernels.suits(target.features):
            pairs = zip(rates, work_counts(prim).vector, strict=True)
            return round(sum(rate * count for rate, count in pairs))
    return None


def kernel_stem(kernel: str) -> str:
    """The name without its direction: both do the same work."""
    return kernel.removesuffix("_reverse")


@cache
def _rates() -> Mapping[tuple[str, str], tuple[float, ...]]:
    """By folder of the kernels beside it, and kernel."""
    with RECORDED.open(newline="", encoding="utf-8") as file:
        return {
            (row["beside"], row["kernel"]): tuple(float(row[name]) for name in RATES)
            for row in csv.DictReader(file)
        }


RATES = ("call", "value", "run", "read")
"""Columns of the rates."""


def estimated_work(prim: PrimFunc) -> int:
    """Instructions of a call, or cycles: predicted, or measured, or by the work that it does."""
    if prim.work is not None:
        return prim.work
    if prim.measured_instructions is not None:
        return prim.measured_instructions
    return PER_MAC * prim.macs + PER_VALUE * prim.let.var.type.elements
