"""--sharing and --no-blocks: what results may lie over, against the figures known of real models.
Kernels that steps share.
The plan's sides become directions: back to front above the argument, front to back elsewhere.
"""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from codegen.driver.build import plan_model
from codegen.driver.options import Options
from codegen.errors import CodegenError
from codegen.kernels.call import Reverse
from codegen.kernels.contract import Sharing, Workspace
from codegen.kernels.primfunc import PrimFunc
from codegen.problem.problem import Placement
from codegen.program.interface import IoMode
from codegen.program.program import Program
from codegen.search.kernels import selection
from codegen.search.kernels.costs import cost
from codegen.search.kernels.in_place import directed
from codegen.search.kernels.selection import SLOWER_PERCENT, used_code_bytes, with_shared_code
from codegen.settings import SharingMode
from tests.networks import model_path
from tests.plan.build import live, placed, prim, var
from tests.search.kernels.test_selection import bound
from tests.search.steps.test_recompute import BOARD

# Largest sum of live bytes when nothing overlaps, of the networks as they are in their files; elementwise
# results in place change none of them.
PEAKS = {
    "ds_cnn": 16_000,
    "mobilenet_v1": 55_296,
    "person_detect": 55_296,
    "resnet8": 49_152,
    "resnet8_wide": 122_880,
    "separable_1d": 6_656,
}


def planned(key: str, sharing: SharingMode, io: IoMode = IoMode.POOL, *, blocks: bool = False) -> Program:
    options = Options(optimize="speed", blocks=blocks, sharing=sharing, io=io, reduce=False)
    return plan_model(model_path(key), BOARD, options).program


def apart(program: Program) -> bool:
    """Whether no two buffers alive at the same time have a byte in common."""
    for conflict in program.memory.problem.conflicts:
        first, second = (
            program.memory.plan.placements[name].offset for name in (conflict.first, conflict.second)
        )
        sizes = {buffer.id: buffer.size_bytes for buffer in program.memory.problem.buffers}
        if first < second + sizes[conflict.second] and second < first + sizes[conflict.first]:
            return False
    return True


@pytest.mark.parametrize("sharing", ["none", "in-place"])
@pytest.mark.parametrize("key", PEAKS)
def test_peaks_without_overlap(key: str, sharing: SharingMode) -> None:
    program = planned(key, sharing)
    assert program.memory.peak_bytes("sram") == PEAKS[key]
    assert apart(program)


def test_overlap_is_what_makes_the_difference() -> None:
    program = planned("resnet8", "overlap")
    assert program.memory.peak_bytes("sram") < 49_152
    assert not apart(program)


@pytest.mark.parametrize("io", IoMode)
def test_in_place_takes_the_very_bytes(io: IoMode) -> None:
    program = planned("resnet8", "in-place", io)
    replacing = [prim for prim in program.steps.prim_funcs if prim.in_place is not None]
    assert [prim.name for prim in replacing if prim.let.call.op.name == "ADD"] == ["add3", "add7", "add11"]
    assert all(prim.sharing == () and prim.reverse is None for prim in program.steps.prim_funcs)


def test_none_replaces_nothing() -> None:
    for optimize in ("balanced", "size"):
        options = Options(optimize=optimize, blocks=False, sharing="none")
        program = plan_model(model_path("ds_cnn"), BOARD, options).program
        assert all(prim.in_place is None for prim in program.steps.prim_funcs)
        assert program.memory.peak_bytes("sram") == 16_000


def test_blocks_lie_apart_too() -> None:
    options = Options(sharing="none")
    program = plan_model(model_path("resnet8"), BOARD, options).program
    assert any(prim.block for prim in program.steps.prim_funcs)
    assert apart(program)


def test_no_blocks_at_all() -> None:
    options = Options(optimize="size", blocks=False)
    program = plan_model(model_path("mobilenet_v1"), BOARD, options).program
    assert all(prim.block is None for prim in program.steps.prim_funcs)


