"""Which of several kernels a step gets.
Every step is bound to a kernel once, however often a search asks.
In-place kernels are chosen where they lower the peak, within what `--optimize` allows.
Kernels that work in fewer bytes: taken for a limit, and with size where that pays.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest

from codegen import importers, passes
from codegen.board import load_board
from codegen.driver.build import Planned, plan_model
from codegen.driver.options import Options
from codegen.driver.preparing import pipeline
from codegen.ir import Let, Target, VirtualDevice
from codegen.kernels.base.registry import Kernel
from codegen.kernels.contract import LinkedConstant
from codegen.kernels.primfunc import PrimFunc
from codegen.problem.shortage import DoesNotFit
from codegen.program.interface import IoMode
from codegen.program.program import Program
from codegen.search import Choices, search
from codegen.search.kernels import fewest_bytes
from codegen.search.kernels.binding import Binder, Cap, step_key
from codegen.search.kernels.costs import RAM_WORTH, cheapest, cost
from codegen.search.kernels.selection import select, used_code_bytes
from codegen.settings import Optimize
from tests.importers.onnx.models import imported, node
from tests.importers.onnx.models import model as onnx_model
from tests.networks import model_path
from tests.roomy import roomy_board
from tests.search.chains import Chain


def bound(instructions: int | None, kernel: str) -> PrimFunc:
    module = Chain(np.random.default_rng(1)).module(1)
    data = {id_: constant.data for id_, constant in module.constants.items()}
    (prim,) = select(module.main, Binder(data, Target(cpu="cortex-m3")))
    return replace(prim, instructions=instructions, kernel=kernel)


def test_fewest_predicted_instructions_win():
    choices = [bound(300, "slow"), bound(100, "fast"), bound(200, "middle")]
    assert cheapest(choices).kernel == "fast"


def test_a_prediction_beats_none():
    assert cheapest([bound(None, "portable"), bound(10**9, "known")]).kernel == "known"


def test_the_first_registered_wins_a_tie():
    assert cheapest([bound(7, "first"), bound(7, "second")]).kernel == "first"
    assert cheapest([bound(None, "first"), bound(None, "second")]).kernel == "first"


def test_a_byte_of_constants_is_worth_some_instructions():
    large, small = bound(100, "large"), bound(150, "small")
    table = LinkedConstant(role="table", data=np.zeros(10, np.int8), alignment=1)
    large = replace(large, constants=(*large.constants, table))
    assert cheapest([large, small]).kernel == "large"
    assert cheapest([large, small], flash_worth=4).kernel == "large"
    assert cheapest([large, small], flash_worth=6).kernel == "small"


BOARD = load_board("mps2-an386")


class _Counted(Kernel):
    """Counts how often it is bound."""

    op = "CONV_2D"

    def __init__(self, real: Kernel) -> None:
        self.name, self.is_in_place, self._real, self.count = real.name, real.is_in_place, real, 0

    def refusal(self, let: Let, target: object) -> str | None:
        return None

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        self.count += 1
        return self._real.bind(let, constants, name)


def _first_convolution() -> tuple[Binder, Let]:
    module = importers.load(model_path("resnet8"))
    data = {id_: constant.data for id_, constant in module.constants.items()}
    let = next(let for let in module.main.body if let.call.op.name == "CONV_2D")
    return Binder(data, BOARD.target), let


def test_the_same_step_is_bound_once_another_one_of_its_name_anew() -> None:
    binder, let = _first_convolution()
    kernel = _Counted(binder.able(let)[0])
    first = binder.bind(kernel, let, "conv")
    assert binder.bind(kernel, replace(let), "conv") is first
    assert kernel.count == 1
    # Devices are planned after kernels are selected: the PrimFunc has them from its step.
    moved = replace(let, var=replace(let.var, device=VirtualDevice(memory_scope="dtcm")))
    assert binder.bind(kernel, moved, "conv").let is moved
    assert kernel.count == 2


def test_kernels_in_place_are_asked_for_apart() -> None:
    binder, let = _first_convolution()
    assert all(not kernel.is_in_place for kernel in binder.able(let))
    assert all(kernel.is_in_place for kernel in binder.able(let, in_place=True))


def test_a_search_that_selects_twice_binds_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """person_detect on Cortex-M4 brings too much code at `size`: kernels are selected again, and packing
    all weights again took half of 1.7 seconds."""
    bound: list[tuple[str, str]] = []
    bind = Binder.bind

    def counted(self: Binder, kernel: Kernel, let: Let, name: str) -> PrimFunc:
        spied = _Spy(kernel, bound)
        return bind(self, spied, let, name)

    monkeypatch.setattr(Binder, "bind", counted)
    module = importers.load(model_path("person_detect"))
    search(module, BOARD, Choices(planner="optimal", optimize="size"), name="model")
    assert len(bound) > 100
    assert len(bound) == len(set(bound))


class _Spy(Kernel):
    """Notes what is really bound."""

    def __init__(self, real: Kernel, bound: list[tuple[str, str]]) -> None:
        self.name, self.op, self.is_in_place = real.name, real.op, real.is_in_place
        self._real, self._bound = real, bound

    def refusal(self, let: Let, target: object) -> str | None:
        return None

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        self._bound.append((self.name, name))
        return self._real.bind(let, constants, name)


def test_a_kernel_that_binds_a_step_as_another_is_excluded_with_it() -> None:
    """Layers of one output have no joined stream: the joined kernel binds them as the plain one."""
    model = importers.load(model_path("dense_chain"))
    data = {id_: constant.data for id_, constant in model.constants.items()}
    binder, let = Binder(data, load_board("mps2-an386").target), model.main.body[-1]
    bound = {kernel: binder.bind(kernel, let, "last").kernel for kernel in binder.able(let)}
    others = {
        kernel: name for kernel, name in bound.items() if "joined" in kernel.name and "joined" not in name
    }
    assert others
    for kernel, name in others.items():
        without = binder.without(frozenset({(step_key(let), name)}))
        assert without.refusal(kernel, let) == f"{kernel.name} does not run it at all its sizes"


def test_a_capped_binder_finds_no_kernel_with_more_constants() -> None:
    """Whoever looks for kernels, in whatever way, keeps a limit of flash."""
    binder, let = _first_convolution()
    kernels = binder.able(let)
    sizes = {kernel.name: binder.bind(kernel, let, let.var.name).constant_bytes for kernel in kernels}
    least = min(sizes.values())
    assert least < max(sizes.values())
    capped = binder.capped({step_key(let): Cap(constant_bytes=least)})
    able = capped.able(let)
    assert [kernel.name for kernel in able] == [name for name, size in sizes.items() if size == least]
    largest = next(kernel for kernel in kernels if sizes[kernel.name] > least)
    size = sizes[largest.name]
    assert capped.refusal(largest, let) == f"{largest.name} has {size} bytes of constants, more than {least}"
    prim = capped.bind(able[0], let, let.var.name)
    assert all(other.constant_bytes <= least for other in capped.others(prim))
    assert len(binder.able(let)) == len(kernels)


def test_steps_of_one_node_have_caps_of_their_own(tmp_path: Path) -> None:
    """An ONNX Conv is a move and a convolution, both called as its output: the convolution was capped as the
    move, which has no constants."""
    weights = np.ones((2, 2, 3, 3), np.float32)
    module = imported(tmp_path, onnx_model(node("Conv", "x w", "y"), constants={"w": weights}))
    keys = [step_key(let) for let in module.main.body]
    assert [let.call.op.name for let in module.main.body] == ["TRANSPOSE", "CONV_2D", "TRANSPOSE"]
    assert len(set(keys)) == 3
    again = replace(module.main.body[1], var=replace(module.main.body[1].var, name="again"), repeats=keys[1])
    assert step_key(again) == keys[1]


def test_a_cap_may_ask_for_predictions() -> None:
    binder, let = _first_convolution()
    bound = {kernel.name: binder.bind(kernel, let, let.var.name) for kernel in binder.able(let)}
    blind = {name for name, prim in bound.items() if prim.instructions is None}
    assert blind and len(blind) < len(bound)
    capped = binder.capped({step_key(let): Cap(constant_bytes=1 << 20, predicted=True)})
    assert {kernel.name for kernel in capped.able(let)} == bound.keys() - blind
    other = binder.capped({"another step": Cap(constant_bytes=0)})
    assert {kernel.name for kernel in other.able(let)} == bound.keys()


def test_a_cap_below_every_kernel_permits_the_smallest() -> None:
    """As where a kernel that replaces its argument has the fewest constants: no step is left without one."""
    binder, let = _first_convolution()
    bound = {kernel.name: binder.bind(kernel, let, let.var.name) for kernel in binder.able(let)}
    least = min(prim.constant_bytes for prim in bound.values())
    capped = binder.capped({step_key(let): Cap(constant_bytes=least - 1)})
    assert {kernel.name for kernel in capped.able(let)} == {
        name for name, prim in bound.items() if prim.constant_bytes == least
    }
    predicted = min(prim.constant_bytes for prim in bound.values() if prim.instructions is not None)
    assert predicted > least
    capped = binder.capped({step_key(let): Cap(constant_bytes=least, predicted=True)})
    assert {kernel.name for kernel in capped.able(let)} == {
        name
        for name, prim in bound.items()
        if prim.constant_bytes == predicted and prim.instructions is not None
    }


KWS = "ds_cnn"
ROOMY = roomy_board("SRAM")


def planned(key: str, options: Options) -> Program:
    return plan_model(model_path(key), ROOMY, options).program


def in_place(program: Program) -> list[str]:
    return [prim.name for prim in program.steps.prim_funcs if prim.in_place is not None]


@pytest.mark.parametrize("optimize", ["size", "balanced"])
def test_kws_replaces_in_every_depthwise_step(optimize: Optimize) -> None:
    """All four hold the peak: 384 bytes between image and result become a ring of 3 rows of 7 bytes."""
    fast = planned(KWS, Options(optimize="speed"))
    small = planned(KWS, Options(optimize=optimize))
    assert in_place(fast) == []
    assert in_place(small) == ["dw1", "dw3", "dw5", "dw7"]
    before, after = (p.memory.peak_bytes("sram") for p in (fast, small))
    assert after < before
    rings = [b for b in small.memory.problem.buffers if b.id.endswith(".ring")]
    assert [b.size_bytes for b in rings] == [21] * 4


def test_nothing_is_replaced_where_the_peak_lies_elsewhere() -> None:
    """vww's peak is its first convolution, the image of a depthwise step is never beside it."""
    assert in_place(planned("mobilenet_v1", Options(optimize="size"))) == []


