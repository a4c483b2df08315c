"""Every kernel on every core, hundreds of random layers each; and that what is wrong is seen."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from codegen.board import load_board
from codegen.ir import DType
from codegen.kernels import kernels_for, supported_ops
from codegen.kernels.primfunc import LiteralArg, PrimFunc
from tests.fuzz.layers import dtypes_of
from tests.fuzz.places import calls
from tests.fuzz.running import Failure, Runner
from tests.fuzz.sweep import BOARDS, fuzz
from tests.fuzz.trials import Trial, Wanted, of_layer

pytestmark = pytest.mark.qemu
LAYERS, LONG_LAYERS = 300, 3000
FEW = 0.1
"""Of the layers wanted, what a kernel for rare layers must at least have had."""


@pytest.mark.long
def test_every_kernel_on_every_core(request: pytest.FixtureRequest) -> None:
    count = LONG_LAYERS if request.config.getoption("--long") else LAYERS
    outcome = fuzz(Wanted(layers=count), BOARDS)
    assert not outcome.wrong, "\n".join(outcome.lines())
    targets = {name: load_board(name).target for name in BOARDS}
    ran = {(kernel, board): layers for (kernel, board), layers in outcome.counts.items()}
    missing: list[str] = []
    for op in supported_ops():
        for kernel in kernels_for(op) if dtypes_of(op) else ():
            on = [board for board in BOARDS if ran.get((kernel.name, board), 0) >= FEW * count]
            needs_code = op != "RESHAPE"
            if needs_code and not on:
                missing.append(f"{kernel.name}: {[ran.get((kernel.name, board), 0) for board in BOARDS]}")
    assert not missing
    # Portable kernels run on every core, of any instruction set.
    for board in targets:
        assert ran["conv2d_s8_portable", board] >= 0.9 * count
        assert ran["fully_connected_f32_portable", board] >= 0.9 * count


def trial_of(op: str, dtype: DType, kernel: str, board: str) -> Trial:
    """The first layer that the kernel takes and whose result may lie over its argument."""
    named = [each for each in kernels_for(op) if each.name == kernel]
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
    return replace(prim, call_args=(*prim.call_args[:-1], LiteralArg(value=int(last.value) + 1)))


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
