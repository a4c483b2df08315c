"""A drawn layer as a TFLite file, so that the reference engines can be asked for its result.

The format knows SAME and VALID padding only and layers are drawn with any. Convolutions therefore get a PAD
of zero points in front, which adds nothing to a sum; a pool becomes a slice and a VALID pool of what is left
of the window for every pixel of the result, each an output of the graph.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from codegen.engines.ruling import ruling_engine
from codegen.importers.tflite.operators.custom.detection import DETECTION
from codegen.importers.tflite.writing.writer import Custom
from codegen.importers.tflite.writing.writer_options import TENSOR_TYPES
from codegen.ir import DType, TensorType, ops
from tests.engines import TFLITE_RUNTIME, Arrays, Request
from tests.fuzz.files import File, given
from tests.fuzz.otherwise import OTHERWISE
from tests.kernels.layers import Layer
from tests.opgen.families.signal import flexible

_OTHER_RULES = (
    ("ADD_N", DType.INT8),
    ("DIV", DType.INT8),
    ("DYNAMIC_UPDATE_SLICE", DType.INT16),
    ("LOG", DType.INT8),
    ("NEG", DType.INT8),
    ("PRELU", DType.INT16),
    ("RSQRT", DType.INT16),
    ("SOFTMAX", DType.INT16),
    ("SQUARED_DIFFERENCE", DType.INT16),
    ("SUM", DType.INT32),
)
"""Operators of which another engine has this type."""
_WIDER = {"QUANTIZE": (DType.INT16, DType.INT32), "SOFTMAX": (DType.INT16,)}
"""Of int8 to these types, another engine has them."""


_SIGNALS = {
    "SIGNAL_ENERGY": "SignalEnergy",
    "SIGNAL_FILTER_BANK": "SignalFilterBank",
    "SIGNAL_IRFFT": "SignalIrfft",
    "SIGNAL_LOG": "SignalFilterBankLog",
    "SIGNAL_PCAN": "SignalPCAN",
    "SIGNAL_RFFT": "SignalRfft",
    "SIGNAL_SCALE_BITS": "SignalFftAutoScale",
    "SIGNAL_SQUARE_ROOT": "SignalFilterBankSquareRoot",
    "SIGNAL_WINDOW": "SignalWindow",
}
"""What files call the operators of the audio front end."""

_OF_BOOL = {
    "MAXIMUM": "LOGICAL_OR",
    "MINIMUM": "LOGICAL_AND",
    "REDUCE_MAX": "REDUCE_ANY",
    "REDUCE_MIN": "REDUCE_ALL",
}
"""What files call operators on bool."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """What to ask which engine, and how its answer becomes the layer's result."""

    request: Request
    shape: tuple[int, ...]

    is_unsigned: bool = False
    """Whether the file has uint8 for the layer's int8."""

    def joined(self, outputs: Arrays) -> np.ndarray:
        """The layer's result: the output, or the pixels of one whose windows were asked for one by one."""
        if self.is_unsigned:
            outputs = tuple((each ^ 0x80).view(np.int8) for each in outputs)
        if len(outputs) == 1:
            return outputs[0].reshape(self.shape)
        batch, height, width, channels = self.shape
        pixels = np.stack([pixel.reshape(batch, channels) for pixel in outputs], axis=1)
        return pixels.reshape(batch, height, width, channels)


def asked(layer: Layer) -> Asked:
    """The file of `layer`, its inputs, and the engine that rules for it."""
    file = File(layer)
    model = file.finish(list(_written(file, layer)))
    request = Request(engine=engine_for(layer), model=model, inputs=(file.inputs,))
    return Asked(request=request, shape=layer.let.var.type.shape, is_unsigned=file.is_unsigned)


def engine_for(layer: Layer) -> str:
    """The engine that rules for `layer`."""
    return TFLITE_RUNTIME if _is_plain_product(layer) else ruling_engine(_rule(layer))


def _rule(layer: Layer) -> str:
    """Name of the operator in the table of ruling engines."""
    call, result = layer.let.call, layer.let.var.type
    op = call.op.name
    types = call.types
    first = types[0]
    assert first is not None
    if first.dtype is DType.INT8 and result.dtype in _WIDER.get(op, ()):
        return f"{op} int8 to int16"
    if (op, first.dtype) in _OTHER_RULES:
        return f"{op} {first.dtype.value}"
    if op in _SIGNALS:
        return _SIGNALS[op]
    if isinstance(call.attrs, ops.DetectionAttrs):
        return f"{DETECTION} of several classes" if call.attrs.classes_of_box > 1 else DETECTION
    if op == "CONV_2D" and types[2] is None:
        return "CONV_2D without bias"
    if op == "FULLY_CONNECTED":
        weights = types[1]
        assert weights is not None
        if first.dtype is DType.INT16 and types[2] is None:
            return "FULLY_CONNECTED int16 without bias"
        if weights.quantization is not None and len(weights.quantization.scales) > 1:
            return "FULLY_CONNECTED per channel"
    return op


