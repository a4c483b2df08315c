"""ARMv7-M kernels in models on QEMU: chosen, rows in blocks, in place, predicted instructions.

Results are compared with the NumPy reference; in the same run measured peaks equal plans, guards hold, and
two paints agree. Words off alignment trap where LDM and LDRD meet them. Hundreds of random layers of each
kernel, beside closed memory: tests/fuzz.
ARMv7-M kernels: how far results may reach into images, how far patches reach into packed pixels.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from codegen.ir.ops import Padding2D
from codegen.kernels.base.tiles import patch_line_bytes, tiled_below, tiling
from codegen.kernels.base.window import WindowShape
from codegen.kernels.v7m.tiles import (
    blocks_below,
    patch_end,
    values,
    workspace_bytes,
)
from tests.kernels import runs
from tests.kernels.access import below_in_tiles, lowest_reads
from tests.kernels.dsp.conv_layers import module_of, shaped_layer
from tests.kernels.dsp.depthwise_models import DepthwiseModel, Shape, run_all
from tests.kernels.dsp.test_depthwise_on_target import kernels_used, random_models
from tests.kernels.layers import integer
from tests.sampling import examples

BOARD = "mps2-an385"
LAYERS = 8
CHAINS = examples(16, 2)


@pytest.mark.qemu
@pytest.mark.parametrize("most", [4, 2])
@pytest.mark.sampled(1)
def test_layers(most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs.only_kernels(
        monkeypatch, *(("_v7m",) if most == 4 else ("_v7m_2", "fully_connected_s8_v7m", "_s8_portable"))
    )
    made = runs.planned_layers(BOARD, range(1000 * most, 1000 * most + LAYERS))
    assert len(made) > LAYERS // 2
    runs.run_planned(made, BOARD, tmp_path)


@pytest.mark.qemu
def test_whole_depthwise_tensors(tmp_path: Path) -> None:
    outcomes = run_all(random_models(11, LAYERS), BOARD, tmp_path, "speed", images=1)
    used = kernels_used([name for outcome in outcomes for name in outcome.kernels])
    assert used["cg_depthwise_s8_v7m"] >= LAYERS // 2, used


@pytest.mark.qemu
def test_in_place(tmp_path: Path) -> None:
    same_size = {"stride": 1, "padding": "SAME", "multiplier": 1}
    models: list[DepthwiseModel] = []
    for model in random_models(12, 8):
        # With few channels the result may overlap the image as well.
        height, width, channels = model.shape.image
        shape = replace(model.shape, image=(height, width, 4 * channels + 1), **same_size)
        models.append(replace(model, shape=shape))
    models += [DepthwiseModel(shape=Shape(image=(6, 24, 33))), DepthwiseModel(shape=Shape(image=(5, 40, 19)))]
    outcomes = run_all(models, BOARD, tmp_path, "balanced", images=1)
    used = kernels_used([name for outcome in outcomes for name in outcome.kernels])
    assert used["cg_depthwise_in_place_s8_v7m"] >= 4, used


@pytest.mark.qemu
def test_rows_of_depthwise_layers(tmp_path: Path) -> None:
    models = [
        replace(model, shape=replace(model.shape, batch=1, padding="SAME"), narrow=2)
        for model in random_models(13, 14)
    ]
    outcomes = run_all(models, BOARD, tmp_path, "balanced", images=1)
    used = kernels_used([name for outcome in outcomes for name in outcome.kernels])
    assert used["cg_depthwise_s8_v7m_row"] >= 2, used


@pytest.mark.qemu
def test_rows_in_blocks(tmp_path: Path) -> None:
    """Random networks, each in as long blocks as can be, some of them in stripes."""
    made = runs.planned_chains(BOARD, CHAINS)
    blocks = [prim for each in made for prim in each.program.steps.prim_funcs if prim.block]
    assert len(blocks) > CHAINS // 2
    assert sum("cg_conv2d_s8_v7m" in str(prim.block) for prim in blocks) > CHAINS // 4
    runs.run_planned(made, BOARD, tmp_path)


@pytest.mark.qemu
def test_predictions_hold(tmp_path: Path) -> None:
    """Of layers that count, within 5 % of what is measured."""
    layers = [*runs.SHAPES, shaped_layer(image=(3, 3, 96), kernel=(1, 1), outputs=40)]
    made = [runs.planned_alone(module_of(drawn), BOARD, f"shape{n}") for n, drawn in enumerate(layers)]
    runs.check_predictions(made, runs.run_planned(made, BOARD, tmp_path))


DEPTHWISE = (
    Shape(image=(24, 24, 16)),
    Shape(image=(12, 12, 32)),
    Shape(image=(25, 5, 64)),
    Shape(image=(6, 6, 128)),
    Shape(image=(48, 48, 8), stride=2),
    Shape(image=(12, 12, 32), stride=2),
    Shape(image=(10, 10, 24), kernel=(7, 7), stride=2),
    Shape(image=(14, 14, 18), kernel=(5, 1)),
)


@pytest.mark.qemu
@pytest.mark.parametrize("optimize", ["speed", "balanced"])
@pytest.mark.sampled(1)
def test_predictions_of_depthwise_layers_hold(tmp_path: Path, optimize: str) -> None:
    """As whole tensors, and in place."""
    models = [DepthwiseModel(shape=shape) for shape in DEPTHWISE if optimize == "speed" or shape.stride == 1]
    level = "speed" if optimize == "speed" else "balanced"
    for outcome in run_all(models, BOARD, tmp_path, level, images=1):
        assert outcome.measured is not None
        assert outcome.predicted is not None
        assert abs(outcome.predicted / outcome.measured - 1) < 0.05, outcome


def random_window(seed: int, *, outputs: int = 0) -> WindowShape:
    """Any small window; as many channels of the result as of the image unless `outputs` says."""
    rng = np.random.default_rng([seed, 19])
    kernel = (integer(rng, 1, 4), integer(rng, 1, 4)) if rng.random() < 0.8 else (1, 1)
    dilation = (integer(rng, 1, 2), integer(rng, 1, 2))
    stride = (integer(rng, 1, 3), integer(rng, 1, 3)) if rng.random() < 0.5 else (1, 1)
    pads = [integer(rng, 0, kernel[side // 2]) for side in range(4)]
    spans = [(kernel[axis] - 1) * dilation[axis] + 1 for axis in (0, 1)]
    extents = [
        max(1, spans[axis] - sum(pads[2 * axis : 2 * axis + 2])) + integer(rng, 0, 6) for axis in (0, 1)
    ]
    results = [
        (extents[axis] + sum(pads[2 * axis : 2 * axis + 2]) - spans[axis]) // stride[axis] + 1
        for axis in (0, 1)
    ]
    depth, batch = integer(rng, 1, 5), integer(rng, 1, 2)
    return WindowShape(
        image=(batch, extents[0], extents[1], depth),
        result=(batch, results[0], results[1], outputs or depth),
        window=kernel,
        stride=stride,
        dilation=dilation,
        padding=Padding2D(top=pads[0], bottom=pads[1], left=pads[2], right=pads[3]),
    )


@pytest.mark.parametrize("most", [4, 2])
@pytest.mark.parametrize("seed", range(60))
def test_distance_of_tiles_is_the_least_safe_one(seed: int, most: int) -> None:
    """Against the order of accesses itself: a tile's windows are read, then its results are written."""
    window = random_window(seed, outputs=1 + seed % 7)
    one_row = window.window == (1, 1) == window.stride and window.result[1:3] == window.image[1:3]
    least, outputs = lowest_reads(window), window.result[3]
    length = len(least) if one_row else window.result[2]
    assert tiled_below(window, tiling(window, most)) == below_in_tiles(least, outputs, length, most)


