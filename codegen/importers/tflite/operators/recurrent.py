"""UNIDIRECTIONAL_SEQUENCE_LSTM: one step for the whole sequence, whose result begins with the new state."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from tflite.ActivationFunctionType import ActivationFunctionType

from codegen.importers.reporting import AlreadyReported, Refused
from codegen.importers.tflite.operators.rearranging import reshaped, sliced
from codegen.importers.tflite.operators.site import InnerStep, Site, Translated
from codegen.ir import ConstRef, DType, TensorType, Var
from codegen.ir.ops import LstmAttrs
from codegen.ir.ops.recurrent import LSTM_TYPES, state_elements

LSTM = "UNIDIRECTIONAL_SEQUENCE_LSTM"
HIDDEN, CELL = 18, 19
"""Inputs that are the state, variable tensors of the file."""
_INPUTS = 24
_INPUT_WEIGHTS, _RECURRENT_WEIGHTS, _BIASES = range(1, 5), range(5, 9), range(12, 16)
_VARIANTS = {
    "peephole weights": range(9, 12),
    "a projection": range(16, 18),
    "layer normalisation": range(20, 24),
}
_ADVICE = "tflite-micro does not run it either: train the layer without"
_TYPES = (
    "supported are an int8 sequence with int32 biases, int16 with int64 biases, both with int8 weights of "
    "one scale each, and float32"
)
_CELLS = {DType.INT8: DType.INT16, DType.INT16: DType.INT16, DType.FLOAT32: DType.FLOAT32}
"""Types of cell states by those of hidden states."""


def state_type(hidden: TensorType, cell: TensorType) -> TensorType:
    """Cell states, then hidden states, in elements of the latter; raises Refused for other types."""
    if _CELLS.get(hidden.dtype) is not cell.dtype or hidden.elements != cell.elements:
        text = f"the hidden state is {hidden}, the cell state {cell}"
        supported = "int8 and int16, int16 and int16, or float32, of the same number of elements"
        raise Refused("E301", text, f"supported are {supported}")
    if hidden.dtype is not DType.FLOAT32 and None in (hidden.quantization, cell.quantization):
        raise Refused("E304", "a state has no quantisation")
    count = state_elements(hidden.dtype, hidden.elements)
    return TensorType(shape=(count,), dtype=hidden.dtype, quantization=hidden.quantization)


def first_state(hidden: TensorType) -> bytes:
    """Real zeros: what the state is before the first inference."""
    count = state_elements(hidden.dtype, hidden.elements) - hidden.elements
    zero = hidden.zero_point if hidden.dtype is DType.INT8 else 0
    return (
        bytes(count * hidden.dtype.size_bytes) + np.full(hidden.elements, zero, hidden.dtype.numpy).tobytes()
    )


def lstm(site: Site, cell: TensorType) -> Translated:
    """The hidden states of all steps; `cell`: the type of the cell state."""
    site.need_inputs(_INPUTS, _INPUTS)
    options = site.options()
    for what, positions in _VARIANTS.items():
        if any(site.has(position) for position in positions):
            site.unsupported(f"has {what}, which is not supported", _ADVICE)
    if options.integer("activation") != ActivationFunctionType.TANH:
        site.unsupported("the cell gate's activation is not TANH", "train the layer with tanh")
    if options.real("proj_clip") != 0:
        site.unsupported("clips a projection, which is not supported", _ADVICE)
    sequence, state = site.arg(0), site.arg(HIDDEN)
    assert isinstance(state, Var)
    weights = [_constant(site, position) for position in _INPUT_WEIGHTS]
    recurrent = [_constant(site, position) for position in _RECURRENT_WEIGHTS]
    biases = [_constant(site, position) for position in _BIASES]
    types = LSTM_TYPES.get(state.type.dtype, (None, None))
    dtypes = [(sequence.type, state.type.dtype), (site.result, state.type.dtype)]
    dtypes += [(weight.type, types[0]) for weight in (*weights, *recurrent)]
    dtypes += [(bias.type, types[1]) for bias in biases]
    is_float = state.type.dtype is DType.FLOAT32
    fits = _alike(weights, recurrent, biases) and (is_float or _symmetric(*weights, *recurrent))
    if any(type_.dtype is not dtype for type_, dtype in dtypes) or not fits:
        raise Refused("E301", "has other types or shapes than are supported", _TYPES)
    if site.complained:
        raise AlreadyReported
    if site.result.quantization != state.type.quantization:
        text = "the result has another scale or zero point than the hidden state"
        raise Refused("E301", text, "convert the model so that both have one quantisation")
    attrs = LstmAttrs(
        input_scales=() if is_float else tuple(weight.type.scale for weight in weights),
        recurrent_scales=() if is_float else tuple(weight.type.scale for weight in recurrent),
        cell_scale=1.0 if is_float else cell.scale,
        cell_clip=options.real("cell_clip"),
        time_major=options.flag("time_major"),
    )
    held, count = state.type.elements, site.result.elements
    both = InnerStep(
        op=LSTM,
        args=(
            sequence,
            _stacked(site, _INPUT_WEIGHTS),
            _stacked(site, _RECURRENT_WEIGHTS),
            _stacked(site, _BIASES),
            state,
        ),
        attrs=attrs,
        type=replace(state.type, shape=(held + count,)),
    )
    return reshaped(sliced(both, (held,), (count,), (count,)), site.result.shape)


def new_state(result: Var, state: TensorType) -> Translated:
    """The new state, taken out of the result of its step."""
    return sliced(result, (0,), state.shape, state.shape)


def _constant(site: Site, position: int) -> ConstRef:
    constant = site.arg(position)
    if not isinstance(constant, ConstRef):
        raise Refused(
            "E301", f"input {position} is computed from the model's inputs, supported are constants"
        )
    return constant


def _alike(*groups: Sequence[ConstRef]) -> bool:
    """True if each group has one shape."""
    return all(len({ref.type.shape for ref in group}) == 1 for group in groups)


def _symmetric(*weights: ConstRef) -> bool:
    """True if all have one scale each."""
    scales = [ref.type.quantization for ref in weights]
    return all(
        quantization is not None and len(quantization.scales) == 1 and quantization.zero_points == (0,)
        for quantization in scales
    )


def _stacked(site: Site, positions: range) -> ConstRef:
    """The constants of the four gates as one."""
    return site.made(np.stack([site.constant_data(position) for position in positions]))
