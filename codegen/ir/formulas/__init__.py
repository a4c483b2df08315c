"""Sizes that are known as ranges: symbols, formulas over them, and how formulas are found from numbers.

In: values of a quantity at many sizes. Out: a formula that gives each of them. Start with `formula`; what a
function says of its sizes is in `open_sizes`.
"""

from codegen.ir.formulas.formula import (
    Formula,
    Largest,
    Lookup,
    Quotient,
    RoundedUp,
    Sum,
    Symbol,
    Whole,
    constant_of,
    deciding,
    evaluate,
    largest_term,
    named,
    names_of,
    number,
    sum_text,
    text,
)
from codegen.ir.formulas.open_sizes import (
    EVERY,
    FIXED,
    Extent,
    OpenSizes,
    SymbolicInt,
    combinations,
    formula_of,
    found_in,
    is_small,
    said,
)

__all__ = [
    "EVERY",
    "FIXED",
    "Extent",
    "Formula",
    "Largest",
    "Lookup",
    "OpenSizes",
    "Quotient",
    "RoundedUp",
    "Sum",
    "Symbol",
    "SymbolicInt",
    "Whole",
    "combinations",
    "constant_of",
    "deciding",
    "evaluate",
    "formula_of",
    "found_in",
    "is_small",
    "largest_term",
    "named",
    "names_of",
    "number",
    "said",
    "sum_text",
    "text",
]
