"""Portable kernels of CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED."""

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from codegen.ir import DType, Let, Var
from codegen.ir.ops import ConvAttrs, DepthwiseConvAttrs
from codegen.ir.ops.base.fixed_point import reduced_multiplier, wrap_int32
from codegen.ir.ops.base.operands import narrow
from codegen.ir.ops.base.parameters import (
    has_wide_accumulator,
)
from codegen.ir.ops.base.weighted import weight_zero_point
from codegen.kernels.base.c_kernel import (
    ConstantData,
    Parts,
    PortableKernel,
    arg_type,
    constant_data,
    reverse_stem,
    row_kernel,
    value_argument,
)
from codegen.kernels.base.overlap import forward_sharing, row_major_below, window_sharing
from codegen.kernels.base.registry import register
from codegen.kernels.base.result_limits import limit_fields
from codegen.kernels.base.walk import Fields, params
from codegen.kernels.base.weighted import (
    CONVOLUTION,
    DEPTHWISE,
    FULLY_CONNECTED,
    WeightedOperator,
    bias_data,
    conv_params,
    folded_biases,
    need_constant_weights,
    rows_params,
    stored_weights,
    weight_scales,
    window_of,
)
from codegen.kernels.base.window import WindowShape
from codegen.kernels.call import PARAMS, RESULT, ConstantPointer, CStruct, StructArg, WorkspaceArg
from codegen.kernels.contract import LinkedConstant, Sharing, Workspace
from codegen.kernels.primfunc import PrimFunc


class _Weighted(PortableKernel):
    """Shared by all nine: constant weights and bias beside one run-time image."""

    operator: WeightedOperator
    has_weight_zero: bool = False
    """It is for weights with a zero point, of uint8, instead of those without."""
    has_halves: bool = False
    """True if its weights lie as float16."""
    folds: bool = True
    """True if the image's zero point is folded into the bias."""

    def check(self, let: Let) -> None:
        """Weights and bias must be constants."""
        need_constant_weights(let)
        if self.argument is not DType.FLOAT32:
            self.multipliers(let)
        if (arg_type(let, 1).dtype is DType.FLOAT16) is not self.has_halves:
            kind = "not float16" if self.has_halves else "float16"
            raise ValueError(f"the weights are {kind}, which other kernels are for")
        if (weight_zero_point(arg_type(let, 1)) != 0) is not self.has_weight_zero:
            kind = "without a" if self.has_weight_zero else "with a"
            raise ValueError(f"the weights are {kind} zero point, which other kernels are for")

    def multipliers(self, let: Let) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """(multipliers, shifts), one per scale of the weights; raises ValueError if out of range."""
        return self.operator.scaling(let)

    def scale_step(self, let: Let) -> int:
        """1 if every channel has its own multiplier and shift, 0 if all have one."""
        return 0 if len(weight_scales(let)) == 1 else 1

    def packed(self, let: Let, constants: ConstantData) -> tuple[LinkedConstant, ...]:
        """Weights as they are, bias (with the image's zero point folded in if it `folds`), requantization."""
        if self.argument is DType.FLOAT32:
            bias = constant_data(let, 2, constants)
            zeros = np.zeros(let.var.type.shape[-1], np.float32)
            biases = zeros if bias is None else np.array(bias).reshape(-1)
            return (
                stored_weights(let, constants, arg_type(let, 1).dtype.size_bytes),
                LinkedConstant(role="bias", data=biases, alignment=4, layout="one a channel", is_plain=True),
            )
        total = folded_biases(let, constants) if self.folds else bias_data(let, constants)
        multipliers, shifts = self.multipliers(let)
        if self.argument is DType.INT16:
            biases = LinkedConstant(
                role="bias", data=total, alignment=8, layout="one a channel", is_plain=True
            )
            if has_wide_accumulator(let.call.types):
                multipliers, shifts = reduced_multiplier(multipliers), 15 - shifts
        else:
            biases = LinkedConstant(
                role="bias",
                data=wrap_int32(total).astype(np.int32),
                alignment=4,
                layout="one a channel",
                is_plain=True,
            )
        return (
            stored_weights(let, constants, 1),
            biases,
            LinkedConstant(
                role="multiplier", data=multipliers.astype(np.int32), alignment=4, layout="one a channel"
            ),
            LinkedConstant(
                role="shift", data=shifts.astype(np.int8), alignment=1, layout="one a channel", is_plain=True
            ),
        )

    def weights_fields(self, let: Let, constants: ConstantData) -> tuple[str, Fields]:
        """The struct of weights, and what it has behind its constants."""
        del constants
        if self.argument is DType.FLOAT32:
            return "cg_conv_weights_f32w16" if self.has_halves else "cg_conv_weights_f32", ()
        step = ("scale_step", self.scale_step(let))
        if self.has_weight_zero:
            return "cg_conv_weights_u8", (step, ("weight_zero", weight_zero_point(arg_type(let, 1))))
        if self.argument is DType.INT16:
            return "cg_conv_weights_s16", (step, ("wide", int(has_wide_accumulator(let.call.types))))
        return "cg_conv_weights", (step,)

    def assemble(
        self,
        let: Let,
        constants: ConstantData,
        numbers: CStruct,
        sharing: tuple[Sharing, ...],
        *,
        window: WindowShape | None = None,
        image_reads: float = 1.0,
    ) -> Parts:
        """The call (params, weights, image, result); rows of an image if it has a `window`."""
        image, extra = value_argument(let, 0, "image", constants)
        linked = self.packed(let, constants)
        c_type, more = self.weights_fields(let, constants)
        fields: Fields = tuple((constant.role, ConstantPointer(role=constant.role)) for constant in linked)
        weights = CStruct(suffix="weights", c_type=c_type, fields=(*fields, *more))
        return Parts(
            structs=(numbers, weights),
            call_args=(PARAMS, StructArg(suffix="weights"), image, RESULT),
            constants=(*linked, *extra),
            sharing=sharing,
            rows=None if window is None else row_kernel(let, f"{self.symbol}_row", window),
            image_reads=image_reads,
        )


