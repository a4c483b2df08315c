"""Every kernel on every core, hundreds of random layers each; and that what is wrong is seen.

What the kernels are compared with is NumPy's result; that this is the reference engine's is compared too."""

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from codegen.board import load_board
from codegen.ir import DType, Let
from codegen.ir.ops import Activation, ConvAttrs, DepthwiseConvAttrs
from codegen.ir.ops.base.parameters import conv_multipliers
from codegen.kernels import kernels_for, supported_ops
from codegen.kernels.base.registry import Kernel, registered_ops
from codegen.kernels.call import LiteralArg
from codegen.kernels.primfunc import PrimFunc
from tests.checkout import ROOT
from tests.engines import TFLITE_RUNTIME, available
from tests.fuzz.__main__ import main
from tests.fuzz.layers import drawn, dtypes_of
from tests.fuzz.places import calls
from tests.fuzz.record import LAYERS
from tests.fuzz.reference import APPROXIMATE
from tests.fuzz.rounded import kernels_of_kind, kind_of
from tests.fuzz.rows import Rows, rows_of
from tests.fuzz.running import Failure, Runner
from tests.fuzz.sweep import (
    BOARDS,
    EACH,
    EVERYWHERE,
    NO_CODE,
    Task,
    alike,
    boards_in_turn,
    boards_of,
    every_kernel,
    fuzz_together,
    together,
)
from tests.fuzz.trials import Trial, of_layer
from tests.kernels.arm_objects import level_in_turn, shared_folder
from tests.kernels.calling import sources

pytestmark = pytest.mark.qemu
LONG_LAYERS = 3000
FEW_LAYERS, SUITE_LAYERS = 8, 40
"""Layers of those that are recorded."""
KERNELS = [kernel for kernel in every_kernel() if boards_of(kernel.name)]
ELSEWHERE: Mapping[str, tuple[str, ...]] = {
    "e2e/test_devices.py": ("DEVICE_COPY",),
    "e2e/test_npu.py": ("NPU", "NPU_VALUE"),
    "e2e/test_stateful.py": ("SIGNAL_NOISE", "SIGNAL_OVERLAP_ADD", "SIGNAL_SUBTRACT"),
    "e2e/test_user_kernels.py": ("USER",),
    "fuzz/test_recurrent.py": ("GRU", "RNN", "SVDF_FEATURES", "SVDF_TIME", "UNIDIRECTIONAL_SEQUENCE_LSTM"),
    "importers/onnx/drawn.py": ("LOOKUP",),
    "importers/onnx/test_official.py": ("PLAIN_CONVERT", "PLAIN_PAIR"),
    "importers/onnx/test_verbs.py": ("TABLE_RESIZE", "QUANTIZE/onnx"),
    "kernels/portable/test_shift.py": ("SHIFT",),
    "opgen/families/signal.py": ("SIGNAL_SCALE",),
    "opgen/families/weights.py": ("CONV_2D/hybrid", "DEPTHWISE_CONV_2D/hybrid", "FULLY_CONNECTED/hybrid"),
}
"""By the file in tests that has networks of them: operators that no file has, passes make them."""


