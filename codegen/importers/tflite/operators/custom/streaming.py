"""Operators of TFLM that remember: what they keep is state of the model, a parameter and a result.

Windows of samples are CONCATENATIONs and slices, as exporters write them with variables; what is counted goes
from number to number by a table.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from codegen.importers.reporting import Refused
from codegen.importers.tflite.operators.custom.custom_options import integer_options, need_outputs, option
from codegen.importers.tflite.operators.rearranging import reshaped, sliced
from codegen.importers.tflite.operators.site import InnerStep, Site, Translated
from codegen.ir import Arg, DType, TensorType, Var
from codegen.ir.ops import ConcatAttrs, GatherAttrs, NoiseAttrs, OverlapAttrs

Hold = Callable[[TensorType], Var]
"""Gives a state of the operator, of zeros (int8: zero points) before the first inference."""
MAX_STATES = 2
"""Most states of one operator."""
_MAX_FRAMES = 256
"""That one inference gives."""
_PERIOD_1 = (5, 13, 25)
"""Rows of a CIRCULAR_BUFFER that counts at every inference where the file does not state it."""
_MAX_COUNT = 1 << 12
"""Inferences that are told apart."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Remembered:
    """Results of an operator, and the new values of its states, in the order in which they were held."""

    parts: tuple[Translated, ...]
    states: tuple[Translated, ...]


def subtraction(site: Site, hold: Hold) -> Remembered:
    """SignalFilterBankSpectralSubtraction: the channels without noise, and the noise, which is kept."""
    site.need_inputs(1, 1)
    need_outputs(site, 2)
    options = integer_options(site.operator)
    signal = site.arg(0)
    if option(options, "num_channels") != signal.type.elements:
        raise Refused("E303", f"has {options['num_channels']} channels, its argument is {signal.type}")
    attrs = NoiseAttrs(
        smoothing=(option(options, "smoothing"), option(options, "alternate_smoothing")),
        remaining=(option(options, "one_minus_smoothing"), option(options, "alternate_one_minus_smoothing")),
        least=option(options, "min_signal_remaining"),
        smoothing_bits=option(options, "smoothing_bits"),
        bits=option(options, "spectral_subtraction_bits"),
        clamps=bool(option(options, "clamping")),
    )
    type_ = TensorType(shape=signal.type.shape, dtype=DType.UINT32)
    noise = InnerStep(op="SIGNAL_NOISE", args=(signal, hold(type_)), attrs=attrs, type=type_)
    rest = Translated(op="SIGNAL_SUBTRACT", args=(signal, noise), attrs=attrs)
    kept = reshaped(noise, type_.shape)
    return Remembered(parts=(rest, kept), states=(kept,))


def _joined(parts: Sequence[Arg | InnerStep], axis: int) -> InnerStep:
    shape = list(parts[0].type.shape)
    shape[axis] = sum(part.type.shape[axis] for part in parts)
    type_ = replace(parts[0].type, shape=tuple(shape))
    return InnerStep(op="CONCATENATION", args=tuple(parts), attrs=ConcatAttrs(axis=axis), type=type_)


def _columns(value: InnerStep, first: int, count: int) -> InnerStep:
    rows = value.type.shape[0]
    return sliced(value, (0, first), (rows, count), (rows, count))


def _rows(site: Site) -> tuple[Arg, InnerStep, int, int]:
    """The argument, the same as rows of samples, how many rows and how many samples."""
    value = site.arg(0)
    if value.type.dtype is not DType.INT16 or not value.type.shape:
        raise Refused("E301", f"its argument is {value.type}, supported are frames of int16")
    samples = value.type.shape[-1]
    rows = value.type.elements // samples
    return value, reshaped(value, (rows, samples)), rows, samples


def _looked_up(site: Site, table: np.ndarray, place: Var) -> InnerStep:
    """The entry of `table` for a count."""
    constant = site.made(table)
    type_ = TensorType(shape=table.shape[1:], dtype=constant.type.dtype)
    return InnerStep(op="GATHER", args=(constant, place), attrs=GatherAttrs(axis=0), type=type_)


