"""Custom operators of TFLM's audio front end, whose options are a map in flexbuffers."""

import struct
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from flatbuffers import flexbuffers

from codegen.importers.limits import MAX_OPTION_BYTES
from codegen.importers.reporting import AlreadyReported, Refused
from codegen.importers.tflite.file.reader import FileOperator
from codegen.importers.tflite.operators.rearranging import reshaped
from codegen.importers.tflite.operators.site import Site, Step, Translated
from codegen.ir import ConstRef, DType, TensorType
from codegen.ir.ops import Attrs, EnergyAttrs, FftAttrs, FilterBankAttrs, LogAttrs, ShiftAttrs

_MAX_OPTIONS = 32
"""More than any operator of the library has."""
_DAMAGES = (ArithmeticError, LookupError, NotImplementedError, TypeError, ValueError, struct.error)
"""What the reader of flexbuffers raises for bytes that are none."""


def window(site: Site) -> Translated:
    """SignalWindow."""
    site.need_inputs(2, 2)
    options = integer_options(site.operator)
    return Translated(op="SIGNAL_WINDOW", args=site.args(2), attrs=ShiftAttrs(shift=option(options, "shift")))


def scaled(site: Site) -> tuple[Translated, ...]:
    """SignalFftAutoScale: the frame, and by how many bits it was shifted, which is computed first."""
    site.need_inputs(1, 1)
    need_outputs(site, 2)
    frame = site.arg(0)
    bits = Step(
        op="SIGNAL_SCALE_BITS", args=(frame,), attrs=Attrs(), type=TensorType(shape=(), dtype=DType.INT32)
    )
    return Translated(op="SIGNAL_SCALE", args=(frame, bits), attrs=Attrs()), reshaped(bits, ())


def transform(name: str) -> Callable[[Site], Translated]:
    """SignalRfft, SignalIrfft: `name` in the IR."""

    def translate(site: Site) -> Translated:
        site.need_inputs(1, 1)
        length = option(integer_options(site.operator), "fft_length")
        return Translated(op=name, args=(site.arg(0),), attrs=FftAttrs(length=length))

    return translate


def energy(site: Site) -> Translated:
    """SignalEnergy."""
    site.need_inputs(1, 1)
    options = integer_options(site.operator)
    attrs = EnergyAttrs(first=option(options, "start_index"), stop=option(options, "end_index"))
    return Translated(op="SIGNAL_ENERGY", args=(site.arg(0),), attrs=attrs)


def filter_bank(site: Site) -> Translated:
    """SignalFilterBank, whose places are constants within its arguments, weights not negative."""
    site.need_inputs(6, 6)
    args = site.args(6)
    if not all(isinstance(arg, ConstRef) for arg in args[1:]):
        site.unsupported("weights or places are computed while the model runs, supported are constants")
        raise AlreadyReported
    weights, unweights, *places = (site.constant_data(position).reshape(-1) for position in range(1, 6))
    channels = option(integer_options(site.operator), "num_channels")
    starts, firsts, widths = (place[: channels + 1].astype(np.int64) for place in places)
    if len(starts) == len(firsts) == len(widths):
        most = min(weights.size, unweights.size)
        beyond = (starts + widths > args[0].type.elements) | (firsts + widths > most)
        if bool(np.any(beyond | (np.minimum(np.minimum(starts, firsts), widths) < 0))):
            raise Refused("E303", "has places outside its energies or weights")
    if min(weights.min(initial=0), unweights.min(initial=0)) < 0:
        site.unsupported("has negative weights, which are not supported")
    return Translated(op="SIGNAL_FILTER_BANK", args=args, attrs=FilterBankAttrs(channels=channels))


def square_root(site: Site) -> Translated:
    """SignalFilterBankSquareRoot."""
    site.need_inputs(2, 2)
    return Translated(op="SIGNAL_SQUARE_ROOT", args=site.args(2), attrs=Attrs())


def pcan(site: Site) -> Translated:
    """SignalPCAN."""
    site.need_inputs(3, 3)
    attrs = ShiftAttrs(shift=option(integer_options(site.operator), "snr_shift"))
    return Translated(op="SIGNAL_PCAN", args=site.args(3), attrs=attrs)


def logarithm(site: Site) -> Translated:
    """SignalFilterBankLog."""
    site.need_inputs(1, 1)
    options = integer_options(site.operator)
    attrs = LogAttrs(scale=option(options, "output_scale"), shift=option(options, "input_correction_bits"))
    return Translated(op="SIGNAL_LOG", args=(site.arg(0),), attrs=attrs)


def need_outputs(site: Site, count: int) -> None:
    """Refuse the operator unless it has `count` outputs."""
    found = len(site.operator.outputs)
    if found != count:
        raise Refused("E303", f"has {found} outputs, needs {count}")


def option(options: Mapping[str, int], name: str) -> int:
    """A whole number among the options; raises Refused if it is not there."""
    if name not in options:
        found = ", ".join(sorted(options)) or "none"
        raise Refused("E303", f'has no option "{name}" that is a whole number; found: {found}')
    return options[name]


def integer_options(operator: FileOperator) -> Mapping[str, int]:
    """The options of a custom operator that are whole numbers or truth values, by name; nested ones are not
    followed. Raises Refused for bytes that are no map."""
    if operator.custom_option_bytes > MAX_OPTION_BYTES:
        text = f"has {operator.custom_option_bytes} bytes of options, supported are {MAX_OPTION_BYTES}"
        raise Refused("E305", text)
    reader: Any = flexbuffers
    try:
        root = reader.GetRoot(bytearray(operator.custom_options))
        if not root.IsMap:
            raise ValueError
        entries = root.AsMap
        if len(entries) > _MAX_OPTIONS:
            raise ValueError
        keys, values = entries.Keys, entries.Values
        found: dict[str, int] = {}
        for index in range(len(entries)):
            value = values[index]
            if value.IsInt or value.IsBool:
                found[str(keys[index].AsKey)] = int(value.AsInt)
        return found
    except _DAMAGES as error:
        count = operator.custom_option_bytes
        text = f"has {count} bytes of options that are no flexbuffers map of up to {_MAX_OPTIONS} entries"
        raise Refused("E303", text, "convert the model again with TFLM's signal library") from error
