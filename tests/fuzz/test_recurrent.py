"""Kernels of layers with state on every core, beside memory that is closed, from any state: no engine begins
with one, so NumPy's result is compared with engines elsewhere (`tests/e2e/test_lstm.py`, `test_svdf.py`)."""

import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

import numpy as np
import pytest
from numpy.random import Generator

from codegen.board import load_board
from codegen.ir import DType, TensorType
from codegen.ir.ops import Attrs, GatedAttrs, LstmAttrs
from codegen.ir.ops.gated import FUNCTIONS
from codegen.ir.ops.recurrent import LSTM_TYPES, state_elements
from codegen.kernels import Kernel, kernels_for
from tests.fuzz.running import Runner
from tests.fuzz.sweep import boards_in_turn, boards_of
from tests.fuzz.trials import Trial
from tests.kernels.layers import Layer, Operand, float32, integer, layer, zero_point
from tests.tensor_types import per_tensor, tensor_type

LSTM = "UNIDIRECTIONAL_SEQUENCE_LSTM"
CASES = (
    (LSTM, DType.INT8),
    (LSTM, DType.INT16),
    (LSTM, DType.FLOAT32),
    ("GRU", DType.FLOAT32),
    ("RNN", DType.FLOAT32),
    ("SVDF_FEATURES", DType.INT8),
    ("SVDF_TIME", DType.INT16),
)
LAYERS = 16
"""Of each type, on each core that has its turn; `--long`: of every core, and twenty times as many."""


def _type(shape: tuple[int, ...], dtype: DType, scale: float, zero: int = 0) -> TensorType:
    quantization = per_tensor(float32(scale), zero)
    return tensor_type(shape, dtype, quantization=None if dtype is DType.FLOAT32 else quantization)


def _operand(rng: Generator, type_: TensorType, *, least: int = 0, constant: bool = False) -> Operand:
    """Numbers of the type's whole range, or its ends alone; floats around 1."""
    if type_.dtype is DType.FLOAT32:
        return Operand(type=type_, data=rng.normal(size=type_.shape).astype(np.float32), constant=constant)
    low, high = type_.dtype.limits
    data = rng.integers(max(low, least or low), high, type_.shape, endpoint=True)
    if rng.random() < 0.2:
        data = rng.choice([max(low, least or low), high], type_.shape)
    return Operand(type=type_, data=data.astype(type_.dtype.numpy), constant=constant)


def lstm(rng: Generator, dtype: DType) -> Layer:
    """Any number of batches, steps, inputs and units; scales mostly below one half, clips now and then."""
    batches, steps, inputs, units = (integer(rng, 1, most) for most in (3, 4, 21, 11))
    is_wide, time_major = dtype is DType.INT16, bool(rng.integers(2))
    most = -5.0 if rng.random() < 0.2 else -6.6
    sizes = [2.0 ** rng.uniform(-9, most) / (256 if is_wide and at > 7 else 1) for at in range(10)]
    zeros = [0 if is_wide else zero_point(rng) for _ in range(2)]
    attrs = LstmAttrs(
        input_scales=() if dtype is DType.FLOAT32 else tuple(map(float32, sizes[:4])),
        recurrent_scales=() if dtype is DType.FLOAT32 else tuple(map(float32, sizes[4:8])),
        cell_scale=2.0 ** integer(rng, -15, -8),
        cell_clip=float(rng.choice([0.0, 0.0, 0.75])),
        time_major=time_major,
    )
    weights, bias = LSTM_TYPES[dtype]
    least = -128 if rng.random() < 0.1 else -127
    shape = (steps, batches, inputs) if time_major else (batches, steps, inputs)
    hidden = _type((state_elements(dtype, batches * units),), dtype, sizes[9], zeros[1])
    biases = rng.integers(-3000, 3000, (4, units)) / (3000 if dtype is DType.FLOAT32 else 1)
    operands = [
        _operand(rng, _type(shape, dtype, sizes[8], zeros[0])),
        _operand(rng, _type((4, units, inputs), weights, 1), least=least, constant=True),
        _operand(rng, _type((4, units, units), weights, 1), least=least, constant=True),
        Operand(type=_type((4, units), bias, 1), data=biases.astype(bias.numpy), constant=True),
        _operand(rng, hidden),
    ]
    return layer(LSTM, attrs, operands, hidden)


def features(rng: Generator, dtype: DType) -> Layer:
    """Rows of any length."""
    rows, inputs, filters = (integer(rng, 1, most) for most in (3, 30, 20))
    operands = [
        _operand(rng, _type((1, 1, rows, inputs), dtype, 2.0 ** rng.uniform(-6, -4), zero_point(rng))),
        _operand(rng, _type((filters, inputs), DType.INT8, 2.0 ** rng.uniform(-8, -6)), constant=True),
    ]
    return layer("SVDF_FEATURES", Attrs(), operands, _type((), DType.INT16, 2.0 ** rng.uniform(-13, -10)))