def test_a_callers_io_is_not_touched() -> None:
    program = planned(KWS, Options(optimize="size", io=IoMode.CALLER))
    params = {param.name for param in program.steps.function.params}
    for prim in program.steps.prim_funcs:
        if prim.in_place is not None:
            assert getattr(prim.let.call.args[prim.in_place], "name", "") not in params


def test_programs_are_the_same_every_time() -> None:
    one, other = (planned(KWS, Options(optimize="size")) for _ in range(2))
    assert replace(one.memory.plan, seconds=0.0) == replace(other.memory.plan, seconds=0.0)


def _planned(key: str, optimize: Optimize, limit_bytes: int | None = None) -> Planned:
    limits = {} if limit_bytes is None else {"sram": limit_bytes}
    options = Options(optimize=optimize, pool_limits=MappingProxyType(limits))
    return plan_model(model_path(key), load_board("netduinoplus2"), options, emulated=True)


def _workspaces(prim: PrimFunc) -> int:
    return sum(space.size_bytes for space in prim.workspaces)


def _is_one_sided(prim: PrimFunc) -> bool:
    return any(rule.above is None for rule in prim.sharing)


def _peak(planned: Planned) -> int:
    program = planned.program
    return sum(program.memory.peaks.values())


@pytest.mark.parametrize(("key", "most_bytes"), [("speech", 4_593), ("separable_1d", 3_700)])
def test_size_takes_lean_kernels(key: str, most_bytes: int):
    """A tenth, or less, above the bytes of the values alone, 4,176 and 3,648, with all workspaces."""
    assert _peak(_planned(key, "size")) <= most_bytes
    assert _peak(_planned(key, "balanced")) > most_bytes


