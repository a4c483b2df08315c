"""Portable kernels that look a byte's result up: operators of one int8, and of one beside a constant.

Start with `unary.py`. What a table holds is what the operator's reference gives for all 256 arguments."""

from codegen.kernels.portable.tables.pairs import PAIR_TABLES, PairTable
from codegen.kernels.portable.tables.unary import TABLES, ResultTable

__all__ = ["PAIR_TABLES", "TABLES", "PairTable", "ResultTable"]