def _count(hold: Hold, values: int) -> Var:
    if values > _MAX_COUNT:
        raise Refused("E305", f"counts {values:,} inferences, up to {_MAX_COUNT:,} are told apart")
    return hold(TensorType(shape=(), dtype=DType.INT32))


def framer(site: Site, hold: Hold) -> Remembered:
    """SignalFramer: frames that overlap, and whether all of them are complete.

    Until then tflite-micro leaves its result as it is; here it has zeros in front.
    """
    site.need_inputs(1, 1)
    need_outputs(site, 2)
    options = integer_options(site.operator)
    size, step = option(options, "frame_size"), option(options, "frame_step")
    value, samples_in, rows, samples = _rows(site)
    if not 1 <= step <= size or samples % step or samples // step > _MAX_FRAMES:
        text = f"makes frames of {size} samples every {step} of {samples}"
        raise Refused("E301", text, f"supported are steps up to the frame, and up to {_MAX_FRAMES} frames")
    frames, is_filled = samples // step, bool(option(options, "prefill"))
    steps = -(-size // step)
    kept = (size if is_filled else steps * step) - step
    whole = samples_in
    states: list[Translated] = []
    if kept:
        window = hold(replace(value.type, shape=(rows, kept)))
        whole = _joined((window, samples_in), 1)
        states.append(_columns(whole, samples, kept))
    parts = [reshaped(_columns(whole, frame * step, size), (rows, 1, size)) for frame in range(frames)]
    shape = (*value.type.shape[:-1], frames, size)
    frames_out = reshaped(parts[0] if frames == 1 else _joined(parts, 1), shape)
    if is_filled or steps == 1:
        return Remembered(parts=(frames_out, reshaped(site.made(np.array(True)), ())), states=tuple(states))
    place = _count(hold, steps)
    following = np.minimum(np.arange(steps) + frames, steps - 1).astype(np.int32)
    states.append(_looked_up(site, following, place))
    return Remembered(
        parts=(frames_out, _looked_up(site, np.arange(steps) == steps - 1, place)), states=tuple(states)
    )


def delay(site: Site, hold: Hold) -> Remembered:
    """SignalDelay: what came so many samples before."""
    site.need_inputs(1, 1)
    need_outputs(site, 1)
    length = option(integer_options(site.operator), "delay_length")
    value, samples_in, rows, samples = _rows(site)
    if length < 1:
        raise Refused("E301", f"delays by {length} samples, supported is one and more")
    whole = _joined((hold(replace(value.type, shape=(rows, length))), samples_in), 1)
    delayed = reshaped(_columns(whole, 0, samples), value.type.shape)
    return Remembered(parts=(delayed,), states=(_columns(whole, samples, length),))


def stacker(site: Site, hold: Hold) -> Remembered:
    """SignalStacker: frames before and behind one, side by side, and whether they are complete.

    The first frame stands for those before it. Where tflite-micro leaves its result as it is, the frames so
    far are there.
    """
    site.need_inputs(1, 1)
    need_outputs(site, 2)
    options = integer_options(site.operator)
    channels, step = option(options, "num_channels"), option(options, "stacker_step")
    left, right = option(options, "stacker_left_context"), option(options, "stacker_right_context")
    value, frame, rows, samples = _rows(site)
    count = left + right + 1
    if (rows, samples) != (1, channels) or min(left, right) < 0 or not 1 <= step <= count:
        text = f"stacks {left} + 1 + {right} frames of {channels} channels every {step}, its argument is"
        raise Refused("E301", f"{text} {value.type}", "supported are steps up to as many frames")
    inferences = right + step + 1
    if inferences * count > _MAX_COUNT:
        raise Refused("E305", f"stacks {count:,} frames every {step:,}, which are too many")
    states: list[Translated] = []
    whole = frame
    if count > 1:
        window = hold(replace(value.type, shape=(count - 1, channels)))
        whole = _joined((window, frame), 0)
    place = _count(hold, inferences)
    if count > 1:
        places = np.tile(np.arange(count, dtype=np.int32), (inferences, 1))
        places[0] = count - 1
        type_ = replace(value.type, shape=(count, channels))
        attrs = GatherAttrs(axis=0)
        whole = InnerStep(op="GATHER", args=(whole, _looked_up(site, places, place)), attrs=attrs, type=type_)
        states.append(sliced(whole, (1, 0), (count - 1, channels), (count - 1, channels)))
    number = np.arange(inferences)
    following = np.where(number < inferences - 1, number + 1, right + 1).astype(np.int32)
    states.append(_looked_up(site, following, place))
    valid = (number == right) | (number == right + step)
    return Remembered(
        parts=(reshaped(whole, (count * channels,)), _looked_up(site, valid, place)), states=tuple(states)
    )


def overlap_add(site: Site, hold: Hold) -> Remembered:
    """SignalOverlapAdd: frames that overlap, added up."""
    site.need_inputs(1, 1)
    need_outputs(site, 1)
    step = option(integer_options(site.operator), "frame_step")
    value = site.arg(0)
    if len(value.type.shape) < 2:
        raise Refused("E303", f"its argument is {value.type}, it has to be frames of samples")
    *outer, frames, size = value.type.shape
    shape = (*outer, frames * step)
    if step == size:
        return Remembered(parts=(reshaped(value, shape),), states=())
    if not 1 <= step < size:
        raise Refused("E301", f"adds frames of {size} samples every {step}, supported are 1 to {size}")
    rows = math.prod(outer)
    rest = hold(replace(value.type, shape=(rows, size - step)))
    type_ = replace(value.type, shape=(rows, (frames - 1) * step + size))
    args = (reshaped(value, (rows, frames, size)), rest)
    stream = InnerStep(op="SIGNAL_OVERLAP_ADD", args=args, attrs=OverlapAttrs(step=step), type=type_)
    added = reshaped(_columns(stream, 0, frames * step), shape)
    return Remembered(parts=(added,), states=(_columns(stream, frames * step, size - step),))


def circular_buffer(site: Site, hold: Hold) -> Remembered:
    """CIRCULAR_BUFFER: the last rows, and if there is a second result, whether this inference counts.

    With one result tflite-micro ends the inferences that do not count there, so all have to. Where the file
    states no period, tflite-micro knows lengths for which it is 1.
    """
    site.need_inputs(1, 1)
    value, outputs = site.arg(0), len(site.operator.outputs)
    shape, result = value.type.shape, site.results[0].shape
    if len(shape) != 4 or shape[:2] != (1, 1) or outputs > 2:
        raise Refused("E301", f"takes {value.type}, supported is a row: [1,1,H,C]")
    if len(result) != 4 or (result[0], *result[2:]) != (1, *shape[2:]):
        raise Refused("E303", f"gives {site.results[0]}, which is not rows of {value.type}")
    stated = integer_options(site.operator).get("cycles_max", 0) if site.operator.custom_options else 0
    period = stated if stated > 0 else 1 if result[1] in _PERIOD_1 else 0
    if period == 0 or (period > 1 and outputs == 1):
        text = "ends inferences, all but some: steps of a plan always run"
        help_ = "convert it with cycles_max 1, or with its second result, which says whether one counts"
        raise Refused("E301", text, help_)
    whole: Arg | InnerStep = value
    states: list[Translated] = []
    if result[1] > 1:
        kept = (1, result[1] - 1, *shape[2:])
        whole = _joined((hold(replace(value.type, shape=kept)), value), 1)
        states.append(sliced(whole, (0, 1, 0, 0), kept, kept))
    parts: list[Translated] = [reshaped(whole, result)]
    if outputs == 2:
        place = _count(hold, period)
        number = np.arange(period, dtype=np.int32)
        states.append(_looked_up(site, np.roll(number, -1), place))
        parts.append(reshaped(_looked_up(site, number == period - 1, place), site.results[1].shape))
    return Remembered(parts=tuple(parts), states=tuple(states))


STREAMING: Mapping[str, Callable[[Site, Hold], Remembered]] = MappingProxyType(
    {
        "CIRCULAR_BUFFER": circular_buffer,
        "SignalDelay": delay,
        "SignalFilterBankSpectralSubtraction": subtraction,
        "SignalFramer": framer,
        "SignalOverlapAdd": overlap_add,
        "SignalStacker": stacker,
    }
)
"""Operators with state of their own, by name."""
