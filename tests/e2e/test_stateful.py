"""Operators that keep state: variables, and those of the audio front end.

`DRAWN_MODELS` of each operator and type are compared with tflite-micro over a sequence on one interpreter, in
NumPy; every fifth (of types whose bytes alone are moved the first) as C on the host, all in one firmware.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np

from codegen import importers
from codegen.driver.build import build
from codegen.driver.inputs.cases import ArraySource, sequence_cases
from codegen.driver.options import Options
from codegen.driver.run import RunConditions, complaints, execute_all
from codegen.importers.tflite.writing.writer import Custom, ModelBuilder
from codegen.ir.evaluate import evaluate
from tests import engines
from tests.opgen.families.signal import flexible
from tests.sampling import examples

MODELS = 25
"""Of each operator and type, in a thorough run."""
DRAWN_MODELS = examples(MODELS, 5)
STEPS = 8


def _always(outputs: list[np.ndarray]) -> bool:
    return len(outputs) > 0


def _valid(outputs: list[np.ndarray]) -> bool:
    """What is not valid is whatever was in the memory in tflite-micro."""
    return bool(outputs[1])


@dataclass(frozen=True, kw_only=True, slots=True)
class Drawn:
    """A model of one operator, its inputs, and from which inference on its results are defined."""

    model: bytes
    inputs: np.ndarray
    is_defined: Callable[[list[np.ndarray]], bool]
    as_bytes: bytes | None = None
    """The model of the same bytes as int8, where the engine has no other type."""
    shape: tuple[int, ...] = ()
    """What its input has then."""

    def request(self) -> engines.Request:
        """What to ask tflite-micro for."""
        model, inputs = (self.model, self.inputs)
        if self.as_bytes is not None:
            model, inputs = self.as_bytes, _bytes_of(inputs).reshape(-1, *self.shape)
        given = tuple((x,) for x in inputs)
        return engines.Request(engine=engines.TFLITE_MICRO, model=model, inputs=given, is_sequence=True)

    def wanted(self, outputs: Sequence[np.ndarray], like: np.ndarray) -> list[np.ndarray]:
        """The engine's results, the first one of the type and shape of `like`."""
        if self.as_bytes is None:
            return list(outputs)
        return [np.frombuffer(outputs[0].tobytes(), like.dtype).reshape(like.shape), *outputs[1:]]


def _bytes_of(data: np.ndarray) -> np.ndarray:
    """Each element's bytes along a last axis."""
    return np.ascontiguousarray(data)[..., None].view(np.int8)


def _model(
    name: str,
    shape: tuple[int, ...],
    results: list[tuple[tuple[int, ...], str]],
    dtype: str,
    *,
    shown: int = 2,
    **options: int,
) -> bytes:
    """The first `shown` results are outputs of the model."""
    model = ModelBuilder()
    x = model.tensor("x", shape, dtype)
    outputs = [model.tensor(f"y{i}", each, kind) for i, (each, kind) in enumerate(results)]
    model.op("CUSTOM", [x], outputs, custom=Custom(code=name, options=flexible(**options)))
    model.inputs(x)
    model.outputs(*outputs[:shown])
    return model.build()


