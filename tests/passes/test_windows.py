"""Windows of state become one value that is shifted where it is; everything else stays as it was."""

from dataclasses import replace

import numpy as np
import pytest

from codegen.ir import Module, StateValue, TensorType, Var
from codegen.ir.builder import Builder
from codegen.ir.evaluate import evaluate
from codegen.ir.ops import OPS, SHIFT, Attrs, ConcatAttrs, StridedSliceAttrs
from codegen.ir.text import parse_module, print_module
from codegen.ir.verify import verify
from codegen.passes import ShiftWindows
from tests.tensor_types import per_tensor, tensor_type

DEPTH = 3


def _type(rows: int, *, batch: int = 1) -> TensorType:
    scale = per_tensor(0.5, 2)
    return tensor_type((batch, rows, DEPTH), quantization=scale)


class Stream(Builder):
    """`rows` of state, frames of `more` rows; the result is RELU of the window."""

    def __init__(self, rows: int, more: int, *, batch: int = 1) -> None:
        super().__init__()
        self.rows, self.more, self.batch = rows, more, batch
        self.frame = self.param("frame", _type(more, batch=batch))
        self.state = self.param("state", _type(rows, batch=batch))

    def join(self, *parts: Var) -> Var:
        rows = sum(part.type.shape[1] for part in parts)
        return self.call(OPS["CONCATENATION"], parts, ConcatAttrs(axis=1), _type(rows, batch=self.batch))

    def cut(self, value: Var, first: int, rows: int) -> Var:
        counts = (self.batch, rows, DEPTH)
        attrs = StridedSliceAttrs(begins=(0, first, 0), strides=(1, 1, 1), counts=counts, shape=counts)
        return self.call(OPS["STRIDED_SLICE"], [value], attrs, _type(rows, batch=self.batch))

    def relu(self, value: Var) -> Var:
        return self.call(OPS["RELU"], [value], Attrs(), value.type)

    def made(self, y: Var, state: Var, *others: Var) -> Module:
        initial = np.arange(self.state.type.elements, dtype=np.int8).tobytes()
        kept = StateValue(param=1, result=1 + len(others), initial=initial)
        return self.build([y, *others, state], states=[kept])


def _joined(rows: int, more: int) -> Module:
    """The window is state and frame, the last rows of it are state again."""
    made = Stream(rows, more)
    window = made.join(made.state, made.frame)
    return made.made(made.relu(window), made.cut(window, more, rows))


def _cut(rows: int, more: int) -> Module:
    """The window is state without its first rows, and the frame; it is state again."""
    made = Stream(rows, more)
    window = made.join(made.cut(made.state, more, rows - more), made.frame)
    return made.made(made.relu(window), window)


@pytest.mark.parametrize(
    ("module", "rows"),
    [(_joined(4, 1), 5), (_joined(2, 3), 5), (_joined(3, 3), 6), (_cut(5, 1), 5), (_cut(5, 2), 5)],
)
def test_a_window_is_the_last_frames(module: Module, rows: int) -> None:
    """Against the frames themselves, in a row behind what the state began with."""
    shifted = verify(ShiftWindows().run(module)).main
    assert [let.call.op.name for let in shifted.body] == ["SHIFT", "RELU"]
    [kept] = shifted.states
    assert shifted.params[1].type.shape == (1, rows, DEPTH) == shifted.results[1].type.shape
    old = module.main.states[0].initial
    assert kept.initial[-len(old) :] == old
    past = np.frombuffer(old, np.int8).reshape(-1, DEPTH)
    state = np.frombuffer(kept.initial, np.int8).reshape(1, rows, DEPTH)
    dice = np.random.default_rng(3)
    for _ in range(5):
        frame = dice.integers(-128, 128, module.main.params[0].type.shape).astype(np.int8)
        past = np.concatenate([past, frame[0]])
        y, state = evaluate(ShiftWindows().run(module), shifted, (frame, state))
        assert (y == np.maximum(past[-rows:], 2)).all()


def _more_readers() -> Module:
    made = Stream(3, 1)
    window = made.join(made.state, made.frame)
    return made.made(made.relu(made.state), made.cut(window, 1, 3))


def _window_is_output() -> Module:
    made = Stream(3, 1)
    window = made.join(made.state, made.frame)
    return made.made(made.relu(window), made.cut(window, 1, 3), window)


def _first_rows() -> Module:
    made = Stream(3, 1)
    window = made.join(made.state, made.frame)
    return made.made(made.relu(window), made.cut(window, 0, 3))


def _frame_first() -> Module:
    made = Stream(3, 1)
    window = made.join(made.frame, made.state)
    return made.made(made.relu(window), made.cut(window, 1, 3))


def _apart() -> Module:
    """Of two batches the window's rows are not one behind the other."""
    made = Stream(3, 1, batch=2)
    window = made.join(made.state, made.frame)
    return made.made(made.relu(window), made.cut(window, 1, 3))


def _two_devices() -> Module:
    text = print_module(_joined(3, 1))
    for before, after, scope in (("%state: ", "}", "dtcm"), ("%concat0: ", "=", "sram")):
        head, rest = text.split(before, 1)
        type_, rest = rest.split(")", 1)
        text = f'{head}{before}{type_}) @(none, none, "{scope}"){rest}'
        assert after in rest
    return parse_module(text)


@pytest.mark.parametrize(
    "module",
    [_more_readers(), _window_is_output(), _first_rows(), _frame_first(), _apart(), _two_devices()],
    ids=["readers", "output", "first rows", "frame first", "apart", "devices"],
)
def test_what_is_no_window(module: Module) -> None:
    assert ShiftWindows().run(module) == module


def test_shift_has_a_rule_and_a_text_form() -> None:
    module = ShiftWindows().run(_joined(4, 1))
    assert "= SHIFT(%state, %frame)" in print_module(module)
    assert parse_module(print_module(module)) == module
    window, frame = _type(4), _type(1)
    SHIFT.check(Attrs(), (window, frame), window)
    for args, result, text in (
        ((window, _type(5)), window, "a frame of 15 elements for a window of 12"),
        ((window, frame), _type(3), "a shifted window is of its own type"),
        ((window, replace(frame, quantization=None)), window, "or quantised differently"),
    ):
        with pytest.raises(ValueError, match=text):
            SHIFT.check(Attrs(), args, result)
