"""Every operator that is a convolution, described once: geometry, weights by channel, scaling.

An instruction set adds its tiles, packing and price: `TiledConv` binds what these describe.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from codegen.ir import DType, Let, Var
from codegen.ir.ops import ConvAttrs, DepthwiseConvAttrs, OnnxRounding, Padding2D, Rounding, TfliteRounding
from codegen.ir.ops.base.operands import narrow
from codegen.ir.ops.base.weighted import WeightedOp, weight_zero_point
from codegen.ir.ops.base.weighted import weight_scales as scales_of
from codegen.ir.ops.rounded.as_onnx import layer_scales
from codegen.kernels.base.c_kernel import ConstantData, FastKernel, PortableKernel, arg_type, constant_data
from codegen.kernels.base.result_limits import limit_fields, limits_of
from codegen.kernels.base.walk import Fields, params
from codegen.kernels.base.window import WindowShape, nhwc
from codegen.kernels.call import CStruct
from codegen.kernels.contract import LinkedConstant
from codegen.kernels.primfunc import PrimFunc

Scaling = tuple[NDArray[np.int32], NDArray[np.int32]]
"""(multipliers, shifts), one a channel or one for all; shifts are positive to the left. A layer rounded as
ONNX does has (bits of float32 scales, -1)."""


def weight_data(let: Let, constants: ConstantData) -> NDArray[np.int8]:
    """The weights as the file has them; raises ValueError if there are none."""
    weights = constant_data(let, 1, constants)
    if weights is None:
        raise ValueError("the weights are missing")
    return weights


def need_constant_weights(let: Let) -> None:
    """Raise ValueError unless weights and bias are constants."""
    for index, what in ((1, "weights"), (2, "bias")):
        if index < len(let.call.args) and isinstance(let.call.args[index], Var):
            raise ValueError(f"the {what} are computed at run time, supported are constants")


def bias_data(let: Let, constants: ConstantData) -> NDArray[np.int64]:
    """The integer bias of every channel, zeros if there is none."""
    bias = constant_data(let, 2, constants)
    if bias is None:
        return np.zeros(let.var.type.shape[-1], np.int64)
    return bias.reshape(-1).astype(np.int64)


def stored_weights(let: Let, constants: ConstantData, alignment: int) -> LinkedConstant:
    """The weights as the file has them, for kernels that read them so."""
    weights = weight_data(let, constants)
    if weights.dtype == np.float16:
        weights = weights.view(np.uint16)
    layout = f"{'x'.join(map(str, weights.shape))} as in the file, the last axis fastest"
    layout += ", bits of float16" if arg_type(let, 1).dtype is DType.FLOAT16 else ""
    return LinkedConstant(
        role="weight", data=np.array(weights).reshape(-1), alignment=alignment, layout=layout
    )


def folded_biases(let: Let, constants: ConstantData) -> NDArray[np.int64]:
    """The integer bias of every channel with the image's zero point folded in."""
    centred = weight_data(let, constants).astype(np.int64) - weight_zero_point(arg_type(let, 1))
    summed = centred.reshape(let.var.type.shape[-1], -1).sum(axis=1)
    return bias_data(let, constants) - arg_type(let, 0).zero_point * summed


def weight_scales(let: Let) -> tuple[float, ...]:
    """Scales of the weights; raises ValueError if there are none."""
    return scales_of(arg_type(let, 1))


def output_fields(let: Let) -> Fields:
    """Fields that integer results need: zero point, least and largest value."""
    return (("out_zero", let.var.type.zero_point), *limit_fields(let))


def conv_params(let: Let, window: WindowShape, groups: int = 1) -> CStruct:
    """A `cg_conv_params`."""
    zero = ("in_zero", arg_type(let, 0).zero_point)
    geometry = (("window", window.fields), ("groups", groups), zero)
    return params("cg_conv_params", *geometry, *output_fields(let))


