"""Operators that slide a window or multiply by weights: convolutions, pools, FULLY_CONNECTED."""

import math
from dataclasses import replace

import numpy as np
from tflite.FullyConnectedOptionsWeightsFormat import FullyConnectedOptionsWeightsFormat
from tflite.Padding import Padding
from tflite.TensorType import TensorType as TypeCode

from codegen.importers.reporting import Refused
from codegen.importers.tflite.operators.rearranging import reshaped
from codegen.importers.tflite.operators.site import InnerStep, Site, Translated
from codegen.importers.tflite.operators.stored_options import StoredOptions
from codegen.importers.tflite.tensors import need_few_rows
from codegen.ir import Arg, ConstRef, DType, TensorType
from codegen.ir.ops import (
    ActivatedAttrs,
    Activation,
    Attrs,
    BatchMatMulAttrs,
    BinaryAttrs,
    ConvAttrs,
    DepthwiseConvAttrs,
    FullyConnectedAttrs,
    HalvesUp,
    HybridRounding,
    Padding2D,
    PoolAttrs,
)
from codegen.ir.ops.base.taps import WindowAxis, axes_of, padding_of

Pair = tuple[int, int]


def conv_2d(site: Site) -> Translated:
    """CONV_2D: weights OHWI."""
    options = site.fused_options()
    image, weights, bias = site.weighted()
    _check_bias_type(site, options, bias)
    rows, columns = _weighted_axes(options, image.type, weights.type)
    attrs = ConvAttrs(
        stride=(rows.stride, columns.stride),
        dilation=(rows.dilation, columns.dilation),
        padding=padding_of(rows, columns),
    )
    scales = weights.type.quantization
    by_channel = scales is not None and len(scales.scales) > 1
    return _translated(site, (image, weights, bias), attrs, asymmetric=by_channel)


def depthwise_conv_2d(site: Site) -> Translated:
    """DEPTHWISE_CONV_2D: weights 1HWO; the multiplier is O / C, the option may leave it out as 0."""
    options = site.fused_options()
    image, weights, bias = site.weighted()
    rows, columns = _weighted_axes(options, image.type, weights.type)
    channels, outputs = image.type.shape[3], weights.type.shape[3]
    declared = options.integer("depth_multiplier")
    multiplier = outputs // channels
    if outputs % channels or declared not in (0, multiplier):
        site.complain(
            "E303",
            f"depth multiplier {declared} does not fit {channels} channels and {outputs} output channels",
        )
    attrs = DepthwiseConvAttrs(
        multiplier=multiplier,
        stride=(rows.stride, columns.stride),
        dilation=(rows.dilation, columns.dilation),
        padding=padding_of(rows, columns),
    )
    if _is_hybrid(image, weights):
        scales = weights.type.quantization
        if scales is None or len(scales.scales) != outputs:
            text = "hybrid operator: its weights have one scale for all channels"
            raise Refused("E301", text, "convert it again with weights quantised by channel")
    return _translated(site, (image, weights, bias), attrs, asymmetric=True)