def _conv_params(let: Let, window: WindowShape, groups: int) -> CStruct:
    if let.var.type.dtype is DType.FLOAT32:
        geometry = (("window", window.fields), ("groups", groups))
        return params("cg_conv_params_f32", *geometry, *limit_fields(let))
    return conv_params(let, window, groups)


class Conv2D(_Weighted):
    """CONV_2D, any stride, dilation, padding and groups."""

    op, operator = "CONV_2D", CONVOLUTION

    def __init__(self, stem: str, dtype: DType) -> None:
        self.stem, self.name = stem, f"{stem}_portable"
        self.argument = self.result = dtype
        self.reverse_stem = "" if dtype is DType.FLOAT32 else reverse_stem(stem)

    def parts(self, let: Let, constants: ConstantData) -> Parts:
        attrs = narrow(let.call.attrs, ConvAttrs)
        window = window_of(let, attrs)
        outputs, inputs = window.result[3], arg_type(let, 1).shape[3]
        groups = window.image[3] // inputs
        numbers = _conv_params(let, window, groups)
        sharing = window_sharing(
            let, window, outputs=outputs // groups, inputs=inputs, either_way=bool(self.reverse_stem)
        )
        # Every output channel goes over the window again.
        reads = window.reads(outputs * inputs)
        return self.assemble(let, constants, numbers, sharing, window=window, image_reads=reads)


class DepthwiseConv2D(_Weighted):
    """DEPTHWISE_CONV_2D, any multiplier, stride, dilation and padding."""

    folds = False
    op, operator = "DEPTHWISE_CONV_2D", DEPTHWISE

    def __init__(self, stem: str, dtype: DType) -> None:
        self.stem, self.name = stem, f"{stem}_portable"
        self.argument = self.result = dtype
        self.reverse_stem = "" if dtype is DType.FLOAT32 else reverse_stem(stem)

    def parts(self, let: Let, constants: ConstantData) -> Parts:
        """Parts of a call. Taps in the padding are skipped, so the zero point is not folded into the bias."""
        attrs = narrow(let.call.attrs, DepthwiseConvAttrs)
        window = window_of(let, attrs)
        numbers = _conv_params(let, window, 1)
        sharing = window_sharing(
            let, window, outputs=attrs.multiplier, inputs=1, either_way=bool(self.reverse_stem)
        )
        reads = window.reads(window.result[3])
        return self.assemble(let, constants, numbers, sharing, window=window, image_reads=reads)