def _is_plain_product(layer: Layer) -> bool:
    """A BATCH_MATMUL of integers without broadcasting: the registry's tflite-micro multiplies both scales in
    double there, its own source and others in float32."""
    call = layer.let.call
    first, second = (*call.types, None)[:2]
    if call.op.name != "BATCH_MATMUL" or first is None or second is None:
        return False
    return first.dtype is not DType.FLOAT32 and first.shape[:-2] == second.shape[:-2]


def _written(file: File, layer: Layer) -> Iterator[int]:
    """Writes the operators; yields the graph's outputs."""
    call = layer.let.call
    if isinstance(call.attrs, ops.PoolAttrs) and call.attrs.padding != ops.Padding2D():
        yield from _window_by_window(file, layer, call.attrs)
        return
    first = file.operands[0]
    if isinstance(call.attrs, ops.ConvAttrs | ops.DepthwiseConvAttrs):
        image = call.args[0]
        assert first is not None and image is not None
        file.operands[0] = _padded(file, first, image.type, call.attrs.padding)
    if call.op.name in ("NOT_EQUAL", "LESS_EQUAL") and file.is_int16:
        yield from _compared(file, layer)
        return
    argument = given(call.args[0]).dtype
    if call.op.name in _ORDERS_OF_BOOL and argument is DType.BOOL:
        yield _ordered(file, layer)
        return
    otherwise = OTHERWISE.get((call.op.name, argument, layer.let.var.type.dtype))
    if otherwise is not None:
        yield otherwise(file, layer)
        return
    name, more, options = _options(file, layer)
    if name in _OF_BOOL and layer.let.var.type.dtype is DType.BOOL:
        name = _OF_BOOL[name]
    while file.operands and file.operands[-1] is None:
        file.operands.pop()
    result = file.tensor(layer.let.var.type)
    results = [result]
    if call.op.name == "SIGNAL_SCALE_BITS":  # the second result, behind the frame
        results = [file.tensor(given(call.args[0])), result]
    file.model.op(name, [*file.operands, *more], results, **options)
    yield result


def _compared(file: File, layer: Layer) -> Iterator[int]:
    """Comparisons that no engine has on int16, by those that are there."""
    result = file.tensor(layer.let.var.type)
    if layer.let.call.op.name == "LESS_EQUAL":
        file.model.op("GREATER_EQUAL", file.operands[::-1], [result])
        yield result
        return
    file.model.op("EQUAL", file.operands, [result])
    other = file.tensor(layer.let.var.type)
    file.model.op("LOGICAL_NOT", [result], [other])
    yield other


_ORDERS_OF_BOOL = {"LESS": "LOGICAL_AND", "LESS_EQUAL": "LOGICAL_OR"}


def _ordered(file: File, layer: Layer) -> int:
    """Orders of bool, which no engine has: a < b is b and not a, a <= b is b or not a."""
    opposite, result = file.tensor(given(layer.let.call.args[0])), file.tensor(layer.let.var.type)
    file.model.op("LOGICAL_NOT", file.operands[:1], [opposite])
    file.model.op(_ORDERS_OF_BOOL[layer.let.call.op.name], [opposite, file.operands[1]], [result])
    return result


def _padded(file: File, image: int, type_: TensorType, pads: ops.Padding2D) -> int:
    if pads == ops.Padding2D():
        return image
    batch, height, width, channels = type_.shape
    shape = (batch, height + pads.top + pads.bottom, width + pads.left + pads.right, channels)
    result = file.tensor(replace(type_, shape=shape))
    amounts = file.constant([[0, 0], [pads.top, pads.bottom], [pads.left, pads.right], [0, 0]])
    file.model.op("PAD", [image, amounts], [result])
    return result


def _window_by_window(file: File, layer: Layer, attrs: ops.PoolAttrs) -> Iterator[int]:
    image, (argument, *_) = file.operands[0], layer.let.call.args
    assert argument is not None
    batch, _, _, channels = argument.type.shape
    _, height, width, _ = layer.let.var.type.shape
    pads = (attrs.padding.top, attrs.padding.left)
    for pixel in product(range(height), range(width)):
        starts = [pixel[axis] * attrs.stride[axis] - pads[axis] for axis in (0, 1)]
        stops = [min(starts[axis] + attrs.window[axis], argument.type.shape[1 + axis]) for axis in (0, 1)]
        starts = [max(0, start) for start in starts]
        extents = [stop - start for start, stop in zip(starts, stops, strict=True)]
        part = file.tensor(replace(argument.type, shape=(batch, *extents, channels)))
        ends = (batch, *stops, channels)
        bounds = [file.constant(values) for values in ((0, *starts, 0), ends, (1, 1, 1, 1))]
        file.model.op("STRIDED_SLICE", [image, *bounds], [part])
        result = file.tensor(replace(layer.let.var.type, shape=(batch, 1, 1, channels)))
        options = _pool_options(replace(attrs, window=(extents[0], extents[1]), stride=(1, 1)))
        file.model.op(layer.let.call.op.name, [part], [result], **options)
        yield result