def rows_params(let: Let) -> CStruct:
    """A `cg_fc_params`."""
    outputs, inputs = arg_type(let, 1).shape
    sizes = (("rows", arg_type(let, 0).elements // inputs), ("in_len", inputs), ("out_len", outputs))
    return params("cg_fc_params", *sizes, *output_fields(let))


def padding_pixel(let: Let, channels: int, *, role: str = "padding", alignment: int = 1) -> LinkedConstant:
    """A pixel that lies in the padding of an int8 image."""
    pixel = np.full(channels, arg_type(let, 0).zero_point, np.int8)
    layout = "a pixel in the padding: zero points"
    return LinkedConstant(role=role, data=pixel, alignment=alignment, layout=layout, is_plain=True)


def one_row(pixels: int, inputs: int, outputs: int) -> WindowShape:
    """A convolution of 1x1 over one line of pixels."""
    return WindowShape(
        image=(1, 1, pixels, inputs),
        result=(1, 1, pixels, outputs),
        window=(1, 1),
        stride=(1, 1),
        dilation=(1, 1),
        padding=Padding2D(),
    )


def window_of(let: Let, attrs: ConvAttrs | DepthwiseConvAttrs) -> WindowShape:
    """The geometry of a convolution."""
    weights = nhwc(arg_type(let, 1).shape)
    return WindowShape(
        image=nhwc(arg_type(let, 0).shape),
        result=nhwc(let.var.type.shape),
        window=(weights[1], weights[2]),
        stride=attrs.stride,
        dilation=attrs.dilation,
        padding=attrs.padding,
    )


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class WeightedLayer:
    """A call of a weighted operator with its data."""

    window: WindowShape
    limits: tuple[int, int]
    """Least and largest integer that is stored as a result."""
    weights: NDArray[np.int8]
    """[O, K]: per output channel the weights of a window, in the order in which its values are read."""
    bias: NDArray[np.int64]
    scaling: Scaling
    in_zero: int
    rounds_even: bool = False
    """Results are rounded as ONNX does, by float32."""

    @property
    def outputs(self) -> int:
        """Channels of the result."""
        return len(self.bias)

    @property
    def folded_bias(self) -> NDArray[np.int64]:
        """Biases with the image's zero point folded in, as wide as they are before an accumulator wraps."""
        return self.bias - self.in_zero * self.weights.sum(axis=1, dtype=np.int64)

    @property
    def every(self) -> Scaling:
        """(multipliers, shifts) of every channel."""
        count = self.outputs
        multipliers, shifts = self.scaling
        return np.broadcast_to(multipliers, count), np.broadcast_to(shifts, count)


class WeightedOperator(ABC):
    """An operator with constant weights: how its calls are convolutions of one group, or depthwise ones."""

    op: str
    base_stem: str
    takes_rows: bool = False
    """Its pixels are rows, of which there may be one."""

    def __init__(self, rounding: type[Rounding] = TfliteRounding) -> None:
        """`rounding`: how its layers are rounded."""
        self.rounding = rounding

    @property
    def rounds_even(self) -> bool:
        """True if it runs layers that round halves to even (`WeightedLayer.rounds_even`)."""
        return self.rounding is OnnxRounding

    @property
    def prefix(self) -> str:
        """Prefix of the names of kernels that round as the layer does."""
        return "qlinear_" if self.rounds_even else ""

    @property
    def stem(self) -> str:
        """Stem of the names of kernels that take it as a convolution of one group."""
        return self.prefix + self.base_stem

    @abstractmethod
    def window(self, let: Let) -> WindowShape:
        """The call's geometry."""

    @abstractmethod
    def condition(self, let: Let) -> str | None:
        """Words for a message: calls that a kernel `is for`, "one group", where this is none; else None."""

    def rows(self, weights: NDArray[np.generic]) -> NDArray[np.generic]:
        """Weights as the file has them, as [O, K] in the order in which a window is read."""
        return weights.reshape(weights.shape[0], -1)

    def scaling(self, let: Let) -> Scaling:
        """(multipliers, shifts) of integer results; raises ValueError if out of range."""
        if self.rounds_even:
            numbers = np.array(layer_scales(let.call.attrs), np.float32)
            return numbers.view(np.int32), np.full(len(numbers), -1, np.int32)
        op = let.call.op
        assert isinstance(op, WeightedOp), "it has weights"
        multipliers = op.multipliers(let.call.types)
        return multipliers(arg_type(let, 0).scale, weight_scales(let), let.var.type.scale)

    def layer(self, let: Let, constants: ConstantData) -> WeightedLayer:
        """The call with its int8 weights."""
        return WeightedLayer(
            window=self.window(let),
            limits=limits_of(let),
            weights=self.rows(weight_data(let, constants)).astype(np.int8, copy=False),
            bias=bias_data(let, constants),
            scaling=self.scaling(let),
            in_zero=arg_type(let, 0).zero_point,
            rounds_even=self.rounds_even,
        )


class _Convolution(WeightedOperator):
    op, base_stem = "CONV_2D", "conv2d"

    def window(self, let: Let) -> WindowShape:
        return window_of(let, narrow(let.call.attrs, ConvAttrs))

    def condition(self, let: Let) -> str | None:
        return None if arg_type(let, 1).shape[3] == arg_type(let, 0).shape[3] else "one group"


class _Depthwise(WeightedOperator):
    """A depthwise convolution: for an image of one channel an ordinary one whose weights are transposed."""

    op, base_stem = "DEPTHWISE_CONV_2D", "depthwise_conv2d_1"

    def window(self, let: Let) -> WindowShape:
        return window_of(let, narrow(let.call.attrs, DepthwiseConvAttrs))

    def condition(self, let: Let) -> str | None:
        return None if arg_type(let, 0).shape[3] == 1 else "images of one channel"

    def rows(self, weights: NDArray[np.generic]) -> NDArray[np.generic]:
        return np.ascontiguousarray(weights.reshape(-1, weights.shape[-1]).T)


class _FullyConnected(WeightedOperator):
    """A convolution of 1x1 over one line: its rows are the pixels."""

    op, base_stem, takes_rows = "FULLY_CONNECTED", "fully_connected_rows", True

    def window(self, let: Let) -> WindowShape:
        outputs, inputs = arg_type(let, 1).shape
        return one_row(arg_type(let, 0).elements // inputs, inputs, outputs)

    def condition(self, let: Let) -> str | None:
        return None if arg_type(let, 0).elements != arg_type(let, 1).shape[1] else "several rows"


CONVOLUTION, DEPTHWISE, FULLY_CONNECTED = _Convolution(), _Depthwise(), _FullyConnected()
ONNX_CONVOLUTION, ONNX_DEPTHWISE = _Convolution(OnnxRounding), _Depthwise(OnnxRounding)
ONNX_FULLY_CONNECTED = _FullyConnected(OnnxRounding)


class TiledConv(FastKernel):
    """A convolution of one group on int8 images in tiles of `most` pixels."""

    def __init__(self, operator: WeightedOperator, portable: PortableKernel, most: int) -> None:
        self.op, self.operator, self.portable, self.most = operator.op, operator, portable, most
        self.rounding = operator.rounding
        whole = f"{operator.stem}_s8_{self.kernel_set.folder}"
        self.name = whole if most == 4 else f"{whole}_{most}"

    def other_reason(self, let: Let) -> str | None:
        """Refuse several groups, several channels of a depthwise image, a single row."""
        condition = self.operator.condition(let)
        return f"the kernel {self.name} is for {condition}" if condition else self.layer_reason(let)

    def reason_at_size(self, let: Let) -> str | None:
        """Refuse only layers of other kernels: a single row is a pixel too, though faster kernels run it."""
        return self.layer_reason(let) if self.operator.takes_rows else self.other_reason(let)

    def layer_reason(self, let: Let) -> str | None:
        """Weights or windows that are not for this kernel, or None."""
        del let
        return None

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        return self.bind_layer(let, self.operator.layer(let, constants), name)

    @abstractmethod
    def bind_layer(self, let: Let, layer: WeightedLayer, name: str) -> PrimFunc:
        """Bind `let`, which is the call of `layer`."""


class OneRowKernel(FastKernel):
    """FULLY_CONNECTED of one row on int8."""

    op = FULLY_CONNECTED.op

    def other_reason(self, let: Let) -> str | None:
        """Refuse several rows."""
        several = FULLY_CONNECTED.condition(let) is None
        return f"the kernel {self.name} is for one row" if several else None