class DepthwiseInPlace(_Weighted):
    """DEPTHWISE_CONV_2D that replaces its image: multiplier 1, stride 1, same size."""

    folds = False
    op, operator = "DEPTHWISE_CONV_2D", DEPTHWISE
    is_in_place = True

    def __init__(self, kind: str, dtype: DType) -> None:
        self.stem, self.name = f"depthwise_conv2d_in_place_{kind}", f"depthwise_conv2d_{kind}_in_place"
        self.argument = self.result = dtype

    def check(self, let: Let) -> None:
        """Besides weights and numbers: every result element has the image element it replaces."""
        super().check(let)
        attrs = narrow(let.call.attrs, DepthwiseConvAttrs)
        if not isinstance(let.call.args[0], Var):
            raise ValueError("the image is constant, it cannot be replaced")
        if attrs.multiplier != 1 or attrs.stride != (1, 1) or arg_type(let, 0).shape != let.var.type.shape:
            raise ValueError("only with multiplier 1, stride 1 and a result as large as the image")

    def parts(self, let: Let, constants: ConstantData) -> Parts:
        attrs = narrow(let.call.attrs, DepthwiseConvAttrs)
        window = window_of(let, attrs)
        parts = self.assemble(let, constants, _conv_params(let, window, 1), ())
        ring = _float_ring(window) if self.argument is DType.FLOAT32 else _padded_ring(window)
        call = (
            PARAMS,
            StructArg(suffix="weights"),
            RESULT,
            WorkspaceArg(name="ring"),
        )
        return replace(parts, call_args=call, workspaces=(ring,), in_place=0)


def _padded_ring(window: WindowShape) -> Workspace:
    """Channel by channel: padded rows are cleared, image rows copied into them, windows read from there."""
    rows, columns = ((window.window[axis] - 1) * window.dilation[axis] for axis in (0, 1))
    size = (rows + 1) * (window.image[2] + columns)
    batch, height, width, channels = window.image
    written = batch * channels * ((height + rows) * (width + columns) + height * width)
    return Workspace(
        name="ring",
        size_bytes=size,
        alignment=1,
        reads=math.prod(window.image) * math.prod(window.window) / size,
        writes=written / size,
    )


def _float_ring(window: WindowShape) -> Workspace:
    """Channel by channel: image rows are copied, the taps of windows that are inside read from there."""
    size = window.covered_rows * window.image[2]
    elements = math.prod(window.image)
    return Workspace(
        name="ring",
        size_bytes=size * DType.FLOAT32.size_bytes,
        alignment=4,
        reads=elements * window.reads(1) / size,
        writes=elements / size,
    )


class FullyConnected(_Weighted):
    """FULLY_CONNECTED, any number of rows."""

    op, operator = "FULLY_CONNECTED", FULLY_CONNECTED

    def __init__(self, stem: str, dtype: DType) -> None:
        self.stem, self.name = stem, f"{stem}_portable"
        self.argument = self.result = dtype

    def parts(self, let: Let, constants: ConstantData) -> Parts:
        outputs, inputs = arg_type(let, 1).shape
        rows = arg_type(let, 0).elements // inputs
        below = row_major_below(np.arange(rows, dtype=np.int64) * inputs, outputs)
        if self.argument is DType.FLOAT32:
            sizes = (("rows", rows), ("in_len", inputs), ("out_len", outputs))
            numbers = params("cg_fc_params_f32", *sizes, *limit_fields(let))
        else:
            numbers = rows_params(let)
        # Every output goes over its row again.
        sharing = forward_sharing(let, 0, below)
        return self.assemble(let, constants, numbers, sharing, image_reads=float(outputs))


