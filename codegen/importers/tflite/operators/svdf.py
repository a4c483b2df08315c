"""SVDF: a frame of features is shifted into a window, and a convolution over time sums it.

The window lies frame by frame, so that SHIFT moves it where it is and its readers are kernels that exist; an
int16 window has readers of its own (`codegen.ir.ops.recurrent`).
Source: tflite-micro, kernels/svdf_common.cc.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from codegen.importers.reporting import AlreadyReported, Refused
from codegen.importers.tflite.operators.rearranging import reshaped
from codegen.importers.tflite.operators.site import InnerStep, Site, Translated
from codegen.ir import Arg, ConstRef, DType, Quantization, TensorType
from codegen.ir.ops import ActivatedAttrs, Attrs, ConvAttrs, DepthwiseConvAttrs, PlainAttrs

SVDF = "SVDF"
WINDOW = 4
"""Input that is the state."""
_INPUTS = 5
_TYPES = {
    DType.FLOAT32: (DType.FLOAT32,) * 5,
    DType.INT8: (DType.INT8, DType.INT8, DType.INT8, DType.INT32, DType.INT8),
    DType.INT16: (DType.INT8, DType.INT8, DType.INT16, DType.INT32, DType.INT8),
}
"""By the state's: of input, weights of features, weights of time, bias and result."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Operands:
    """Operands that fit each other."""

    value: Arg
    features: ConstRef
    """[filters, inputs]."""
    time: ConstRef
    """[filters, memory]."""
    bias: ConstRef
    window: Arg
    rank: int

    @property
    def units(self) -> int:
        """Channels of the result."""
        return self.features.type.shape[0] // self.rank


