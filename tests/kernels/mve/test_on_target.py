"""Helium kernels in models, run in one boot each: chosen, planned and predicted as they run; rows of blocks.

Their results on hundreds of random layers each, beside closed memory: tests/fuzz.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from tests.kernels.mve.layers import Drawing, Model, Outcome, Window, random_window, run_all
from tests.sampling import examples

pytestmark = pytest.mark.qemu
EACH = 6
"""Layers of a kind."""
CHAINS = examples(20, 2)


def used(outcomes: Iterable[Outcome]) -> Counter[str]:
    """How often each kernel ran, in either direction."""
    return Counter(symbol.replace("_reverse", "") for outcome in outcomes for symbol in outcome.symbols)


def convolutions(count: int, *stream: int) -> Iterator[Model]:
    """Half of them 1x1 with stride 1; one or two pixels now and then; depths around multiples of 16."""
    for number in range(count):
        drawing = Drawing(number, *stream)
        rng = drawing.rng
        channels = int(drawing.pick(1, 3, 4, 8, 15, 16, 17, 31, 32, 48, 57, rng.integers(1, 70)))
        outputs = int(drawing.pick(1, 2, 3, 4, 7, 15, 16, 17, 19, 32, 33, rng.integers(1, 50)))
        if rng.random() < 0.5:
            image = (int(rng.integers(1, 5)), int(rng.integers(1, 7)), channels)
            window = Window(image=image, batch=2 if rng.random() < 0.1 else 1)
        else:
            window = random_window(rng, min(channels, 20))
        x = drawing.input((window.batch, *window.image))
        yield drawing.finish(drawing.conv(x, window, outputs), images=1)


def depthwise(count: int, *stream: int) -> Iterator[Model]:
    """Any window; every third of one channel and eight results."""
    for number in range(count):
        drawing = Drawing(number, *stream)
        channels = int(drawing.pick(7, 8, 9, 15, 16, 17, 25, 57)) if number % 3 else 1
        window = random_window(drawing.rng, channels, largest=int(drawing.pick(3, 7)))
        x = drawing.input((window.batch, *window.image))
        yield drawing.finish(drawing.depthwise(x, window, 8 if channels == 1 else 1), images=1)


def connected(count: int, *stream: int) -> Iterator[Model]:
    """One row, and more than two, in turn."""
    for number in range(count):
        drawing = Drawing(number, *stream)
        rows = 3 if number % 2 else 1
        inputs, outputs = int(drawing.rng.integers(1, 200)), int(drawing.rng.integers(1, 40))
        x = drawing.input((rows, inputs))
        yield drawing.finish(drawing.fully_connected(x, rows, inputs, outputs), images=1)


def pools_and_sums(count: int, *stream: int) -> Iterator[Model]:
    """A pool of either kind, in turn, and a sum or a difference."""
    for number in range(count):
        drawing = Drawing(number, *stream)
        rng = drawing.rng
        window = random_window(rng, int(rng.integers(1, 40)), dilated=False)
        shape = (window.batch, *window.image)
        zero, name = int(drawing.pick(-128, 0, 127)), ("AVERAGE_POOL_2D", "MAX_POOL_2D")[number % 2]
        pooled = drawing.pool(name, drawing.input(shape, zero_point=zero), zero, window)
        scales = [float(drawing.pick(0.05, 0.1, 0.05 * rng.uniform(0.1, 1))) for _ in range(2)]
        left, right = (drawing.input(shape, scale=scale) for scale in scales)
        added = drawing.binary(str(drawing.pick("ADD", "SUB")), left, right, shape)
        yield drawing.finish(pooled, added, images=1)


def layers_that_count() -> Iterator[Model]:
    """3x3 to all three ends of a row, 1x1 of few and of whole vectors, a sum: 3 % of each counts."""
    for number, (side, channels, outputs, taps) in enumerate(
        ((9, 16, 16, 3), (7, 13, 7, 3), (11, 32, 9, 3), (12, 8, 16, 1), (10, 16, 7, 1), (12, 64, 12, 1))
    ):
        drawing = Drawing(number, 7)
        window = Window(image=(side, side, channels), kernel=(taps, taps), padding="SAME")
        yield drawing.finish(drawing.conv(drawing.input((1, *window.image)), window, outputs), images=1)
    drawing = Drawing(6, 7)
    left, right = (drawing.input((1, 9, 11, 33), scale=scale) for scale in (0.05, 0.081))
    yield drawing.finish(drawing.binary("ADD", left, right, (1, 9, 11, 33)), images=1)


def test_every_kernel_is_chosen(tmp_path: Path) -> None:
    """Where nothing else counts, for the layers that it is for; peaks are those planned."""
    models = [*convolutions(2 * EACH, 1), *depthwise(2 * EACH, 2), *connected(EACH, 3)]
    counting = list(layers_that_count())
    outcomes = run_all([*models, *pools_and_sums(EACH, 4), *counting], tmp_path)
    found = used(outcomes)
    for kind in (
        *("conv2d", "conv2d_columns", "pointwise", "narrow", "few_pixels"),
        *("depthwise_conv2d", "depthwise_small", "avg_pool2d", "max_pool2d", "add"),
    ):
        assert found[f"cg_{kind}_s8_mve"] >= 2, found
    assert found["cg_dense_s8_mve"] >= 1, found
    for one in outcomes[-len(counting) :]:
        assert one.predicted is not None
        assert one.measured is not None
        assert abs(one.predicted - one.measured) <= 31.25 + 0.03 * one.measured, one


def same_size(count: int, *stream: int) -> Iterator[Model]:
    """Depthwise layers whose results are as large as their images."""
    for number in range(count):
        drawing = Drawing(number, *stream)
        rng = drawing.rng
        channels = int(drawing.pick(1, 3, 4, 15, 16, 17, 22, 32, 35, rng.integers(1, 50)))
        image = (int(rng.integers(1, 30)), int(rng.integers(1, 12)), channels)
        kernel = (int(rng.integers(1, 5)), int(rng.integers(1, 5)))
        dilation = (1, int(drawing.pick(1, 1, 2)))
        batch = 2 if rng.random() < 0.1 else 1
        window = Window(image=image, kernel=kernel, dilation=dilation, padding="SAME", batch=batch)
        x = drawing.input((window.batch, *window.image))
        yield drawing.finish(drawing.depthwise(x, window))


def test_depthwise_in_place(tmp_path: Path) -> None:
    outcomes = run_all(same_size(3 * EACH, 9), tmp_path, optimize="balanced", sharing="in-place")
    replaced = [one for one in outcomes if one.symbols == ("cg_depthwise_in_place_s8_mve",)]
    assert len(replaced) >= EACH
    for one in replaced:
        assert one.predicted is not None
        assert one.measured is not None
        assert abs(one.predicted - one.measured) <= 62 + 0.05 * one.measured, one


def chains(count: int, *stream: int) -> Iterator[Model]:
    """Layers with a large result between small ones, which become blocks; and shrinking and growing images,
    which are computed over their arguments in either direction."""
    for number in range(count):
        drawing = Drawing(number, *stream)
        rng = drawing.rng
        narrow, wide = int(rng.integers(1, 5)), int(rng.integers(9, 40))
        window = Window(image=(int(rng.integers(7, 14)), int(rng.integers(3, 12)), narrow))
        x = drawing.input((1, *window.image))
        value = drawing.conv(x, window, wide)
        inner = Window(
            image=(*window.image[:2], wide),
            kernel=(int(rng.integers(2, 5)), int(rng.integers(2, 5))),
            stride=(int(rng.integers(1, 3)), int(rng.integers(1, 3))),
            padding="SAME",
        )
        value = drawing.depthwise(value, inner)
        last = Window(image=(*inner.result, wide), kernel=inner.kernel, padding="SAME")
        outputs = int(drawing.pick(narrow, wide))
        yield drawing.finish(drawing.conv(value, last, outputs), images=1)


def test_blocks_and_directions(tmp_path: Path) -> None:
    outcomes = run_all(chains(CHAINS, 5), tmp_path, optimize="size")
    found = used(outcomes)
    rows = [symbol for symbol in found if symbol.endswith("_mve_row")]
    kinds = ("conv2d", "depthwise_conv2d", "depthwise_small", "pointwise")
    assert {f"cg_{kind}_s8_mve_row" for kind in kinds} <= set(rows), found
    assert any("reverse" in symbol for outcome in outcomes for symbol in outcome.symbols)


def test_nothing_outside_the_buffers_is_touched(tmp_path: Path) -> None:
    """Only this step's buffers are open to it, blocks included: the MPU stops any other access."""
    run_all([*convolutions(2, 6), *chains(EACH, 7)], tmp_path, sandbox=True)
