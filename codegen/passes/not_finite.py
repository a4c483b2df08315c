"""A note for each constant that holds NaN, and for infinite weights: a training that failed, mostly.

Infinity elsewhere is common: masks of attention, bounds of a clip.
"""

import numpy as np

from codegen.ir import ConstRef, Let, Module
from codegen.ir.ops.base.weighted import WeightedOp
from codegen.passes.edges import with_notes


def note_not_finite(module: Module) -> Module:
    """The module with a note for each such constant, named by the first step that reads it."""
    notes: dict[str, str] = {}
    for let in module.main.body:
        for arg in let.call.args:
            if isinstance(arg, ConstRef) and arg.id not in notes:
                notes[arg.id] = _note(module, let, arg.id)
    return with_notes(module, [note for note in notes.values() if note])


def _note(module: Module, let: Let, constant: str) -> str:
    data = module.constants[constant].data
    if data.dtype.kind != "f":
        return ""
    wrong = np.isnan(data)
    if isinstance(let.call.op, WeightedOp):
        wrong = ~np.isfinite(data)
    count = int(np.count_nonzero(wrong))
    if not count:
        return ""
    return (
        f"{let.where}: {count} of the {data.size} numbers of a constant are NaN or infinite; "
        "results that follow from them may be NaN too"
    )
