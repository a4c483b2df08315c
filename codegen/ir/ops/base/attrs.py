"""Attribute sets of all operators. Everything is resolved: explicit padding, static axes, no SAME/VALID."""

from dataclasses import dataclass

from codegen.ir.operator import NO_PADDING, Attrs, Padding2D
from codegen.ir.ops.base.activation import ActivatedAttrs
from codegen.ir.ops.base.rounding import RoundedAttrs


@dataclass(frozen=True, kw_only=True, slots=True)
class PaddedAttrs(ActivatedAttrs):
    """Attributes of an operator that slides a window over an image with padding."""

    padding: Padding2D = NO_PADDING


@dataclass(frozen=True, kw_only=True, slots=True)
class ConvAttrs(PaddedAttrs):
    """CONV_2D: image NHWC, weights OHWI (grouped when I divides the image's C), bias O or None."""

    stride: tuple[int, int] = (1, 1)
    dilation: tuple[int, int] = (1, 1)


@dataclass(frozen=True, kw_only=True, slots=True)
class DepthwiseConvAttrs(PaddedAttrs):
    """DEPTHWISE_CONV_2D: weights 1HWO with O = C * multiplier; result channel o reads o // multiplier."""

    multiplier: int = 1
    stride: tuple[int, int] = (1, 1)
    dilation: tuple[int, int] = (1, 1)


@dataclass(frozen=True, kw_only=True, slots=True)
class FullyConnectedAttrs(ActivatedAttrs):
    """FULLY_CONNECTED: image [..., I] flattened to rows of I, weights [O, I], bias O or None."""

    keep_num_dims: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class PoolAttrs(PaddedAttrs):
    """AVERAGE_POOL_2D (padding is not counted) and MAX_POOL_2D."""

    window: tuple[int, int]
    stride: tuple[int, int] = (1, 1)


@dataclass(frozen=True, kw_only=True, slots=True)
class ResizeAttrs(Attrs):
    """RESIZE_BILINEAR (and RESIZE_NEAREST_NEIGHBOR) to `size`, rows and columns."""

    size: tuple[int, int]
    align_corners: bool = False
    half_pixel_centers: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class MeanAttrs(Attrs):
    """MEAN, SUM, REDUCE_MAX, REDUCE_MIN over `axes` (non-negative, ascending)."""

    axes: tuple[int, ...]
    keep_dims: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class ArgAttrs(Attrs):
    """ARG_MAX and ARG_MIN along `axis` (not negative)."""

    axis: int


@dataclass(frozen=True, kw_only=True, slots=True)
class CumsumAttrs(Attrs):
    """CUMSUM along `axis` (not negative); `exclusive`: without the element itself.

    `reverse`: from the end.
    """

    axis: int
    exclusive: bool = False
    reverse: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class BatchMatMulAttrs(RoundedAttrs):
    """BATCH_MATMUL; `adj_x` and `adj_y`: the first or second argument's matrices are transposed.

    ONNX's rounding has one scale, of all sums.
    """

    adj_x: bool = False
    adj_y: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class BinaryAttrs(ActivatedAttrs):
    """ADD, SUB, MUL with broadcasting.

    `unbounded`: float32 beyond the largest number becomes infinite, as ONNX has it; else it ends there, as
    TFLite has it.
    """

    unbounded: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class ConcatAttrs(Attrs):
    """CONCATENATION of all arguments along `axis` (non-negative).

    Integers all share the result's quantisation.
    """

    axis: int


@dataclass(frozen=True, kw_only=True, slots=True)
class PadAttrs(Attrs):
    """PAD and PADV2: (before, after) per axis; `value` in stored units (zero point of a quantised PAD)."""

    paddings: tuple[tuple[int, int], ...]
    value: float = 0.0


