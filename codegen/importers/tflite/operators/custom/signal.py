"""Operators of TFLM's audio front end."""

from collections.abc import Callable

import numpy as np

from codegen.importers.reporting import AlreadyReported, Refused
from codegen.importers.tflite.operators.custom.custom_options import integer_options, need_outputs, option
from codegen.importers.tflite.operators.rearranging import reshaped
from codegen.importers.tflite.operators.site import InnerStep, Site, Translated
from codegen.ir import ConstRef, DType, TensorType
from codegen.ir.ops import Attrs, EnergyAttrs, FftAttrs, FilterBankAttrs, LogAttrs, ShiftAttrs


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
    bits = InnerStep(
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