def _pool_options(attrs: ops.PoolAttrs) -> dict[str, Any]:
    return {
        "padding": "VALID",
        "stride_h": attrs.stride[0],
        "stride_w": attrs.stride[1],
        "filter_height": attrs.window[0],
        "filter_width": attrs.window[1],
        "activation": attrs.activation.value,
    }


def _options(file: File, layer: Layer) -> tuple[str, list[int], dict[str, Any]]:
    """(operator, operands that the format has for options, options)."""
    attrs, op = layer.let.call.attrs, layer.let.call.op.name
    if op in _SIGNALS:
        options = flexible(**_signal_options(layer))
        return "CUSTOM", [], {"custom": Custom(code=_SIGNALS[op], options=options)}
    match attrs:
        case ops.MeanAttrs():
            return op, [file.constant(list(attrs.axes))], {"keep_dims": attrs.keep_dims}
        case ops.ResizeAttrs():
            corners = {"align_corners": attrs.align_corners, "half_pixel_centers": attrs.half_pixel_centers}
            return op, [file.constant(list(attrs.size))], corners
        case ops.ReshapeAttrs() | ops.BroadcastToAttrs():
            return op, [file.constant(list(attrs.shape))], {}
        case ops.CumsumAttrs():
            more = {"exclusive": attrs.exclusive, "reverse": attrs.reverse}
            return op, [file.constant(attrs.axis)], more
        case ops.ArgAttrs():
            return op, [file.constant([attrs.axis])], {"output_type": "int32"}
        case ops.TransposeAttrs():
            return op, [file.constant(list(attrs.permutation))], {}
        case ops.PadAttrs():
            return _pad(file, layer, attrs)
        case ops.StridedSliceAttrs():
            return op, *_slice(file, attrs)
        case _:
            return op, [], _plain_options(op, attrs)


def _signal_options(layer: Layer) -> dict[str, int]:
    match attrs := layer.let.call.attrs:
        case ops.ShiftAttrs():
            return {"shift" if layer.let.call.op.name == "SIGNAL_WINDOW" else "snr_shift": attrs.shift}
        case ops.FftAttrs():
            return {"T": TENSOR_TYPES[layer.let.var.type.dtype.value], "fft_length": attrs.length}
        case ops.EnergyAttrs():
            return {"start_index": attrs.first, "end_index": attrs.stop}
        case ops.FilterBankAttrs():
            return {"num_channels": attrs.channels}
        case ops.LogAttrs():
            return {"output_scale": attrs.scale, "input_correction_bits": attrs.shift}
        case _:
            return {}


def _plain_options(op: str, attrs: ops.Attrs) -> dict[str, Any]:
    """Of operators that have no operands for them."""
    match attrs:
        case ops.ConvAttrs() | ops.DepthwiseConvAttrs():
            options = {"padding": "VALID", "stride_h": attrs.stride[0], "stride_w": attrs.stride[1]}
            options |= {"dilation_h": attrs.dilation[0], "dilation_w": attrs.dilation[1]}
            if isinstance(attrs, ops.DepthwiseConvAttrs):
                options["depth_multiplier"] = attrs.multiplier
            return options | {"activation": attrs.activation.value}
        case ops.PoolAttrs():
            return _pool_options(attrs)
        case ops.FullyConnectedAttrs():
            return {"activation": attrs.activation.value}
        case ops.BinaryAttrs():  # scales of int16 need not be powers of two
            free = {"pot_scale_int16": False} if op in ("ADD", "SUB") else {}
            return {"activation": attrs.activation.value, **free}
        case ops.GatherAttrs():
            return {"axis": attrs.axis, "batch_dims": attrs.batch_axes}
        case (
            ops.BatchMatMulAttrs()
            | ops.ConcatAttrs()
            | ops.SoftmaxAttrs()
            | ops.LeakyReluAttrs()
            | ops.GeluAttrs()
        ):
            return {name: value for name, value in asdict(attrs).items() if name != "rounding"}
        case _:
            return {}


def _pad(file: File, layer: Layer, attrs: ops.PadAttrs) -> tuple[str, list[int], dict[str, Any]]:
    result = layer.let.var.type
    value = np.array([attrs.value], result.dtype.numpy)
    return "PADV2", [file.constant(attrs.paddings), file.tensor(replace(result, shape=(1,)), value)], {}


def _slice(file: File, attrs: ops.StridedSliceAttrs) -> tuple[list[int], dict[str, Any]]:
    """An end in front of the first element has no number of its own: -1 is the last. A mask says it."""
    ends: list[int] = []
    mask = 0
    for axis, (begin, stride, count) in enumerate(
        zip(attrs.begins, attrs.strides, attrs.counts, strict=True)
    ):
        last = begin + (count - 1) * stride
        ends.append(last + 1 if stride > 0 else last - 1)
        mask |= (ends[-1] < 0) << axis
    return [file.constant(values) for values in (attrs.begins, ends, attrs.strides)], {"end_mask": mask}
