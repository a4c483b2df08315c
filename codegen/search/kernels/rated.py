"""Predictions of kernels on a target that saves some of their instructions, or takes longer for some."""

from dataclasses import replace

from codegen.ir import Target
from codegen.kernels.block import RowKernel, Span
from codegen.kernels.primfunc import PrimFunc
from codegen.targets.core_family import KernelRate
from codegen.targets.families import family_of


def rated(prim: PrimFunc, target: Target) -> PrimFunc:
    """`prim` with the instructions of `target`, and cycles where its family compares kernels by them."""
    rates = family_of(target.cpu).cycles.kernel_rates(target)
    rate = rates.get(prim.kernel.removesuffix("_in_place"), rates.get("", KernelRate()))
    if prim.instructions is None or rate == KernelRate():
        return prim
    instructions = round(prim.instructions * rate.instructions)
    return replace(
        prim,
        instructions=instructions,
        cycles=None if rate.cycles is None else round(instructions * rate.cycles),
        rows=_rated_rows(prim.rows, rate.instructions),
    )


def _rated_rows(rows: RowKernel | None, rate: float) -> RowKernel | None:
    """`rows` with the price of the target's instructions."""
    if rows is None or rows.price is None:
        return rows
    price = rows.price

    def rated_price(count: int, span: Span) -> float:
        return rate * price(count, span)

    return replace(rows, price=rated_price)
