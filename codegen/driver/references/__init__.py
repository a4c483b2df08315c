"""The reference of a run: is what the board computes what another engine computes of the file?

In: a planned model, its cases and what the board gave. Out: comparisons and the reference that decided them.
Start with `ask`, before the board runs, then `judge`.
"""

from codegen.driver.references.asking import EngineOutputs, ask, ruling_words
from codegen.driver.references.import_check import ImportCheck
from codegen.driver.references.judging import Judged, import_faults, judge, numpy_outputs
from codegen.driver.references.rounding_halves import halves_words
from codegen.driver.references.stepwise import check_import

__all__ = [
    "EngineOutputs",
    "ImportCheck",
    "Judged",
    "ask",
    "check_import",
    "halves_words",
    "import_faults",
    "judge",
    "numpy_outputs",
    "ruling_words",
]