def fully_connected(site: Site) -> Translated:
    """FULLY_CONNECTED: weights [O, I] in the plain order."""
    options = site.fused_options()
    if options.integer("weights_format") != FullyConnectedOptionsWeightsFormat.DEFAULT:
        site.unsupported(
            "shuffled weights (weights_format SHUFFLED4x16INT8) are not supported",
            "convert without shuffled weights",
        )
    if site.is_from_inputs(1) and not site.is_unsigned(1):
        return _of_computed_weights(site)
    image, weights, bias = site.weighted()
    _check_bias_type(site, options, bias)
    need_few_rows(image.type.elements // weights.type.shape[-1] if weights.type.shape else 1)
    keep = options.flag("keep_num_dims")
    asymmetric = options.flag("asymmetric_quantize_inputs")
    attrs = FullyConnectedAttrs(keep_num_dims=keep)
    return _translated(site, (image, weights, bias), attrs, asymmetric=asymmetric)


def _of_computed_weights(site: Site) -> Translated:
    """FULLY_CONNECTED whose weights are a value, as attention has it: a product of two matrices.

    TFLite's reference kernels of FullyConnected and BatchMatMul compute the same. A bias is added, and an
    activation follows, in steps of their own.
    """
    site.need_inputs(2, 3)
    image, weights = site.args(2)
    bias = _added(site, image.type) if site.has(2) else None
    if {image.type.dtype, weights.type.dtype} not in ({DType.INT8}, {DType.FLOAT32}):
        types = f"image {image.type.dtype.value}, weights {weights.type.dtype.value}"
        raise Refused("E301", f"{types} computed from the model's inputs, supported: both int8 or float32")
    if len(weights.type.shape) != 2 or image.type.elements % weights.type.shape[1]:
        raise Refused("E303", f"weights {list(weights.type.shape)} do not fit {list(image.type.shape)}")
    channels, depth = weights.type.shape
    rows = image.type.elements // depth
    need_few_rows(rows)
    if rows * channels != site.result.elements:
        raise Refused("E303", f"{rows} rows of {channels} do not fit result {list(site.result.shape)}")
    result = replace(site.result, shape=(rows, channels))
    operands = (reshaped(image, (rows, depth)), weights)
    product = Translated(op="BATCH_MATMUL", args=operands, attrs=BatchMatMulAttrs(adj_y=True)).giving(result)
    if bias is not None:
        product = Translated(op="ADD", args=(product, bias), attrs=BinaryAttrs()).giving(result)
    activation = site.activated(FullyConnectedAttrs()).activation
    if activation is not Activation.NONE:
        product = Translated(op=activation.name, args=(product,), attrs=Attrs()).giving(result)
    return reshaped(product, site.result.shape)


def _added(site: Site, image: TensorType) -> Arg | None:
    """The bias of a product of two values; None for zeros. Sums of int8 have no place to add one."""
    bias = site.arg(2)
    if isinstance(bias, ConstRef) and not np.any(site.constant_data(2)):
        return None
    if image.dtype is not DType.FLOAT32:
        text = "beside weights computed from the model's inputs only a bias of zeros is supported"
        raise Refused("E301", text)
    return bias


def _is_hybrid(image: Arg, weights: Arg) -> bool:
    """True if the image is quantised while the model runs."""
    return image.type.dtype is DType.FLOAT32 and weights.type.dtype is DType.INT8


def _translated(
    site: Site, args: tuple[Arg, Arg, Arg | None], attrs: ActivatedAttrs, *, asymmetric: bool
) -> Translated:
    """`asymmetric`: whether an image that is quantised while the model runs gets a zero point."""
    if _is_hybrid(args[0], args[1]):
        attrs = replace(attrs, rounding=HybridRounding(asymmetric=asymmetric))
    return Translated(op=site.operator.name, args=args, attrs=site.activated(attrs))


def _check_bias_type(site: Site, options: StoredOptions, bias: Arg | None) -> None:
    """Report an int16 operator without a bias that yet asks for sums as wide as an int32 bias."""
    kind = options.integer("quantized_bias_type")
    if bias is None and site.result.dtype is DType.INT16 and kind == TypeCode.INT32:
        site.unsupported("quantized_bias_type INT32 without a bias is not supported for int16")


def l2_pool_2d(site: Site) -> Translated:
    """L2_POOL_2D: the root of an average of squares, then the activation."""
    averaged = pool_2d(site)
    [image] = averaged.args
    assert image is not None and not isinstance(image, InnerStep) and isinstance(averaged.attrs, PoolAttrs)
    if image.type.dtype is not DType.FLOAT32:
        raise Refused("E301", f"the image is {image.type.dtype.value}, supported is float32")
    squares = Translated(op="MUL", args=(image, image), attrs=BinaryAttrs()).giving(image.type)
    activation = averaged.attrs.activation  # no root is negative, and that of 1 is 1
    within = Activation.RELU_N1_TO_1 if activation is Activation.RELU_N1_TO_1 else Activation.NONE
    pool = replace(averaged.attrs, activation=within)
    mean = Translated(op="AVERAGE_POOL_2D", args=(squares,), attrs=pool).giving(site.result)
    root = Translated(op="SQRT", args=(mean,), attrs=Attrs())
    if activation is not Activation.RELU6:
        return root
    return Translated(op="RELU6", args=(root.giving(site.result),), attrs=Attrs())


def pool_2d(site: Site) -> Translated:
    """AVERAGE_POOL_2D and MAX_POOL_2D."""
    site.need_inputs(1, 1)
    options = site.fused_options()
    image = site.arg(0)
    window = options.integer("filter_height"), options.integer("filter_width")
    if min(window) < 1:
        raise Refused("E303", f"window {window[0]}x{window[1]} must be positive")
    axes = _axes(options, extents_of(image.type, "image"), window)
    rows, columns = (axis.cut() if axis.room >= 0 else axis for axis in axes)
    attrs = PoolAttrs(
        window=(rows.window, columns.window),
        stride=(rows.stride, columns.stride),
        padding=padding_of(rows, columns),
    )
    # An odd number of elements has no halves.
    has_halves = attrs.padding != Padding2D() or math.prod(attrs.window) % 2 == 0
    if site.operator.name == "AVERAGE_POOL_2D" and site.is_unsigned(0) and has_halves:
        attrs = replace(attrs, rounding=HalvesUp())
    return Translated(op=site.operator.name, args=(image,), attrs=site.activated(attrs))


def extents_of(value: TensorType, what: str) -> Pair:
    """Rows and columns of an NHWC image; raises Refused for another rank."""
    if len(value.shape) != 4:
        raise Refused("E303", f"the {what} has shape {list(value.shape)}, needs 4 dimensions")
    return value.shape[1], value.shape[2]


def positive(pair: Pair, what: str) -> Pair:
    """`pair`; raises Refused unless both are above zero."""
    if min(pair) < 1:
        raise Refused("E303", f"{what} {pair[0]}x{pair[1]} must be positive")
    return pair


def _weighted_axes(
    options: StoredOptions, image: TensorType, weights: TensorType
) -> tuple[WindowAxis, WindowAxis]:
    """Rows and columns of a convolution. Every weight stays; a dilation is no larger than what matters."""
    window = extents_of(weights, "weights")
    dilation = positive((options.integer("dilation_h"), options.integer("dilation_w")), "dilation")
    rows, columns = _axes(options, extents_of(image, "image"), window, dilation)
    return rows.near() if rows.room >= 0 else rows, columns.near() if columns.room >= 0 else columns


def _axes(
    options: StoredOptions, image: Pair, window: Pair, dilation: Pair = (1, 1)
) -> tuple[WindowAxis, WindowAxis]:
    """Rows and columns as the file has them, SAME and VALID in elements on each side."""
    stride = positive((options.integer("stride_h"), options.integer("stride_w")), "stride")
    code = options.integer("padding")
    if code not in (Padding.VALID, Padding.SAME):
        raise Refused("E303", f"padding number {code} does not exist")
    rows, columns = axes_of(image, window, stride=stride, padding=Padding2D(), dilation=dilation)
    return (rows, columns) if code == Padding.VALID else (same_padding(rows), same_padding(columns))


def same_padding(axis: WindowAxis) -> WindowAxis:
    """With SAME padding. Source: ComputePaddingWithOffset, TFLite kernels/padding.h."""
    results = -(-axis.extent // axis.stride)
    total = max((results - 1) * axis.stride + axis.reach - axis.extent, 0)
    return replace(axis, before=total // 2, after=total - total // 2)