@pytest.mark.parametrize("key", ["speech", "ds_cnn"])
def test_those_of_size_run_at_most_half_as_many_instructions_more(key: str):
    lean_steps, fast_steps = (_planned(key, level).program.steps.prim_funcs for level in ("size", "speed"))
    compared = 0
    for one, fast in zip(lean_steps, fast_steps, strict=True):
        if fast.instructions is not None and one.in_place is None:
            assert one.instructions is not None
            assert one.instructions <= 1.5 * fast.instructions
            compared += one.kernel != fast.kernel
    assert compared


def test_a_limit_takes_lean_kernels():
    assert _peak(_planned("ds_cnn", "balanced")) > 8_192
    assert _peak(_planned("ds_cnn", "balanced", 8_192)) <= 8_192


def test_the_smallest_budget_that_is_named_knows_of_lean_kernels():
    """Below 8,064 bytes the message named 8,512, which 8,064 bytes had already done without."""
    key = "ds_cnn"
    with pytest.raises(DoesNotFit) as caught:
        _planned(key, "balanced", 8_000)
    [short] = caught.value.shortages
    budget = short.budget_bytes
    assert budget is not None and budget <= 8_064
    assert _peak(_planned(key, "balanced", budget)) == budget


def test_lean_alternatives_need_fewer_bytes_and_steps_that_have_the_least_keep_their_kernel():
    key, board = "ds_cnn", load_board("netduinoplus2")
    steps = _planned(key, "speed").program.steps.prim_funcs
    module = passes.run_passes(importers.load(model_path(key)), pipeline(Options(optimize="speed")))
    binder = Binder({id_: constant.data for id_, constant in module.constants.items()}, board.target)
    found = fewest_bytes.alternatives(steps, binder, flash_worth=0)
    assert found
    for step, other in found.items():
        assert (_workspaces(other), _is_one_sided(other)) < (
            _workspaces(steps[step]),
            _is_one_sided(steps[step]),
        )
    assert (
        fewest_bytes.alternatives(
            [found.get(step, prim) for step, prim in enumerate(steps)],
            binder,
            flash_worth=0,
        )
        == {}
    )
    share = 1 + fewest_bytes.SLOWER_PERCENT / 100
    assert all(cost(other, 0) <= share * cost(steps[step], 0) for step, other in found.items())