def test_streaming_without_blocks_is_refused() -> None:
    options = Options(blocks=False, stream_input=True)
    with pytest.raises(CodegenError) as caught:
        plan_model(model_path("mobilenet_v1"), BOARD, options)
    assert str(caught.value) == (
        "error[E217] --stream-input: rows that arrive one by one need blocks, which --no-blocks excludes\n"
        "help: leave out --no-blocks; or leave out --stream-input: the input then lies in RAM whole"
    )


def test_all_that_keeps_an_input_from_streaming_is_said_at_once() -> None:
    """--keep-inputs was answered by a help about images and --io-types, and hid what else was wrong."""
    options = Options(blocks=False, stream_input=True, keep_inputs=True)
    with pytest.raises(CodegenError) as caught:
        plan_model(model_path("mobilenet_v1"), BOARD, options)
    first, second = caught.value.messages
    assert str(first) == (
        "error[E217] --stream-input: --keep-inputs keeps the bytes of an input that has none\n"
        "help: leave out --keep-inputs: who delivers the rows has them and can keep them; or leave out "
        "--stream-input: the input then lies in RAM whole, and is kept"
    )
    assert "which --no-blocks excludes" in second.text


def test_flags_are_spelled_out() -> None:
    assert "--no-blocks --sharing in-place" in Options(blocks=False, sharing="in-place").spelled
    assert "--sharing" not in Options().spelled


KERNELS = {"ring": "pad", "taps": "gather", "narrow": "concat"}


def _candidate(kernel: str, instructions: int | None) -> PrimFunc:
    stem = KERNELS[kernel]
    source, symbol = f"kernels/portable/{stem}.c", f"cg_{stem}"
    return replace(bound(instructions, kernel), sources=(source,), symbol=symbol, constants=())


def _total(chosen: tuple[PrimFunc, ...], worth: int) -> float:
    return sum(cost(prim, worth) for prim in chosen) + worth * used_code_bytes(chosen)


def test_a_kernel_that_few_steps_want_is_not_worth_its_code() -> None:
    steps = [[_candidate("ring", 1_000), _candidate("taps", 1_500)]] * 3
    steps.append([_candidate("taps", 700), _candidate("narrow", 690)])
    assert [prim.kernel for prim in with_shared_code(steps, 0)] == ["ring", "ring", "ring", "narrow"]
    assert [prim.kernel for prim in with_shared_code(steps, 20)] == ["taps"] * 4


def test_a_step_keeps_its_only_kernel() -> None:
    steps = [[_candidate("ring", 10**6)], [_candidate("ring", 10), _candidate("taps", 5)]]
    assert [prim.kernel for prim in with_shared_code(steps, 1_000)] == ["ring", "ring"]


def test_a_prediction_is_never_given_up() -> None:
    steps = [[_candidate("ring", None), _candidate("taps", 10**9)], [_candidate("ring", None)]]
    assert [prim.kernel for prim in with_shared_code(steps, 1_000)] == ["taps", "ring"]


@pytest.mark.parametrize("seed", range(30))
def test_never_above_the_cheapest_of_each_and_close_to_the_best_of_all(seed: int) -> None:
    rng = np.random.default_rng(seed)
    worth = int(rng.integers(1, 30))
    steps = [
        [_candidate(name, int(rng.integers(100, 20_000))) for name in KERNELS]
        for _ in range(int(rng.integers(1, 5)))
    ]
    found = _total(with_shared_code(steps, worth), worth)
    best = min(_total(choice, worth) for choice in product(*steps))
    alone = tuple(min(each, key=lambda prim: cost(prim, worth)) for each in steps)
    assert best <= found <= _total(alone, worth)
    assert found <= 1.25 * best


def test_the_table_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selection, "code_bytes", lambda _symbols, _sources: 0)  # pyright: ignore
    steps = [[_candidate("ring", 1_000), _candidate("taps", 1_001)], [_candidate("taps", 1)]]
    assert [prim.kernel for prim in with_shared_code(steps, 10**6)] == ["ring", "taps"]


