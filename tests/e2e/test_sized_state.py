"""State of models whose sizes are ranges: calls of several sizes, one after the other, share it."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from codegen import emit
from codegen.driver.build import build, plan_model
from codegen.driver.inputs.cases import pattern_case
from codegen.driver.inputs.declared_pools import option_board
from codegen.driver.inputs.dims import parsed
from codegen.driver.options import Options
from codegen.driver.run import reference
from codegen.driver.sized_run import complaints_at, member_of, run_at
from codegen.errors import CodegenError
from codegen.ir.rules import StateRule
from codegen.joint import together
from codegen.program.interface import EntryMode, Interface, PoolOwner
from codegen.program.size_ranges import breakpoints
from tests.emit.compiling import run_main
from tests.search.ranges.networks import Net


def counting(folder: Path, *, grows: bool = False) -> Path:
    """The mean of some frames is added to the state; `grows`: state of as many frames."""
    net = Net(21)
    image = net.tensor((1, 40, 1, 8), frozenset({1}), "x0")
    x = net.depthwise(net.conv(image, 16, (3, 1), (2, 1)), (3, 1))
    x = x if grows else net.mean(x)
    old = net.tensor(x.shape, x.open_axes, "h0")
    new = net.add(x, old)
    path = folder / "counting.tflite"
    path.write_bytes(net.finish([image, old], [net.dense(new, 4), new]))
    return path


STATE = StateRule(who="state 1", input="h0", output="v8")

CALLS = """
#include <stdio.h>
#include "counting.h"
static const int8_t frames[3][160] = {{{frames}}};
static const uint32_t sizes[3] = {{{sizes}}};
int main(void)
{{
    counting_reset();
    for (unsigned i = 0; i < 3; i++) {{
        int8_t taken[4];
        const counting_dims dims = {{.x0_dim1 = sizes[i]}};
        const counting_inputs inputs = {{.x0 = frames[i]}};
        const counting_outputs outputs = {{.v9 = taken}};
        if (counting_run(&inputs, &outputs, &dims) != CG_OK) {{
            return 1;
        }}
        printf("%d %d %d %d\\n", taken[0], taken[1], taken[2], taken[3]);
    }}
    return 0;
}}
"""


def test_calls_of_several_sizes_share_the_state(tmp_path: Path) -> None:
    """Each begins with what the one before left, which is NumPy's; state lies below all that moves."""
    options = Options(board="host", dims=parsed(["x0.1=4..20"]), states=(STATE,))
    planned = plan_model(counting(tmp_path), option_board("host", ()), options, emulated=True)
    [(old, _)] = planned.program.signature.state_tensors
    part = planned.program.memory.slices[old.value]
    assert planned.program.memory.plan.placements[part.buffer].offset == 0
    sizes = [20, 4, 11]
    types = [tensor.type for tensor in planned.program.signature.inputs]
    cases = [pattern_case(types, seed) for seed in range(3)]
    rows = ["{" + ", ".join(str(each) for each in case.inputs[0].reshape(-1)) + "}" for case in cases]
    main = CALLS.format(frames=", ".join(rows), sizes=", ".join(f"{size}u" for size in sizes))
    sources = emit.render(together((planned.program,)))
    emit.write(sources, tmp_path / "out")
    printed = run_main(sources, tmp_path / "out", main, "-O1", "-fsanitize=address,undefined").splitlines()
    state = np.zeros((1, 16), np.int8)  # reset to bytes of zero, as without sizes
    state[:] = -3  # the zero of its quantisation
    for size, case, line in zip(sizes, cases, printed, strict=True):
        here = member_of(planned, {"x0_dim1": size})
        out, state = reference(here, replace(case, inputs=(case.inputs[0][:, :size], state)))
        assert [int(word) for word in line.split()] == out.reshape(-1).tolist()


@pytest.mark.parametrize(
    ("board", "interface"),
    [
        ("mps2-an386", Interface()),
        ("host", Interface(entry=EntryMode.STEPS, pools=PoolOwner.CALLER)),
    ],
    ids=["board", "steps"],
)
@pytest.mark.sampled(1)
def test_at_every_turn_peaks_and_states_are_as_planned(
    board: str, interface: Interface, tmp_path: Path
) -> None:
    options = Options(board=board, dims=parsed(["x0.1=4..12"]), states=(STATE,), interface=interface)
    built = build([counting(tmp_path)], options, tmp_path / "out", emulated=True)
    ranges = built.models[0].program.ranges
    assert ranges is not None
    assert complaints_at(run_at(built, breakpoints(ranges), seed=3)) == []


def test_state_that_grows_with_a_call_is_told(tmp_path: Path) -> None:
    options = Options(
        board="host", dims=parsed(["x0.1=4..6", "h0.1=2..3"]), states=(replace(STATE, output="v7"),)
    )
    with pytest.raises(CodegenError) as caught:
        plan_model(counting(tmp_path, grows=True), option_board("host", ()), options, emulated=True)
    [message] = caught.value.messages
    assert message.code == "E308"
    assert message.text == "state h0 is int8[1,2,1,16] there, and lasts from call to call"
