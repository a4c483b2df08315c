"""Graph inputs of an ONNX file that become constants (`--fix`): a sample rate, a switch, a length.

The file's bytes are rewritten, so that the importer and the engines read one network.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from codegen.errors import Message, Messages
from codegen.importers.graph_inputs import FixedInput
from codegen.importers.onnx.file.reader import parsed
from codegen.importers.printable_names import printable
from codegen.ir.c_names import identifier

_MOST_ELEMENTS = 1 << 16


def with_constants(data: bytes, file_name: str, fixes: Sequence[FixedInput]) -> bytes:
    """The file with each named graph input as a constant of its type and shape.

    Raises CodegenError E276 for an input that there is not, or a value that does not fit, and what
    `read_graph` raises for what is no ONNX file.
    """
    if not fixes:
        return data
    onnx, model = parsed(data, file_name)
    messages = Messages()
    for fix in fixes:
        inputs = {identifier(value.name, ""): value for value in model.graph.input}
        inputs |= {value.name: value for value in model.graph.input}
        value = inputs.get(fix.name)
        if value is None:
            names = ", ".join(printable(tensor.name) for tensor in model.graph.input) or "none"
            messages.add(
                "E276", "the model has no such input", where=fix.spelled, help=f"its inputs: {names}"
            )
            continue
        try:
            array = _array(onnx, value, fix)
        except ValueError as reason:
            help_ = "give one number for all elements, or as many as the input has, with commas"
            messages.take(Message(code="E276", text=str(reason), where=fix.spelled, help=help_))
            continue
        model.graph.input.remove(value)
        model.graph.initializer.append(onnx.numpy_helper.from_array(array, value.name))
    messages.raise_if_any()
    return bytes(model.SerializeToString())


def _array(onnx: Any, value: Any, fix: FixedInput) -> np.ndarray:
    """The numbers of a fixed input; ValueError with the reason if they do not fit."""
    kind = value.type.tensor_type
    shape = [extent.dim_value or 1 for extent in kind.shape.dim]
    elements = int(np.prod(shape, dtype=np.int64))
    if elements > _MOST_ELEMENTS:
        raise ValueError(f"the input has {elements} elements, up to {_MOST_ELEMENTS} are made constants")
    dtype = np.dtype(onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type))
    if dtype.kind not in "biuf" or len(fix.numbers) not in (1, elements):
        raise ValueError(f"the input is {dtype}{shape}, these are {len(fix.numbers)} numbers")
    numbers = np.asarray(fix.numbers, np.float64)
    with np.errstate(all="ignore"):
        array = numbers.astype(dtype)
    if dtype.kind in "biu" and not np.array_equal(array.astype(np.float64), numbers):
        raise ValueError(f"the input is {dtype}, which has no such number")
    return np.broadcast_to(array.reshape(shape if len(numbers) > 1 else ()), shape).copy()