@pytest.mark.parametrize(("key", "most_bytes"), [("dense_chain", 48), ("ds_cnn", 8_256)])
def test_size_pays_no_more_code_for_ram_than_it_says(key: str, most_bytes: int):
    """hello_world took 772 bytes of code more for 20 bytes of RAM: another kernel for one of three layers."""
    size, balanced = (_planned(key, level) for level in ("size", "balanced"))
    code, fast = (used_code_bytes(each.program.steps.prim_funcs) for each in (size, balanced))
    assert code - fast <= RAM_WORTH * (_peak(balanced) - _peak(size))
    assert _peak(size) <= most_bytes


def test_speed_takes_kernels_in_place_that_are_faster() -> None:
    """kws on Helium: depthwise layers in place ran 64,000 instructions, those that `speed` took 69,844: for a
    tenth of the RAM alone it looked at kernels in place."""
    board, path = load_board("mps3-an547"), model_path("ds_cnn")
    program = plan_model(path, board, Options(board=board.name, optimize="speed"), emulated=True).program
    kernels = [
        prim.kernel for prim in program.steps.prim_funcs if prim.let.call.op.name == "DEPTHWISE_CONV_2D"
    ]
    assert kernels == 4 * ["depthwise_conv_2d_s8_mve_in_place"]
