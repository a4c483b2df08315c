"""Portable kernels of CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED."""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from codegen.ir import DType, Let, Var
from codegen.ir.ops import ConvAttrs, DepthwiseConvAttrs
from codegen.ir.ops.base.fixed_point import reduced_multiplier, wrap_int32
from codegen.ir.ops.base.operands import narrow
from codegen.ir.ops.base.parameters import has_wide_accumulator
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
from codegen.kernels.base.float_rounding import has_wide_sums, proved_scaling
from codegen.kernels.base.overlap import forward_sharing, row_major_below, window_sharing
from codegen.kernels.base.registry import register
from codegen.kernels.base.result_limits import limit_fields
from codegen.kernels.base.walk import Fields, params
from codegen.kernels.base.weighted import (
    CONVOLUTION,
    DEPTHWISE,
    FULLY_CONNECTED,
    ONNX_CONVOLUTION,
    ONNX_DEPTHWISE,
    ONNX_FULLY_CONNECTED,
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


@dataclass(frozen=True, kw_only=True, slots=True)
class Elements:
    """Element types of a kernel's image and weights, and the struct of its weights in C."""

    suffix: str
    """End of the C function's name."""
    image: DType
    weights: DType | None = None
    """None: those that the operator permits, beside the types that have a kernel of their own."""
    struct: str
    has_weight_zero: bool = False
    """Weights have a zero point, as those of uint8 have, instead of none."""
    reverses: bool = False
    """A second C function goes from the last pixel to the first."""


S8 = Elements(suffix="s8", image=DType.INT8, struct="cg_conv_weights", reverses=True)
U8 = Elements(suffix="u8", image=DType.INT8, struct="cg_conv_weights_u8", has_weight_zero=True)
S16 = Elements(suffix="s16", image=DType.INT16, struct="cg_conv_weights_s16", reverses=True)
S16W16 = Elements(suffix="s16w16", image=DType.INT16, weights=DType.INT16, struct="cg_conv_weights_s16w16")
F32 = Elements(suffix="f32", image=DType.FLOAT32, struct="cg_conv_weights_f32")
F32W16 = Elements(
    suffix="f32w16", image=DType.FLOAT32, weights=DType.FLOAT16, struct="cg_conv_weights_f32w16"
)
_OWN_KERNELS = frozenset({DType.FLOAT16, DType.INT16})
"""Types of weights that other types of weights share no kernel with."""


class _Weighted(PortableKernel):
    """Base of all here: constant weights and bias beside one run-time image."""

    operator: WeightedOperator
    base: str
    """The C function's name without types and rounding."""
    folds: bool = True
    """True if the image's zero point is folded into the bias."""

    def __init__(self, elements: Elements, operator: WeightedOperator | None = None) -> None:
        """`operator`: how sums are rounded, if not as TFLite does."""
        self.elements, self.operator = elements, operator or self.operator
        self.rounding = self.operator.rounding
        self.stem = f"{self.operator.prefix}{self.base}_{elements.suffix}"
        self.name = f"{self.stem}_portable"
        self.argument = self.result = elements.image
        is_reversed = elements.reverses and not self.operator.rounds_even
        self.reverse_stem = reverse_stem(self.stem) if is_reversed else ""

    def check(self, let: Let) -> None:
        """Weights and bias must be constants."""
        need_constant_weights(let)
        if self.argument is not DType.FLOAT32:
            self.multipliers(let)
        weights = arg_type(let, 1)
        if (weights.dtype if weights.dtype in _OWN_KERNELS else None) is not self.elements.weights:
            raise ValueError(f"the weights are {weights.dtype.value}, which other kernels are for")
        if (weight_zero_point(weights) != 0) is not self.elements.has_weight_zero:
            kind = "without a" if self.elements.has_weight_zero else "with a"
            raise ValueError(f"the weights are {kind} zero point, which other kernels are for")

    def multipliers(self, let: Let) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """(multipliers, shifts), one per scale of the weights; raises ValueError if out of range."""
        return self.operator.scaling(let)

    def packed(self, let: Let, constants: ConstantData) -> tuple[LinkedConstant, ...]:
        """Weights as they are, bias (with the image's zero point folded in if it `folds`), requantization."""
        weights = stored_weights(let, constants, arg_type(let, 1).dtype.size_bytes)
        layout = "one a channel"
        if self.argument is DType.FLOAT32:
            bias = constant_data(let, 2, constants)
            zeros = np.zeros(let.var.type.shape[-1], np.float32)
            biases = zeros if bias is None else np.array(bias).reshape(-1)
            return (
                weights,
                LinkedConstant(role="bias", data=biases, alignment=4, layout=layout, is_plain=True),
            )
        total = folded_biases(let, constants) if self.folds else bias_data(let, constants)
        if self.argument is DType.INT8:
            total = wrap_int32(total).astype(np.int32)
        return (
            weights,
            LinkedConstant(role="bias", data=total, alignment=total.itemsize, layout=layout, is_plain=True),
            *self.scaling_constants(let, constants, layout),
        )

    def scaling_constants(self, let: Let, constants: ConstantData, layout: str) -> tuple[LinkedConstant, ...]:
        """Multipliers and shifts: TFLite's, or those that are proved equal to ONNX's float32 scales."""
        rounded = None
        if self.operator.rounds_even:
            scaling = proved_scaling(let, constants)
            multipliers, shifts = scaling.factors, scaling.shifts
            rounded = (scaling.proved, len(shifts) - scaling.proved)
        else:
            multipliers, shifts = self.multipliers(let)
            if has_wide_accumulator(let.call.types):
                multipliers, shifts = reduced_multiplier(multipliers), 15 - shifts
        factors = multipliers.astype(np.int32)
        return (
            LinkedConstant(role="multiplier", data=factors, alignment=4, layout=layout),
            LinkedConstant(
                role="shift",
                data=shifts.astype(np.int8),
                alignment=1,
                layout=layout,
                is_plain=True,
                rounded=rounded,
            ),
        )

    def weights_fields(self, let: Let, constants: ConstantData) -> Fields:
        """Fields of the weights' struct behind its constants."""
        if self.argument is DType.FLOAT32:
            return ()
        is_single = not self.operator.rounds_even and len(weight_scales(let)) == 1
        step = ("scale_step", 0 if is_single else 1)
        if self.elements.has_weight_zero:
            return (step, ("weight_zero", weight_zero_point(arg_type(let, 1))))
        if self.argument is DType.INT16:
            even = self.operator.rounds_even
            wide = has_wide_sums(let, constants) if even else has_wide_accumulator(let.call.types)
            return (step, ("wide", int(wide)))
        return (step,)

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
        fields: Fields = tuple((constant.role, ConstantPointer(role=constant.role)) for constant in linked)
        fields += self.weights_fields(let, constants)
        weights = CStruct(suffix="weights", c_type=self.elements.struct, fields=fields)
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

    op, base, operator = "CONV_2D", "conv2d", CONVOLUTION

    def __init__(self, elements: Elements, operator: WeightedOperator | None = None) -> None:
        super().__init__(elements, operator)
        # Kernels of int16 skip taps in the padding.
        self.folds = elements.image is not DType.INT16

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
    op, base, operator = "DEPTHWISE_CONV_2D", "depthwise_conv2d", DEPTHWISE

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
    op, base, operator = "DEPTHWISE_CONV_2D", "depthwise_conv2d_in_place", DEPTHWISE
    is_in_place = True

    def __init__(self, elements: Elements) -> None:
        super().__init__(elements)
        self.name, self.reverse_stem = f"depthwise_conv2d_{elements.suffix}_in_place", ""

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

    op, base, operator = "FULLY_CONNECTED", "fully_connected", FULLY_CONNECTED

    def __init__(self, elements: Elements, operator: WeightedOperator | None = None) -> None:
        super().__init__(elements, operator)
        self.reverse_stem = ""

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


class DepthwiseOfEither(DepthwiseConv2D):
    """DEPTHWISE_CONV_2D for kernels that multiply by 16 bits to fall back to: weights with a zero point, or
    without one."""

    def check(self, let: Let) -> None:
        self._one(let).check(let)

    def bind(self, let: Let, constants: ConstantData, name: str) -> PrimFunc:
        return self._one(let).bind(let, constants, name)

    def _one(self, let: Let) -> DepthwiseConv2D:
        return DEPTHWISE_U8 if weight_zero_point(arg_type(let, 1)) else DEPTHWISE_S8


CONV_2D_S8, CONV_2D_U8, CONV_2D_S16 = Conv2D(S8), Conv2D(U8), Conv2D(S16)
CONV_2D_F32, CONV_2D_F32W16 = Conv2D(F32), Conv2D(F32W16)
DEPTHWISE_S8, DEPTHWISE_U8, DEPTHWISE_S16 = DepthwiseConv2D(S8), DepthwiseConv2D(U8), DepthwiseConv2D(S16)
DEPTHWISE_F32, DEPTHWISE_S8_OR_U8 = DepthwiseConv2D(F32), DepthwiseOfEither(S8)
DEPTHWISE_IN_PLACE_S8, DEPTHWISE_IN_PLACE_F32 = DepthwiseInPlace(S8), DepthwiseInPlace(F32)
FULLY_CONNECTED_S8, FULLY_CONNECTED_U8 = FullyConnected(S8), FullyConnected(U8)
FULLY_CONNECTED_S16 = FullyConnected(S16)
FULLY_CONNECTED_F32, FULLY_CONNECTED_F32W16 = FullyConnected(F32), FullyConnected(F32W16)
ONNX_CONV_2D_S8, ONNX_CONV_2D_S16 = Conv2D(S8, ONNX_CONVOLUTION), Conv2D(S16, ONNX_CONVOLUTION)
ONNX_DEPTHWISE_S8 = DepthwiseConv2D(S8, ONNX_DEPTHWISE)
ONNX_DEPTHWISE_S16 = DepthwiseConv2D(S16, ONNX_DEPTHWISE)
ONNX_FULLY_CONNECTED_S8 = FullyConnected(S8, ONNX_FULLY_CONNECTED)
ONNX_FULLY_CONNECTED_S16 = FullyConnected(S16, ONNX_FULLY_CONNECTED)

for _kernel in (
    *(CONV_2D_S8, CONV_2D_S16, CONV_2D_F32),
    *(DEPTHWISE_S8, DEPTHWISE_S16, DEPTHWISE_F32, DEPTHWISE_IN_PLACE_S8, DEPTHWISE_IN_PLACE_F32),
    *(FULLY_CONNECTED_S8, FULLY_CONNECTED_S16, FULLY_CONNECTED_F32),
    *(CONV_2D_U8, DEPTHWISE_U8, FULLY_CONNECTED_U8, CONV_2D_F32W16, FULLY_CONNECTED_F32W16),
    *(ONNX_CONV_2D_S8, ONNX_DEPTHWISE_S8, ONNX_FULLY_CONNECTED_S8),
    *(ONNX_CONV_2D_S16, Conv2D(S16W16, ONNX_CONVOLUTION)),
    *(ONNX_DEPTHWISE_S16, DepthwiseConv2D(S16W16, ONNX_DEPTHWISE)),
    *(ONNX_FULLY_CONNECTED_S16, FullyConnected(S16W16, ONNX_FULLY_CONNECTED)),
):
    register(_kernel)