@pytest.mark.parametrize("multiplier", [1, 3])
@pytest.mark.parametrize("seed", range(40))
def test_distance_of_blocks_is_the_least_safe_one(seed: int, multiplier: int) -> None:
    """Blocks of four pixels of an image, channel by channel: read from all windows, then written."""
    depth = random_window(seed).image[3]
    window = random_window(seed, outputs=depth * multiplier)
    least, outputs = lowest_reads(window), window.result[3]
    pixels = window.result[1] * window.result[2]
    accesses: list[tuple[int | None, int | None]] = []
    for image in range(window.image[0]):
        for start in range(0, pixels, 4):
            block = range(image * pixels + start, image * pixels + min(start + 4, pixels))
            for output in range(outputs):
                reads = [low + output // multiplier for pixel in block if (low := least[pixel]) is not None]
                accesses.append((min(reads, default=None), None))
                accesses.append((None, block[-1] * outputs + output + 1))
    worst: int | None = None
    lowest: int | None = None
    for read, end in reversed(accesses):
        if read is not None:
            lowest = read if lowest is None else min(lowest, read)
        if end is not None and lowest is not None:
            worst = end - lowest if worst is None else max(worst, end - lowest)
    assert blocks_below(window, multiplier) == worst


@pytest.mark.parametrize("most", [4, 2])
@pytest.mark.parametrize("seed", range(60))
def test_a_patch_is_read_before_pixels_take_its_place(seed: int, most: int) -> None:
    """Value by value, as gathers go; and four bytes less would lose one or end in front of the pixels."""
    window = random_window(seed)
    if not window.is_padded:
        assert patch_end(window, most) == 0
        return

    def is_safe(end: int) -> bool:
        return all(_survives(window, most, count, end) for count in range(1, min(most, window.result[2]) + 1))

    found = patch_end(window, most)
    assert is_safe(found)
    assert not is_safe(found - 4)
    assert workspace_bytes(window, most) == max(found, 2 * most * values(window))


def _survives(window: WindowShape, most: int, count: int, end: int) -> bool:
    lines, taps = window.window
    line, depth = patch_line_bytes(window, count), window.image[3]
    start = end - lines * line
    if start < 0:
        return False
    reads = [
        start + ky * line + (kx * window.dilation[1]) * depth + channel
        for ky, kx, channel in np.ndindex(lines, taps, depth)
    ]
    write = most * values(window) if most == 4 and count <= 2 else 0
    each = 4 if count <= 2 else 8
    for index in range(len(reads)):
        write += each
        if any(read < write for read in reads[index + 1 :]):
            return False
    # The last write may end behind the patch: nothing is read any more.
    return True
