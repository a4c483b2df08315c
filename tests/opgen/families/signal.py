"""Operators of an audio front end: custom operators, whose options are a map in flexbuffers."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from flatbuffers import flexbuffers

from codegen.importers.tflite.writing.writer import Custom
from codegen.importers.tflite.writing.writer_options import TENSOR_TYPES
from tests.opgen.dice import Dice
from tests.opgen.sketch import Drawn, Plain, Sketch

SAMPLES = Plain(dtype="int16", low=-32768, high=32767)
WORDS = Plain(dtype="uint32", low=0, high=2**32 - 1)


def flexible(**options: int) -> bytes:
    """A map in flexbuffers."""
    builder: Any = flexbuffers.Builder()
    with builder.Map():
        for name, value in options.items():
            builder.Int(name, value)
    return bytes(builder.Finish())


def window(dice: Dice) -> Drawn:
    """SignalWindow on one frame or several, with a constant window or one that is an input."""
    sketch, size = Sketch(dice), dice.integer(1, 60)
    shape = (*dice.pick(((), (1,), (3,), (2, 2))), size)
    frames = sketch.input(shape, SAMPLES)
    if dice.chance(70):
        data = sketch.values((size,), SAMPLES)
        weights = sketch.tensor((size,), SAMPLES, data=data)
    else:
        weights = sketch.input((size,), SAMPLES)
    y = sketch.tensor(shape, SAMPLES)
    options = flexible(shift=dice.integer(0, 20))
    custom = {"custom": Custom(code="SignalWindow", options=options)}
    return sketch.finish(sketch.op("CUSTOM", [frames, weights], y, **custom))


def _custom(name: str, **options: int) -> dict[str, Any]:
    return {"custom": Custom(code=name, options=flexible(**options))}


def _samples(dice: Dice, dtype: str) -> Plain | None:
    """Of the whole range, or quieter."""
    if dtype == "float32":
        return None
    info = np.iinfo(dtype)
    shift = dice.integer(0, 12)
    return Plain(dtype=dtype, low=int(info.min) >> shift, high=int(info.max) >> shift)


def auto_scale(dice: Dice) -> Drawn:
    """SignalFftAutoScale, whose second input has numbers that have no positive."""
    sketch, shape = Sketch(dice), (dice.integer(1, 60),)
    x = sketch.input(shape, _samples(dice, "int16"))
    y, bits = sketch.tensor(shape, SAMPLES), sketch.tensor((), Plain(dtype="int32", low=0, high=0))
    sketch.model.op("CUSTOM", [x.index], [y.index, bits.index], **_custom("SignalFftAutoScale"))
    return sketch.finish(y, bits)


def transform(dice: Dice, dtype: str, *, inverse: bool) -> Drawn:
    """SignalRfft with zeros behind its input at times, SignalIrfft; one row or several."""
    sketch, length = Sketch(dice), 4 << dice.integer(0, 7)
    outer = dice.pick(((), (1,), (3,), (2, 2)))
    size = length + 2 if inverse else dice.pick((length, dice.integer(1, length)))
    kind = _samples(dice, dtype)
    x = sketch.input((*outer, size), kind, sixteenths=None if kind else 100)
    y = sketch.tensor((*outer, length if inverse else length + 2), kind)
    name = "SignalIrfft" if inverse else "SignalRfft"
    options = _custom(name, T=TENSOR_TYPES[dtype], fft_length=length)
    return sketch.finish(sketch.op("CUSTOM", [x], y, **options))


def energy(dice: Dice) -> Drawn:
    """SignalEnergy, of which only what it computes is looked at."""
    sketch, count = Sketch(dice), dice.integer(2, 60)
    first = dice.integer(0, count - 1)
    stop = dice.integer(first + 1, count)
    x = sketch.input((2 * count,), SAMPLES)
    options = _custom("SignalEnergy", start_index=first, end_index=stop)
    found = sketch.op("CUSTOM", [x], sketch.tensor((count,), WORDS), **options)
    signed = Plain(dtype="int32", low=0, high=0)
    found = sketch.op("CAST", [found], sketch.tensor((count,), signed))
    bounds = [sketch.constant([number]) for number in (first, stop, 1)]
    part = sketch.op("STRIDED_SLICE", [found, *bounds], sketch.tensor((stop - first,), signed))
    return sketch.finish(part)


def filter_bank(dice: Dice) -> Drawn:
    """SignalFilterBank with any places within its arguments."""
    sketch, channels = Sketch(dice), dice.integer(1, 12)
    energies, weights = dice.integer(1, 60), dice.integer(1, 80)
    widths = [dice.integer(0, min(energies, weights)) for _ in range(channels + 1)]
    starts = [dice.integer(0, energies - width) for width in widths]
    firsts = [dice.integer(0, weights - width) for width in widths]
    tables = [dice.within((weights,), 0, 32767) for _ in range(2)]
    constants = [
        sketch.model.constant(sketch.name, np.array(numbers, np.int16), "int16")
        for numbers in (*tables, starts, firsts, widths)
    ]
    x = sketch.input((energies,), WORDS)
    y = sketch.tensor((channels,), Plain(dtype="uint64", low=0, high=0))
    return sketch.finish(
        sketch.op("CUSTOM", [x, *constants], y, **_custom("SignalFilterBank", num_channels=channels))
    )


def square_root(dice: Dice) -> Drawn:
    """SignalFilterBankSquareRoot; squares near 2^32 among them."""
    sketch, shape = Sketch(dice), (dice.integer(1, 40),)
    high = 2 ** dice.integer(1, 63) - 1
    low = dice.pick((0, max(0, 2**32 - 50)))
    squares = Plain(dtype="uint64", low=min(low, high), high=high)
    x, shift = sketch.input(shape, squares), sketch.input((), Plain(dtype="int32", low=0, high=14))
    y = sketch.tensor(shape, WORDS)
    return sketch.finish(sketch.op("CUSTOM", [x, shift], y, **_custom("SignalFilterBankSquareRoot")))


def pcan(dice: Dice) -> Drawn:
    """SignalPCAN with any table."""
    sketch, shape = Sketch(dice), (dice.integer(1, 40),)
    reach = 2 ** dice.integer(4, 15) - 1
    table = dice.within((125,), dice.pick((-reach, 0)), reach).astype(np.int16)
    kinds = [Plain(dtype="uint32", low=0, high=2 ** dice.integer(2, 32) - 1) for _ in range(2)]
    values = [sketch.input(shape, kind) for kind in kinds]
    gains = sketch.model.constant(sketch.name, table, "int16")
    options = _custom("SignalPCAN", snr_shift=dice.integer(0, 20))
    return sketch.finish(sketch.op("CUSTOM", [*values, gains], sketch.tensor(shape, WORDS), **options))


def logarithm(dice: Dice) -> Drawn:
    """SignalFilterBankLog."""
    sketch, shape = Sketch(dice), (dice.integer(1, 60),)
    x = sketch.input(shape, Plain(dtype="uint32", low=0, high=2 ** dice.integer(2, 32) - 1))
    scale, bits = dice.pick((1, 64, 1600, 32768)), dice.integer(0, 6)
    options = _custom("SignalFilterBankLog", output_scale=scale, input_correction_bits=bits)
    return sketch.finish(sketch.op("CUSTOM", [x], sketch.tensor(shape, SAMPLES), **options))


_FFT = ("int16", "int32", "float32")
DRAWN: Mapping[str, Mapping[str, Callable[[Dice], Drawn]]] = {
    "SignalEnergy": {"int16": energy},
    "SignalFftAutoScale": {"int16": auto_scale},
    "SignalFilterBank": {"uint32": filter_bank},
    "SignalFilterBankLog": {"uint32": logarithm},
    "SignalFilterBankSquareRoot": {"uint64": square_root},
    "SignalIrfft": {dtype: partial(transform, dtype=dtype, inverse=True) for dtype in _FFT},
    "SignalPCAN": {"uint32": pcan},
    "SignalRfft": {dtype: partial(transform, dtype=dtype, inverse=False) for dtype in _FFT},
    "SignalWindow": {"int16": window},
}
"""By operator and type."""
