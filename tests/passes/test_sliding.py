"""A window that slides gives what the whole window gives, in every bit, from the first full one on."""

import pytest

from codegen.ir import DType, Module, Var
from codegen.ir.verify import verify
from codegen.passes.sliding import CannotSlide, Sliding, SlidingInput, slid
from codegen.passes.sliding.demand import Keep, demand
from codegen.passes.sliding.movement import Movement
from tests.passes.sliding import STREAMS, differences, frames, imu, random_network, spotter, tcn


def checked(module: Module, step: int, calls: int, axis: int = 1) -> Sliding:
    """The window of input `x`, after a stream of so many calls from the first full window on."""
    rows = module.main.params[0].type.shape[axis]
    sliding = slid(module, SlidingInput(name="x", axis=axis, step=step, rows=rows))
    verify(sliding.module)
    assert differences(sliding, sliding.calls + calls) == 0
    return sliding


TYPES = (DType.INT8, DType.INT16, DType.FLOAT32)


@pytest.mark.parametrize("dtype", TYPES, ids=lambda dtype: dtype.value)
def test_streams_are_equal(dtype: DType) -> None:
    """What a call computes is counted too: a tenth, where no padding and no pool sets a floor."""
    few = checked(tcn(dtype), 1, 20)
    assert few.macs <= 0.1 * few.macs_whole and not few.stops
    few = checked(imu(dtype), 8, 10)
    assert few.macs <= 0.1 * few.macs_whole
    assert [stop.reason for stop in few.stops] == ["each result needs all rows"]
    for step in (1, 2, 3):
        assert checked(spotter(dtype), step, 12).macs < 0.75 * few.macs_whole
    stacked = checked(frames(dtype), 1, 10)
    assert stacked.keeps_nothing and stacked.state_bytes == 5 * 8 * dtype.size_bytes


@pytest.mark.long
@pytest.mark.parametrize("dtype", TYPES, ids=lambda dtype: dtype.value)
def test_thousand_steps(dtype: DType) -> None:
    for network, step in STREAMS:
        checked(network(dtype), step, 1000)


def random_differences(seeds: range) -> list[int]:
    """Seeds of networks that differ; objectives take turns, so state of every extent is among them."""
    wrong: list[int] = []
    for seed in seeds:
        module, window = random_network(seed)
        sliding = slid(module, window, ("speed", "balanced", "size")[seed % 3])
        verify(sliding.module)
        if differences(sliding, sliding.calls + 6, seed):
            wrong.append(seed)
    return wrong


def test_random_networks_are_equal() -> None:
    assert random_differences(range(40)) == []


def test_state_is_traded_for_work() -> None:
    """Each point of the trade is exact, takes what it says, and none has more state and more work too."""
    module, window = spotter(DType.INT8), SlidingInput(name="x", axis=1, step=1, rows=24)
    points = slid(module, window).trades
    assert len(points) > 3
    assert [size for size, _ in points] == sorted({size for size, _ in points}, reverse=True)
    assert [work for _, work in points] == sorted({work for _, work in points})
    works: list[int] = []
    for size, _ in points:
        sliding = slid(module, window, "speed", size)
        verify(sliding.module)
        assert sliding.state_bytes == size
        assert differences(sliding, sliding.calls + 5) == 0
        works.append(sliding.macs)
    assert works == sorted(works)
    least = slid(module, window, "size")
    assert (least.state_bytes, least.macs) == (24 * 3, least.macs_whole)
    largest = max(var.type.size_bytes for var in module.main.variables())
    price, size = min((work**2 * (largest + size), size) for size, work in points)
    assert price < largest + least.state_bytes and slid(module, window, "balanced").state_bytes == size
    assert slid(module, window, "speed", 1).state_bytes == least.state_bytes


def test_the_newest_rows_alone_are_kept() -> None:
    """Padding touches rows at both ends. With the newest run as state the old end is computed again."""
    window = SlidingInput(name="x", axis=1, step=2, rows=24)
    function = spotter(DType.INT8).main
    movement = Movement(function, window)
    conv = function.body[0].var.name
    keep = {"x": Keep.ALL, function.body[2].var.name: Keep.ALL}
    rows = {extent: demand(function, movement, {**keep, conv: extent})[conv] for extent in Keep}
    run = movement.kept_run(function.body[0].var)
    assert run is not None
    every, newest = rows[Keep.ALL], rows[Keep.NEWEST]
    assert every.kept is not None and newest.kept is not None
    assert run[0] <= every.kept[0] < newest.kept[0] and newest.kept[1] == every.kept[1]
    assert every.computed[-1] == newest.computed[-1]
    assert newest.computed[0][1] > every.computed[0][1]


def test_rows_of_padding_are_not_kept() -> None:
    """Behind strides a row of padding alone equalled one of eight calls before. The window was full after
    four, so zeros of before the reset were taken for it."""
    assert random_differences(range(1676, 1677)) == []


@pytest.mark.long
def test_many_random_networks_are_equal() -> None:
    assert random_differences(range(2000)) == []


@pytest.mark.parametrize("extra", [(-1, 0), (0, 1)], ids=["in front", "behind"])
def test_a_row_too_many_is_caught(monkeypatch: pytest.MonkeyPatch, extra: tuple[int, int]) -> None:
    """A proof that keeps one row more, which padding touches, gives other results."""
    proved = Movement.kept_run

    def mutated(self: Movement, var: Var) -> tuple[int, int] | None:
        run = proved(self, var)
        if run is None or not var.name.startswith("conv0"):
            return run
        return run[0] + extra[0], run[1] + extra[1]

    monkeypatch.setattr(Movement, "kept_run", mutated)
    sliding = slid(spotter(DType.INT8), SlidingInput(name="x", axis=1, step=2, rows=24))
    assert differences(sliding, sliding.calls + 12) > 0


def test_an_axis_that_is_no_time_axis() -> None:
    with pytest.raises(CannotSlide) as caught:
        checked(spotter(DType.INT8), 1, 1, axis=2)
    assert str(caught.value) == (
        "axis 2 of x is no time axis: its rows do not lie one behind the other in memory, and "
        'CONV_2D "conv0" reads earlier ones'
    )
