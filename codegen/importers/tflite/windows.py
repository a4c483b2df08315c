"""Operators that slide a window or multiply by weights: convolutions, pools, FULLY_CONNECTED."""

from typing import Any

from tflite.Conv2DOptions import Conv2DOptions
from tflite.DepthwiseConv2DOptions import DepthwiseConv2DOptions
from tflite.FullyConnectedOptions import FullyConnectedOptions
from tflite.FullyConnectedOptionsWeightsFormat import FullyConnectedOptionsWeightsFormat
from tflite.Padding import Padding
from tflite.Pool2DOptions import Pool2DOptions
from tflite.TensorType import TensorType as TypeCode

from codegen.importers.tflite.report import Refused
from codegen.importers.tflite.site import Site, Translated
from codegen.ir import Arg, DType, TensorType
from codegen.ir.ops import ConvAttrs, DepthwiseConvAttrs, FullyConnectedAttrs, Padding2D, PoolAttrs

Pair = tuple[int, int]


def conv_2d(site: Site) -> Translated:
    """CONV_2D: weights OHWI."""
    options: Any = site.options(Conv2DOptions)
    activation = site.activation(int(options.FusedActivationFunction()))
    image, weights, bias = site.weighted()
    _check_bias_type(site, options, bias)
    window = _extents(weights.type, (1, 2), "weights")
    stride, dilation = _stride(options), _dilation(options)
    attrs = ConvAttrs(
        stride=stride,
        dilation=dilation,
        padding=_padding(
            options, _extents(image.type, (1, 2), "image"), window, stride=stride, dilation=dilation
        ),
        activation=activation,
    )
    return Translated(op="CONV_2D", args=(image, weights, bias), attrs=attrs)


def depthwise_conv_2d(site: Site) -> Translated:
    """DEPTHWISE_CONV_2D: weights 1HWO; the multiplier is O / C, the option may leave it out as 0."""
    options: Any = site.options(DepthwiseConv2DOptions)
    activation = site.activation(int(options.FusedActivationFunction()))
    image, weights, bias = site.weighted()
    window = _extents(weights.type, (1, 2), "weights")
    stride, dilation = _stride(options), _dilation(options)
    rows_columns = _extents(image.type, (1, 2), "image")
    channels, outputs = image.type.shape[3], weights.type.shape[3]
    declared = int(options.DepthMultiplier())
    multiplier = outputs // channels
    if outputs % channels or declared not in (0, multiplier):
        site.complain(
            "E303",
            f"depth multiplier {declared} does not fit {channels} channels and {outputs} output channels",
        )
    attrs = DepthwiseConvAttrs(
        multiplier=multiplier,
        stride=stride,
        dilation=dilation,
        padding=_padding(options, rows_columns, window, stride=stride, dilation=dilation),
        activation=activation,
    )
    return Translated(op="DEPTHWISE_CONV_2D", args=(image, weights, bias), attrs=attrs)


def fully_connected(site: Site) -> Translated:
    """FULLY_CONNECTED: weights [O, I] in the plain order."""
    options: Any = site.options(FullyConnectedOptions)
    activation = site.activation(int(options.FusedActivationFunction()))
    if int(options.WeightsFormat()) != FullyConnectedOptionsWeightsFormat.DEFAULT:
        site.unsupported(
            "shuffled weights (weights_format SHUFFLED4x16INT8) are not supported",
            "convert without shuffled weights",
        )
    image, weights, bias = site.weighted()
    _check_bias_type(site, options, bias)
    attrs = FullyConnectedAttrs(
        activation=activation,
        keep_num_dims=bool(options.KeepNumDims()),
    )
    return Translated(op="FULLY_CONNECTED", args=(image, weights, bias), attrs=attrs)


def _check_bias_type(site: Site, options: Any, bias: Arg | None) -> None:
    """Report an int16 operator without a bias that yet asks for sums as wide as an int32 bias."""
    kind = int(options.QuantizedBiasType())
    if bias is None and site.result.dtype is DType.INT16 and kind == TypeCode.INT32:
        site.unsupported("quantized_bias_type INT32 without a bias is not supported for int16")


def pool_2d(site: Site) -> Translated:
    """AVERAGE_POOL_2D and MAX_POOL_2D."""
    site.need_inputs(1, 1)
    options: Any = site.options(Pool2DOptions)
    activation = site.activation(int(options.FusedActivationFunction()))
    image = site.arg(0)
    window = int(options.FilterHeight()), int(options.FilterWidth())
    if min(window) < 1:
        raise Refused("E303", f"window {window[0]}x{window[1]} must be positive")
    stride = _stride(options)
    attrs = PoolAttrs(
        window=window,
        stride=stride,
        padding=_padding(options, _extents(image.type, (1, 2), "image"), window, stride=stride),
        activation=activation,
    )
    return Translated(op=site.operator.name, args=(image,), attrs=attrs)


def _extents(value: TensorType, axes: Pair, what: str) -> Pair:
    if len(value.shape) != 4:
        raise Refused("E303", f"the {what} has shape {list(value.shape)}, needs 4 dimensions")
    return value.shape[axes[0]], value.shape[axes[1]]


def _positive(pair: Pair, what: str) -> Pair:
    if min(pair) < 1:
        raise Refused("E303", f"{what} {pair[0]}x{pair[1]} must be positive")
    return pair


def _stride(options: Any) -> Pair:
    return _positive((int(options.StrideH()), int(options.StrideW())), "stride")


def _dilation(options: Any) -> Pair:
    return _positive((int(options.DilationHFactor()), int(options.DilationWFactor())), "dilation")


def _padding(options: Any, image: Pair, window: Pair, *, stride: Pair, dilation: Pair = (1, 1)) -> Padding2D:
    """SAME and VALID in elements on each side."""
    code = int(options.Padding())
    if code == Padding.VALID:
        return Padding2D()
    if code != Padding.SAME:
        raise Refused("E303", f"padding number {code} does not exist")
    top, bottom = _same(image[0], window[0], stride[0], dilation[0])
    left, right = _same(image[1], window[1], stride[1], dilation[1])
    return Padding2D(top=top, bottom=bottom, left=left, right=right)


def _same(extent: int, window: int, stride: int, dilation: int) -> Pair:
    """Elements before and after. Source: ComputePaddingWithOffset, TFLite kernels/padding.h."""
    result = -(-extent // stride)
    total = max((result - 1) * stride + (window - 1) * dilation + 1 - extent, 0)
    return total // 2, total - total // 2
