"""Values known when the file is read: counters of loops, conditions, indices that follow from them."""

from collections.abc import Mapping

import numpy as np

from codegen.errors import CodegenError
from codegen.importers.reporting import AlreadyReported, ImportReport, Refused
from codegen.importers.tflite.file.reader import FileModel, FileOperator
from codegen.importers.tflite.operators.site import FOLDED, Site, Translated, Values, source
from codegen.importers.tflite.operators.steps import chain, evaluated
from codegen.importers.tflite.operators.translators import SPLITTERS, TRANSLATORS
from codegen.importers.tflite.tensors import Tensors

MAX_KNOWN = 64
"""Elements of a value that is followed: conditions, counters, indices and shapes have a few."""

Known = Mapping[int, np.ndarray]
"""Values by tensor."""


def stored(model: FileModel, index: int) -> np.ndarray | None:
    """The few numbers that the file holds for a tensor; None where it holds none, or many."""
    tensors = Tensors(model)
    try:
        if tensors.has_data(index) and tensors.type(index).elements <= MAX_KNOWN:
            return tensors.constant(index).data
    except (Refused, AlreadyReported, ValueError):
        pass
    return None


def results(model: FileModel, operator: FileOperator, known: Known) -> list[np.ndarray] | None:
    """The few numbers that an operator gives for known arguments; None where it has others."""
    if not operator.outputs or any(index != -1 and index not in known for index in operator.inputs):
        return None
    tensors, report = Tensors(model), ImportReport(model.file_name)
    try:
        for index in operator.inputs:
            if index != -1:
                tensors.fold(index, known[index])
        kinds = [tensors.type(index) for index in operator.outputs]
        if max(kind.elements for kind in kinds) > MAX_KNOWN:
            return None
        site = Site(operator, Values(tensors, {}), report, kinds)
        numbers = _numbers(site, tensors)
        fits = all(
            (data.shape, data.dtype) == (kind.shape, kind.dtype.numpy)
            for data, kind in zip(numbers, kinds, strict=True)
        )
        return numbers if fits and not site.complained else None
    except (Refused, AlreadyReported, CodegenError, ValueError):
        return None


def _numbers(site: Site, tensors: Tensors) -> list[np.ndarray]:
    operator = site.operator
    if operator.kind in TRANSLATORS:
        parts: tuple[Translated, ...] = (TRANSLATORS[operator.kind](site),)
    elif operator.kind in SPLITTERS:
        parts = SPLITTERS[operator.kind](site)
    elif operator.kind in FOLDED:
        return [FOLDED[operator.kind](site)]
    else:
        raise AlreadyReported
    numbers: list[np.ndarray] = []
    for position, (part, kind) in enumerate(zip(parts, site.results, strict=True)):
        steps = chain(part, kind, source(operator, tensors, position), "")
        for let in steps:
            let.call.op.check(let.call.attrs, let.call.types, let.var.type)
        numbers.append(evaluated(tensors.used_constants, steps))
    return numbers