def window_type(state: TensorType, time: TensorType) -> TensorType:
    """The state as frames one behind the other; `state`: as the file has it, filter by filter, `time`: the
    weights of time."""
    memory = time.shape[1] if len(time.shape) == 2 else 0
    if len(state.shape) != 2 or not memory or state.shape[1] % memory:
        raise Refused("E303", f"the state is {state}, the weights of time are {time}")
    return replace(state, shape=(1, memory, state.shape[0], state.shape[1] // memory))


def svdf(site: Site) -> Translated:
    """The result, of the window that its frame is shifted into."""
    layer = _layer(site)
    window = layer.window.type
    filters, inputs = layer.features.type.shape
    batches = layer.value.type.shape[0]
    frame_type = replace(window, shape=(1, 1, batches, filters))
    image = reshaped(layer.value, (1, 1, batches, inputs))
    is_wide = window.dtype is DType.INT16
    shape = (filters, inputs) if is_wide else (filters, 1, 1, inputs)
    quantization = _scaled(layer.features.type, image.type, frame_type)
    weights = site.made(site.constant_data(1).reshape(shape), quantization)
    frame = InnerStep(
        op="SVDF_FEATURES" if is_wide else "CONV_2D",
        args=(image, weights) if is_wide else (image, weights, None),
        attrs=Attrs() if is_wide else ConvAttrs(),
        type=_symmetric(frame_type),
    )
    if frame.type != frame_type:
        frame = _moved(site, frame, frame_type)
    shifted = InnerStep(op="SHIFT", args=(layer.window, frame), attrs=Attrs(), type=window)
    result = replace(site.result, shape=(1, 1, batches, layer.units))
    return reshaped(_summed(site, layer, shifted, result), site.result.shape)


def _symmetric(type_: TensorType) -> TensorType:
    """The type with zero point 0, if it is quantised."""
    if type_.quantization is None:
        return type_
    return replace(type_, quantization=replace(type_.quantization, zero_points=(0,)))


def _moved(site: Site, frame: InnerStep, type_: TensorType) -> InnerStep:
    """The frame with a zero point: tflite-micro adds it to what is clamped already, and cuts off the sum."""
    zero = site.made(np.array([type_.zero_point], type_.dtype.numpy), None)
    return InnerStep(op="PLAIN_PAIR", args=(frame, zero), attrs=PlainAttrs(kind="add"), type=type_)


def _summed(site: Site, layer: _Operands, window: InnerStep, result: TensorType) -> InnerStep:
    """The convolution over time: of each unit, or of the `rank` filters of each."""
    memory, units = layer.time.type.shape[1], layer.units
    data = site.constant_data(2).reshape(units, layer.rank, memory)
    op, attrs = "CONV_2D", ConvAttrs()
    ordered = data.swapaxes(1, 2)[:, :, None]
    if window.type.dtype is DType.INT16:
        op, attrs, ordered = "SVDF_TIME", Attrs(), data.transpose(2, 0, 1)
    elif layer.rank == 1:
        op, attrs = "DEPTHWISE_CONV_2D", DepthwiseConvAttrs()
        ordered = data[:, 0].T.reshape(1, memory, 1, units)
    weights = site.made(np.ascontiguousarray(ordered), _scaled(layer.time.type, window.type, result))
    if isinstance(attrs, ActivatedAttrs) and window.type.dtype is DType.FLOAT32:
        # tflite-micro clamps integers to their type alone.
        attrs = site.activated(attrs)
    return InnerStep(op=op, args=(window, weights, layer.bias), attrs=attrs, type=result)


def _scaled(weights: TensorType, image: TensorType, result: TensorType) -> Quantization | None:
    """The weights' scale, such that times the image's and by the result's, in double, it is what
    tflite-micro computes in float32. Raises Refused where float32 has no such factor."""
    if weights.dtype is DType.FLOAT32:
        return None
    with np.errstate(all="ignore"):
        factor = float(np.float32(image.scale) * np.float32(weights.scale) / np.float32(result.scale))
    scale = factor * result.scale / image.scale
    if not (0 < factor < math.inf and 0 < scale < math.inf):
        text = f"scales {image.scale:g} and {weights.scale:g} to {result.scale:g} are a factor of {factor:g}"
        raise Refused("E304", f"{text} in float32", "quantise it anew")
    return Quantization(scales=(scale,), zero_points=(0,))


def _layer(site: Site) -> _Operands:
    site.need_inputs(_INPUTS, _INPUTS)
    options = site.fused_options()
    value, features, time, bias, window = site.args(_INPUTS)
    if not (isinstance(features, ConstRef) and isinstance(time, ConstRef) and isinstance(bias, ConstRef)):
        raise Refused("E301", "weights or bias are computed from the model's inputs, supported are constants")
    types = tuple(operand.type.dtype for operand in (value, features, time, bias)), site.result.dtype
    if (*types[0], types[1]) != _TYPES.get(window.type.dtype):
        text = "has other types than are supported"
        raise Refused("E301", text, "supported are float32, and int8 with a state of int8 or int16")
    rank, is_float = options.integer("rank"), window.type.dtype is DType.FLOAT32
    filters, memory = time.type.shape if len(time.type.shape) == 2 else (0, 0)
    batches = value.type.shape[0] if len(value.type.shape) == 2 else 0
    if rank < 1 or not filters or not batches or filters % rank:
        raise Refused("E303", f"has {filters} filters of rank {rank} for an input {value.type}")
    shapes = (
        (features, (filters, value.type.shape[1])),
        (bias, (filters // rank,)),
        (window, (1, memory, batches, filters)),
    )
    for operand, shape in shapes:
        if operand.type.shape != shape:
            raise Refused("E303", f"an operand is {operand.type}, its shape has to be {list(shape)}")
    scaled = (value.type, features.type, time.type, window.type, site.result)
    if not is_float and any(type_.quantization is None for type_ in scaled):
        raise Refused("E304", "an operand or the result has no scale", "quantise it anew")
    if not is_float and not all(_is_symmetric(weights.type) for weights in (features, time)):
        raise Refused("E301", "the weights have several scales, or zero points that are not zero")
    if window.type.dtype is DType.INT16 and window.type.zero_point:
        site.unsupported(
            f"the int16 state has zero point {window.type.zero_point}, supported is 0",
            "quantise the state symmetrically, as tflite-micro assumes it",
        )
    if site.complained:
        raise AlreadyReported
    return _Operands(
        value=value,
        features=features,
        time=time,
        bias=bias,
        window=window,
        rank=rank,
    )


def _is_symmetric(type_: TensorType) -> bool:
    quantization = type_.quantization
    return quantization is not None and quantization.zero_points == (0,)