class _OfUint8(_Weighted):
    """Weights with a zero point; forward only."""

    has_weight_zero = True

    def __init__(self, stem: str) -> None:
        self.stem, self.name, self.reverse_stem = stem, f"{stem}_portable", ""
        self.argument = self.result = DType.INT8


class Conv2DU8(_OfUint8, Conv2D):
    """CONV_2D by weights of uint8."""


class DepthwiseConv2DU8(_OfUint8, DepthwiseConv2D):
    """DEPTHWISE_CONV_2D by weights of uint8."""


class DepthwiseOfEither(DepthwiseConv2D):
    """DEPTHWISE_CONV_2D for kernels that multiply by 16 bits to fall back to: weights with a zero point, or
    without one."""

    def check(self, let: Let) -> None:
        self._one(let).check(let)

    def bind(self, let: Let, constants: ConstantData, name: str) -> PrimFunc:
        return self._one(let).bind(let, constants, name)

    def _one(self, let: Let) -> DepthwiseConv2D:
        return DEPTHWISE_U8 if weight_zero_point(arg_type(let, 1)) else DEPTHWISE_S8


class FullyConnectedU8(_OfUint8, FullyConnected):
    """FULLY_CONNECTED by weights of uint8."""


class Conv2DHalves(Conv2D):
    """CONV_2D of float32 by weights that lie as float16."""

    has_halves = True


class FullyConnectedHalves(FullyConnected):
    """FULLY_CONNECTED of float32 by weights that lie as float16."""

    has_halves = True


CONV_2D_S8 = Conv2D("conv2d_s8", DType.INT8)
CONV_2D_U8, DEPTHWISE_U8 = Conv2DU8("conv2d_u8"), DepthwiseConv2DU8("depthwise_conv2d_u8")
DEPTHWISE_S8_OR_U8 = DepthwiseOfEither("depthwise_conv2d_s8", DType.INT8)
FULLY_CONNECTED_U8 = FullyConnectedU8("fully_connected_u8")
CONV_2D_S16 = Conv2D("conv2d_s16", DType.INT16)
CONV_2D_F32 = Conv2D("conv2d_f32", DType.FLOAT32)
CONV_2D_F32W16 = Conv2DHalves("conv2d_f32w16", DType.FLOAT32)
DEPTHWISE_S8 = DepthwiseConv2D("depthwise_conv2d_s8", DType.INT8)
DEPTHWISE_S16 = DepthwiseConv2D("depthwise_conv2d_s16", DType.INT16)
DEPTHWISE_F32 = DepthwiseConv2D("depthwise_conv2d_f32", DType.FLOAT32)
DEPTHWISE_IN_PLACE_S8 = DepthwiseInPlace("s8", DType.INT8)
DEPTHWISE_IN_PLACE_F32 = DepthwiseInPlace("f32", DType.FLOAT32)
FULLY_CONNECTED_S8 = FullyConnected("fully_connected_s8", DType.INT8)
FULLY_CONNECTED_S16 = FullyConnected("fully_connected_s16", DType.INT16)
FULLY_CONNECTED_F32 = FullyConnected("fully_connected_f32", DType.FLOAT32)
FULLY_CONNECTED_F32W16 = FullyConnectedHalves("fully_connected_f32w16", DType.FLOAT32)

for _kernel in (
    *(CONV_2D_S8, CONV_2D_S16, CONV_2D_F32),
    *(DEPTHWISE_S8, DEPTHWISE_S16, DEPTHWISE_F32, DEPTHWISE_IN_PLACE_S8, DEPTHWISE_IN_PLACE_F32),
    *(FULLY_CONNECTED_S8, FULLY_CONNECTED_S16, FULLY_CONNECTED_F32),
    *(CONV_2D_U8, DEPTHWISE_U8, FULLY_CONNECTED_U8, CONV_2D_F32W16, FULLY_CONNECTED_F32W16),
):
    register(_kernel)