def test_code_counts_more_until_it_fits_but_steps_run_little_longer() -> None:
    """`taps` alone saves the code of `ring`; that is taken to fit a limit, unless it costs too much."""
    fast, small = _candidate("ring", 10_000), _candidate("taps", 11_000)
    steps = [[_candidate("taps", 10_000)], [fast, small]]
    both, one = used_code_bytes([fast, small]), used_code_bytes([small])
    assert both > one
    assert [prim.kernel for prim in with_shared_code(steps, 1, both)] == ["taps", "ring"]
    assert [prim.kernel for prim in with_shared_code(steps, 1, one)] == ["taps", "taps"]
    slow = _candidate("taps", 10_000 + 2 * 10_000 * SLOWER_PERCENT // 100 + 1)
    assert [prim.kernel for prim in with_shared_code([steps[0], [fast, slow]], 1, one)] == ["taps", "ring"]
    assert [prim.kernel for prim in with_shared_code(steps, 0, one)] == ["taps", "ring"]


def test_code_is_not_saved_for_more_workspace_than_it_is_worth() -> None:
    """micro_speech: the fully connected layer took 8,000 bytes of workspace to save 1,000 of code."""
    apart, shared = _candidate("narrow", 1_000), _candidate("taps", 1_000)
    steps = [[_candidate("taps", 10_000)], [apart, shared]]
    assert [prim.kernel for prim in with_shared_code(steps, 20)] == ["taps", "taps"]
    roomy = replace(shared, workspaces=(Workspace(name="inputs", size_bytes=8_000),))
    assert [prim.kernel for prim in with_shared_code([steps[0], [apart, roomy]], 20)] == ["taps", "narrow"]


X, Y = var("x", 100), var("y", 60)


def step(below: int | None = 10, above: int | None = 20) -> PrimFunc:
    sharing = (Sharing(argument=0, below=below, above=above),)
    return replace(
        prim(Y, X, sharing=sharing),
        reverse=Reverse(symbol="backwards", sources=("a.c", "b.c")),
        sources=("a.c",),
    )


def chosen(one: PrimFunc, x: int, y: int) -> PrimFunc:
    [found] = directed([one], live([X], [one], [Y]).slices, placed(x=x, y=y))
    return found


@pytest.mark.parametrize(
    ("y", "backwards"), [(0, False), (90, False), (120, True), (130, True), (200, False)]
)
def test_the_side_decides(y: int, backwards: bool) -> None:
    """x lies at [100, 200): y at 0 and 200 lies apart, at 90 it overlaps from below, at 120 from above."""
    found = chosen(step(), 100, y)
    assert found.reverse is None
    if backwards:
        assert (found.symbol, found.sources, found.kernel) == ("backwards", ("a.c", "b.c"), "probe_reverse")
        assert found.sharing == (Sharing(argument=0, above=20),)
    else:
        assert (found.symbol, found.sources) == ("probe", ("a.c",))
        assert found.sharing == (Sharing(argument=0, below=10),)


def test_a_kernel_that_only_gains_backwards() -> None:
    assert chosen(step(below=None), 100, 130).symbol == "backwards"
    apart = chosen(step(below=None), 100, 0)
    assert (apart.symbol, apart.sharing) == ("probe", ())


def test_other_pools_lie_apart() -> None:
    one = step()
    plan = placed(x=100, y=130)
    elsewhere = {**plan.placements, "y": Placement(pool="ccm", offset=130)}
    [found] = directed([one], live([X], [one], [Y]).slices, replace(plan, placements=elsewhere))
    assert found.symbol == "probe"


def test_one_direction_must_suit_all_arguments() -> None:
    two = replace(
        step(),
        let=prim(Y, X, X).let,
        argument_stops=(),
        reads=(),
        sharing=(Sharing(argument=0), Sharing(argument=1)),
    )
    with pytest.raises(ValueError, match="one rule, for one argument"):
        directed([two], live([X], [step()], [Y]).slices, placed(x=0, y=100))