def _samples(dice: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return dice.integers(-32768, 32768, (STEPS, *shape)).astype(np.int16)


def subtraction(dice: np.random.Generator) -> Drawn:
    channels, bits = int(dice.integers(1, 20)), int(dice.integers(8, 16))
    one = 1 << bits
    even, odd, least = (int(dice.integers(0, one)) for _ in range(3))
    model = _model(
        "SignalFilterBankSpectralSubtraction",
        (channels,),
        [((channels,), "uint32")] * 2,
        "uint32",
        alternate_one_minus_smoothing=one - odd,
        alternate_smoothing=odd,
        clamping=int(dice.integers(2)),
        min_signal_remaining=least,
        num_channels=channels,
        one_minus_smoothing=one - even,
        smoothing=even,
        smoothing_bits=int(dice.integers(0, 12)),
        spectral_subtraction_bits=bits,
    )
    inputs = dice.integers(0, 1 << int(dice.integers(8, 33)), (STEPS, channels), np.uint64)
    return Drawn(model=model, inputs=inputs.astype(np.uint32), is_defined=_always)


def framer(dice: np.random.Generator) -> Drawn:
    step, frames, is_filled = int(dice.integers(1, 12)), int(dice.integers(1, 4)), bool(dice.integers(2))
    size = step + int(dice.integers(0, 20))
    outer = ((), (1,), (2,))[int(dice.integers(3))]
    shape = (*outer, frames * step)
    options = {"frame_size": size, "frame_step": step, "prefill": int(is_filled)}
    results = [((*outer, frames, size), "int16"), ((), "bool")]
    always = is_filled or size <= step  # then the second result is a constant, which no model may give
    model = _model("SignalFramer", shape, results, "int16", shown=1 if always else 2, **options)
    return Drawn(model=model, inputs=_samples(dice, shape), is_defined=_always if always else _valid)


def stacker(dice: np.random.Generator) -> Drawn:
    channels, left, right = int(dice.integers(1, 10)), int(dice.integers(0, 4)), int(dice.integers(0, 3))
    count = left + right + 1
    step = int(dice.integers(1, count + 1))
    results = [((channels * count,), "int16"), ((), "bool")]
    model = _model(
        "SignalStacker",
        (channels,),
        results,
        "int16",
        num_channels=channels,
        stacker_left_context=left,
        stacker_right_context=right,
        stacker_step=step,
    )
    return Drawn(model=model, inputs=_samples(dice, (channels,)), is_defined=_valid)


def delay(dice: np.random.Generator) -> Drawn:
    shape = (*((), (1,), (3,))[int(dice.integers(3))], int(dice.integers(1, 20)))
    length = int(dice.integers(1, 30))
    model = _model("SignalDelay", shape, [(shape, "int16")], "int16", delay_length=length)
    return Drawn(model=model, inputs=_samples(dice, shape), is_defined=_always)


def circular_buffer(dice: np.random.Generator, dtype: str) -> Drawn:
    """Its second result says whether an inference counts. tflite-micro has it on int8 alone."""
    height, channels, rows = (int(dice.integers(1, most)) for most in (4, 9, 8))
    period, zero = int(dice.integers(1, 4)), int(dice.integers(-128, 128))

    def written(dtype: str, channels: int, **quantisation: float) -> bytes:
        """Its first result is a variable, as tflite-micro needs it."""
        model = ModelBuilder()
        value = partial(model.tensor, dtype=dtype, **quantisation)  # type: ignore[arg-type]
        x = value("x", (1, 1, height, channels))
        y = value("y", (1, rows, height, channels), variable=True)
        outputs = [y] if period == 1 else [y, model.tensor("counts", (1,), "bool")]
        options = flexible(cycles_max=period)
        model.op("CUSTOM", [x], outputs, custom=Custom(code="CIRCULAR_BUFFER", options=options))
        turned = value("turned", (1, height, rows, channels))
        model.op("TRANSPOSE", [y, model.constant("axes", [0, 2, 1, 3])], [turned])  # state is no output
        model.inputs(x)
        model.outputs(turned, *outputs[1:])
        return model.build()

    if dtype == "int8":
        inputs = dice.integers(-128, 128, (STEPS, 1, 1, height, channels)).astype(np.int8)
        file = written("int8", channels, scale=0.5, zero_point=zero)
        return Drawn(model=file, inputs=inputs, is_defined=_always)
    inputs = _numbers(dice, (STEPS, 1, 1, height, channels), dtype)
    file = written(dtype, channels, **({"scale": 0.5, "zero_point": 0} if dtype == "int16" else {}))
    as_bytes = written("int8", channels * inputs.itemsize, scale=0.5, zero_point=0)
    shape = (1, 1, height, channels * inputs.itemsize)
    return Drawn(model=file, inputs=inputs, is_defined=_always, as_bytes=as_bytes, shape=shape)


def overlap_add(dice: np.random.Generator, dtype: str) -> Drawn:
    size, frames, is_float = int(dice.integers(2, 20)), int(dice.integers(1, 4)), dtype == "float32"
    step = int(dice.integers(1, size + 1))
    outer = ((), (1,), (2,))[int(dice.integers(3))]
    shape = (*outer, frames, size)
    results = [((*outer, frames * step), dtype)]
    options = {"T": 0 if is_float else 7, "frame_step": step}
    model = _model("SignalOverlapAdd", shape, results, dtype, **options)
    inputs = _samples(dice, shape)
    inputs = inputs.astype(np.float32) / 32 if is_float else inputs
    return Drawn(model=model, inputs=inputs, is_defined=_always)


def variables(dice: np.random.Generator, dtype: str) -> Drawn:
    """Values of two rows, three, …, begun by a CALL_ONCE or at zero. Each becomes rows of smaller ones and of
    the input; all are shown."""
    row = tuple(int(extent) for extent in dice.integers(1, 5, int(dice.integers(0, 3))))
    heights = [at + 2 for at in range(int(dice.integers(1, 4)))]
    zero = int(dice.integers(-128, 128)) if dtype == "int8" else 0
    firsts = [_numbers(dice, (height, *row), dtype) if dice.integers(2) else None for height in heights]
    joined: list[list[int]] = []
    for at, height in enumerate(heights):
        parts, left = list[int](), height
        while left:
            parts.append(int(dice.choice([-1, *(i for i in range(at) if heights[i] <= left)])))
            left -= 1 if parts[-1] < 0 else heights[parts[-1]]
        joined.append(parts)
    inputs = np.stack([_numbers(dice, (1, *row), dtype) for _ in range(STEPS)])
    scale = {"scale": 0.5, "zero_point": zero} if dtype in ("int8", "int16") else {}
    file = _remembering(row, dtype, scale, firsts, joined)
    if dtype not in ("uint8", "uint32"):
        return Drawn(model=file, inputs=inputs, is_defined=_always)
    wide = (*row, inputs.itemsize)  # tflite-micro joins no unsigned numbers
    stored = [first if first is None else _bytes_of(first) for first in firsts]
    as_bytes = _remembering(wide, "int8", {"scale": 0.5, "zero_point": 0}, stored, joined)
    return Drawn(model=file, inputs=inputs, is_defined=_always, as_bytes=as_bytes, shape=(1, *wide))


def _remembering(
    row: tuple[int, ...],
    dtype: str,
    scale: Mapping[str, float],
    firsts: Sequence[np.ndarray | None],
    joined: Sequence[Sequence[int]],
) -> bytes:
    """A model of variables; `firsts`: what they begin with, `joined`: which of them, -1 for the input, each
    becomes."""
    model, heights = ModelBuilder(), [at + 2 for at in range(len(firsts))]
    x = model.tensor("x", (1, *row), dtype, **scale)  # type: ignore[arg-type]
    begin, names = model.subgraph(), [f"v{at}" for at in range(len(heights))]
    for name, first in zip(names, firsts, strict=True):
        if first is not None:
            data = begin.tensor(f"{name}_first", first.shape, dtype, data=first, **scale)  # type: ignore[arg-type]
            own = begin.tensor(f"{name}_own", (), "resource")
            begin.op("VAR_HANDLE", [], [own], shared_name=name)
            begin.op("ASSIGN_VARIABLE", [own, data], [])
    model.op("CALL_ONCE", [], [], init_subgraph_index=1)
    past: list[int] = []
    for at, (name, height) in enumerate(zip(names, heights, strict=True)):
        handle = model.tensor(f"{name}_handle", (), "resource")
        past.append(model.tensor(f"{name}_past", (height, *row), dtype, **scale))  # type: ignore[arg-type]
        model.op("VAR_HANDLE", [], [handle], shared_name=name)
        model.op("READ_VARIABLE", [handle], [past[at]])
        kept = model.tensor(f"{name}_kept", (height, *row), dtype, **scale)  # type: ignore[arg-type]
        model.op("CONCATENATION", [x if i < 0 else past[i] for i in joined[at]], [kept], axis=0)
        model.op("ASSIGN_VARIABLE", [handle, kept], [])
    y = model.tensor("y", (sum(heights) + 1, *row), dtype, **scale)  # type: ignore[arg-type]
    model.op("CONCATENATION", [*past, x], [y], axis=0)
    model.inputs(x)
    model.outputs(y)
    return model.build()


def _numbers(dice: np.random.Generator, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    if dtype == "float32":
        return dice.normal(size=shape).astype(np.float32)
    least, most = (0, 2) if dtype == "bool" else (-100, 100)
    return dice.integers(least, most, shape).astype(dtype)


def _in_sequence(drawn: Drawn, path: Path) -> list[list[np.ndarray]]:
    path.write_bytes(drawn.model)
    module = importers.load(path)
    states = [
        np.frombuffer(state.initial, module.main.params[state.param].type.dtype.numpy).reshape(
            module.main.params[state.param].type.shape
        )
        for state in module.main.states
    ]
    found: list[list[np.ndarray]] = []
    for x in drawn.inputs:
        results = evaluate(module, module.main, [x, *states])
        outputs = len(results) - len(states)
        states = list(results[outputs:])
        found.append(list(results[:outputs]))
    return found


_Draw = Callable[[np.random.Generator], "Drawn"]
_KEPT = ("int8", "uint8", "int16", "int32", "int64", "uint32", "float32", "bool")
DRAWN: Mapping[tuple[str, str], _Draw] = {
    ("SignalFilterBankSpectralSubtraction", "uint32"): subtraction,
    ("SignalFramer", "int16"): framer,
    ("SignalStacker", "int16"): stacker,
    ("SignalDelay", "int16"): delay,
    **{("CIRCULAR_BUFFER", dtype): partial(circular_buffer, dtype=dtype) for dtype in _KEPT},
    **{("SignalOverlapAdd", dtype): partial(overlap_add, dtype=dtype) for dtype in ("int16", "float32")},
    **{("READ_VARIABLE", dtype): partial(variables, dtype=dtype) for dtype in _KEPT},
}
"""By operator and type. Models of variables have VAR_HANDLE, ASSIGN_VARIABLE and CALL_ONCE as well."""


def test_operators_with_state_give_the_engines_results(tmp_path: Path) -> None:
    drawn = {
        kind: [draw(np.random.default_rng(seed)) for seed in range(DRAWN_MODELS)]
        for kind, draw in DRAWN.items()
    }
    answers = iter(engines.evaluate([each.request() for models in drawn.values() for each in models]))
    given: dict[Path, Path] = {}
    for (name, dtype), models in drawn.items():
        own = list(islice(answers, DRAWN_MODELS))
        every = (
            DRAWN_MODELS if name == "READ_VARIABLE" or (name == "CIRCULAR_BUFFER" and dtype != "int8") else 5
        )
        given |= _checked(
            models, own, tmp_path / f"{name.removeprefix('Signal').lower()[:16]}_{dtype}", every
        )
    built = build(list(given), Options(board="host"), tmp_path / "build")
    sources = [ArraySource(path=path) for path in given.values()]
    cases = [
        sequence_cases(model.program, source, source, 0)
        for model, source in zip(built.models, sources, strict=True)
    ]
    outcomes = execute_all(built, cases, RunConditions(sequence=True))
    for model, own, measured in zip(built.models, cases, outcomes, strict=True):
        assert complaints(model, own, measured, built.image.sizes.stack_bound_bytes) == []


def _checked(
    models: Sequence[Drawn], answers: Sequence[engines.EngineAnswer], start: Path, every: int
) -> dict[Path, Path]:
    """Models and what they are given and give: in NumPy the engine's results; one of `every` for the host.

    Names of files begin as `start`."""
    given: dict[Path, Path] = {}
    defined = 0
    for number, (drawn, answer) in enumerate(zip(models, answers, strict=True)):
        assert not answer.error, (start.name, answer.error)
        path = start.with_name(f"{start.name}_{number}.tflite")
        found = _in_sequence(drawn, path)
        for mine, outputs in zip(found, answer.outputs, strict=True):
            wanted = drawn.wanted(outputs, mine[0])
            if drawn.is_defined(wanted):
                assert all(np.array_equal(a, b) for a, b in zip(mine, wanted, strict=True)), path.stem
                defined += 1
            else:
                assert np.array_equal(mine[1], wanted[1]), path.stem
        if number % every == 0:
            arrays = {f"y{i}": np.stack([each[i] for each in found]) for i in range(len(found[0]))}
            given[path] = path.with_suffix(".npz")
            np.savez(given[path], x0=drawn.inputs, **arrays)  # type: ignore[arg-type]
    assert defined > DRAWN_MODELS * STEPS // 3
    return given