@dataclass(frozen=True, kw_only=True, slots=True)
class ReshapeAttrs(Attrs):
    """RESHAPE (also SQUEEZE, EXPAND_DIMS) to a fully resolved shape."""

    shape: tuple[int, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class TransposeAttrs(Attrs):
    """TRANSPOSE: result axis i is argument axis `permutation[i]`."""

    permutation: tuple[int, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class StridedSliceAttrs(Attrs):
    """STRIDED_SLICE, resolved: per argument axis the first index, the step (may be negative), the count.

    `shape` is the result's (shrunk axes removed, so its elements equal the product of `counts`).
    """

    begins: tuple[int, ...]
    strides: tuple[int, ...]
    counts: tuple[int, ...]
    shape: tuple[int, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class BroadcastToAttrs(Attrs):
    """BROADCAST_TO (also FILL) `shape`."""

    shape: tuple[int, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class GatherAttrs(Attrs):
    """GATHER along `axis` (not negative); the first `batch_axes` axes belong to indices and values alike."""

    axis: int
    batch_axes: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class SoftmaxAttrs(RoundedAttrs):
    """SOFTMAX over the last axis of exp(beta * x)."""

    beta: float = 1.0


@dataclass(frozen=True, kw_only=True, slots=True)
class LayerNormAttrs(RoundedAttrs):
    """LAYER_NORMALIZATION over the last axis; `epsilon` is added to the variance."""

    epsilon: float


@dataclass(frozen=True, kw_only=True, slots=True)
class LstmAttrs(Attrs):
    """UNIDIRECTIONAL_SEQUENCE_LSTM; scales of the weights by gate (input, forget, cell, output)."""

    input_scales: tuple[float, ...]
    recurrent_scales: tuple[float, ...]
    cell_scale: float
    cell_clip: float = 0.0
    """Largest cell state, as a real number; 0: none."""
    time_major: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class GatedAttrs(Attrs):
    """GRU and RNN; activations by their numbers (`codegen.ir.ops.gated`), with alpha and beta."""

    functions: tuple[int, ...]
    alphas: tuple[float, ...]
    betas: tuple[float, ...]
    clip: float = 0.0
    """Largest sum in front of an activation; 0: none."""
    linear_before_reset: bool = False
    reverse: bool = False
    """True if a sequence is read from its last moment on."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LeakyReluAttrs(Attrs):
    """LEAKY_RELU with slope `alpha` for negative values."""

    alpha: float


@dataclass(frozen=True, kw_only=True, slots=True)
class GeluAttrs(Attrs):
    """GELU; `approximate`: by tanh instead of erf."""

    approximate: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class ShiftAttrs(Attrs):
    """SIGNAL_WINDOW and SIGNAL_PCAN: products are shifted right by so many bits."""

    shift: int


@dataclass(frozen=True, kw_only=True, slots=True)
class FftAttrs(Attrs):
    """SIGNAL_RFFT and SIGNAL_IRFFT of `length` real numbers."""

    length: int


@dataclass(frozen=True, kw_only=True, slots=True)
class EnergyAttrs(Attrs):
    """SIGNAL_ENERGY of the complex numbers `first` up to `stop`."""

    first: int
    stop: int


@dataclass(frozen=True, kw_only=True, slots=True)
class FilterBankAttrs(Attrs):
    """SIGNAL_FILTER_BANK with so many channels."""

    channels: int


@dataclass(frozen=True, kw_only=True, slots=True)
class NoiseAttrs(Attrs):
    """SIGNAL_NOISE and SIGNAL_SUBTRACT; pairs are of even and of odd channels, factors of 2^`bits`."""

    smoothing: tuple[int, int]
    remaining: tuple[int, int]
    least: int
    """Share of a channel that is left at least."""
    smoothing_bits: int
    bits: int
    clamps: bool
    """True if noise is no more than the channel."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LogAttrs(Attrs):
    """SIGNAL_LOG: channels are shifted left by `shift` first; 2^16 becomes `scale`."""

    scale: int
    shift: int


@dataclass(frozen=True, kw_only=True, slots=True)
class OverlapAttrs(Attrs):
    """SIGNAL_OVERLAP_ADD: each frame begins `step` elements behind the one before."""

    step: int


@dataclass(frozen=True, kw_only=True, slots=True)
class DetectionAttrs(Attrs):
    """DETECTION_POST_PROCESS: `rows` detections in the result, of boxes of `classes` classes."""

    rows: int
    classes: int
    most: int
    """Detections at most; of several classes a box, boxes."""
    most_of_class: int
    """Detections of one class at most, where classes are looked at one by one."""
    classes_of_box: int
    """Classes that each box is given with, where they are not."""
    by_class: bool
    """True if boxes of different classes may lie over one another (`use_regular_nms`)."""
    score: float
    """Boxes with a lower one are no detections."""
    overlap: float
    """Most intersection over union of two boxes. Beyond it the one with the lower score is left out."""
    scales: tuple[float, float, float, float]
    """Divisors of encoded y, x, height and width."""
