"""Every step is bound to a kernel once, however often a search asks."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from codegen import importers
from codegen.board import load_board
from codegen.ir import Let, VirtualDevice
from codegen.kernels.base.registry import Kernel
from codegen.kernels.primfunc import PrimFunc
from codegen.search import Choices, search
from codegen.search.kernels.binding import Binder, Cap, step_key
from tests.testdata import model_path

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
    module = importers.load(model_path("mlperf_tiny/pretrainedResnet_quant"))
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
    module = importers.load(model_path("tflm/person_detect"))
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
