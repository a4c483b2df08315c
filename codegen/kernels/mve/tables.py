"""Operators of one int8, and of one beside a constant, by tables that Helium gathers from."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from codegen.ir import Let
from codegen.kernels.base.c_kernel import FastKernel
from codegen.kernels.base.registry import register
from codegen.kernels.block import RowKernel
from codegen.kernels.portable.tables import PAIR_TABLES, TABLES, PairTable, ResultTable
from codegen.kernels.primfunc import PrimFunc
from codegen.targets.arm import MVE


class LookupMve(FastKernel):
    """Operator by one of the portable tables, 16 bytes at a time."""

    kernel_set, takes_constants = MVE, True
    symbol = "cg_lut_s8_mve"

    def __init__(self, portable: ResultTable | PairTable) -> None:
        self.portable, self.op = portable, portable.op
        self.name = f"{portable.name}_mve"

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        prim = self.portable.bind(let, constants, name)
        return replace(
            prim,
            kernel=self.name,
            symbol=self.symbol,
            sources=("kernels/mve/lut_s8_mve.S",),
            headers=("cg_pairs_mve.h",),
            instructions=15 + 4 * -(-let.var.type.elements // 16),
            rows=None if prim.rows is None else RowKernel(symbol=self.symbol),
        )


for _table in (*TABLES, *(table for table in PAIR_TABLES if not table.by_channel)):
    register(LookupMve(_table))