@pytest.fixture(scope="session")
def objects(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compiled kernels."""
    return shared_folder(tmp_path_factory)


@pytest.mark.parametrize("layers", [FEW_LAYERS, pytest.param(SUITE_LAYERS, marks=pytest.mark.thorough)])
@pytest.mark.parametrize(
    "groups",
    [pytest.param(groups, id="+".join(group[0].name for group in groups)) for groups in together(KERNELS)],
)
def test_random_layers(
    groups: Sequence[Sequence[Kernel]], layers: int, objects: Path, request: pytest.FixtureRequest
) -> None:
    """On the cores that can run the kernels; the numbers of layers are exact. Of M3, M4, M7 and M33 one
    has its turn, and a core has a file of C compiled for speed or for size; with `--long` it has both."""
    is_long = bool(request.config.getoption("--long"))
    boards = BOARDS if is_long else boards_in_turn(groups[0])
    task = Task(layers=LONG_LAYERS, is_whole=True) if is_long else Task(layers=layers)
    names = [kernel.name for group in groups for kernel in group]
    outcome = fuzz_together(names, boards, task, objects)
    assert not outcome.wrong, "\n".join(outcome.lines())
    assert not outcome.unlike, "\n".join(outcome.unlike)
    # Without tflite-runtime the recorded answers serve: of the suite's layers and of exact operators.
    is_open = is_long or any(kernel.op in APPROXIMATE for group in groups for kernel in group)
    assert (TFLITE_RUNTIME not in available() and is_open) or not outcome.unasked
    assert not outcome.lacking(task.layers, boards)
    ran = {(name, board) for name in names for board in boards_of(name) if board in boards}
    assert set(outcome.counts) == ran


def test_every_core_has_its_turn() -> None:
    turns = {group: boards_in_turn(group) for group in alike(KERNELS)}
    assert all(set(turn) <= set(boards_of(group[0].name)) and turn for group, turn in turns.items())
    for boards in (EACH, boards_of("conv2d_s8_dsp")):
        own = [turn for group, turn in turns.items() if {*turn} <= {*boards} <= {*boards_of(group[0].name)}]
        assert {board for turn in own for board in turn} == set(boards)
    portable = [turn for group, turn in turns.items() if boards_of(group[0].name) == EVERYWHERE]
    assert all({EACH[0], EACH[-1]} < set(turn) and len(turn) == 3 for turn in portable)
    for board in map(load_board, EACH):
        levels = Counter(level_in_turn(source, board) for source in sources())
        assert len(levels) == 2 and min(levels.values()) > len(sources()) // 3, "for speed, and for size"
    for boards in set(turns.values()):
        for source in sources() if len(boards) > 1 else ():  # of one board both levels are run
            taken = {level_in_turn(source, load_board(board)) for board in boards}
            assert len(taken) == 2, "no file is compiled at one level only"


def test_no_operator_with_a_kernel_is_left_out() -> None:
    elsewhere = [op for ops in ELSEWHERE.values() for op in ops]
    every = {kind_of(kernel) for op in registered_ops() for kernel in kernels_for(op)}
    assert {kind_of(kernel) for kernel in every_kernel()} | set(elsewhere) == every
    assert not {kind_of(kernel) for kernel in KERNELS} & set(elsewhere)
    assert all((ROOT / "tests" / file).is_file() for file in ELSEWHERE)


def test_a_kernel_is_tried_on_every_core_that_takes_its_layers() -> None:
    """`boards_of` leaves out no board whose core would take a layer of the kernel, and no operator is left
    undrawn. (A view has no code: tests/kernels/test_binding.py.)"""
    boards = [load_board(name) for name in BOARDS]
    for op in supported_ops():
        assert dtypes_of(op), f"nothing draws {op}"

        def lets(first: int, last: int, op: str = op) -> Iterator[Let]:
            return (drawn(op, dtype, seed).let for dtype in dtypes_of(op) for seed in range(first, last))

        few = list(lets(0, 50))
        for kernel in kernels_of_kind(op):
            tried = boards_of(kernel.name)
            # What runs on every core runs on a Cortex-M33 without the DSP extension as on one with it.
            expected = BOARDS if tried == EVERYWHERE else tried
            for board in boards:
                more = lets(50, 150) if board.name in expected else ()  # a kernel may take few layers
                takes = any(kernel.refusal(let, board.target) is None for let in itertools.chain(few, more))
                assert kernel.name in NO_CODE or takes == (board.name in expected), (kernel.name, board.name)


@pytest.mark.parametrize("op", ["CONV_2D", "DEPTHWISE_CONV_2D"])
def test_layers_have_every_option(op: str) -> None:
    """Of int8 windows: what a fuzz of them must have met within the layers of the suite."""
    seen: dict[str, set[object]] = {}
    for seed in range(LAYERS):
        let = drawn(op, DType.INT8, seed).let
        attrs = let.call.attrs
        assert isinstance(attrs, ConvAttrs | DepthwiseConvAttrs)
        image, weights = (arg.type for arg in let.call.args[:2] if arg is not None)
        assert weights.quantization is not None
        scales = conv_multipliers(image.scale, weights.quantization.scales, let.var.type.scale)
        pads = attrs.padding
        for name, values in {
            "stride": attrs.stride,
            "dilation": attrs.dilation,
            "pad": (pads.top, pads.bottom, pads.left, pads.right),
            "split": (pads.top - pads.bottom, pads.left - pads.right),
            "activation": (attrs.activation,),
            "image zero": (image.zero_point,),
            "result zero": (let.var.type.zero_point,),
            "multiplier": {bool(multiplier == 0) for multiplier in scales[0]},
            "shift": {int(np.sign(shift)) for shift in scales[1]},
            "batch": (image.shape[0],),
            "bias": (let.call.args[2] is None,),
            "tail": (let.var.type.shape[3] % 16,),
            "scales": (len(weights.quantization.scales) > 1,),
        }.items():
            seen.setdefault(name, set()).update(values)
    assert seen["stride"] == seen["dilation"] == {1, 2, 3}
    assert seen["pad"] >= {0, 1, 2, 3}
    assert seen["split"] >= {-1, 0, 1}
    assert seen["activation"] == set(Activation)
    assert seen["image zero"] >= {-128, 0, 127} <= seen["result zero"]
    assert seen["shift"] == {-1, 0, 1}
    assert seen["batch"] == {1, 2}
    assert seen["tail"] == set(range(16))
    for name in ("multiplier", "bias", "scales"):
        assert seen[name] == {False, True}, name


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["--kernel", "lstm_s8_dsp"], "lstm_s8_dsp"),
        (["--kernel", "relu_s8_table", "--kernel", "lstm_s8_dsp"], "lstm_s8_dsp"),
        (["--op", "RELU", "--kernel", "add_s8_dsp"], "RELU"),
    ],
)
def test_a_kernel_that_nothing_draws_is_told(
    words: Sequence[str], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """`--kernel lstm_s8_dsp` ran no layer and said nothing of it, but that there were no failures."""
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    assert f"nothing draws layers for {named}" in capsys.readouterr().err


def trial_of(op: str, dtype: DType, kernel: str, board: str) -> Trial:
    """The first layer that the kernel takes and whose result may lie over its argument."""
    named = [each for each in kernels_of_kind(op) if each.name == kernel]
    for seed in range(200):
        for trial in of_layer(op, dtype, seed, [(load_board(board), each) for each in named]):
            if trial.prim.sharing and trial.expected.size > 8:
                return trial
    raise AssertionError(f"{kernel} takes no layer")


def failures_of(trial: Trial, change: Callable[[PrimFunc], PrimFunc]) -> list[Failure]:
    with Runner() as runner:
        assert runner.add(replace(trial, prim=change(trial.prim)), load_board(trial.board))
        return runner.finish()


def one_more(prim: PrimFunc) -> PrimFunc:
    """A count one too large: one element more is read and written."""
    last = prim.call_args[-1]
    assert isinstance(last, LiteralArg)
    assert isinstance(last.value, int)
    return replace(prim, call_args=(*prim.call_args[:-1], LiteralArg(value=last.value + 1)))


@pytest.mark.parametrize(
    ("board", "said"), [("mps2-an386", "faults"), ("mps3-an547", "faults"), ("microbit", "guard")]
)
def test_a_byte_outside_is_caught(board: str, said: str) -> None:
    trial = trial_of("RELU", DType.INT8, "relu_s8_table", board)
    assert not failures_of(trial, lambda prim: prim)
    found = failures_of(trial, one_more)
    assert any(failure.side == "high" and said in failure.text for failure in found), found


def test_a_wrong_result_is_caught() -> None:
    trial = trial_of("CONV_2D", DType.INT8, "conv2d_s8_dsp", "mps2-an386")
    expected = trial.expected.copy()
    expected.flat[-1] ^= 1
    found = failures_of(replace(trial, expected=expected), lambda prim: prim)
    sides = {call.side for call in calls(trial.prim, load_board(trial.board))}
    assert {failure.side for failure in found} == sides >= {"low", "high", "below"}
    assert {failure.text for failure in found} == {f"result is wrong at {expected.size - 1}"}


def test_every_bit_of_a_float_counts() -> None:
    trial = trial_of("CONV_2D", DType.FLOAT32, "conv2d_f32_fpu", "mps2-an386")
    expected = trial.expected.copy()
    expected.flat[0] = np.nextafter(expected.flat[0], np.float32(9e9))
    found = failures_of(replace(trial, expected=expected), lambda prim: prim)
    assert {failure.text for failure in found} == {"result is wrong at 0"}


def test_a_distance_that_is_too_short_is_caught() -> None:
    """Two rows nearer than a convolution states: in place, where its windows are larger than a pixel."""

    def nearer(prim: PrimFunc) -> PrimFunc:
        return replace(prim, sharing=tuple(replace(rule, below=0, above=None) for rule in prim.sharing))

    for seed in range(60):
        on = [(load_board("mps2-an386"), k) for k in kernels_for("CONV_2D") if k.name == "conv2d_s8_dsp"]
        for trial in of_layer("CONV_2D", DType.INT8, seed, on):
            if any((rule.below or 0) > 60 for rule in trial.prim.sharing):
                found = failures_of(trial, nearer)
                if found:
                    assert {failure.side for failure in found} == {"below"}
                    return
    raise AssertionError("no layer showed it")


@pytest.mark.parametrize(
    ("op", "kernel", "board"),
    [("CONV_2D", "conv2d_s8_portable", "microbit"), ("DEPTHWISE_CONV_2D", "depthwise_s8_v7m", "mps2-an385")],
)
def test_a_row_that_the_ring_lacks_is_caught(
    op: str, kernel: str, board: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Proof that rows go through the ring: with one row fewer the rest of the calls stays right."""

    def fewer(prim: PrimFunc) -> Rows | None:
        rows = rows_of(prim)
        return None if rows is None else replace(rows, ring_rows=rows.ring_rows - 1)

    monkeypatch.setattr("tests.fuzz.places.rows_of", fewer)
    loaded = load_board(board)
    for seed in range(60):
        on = [(loaded, each) for each in kernels_for(op) if each.name == kernel]
        for trial in of_layer(op, DType.INT8, seed, on):
            rows = rows_of(trial.prim)
            if rows is not None and rows.ring_rows > 2 and len(set(trial.expected.flat)) > 9:
                with Runner() as runner:
                    assert runner.add(trial, loaded)
                    assert {failure.side for failure in runner.finish()} == {"row by row"}
                return
    raise AssertionError("no layer showed it")
