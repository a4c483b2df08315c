"""Layers that no engine has as they are, mostly for their types: written as other operators, whose result is
the same."""

from dataclasses import replace

import numpy as np

from codegen.importers.tflite.operators.custom.detection import DETECTION
from codegen.importers.tflite.writing.writer import Custom
from codegen.ir import DType, ops
from tests.fuzz.files import File, given
from tests.kernels.layers import Layer
from tests.opgen.families.detection import options_of
from tests.tensor_types import per_tensor, tensor_type


def _negated(file: File, layer: Layer) -> int:
    """A MUL by -1."""
    meaning = per_tensor(1.0)
    minus = tensor_type((1,), quantization=meaning)
    result = file.tensor(layer.let.var.type)
    file.model.op("MUL", [*file.operands, file.tensor(minus, np.array([-1], np.int8))], [result])
    return result


def _logarithm(file: File, layer: Layer) -> int:
    """A LOG of floats, where what has no logarithm has a very small one."""
    real = tensor_type(layer.let.var.type.shape, DType.FLOAT32)
    least = file.tensor(replace(real, shape=(1,)), np.array([1e-37], np.float32))
    at = file.operands[0]
    assert at is not None
    for name in ("DEQUANTIZE", "MAXIMUM", "LOG", "QUANTIZE"):
        below, at = at, file.tensor(layer.let.var.type if name == "QUANTIZE" else real)
        file.model.op(name, [below, least] if name == "MAXIMUM" else [below], [at])
    return at


def _summed(file: File, layer: Layer) -> int:
    """A CUMSUM of float32, which has the same sums below 2^24."""
    attrs = layer.let.call.attrs
    assert isinstance(attrs, ops.CumsumAttrs)
    axis = file.constant(attrs.axis)
    real = tensor_type(layer.let.var.type.shape, DType.FLOAT32)
    real_value, sums, result = file.tensor(real), file.tensor(real), file.tensor(layer.let.var.type)
    file.model.op("CAST", file.operands, [real_value])
    file.model.op("CUMSUM", [real_value, axis], [sums], exclusive=attrs.exclusive, reverse=attrs.reverse)
    file.model.op("CAST", [sums], [result])
    return result


def _clamped(file: File, layer: Layer) -> int:
    """A LEAKY_RELU that changes the scale, then the ends; halves of a step away from zero."""
    result = layer.let.var.type
    at = file.tensor(result)
    file.model.op("LEAKY_RELU", file.operands, [at], alpha=1.0)
    end = int(np.floor(np.float32(1) / np.float32(result.scale) + np.float32(0.5)))
    for name, value in (("MAXIMUM", max(-end, -32768)), ("MINIMUM", min(end, 32767))):
        bound = file.tensor(replace(result, shape=(1,)), np.array([value], np.int16))
        below, at = at, file.tensor(result)
        file.model.op(name, [below, bound], [at])
    return at


def _through_int16(file: File, layer: Layer) -> int:
    """A QUANTIZE with int16 in place of int32 at one end, and a CAST there."""
    argument, result = given(layer.let.call.args[0]), layer.let.var.type
    if argument.dtype is DType.FLOAT32:
        between, last = file.tensor(replace(result, dtype=DType.INT16)), file.tensor(result)
        names = ("QUANTIZE", "CAST")
    else:
        between, last = file.tensor(replace(argument, dtype=DType.INT16)), file.tensor(result)
        names = ("CAST", "QUANTIZE")
    file.model.op(names[0], file.operands, [between])
    file.model.op(names[1], [between], [last])
    return last


def _scaled(file: File, layer: Layer) -> int:
    """A DEQUANTIZE as a MUL of floats."""
    real, result = file.tensor(layer.let.var.type), file.tensor(layer.let.var.type)
    scale = np.array([given(layer.let.call.args[0]).scale], np.float32)
    file.model.op("CAST", file.operands, [real])
    one = tensor_type((1,), DType.FLOAT32)
    file.model.op("MUL", [real, file.tensor(one, scale)], [result])
    return result


def _detected(file: File, layer: Layer) -> int:
    """Its four results as one, with zeros where an engine writes nothing; int8 made real beforehand."""
    attrs = layer.let.call.attrs
    assert isinstance(attrs, ops.DetectionAttrs)
    options = {
        "max_detections": attrs.most,
        "max_classes_per_detection": attrs.classes_of_box,
        "detections_per_class": attrs.most_of_class,
        "use_regular_nms": attrs.by_class,
        "num_classes": attrs.classes,
        "nms_score_threshold": attrs.score,
        "nms_iou_threshold": attrs.overlap,
        **dict(zip(("y_scale", "x_scale", "h_scale", "w_scale"), attrs.scales, strict=True)),
    }

    def real(shape: tuple[int, ...], data: np.ndarray | None = None) -> int:
        return file.tensor(tensor_type(shape, DType.FLOAT32), data)

    given_: list[int | None] = []
    for arg, operand in zip(layer.let.call.args, file.operands, strict=True):
        given_.append(operand)
        if given(arg).dtype is DType.INT8:
            given_[-1] = real(given(arg).shape)
            file.model.op("DEQUANTIZE", [operand], [given_[-1]])
    rows = attrs.most * attrs.classes_of_box
    shapes = ((1, rows, 4), (1, rows), (1, rows), (1,))
    results = [real(shape) for shape in shapes]
    packed = options_of(**options)
    file.model.op("CUSTOM", given_, results, custom=Custom(code=DETECTION, options=packed))
    parts: list[int] = []
    for result, numbers in zip(results[:3], (4, 1, 1), strict=True):
        flat, kept = real((numbers * rows,)), real((numbers * rows,))
        file.model.op("RESHAPE", [result, file.constant([numbers * rows])], [flat])
        places = np.repeat(np.arange(rows) // attrs.classes_of_box, numbers).astype(np.float32)
        is_there = file.tensor(tensor_type(places.shape, DType.BOOL))
        file.model.op("LESS", [real(places.shape, places), results[3]], [is_there])
        zeros = real(places.shape, np.zeros(places.shape, np.float32))
        file.model.op("SELECT_V2", [is_there, flat, zeros], [kept])
        spare = real((numbers * (attrs.rows - rows),), np.zeros(numbers * (attrs.rows - rows), np.float32))
        parts += [kept, spare] if attrs.rows > rows else [kept]
    whole = file.tensor(layer.let.var.type)
    file.model.op("CONCATENATION", [*parts, results[3]], [whole], axis=0)
    return whole


OTHERWISE = {
    ("DETECTION_POST_PROCESS", DType.FLOAT32, DType.FLOAT32): _detected,
    ("DETECTION_POST_PROCESS", DType.INT8, DType.FLOAT32): _detected,
    ("LOG", DType.INT8, DType.INT8): _logarithm,
    ("NEG", DType.INT8, DType.INT8): _negated,
    ("CUMSUM", DType.INT32, DType.INT32): _summed,
    ("RELU_N1_TO_1", DType.INT16, DType.INT16): _clamped,
    ("QUANTIZE", DType.FLOAT32, DType.INT32): _through_int16,
    ("QUANTIZE", DType.INT32, DType.INT32): _through_int16,
    ("DEQUANTIZE", DType.INT32, DType.FLOAT32): _scaled,
}
"""By operator, type of the first argument, type of the result."""