def time(rng: Generator, dtype: DType) -> Layer:
    """Windows of any rank; sums may wrap."""
    memory, rows, units, rank = (integer(rng, 1, most) for most in (9, 3, 9, 4))
    window = _type((1, memory, rows, units * rank), dtype, 2.0 ** rng.uniform(-12, -10))
    bias = rng.integers(-(2**20), 2**20, units).astype(np.int32)
    operands = [
        _operand(rng, window),
        _operand(rng, _type((memory, units, rank), DType.INT16, 2.0 ** rng.uniform(-16, -14)), constant=True),
        Operand(type=_type((units,), DType.INT32, 1), data=bias, constant=True),
    ]
    result = _type((), DType.INT8, 2.0 ** rng.uniform(-6, -4), zero_point(rng))
    return layer("SVDF_TIME", Attrs(), operands, result)


def _gated(rng: Generator, op: str) -> Layer:
    """Any activations and lengths, either direction, bounded now and then."""
    gates, rows, count = (3, 4, 2) if op == "GRU" else (1, 1, 1)
    moments, batches, inputs, units = (integer(rng, 1, most) for most in (4, 3, 21, 11))
    attrs = GatedAttrs(
        functions=tuple(int(rng.integers(0, len(FUNCTIONS))) for _ in range(count)),
        alphas=tuple(float32(rng.uniform(0.1, 1.0)) for _ in range(count)),
        betas=tuple(float32(rng.uniform(0.1, 1.0)) for _ in range(count)),
        clip=float(rng.choice([0.0, 0.75])),
        linear_before_reset=bool(rng.integers(2)) and op == "GRU",
        reverse=bool(rng.integers(2)),
    )
    shapes = ((gates, units, inputs), (gates, units, units), (rows, units))
    weights = [_type(shape, DType.FLOAT32, 1) for shape in shapes]
    lengths = rng.integers(0, moments + 1, batches).astype(np.int32)
    operands = [
        _operand(rng, _type((moments, batches, inputs), DType.FLOAT32, 1)),
        *(_operand(rng, each, constant=True) for each in weights),
        _operand(rng, _type((batches * units,), DType.FLOAT32, 1)),
        Operand(type=tensor_type((batches,), DType.INT32), data=lengths, constant=True),
    ]
    return layer(op, attrs, operands, _type((), DType.FLOAT32, 1))


def gru(rng: Generator, dtype: DType) -> Layer:
    """A layer of GRU units."""
    del dtype
    return _gated(rng, "GRU")


def rnn(rng: Generator, dtype: DType) -> Layer:
    """A layer of units with one gate."""
    del dtype
    return _gated(rng, "RNN")


BUILDERS = {"GRU": gru, "RNN": rnn, LSTM: lstm, "SVDF_FEATURES": features, "SVDF_TIME": time}


@pytest.mark.qemu
def test_kernels_do_what_numpy_does_inside_their_buffers(request: pytest.FixtureRequest) -> None:
    is_long = bool(request.config.getoption("--long"))
    count = LAYERS * (20 if is_long else 1)
    done = Counter[tuple[str, str]]()
    with Runner(layers=count * len(CASES)) as runner:
        for op, dtype in CASES:
            kernels = kernels_for(op)
            on = {
                kernel: boards_of(kernel.name) if is_long else boards_in_turn([kernel]) for kernel in kernels
            }
            for seed in range(count):
                for trial in _trials(op, dtype, seed, on):
                    done[(trial.kernel, trial.board)] += runner.add(trial, _board(trial.board))
            lacking = [pair for pair in _pairs(on, dtype) if done[pair] < count // 3]
            assert not lacking, (lacking, done)
        assert [str(failure) for failure in runner.finish()] == []


def _pairs(on: Mapping[Kernel, Sequence[str]], dtype: DType) -> list[tuple[str, str]]:
    """Kernels of this type with their boards."""
    suffix = {DType.INT16: "s16", DType.FLOAT32: "f32"}.get(dtype, "s8")
    taken = [kernel for kernel in on if suffix in kernel.name or kernel.op != LSTM]
    return [(kernel.name, board) for kernel in taken for board in on[kernel]]


def _trials(op: str, dtype: DType, seed: int, on: Mapping[Kernel, Sequence[str]]) -> Iterator[Trial]:
    drawn = BUILDERS[op](np.random.default_rng([seed, len(op), *dtype.value.encode()]), dtype)
    expected = drawn.expected
    for kernel, boards in on.items():
        if kernel.refusal(drawn.let, _board(boards[0]).target):
            continue
        name = f"t{zlib.crc32(f'{op} {dtype} {seed} {kernel.name}'.encode()):08x}"
        prim = kernel.bind(drawn.let, drawn.constants, name)
        if prim.kernel != kernel.name:  # handed on to the portable one
            continue
        for board in boards:
            yield Trial(
                board=board,
                kernel=kernel.name,
                kind=op,
                dtype=dtype,
                seed=seed,
                layer=drawn,
                prim=prim,
                expected=expected,
            )


_board = cache(load_board)
