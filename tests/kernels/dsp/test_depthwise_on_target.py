"""Depthwise layers on the DSP extension in models: chosen, planned and predicted as they run; rows of blocks,
stripes of wide images.

Hundreds of random layers of each kernel on every core, beside closed memory: tests/fuzz.
"""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.random import Generator

from codegen.search.kernels.costs import FLASH_WORTH
from tests.kernels.dsp.depthwise_models import DepthwiseModel, Numbers, Shape, run_all
from tests.sampling import examples

pytestmark = pytest.mark.qemu
LAYERS = 20
ROWS = examples(16, 2)


def one_of(rng: Generator, *values: int) -> int:
    return int(rng.choice(values))


def random_shape(rng: Generator) -> Shape:
    """Mostly 3x3; any other window, dilation and multiplier now and then."""
    kernel, dilation, multiplier = (3, 3), (1, 1), 1
    kind = rng.random()
    if kind < 0.3:
        kernel = (one_of(rng, 1, 2, 3, 5, 7), one_of(rng, 1, 2, 3, 4, 5))
        dilation = (one_of(rng, 1, 1, 2), one_of(rng, 1, 1, 2, 3))
    elif kind < 0.35:
        multiplier = 2
    least = [(kernel[axis] - 1) * dilation[axis] + 1 for axis in (0, 1)]
    return Shape(
        image=(
            least[0] + int(rng.integers(0, 9)),
            least[1] + int(rng.integers(0, 11)),
            one_of(rng, 1, 3, 4, 4, 5, 6, 7, 8, 8, 9, 12, 13, 16, 19),
        ),
        kernel=kernel,
        stride=1 if max(dilation) > 1 else one_of(rng, 1, 1, 1, 2, 2, 3),
        dilation=dilation,
        padding="SAME" if rng.random() < 0.7 else "VALID",
        multiplier=multiplier,
        batch=one_of(rng, 1, 1, 1, 2),
    )


def random_numbers(rng: Generator) -> Numbers:
    kind = rng.random()
    factor = 2.0 ** rng.uniform(-11, -7)
    if kind < 0.05:
        factor = 2.0 ** rng.uniform(-1, 2)  # shifts of 0 and to the left
    elif kind < 0.1:
        factor = 2.0**-40  # multiplier 0
    return Numbers(
        image_zero=one_of(rng, -128, -128, 127, 0, 5, -31),
        result_zero=one_of(rng, -128, -128, 127, 0, -7),
        factor=factor,
        per_channel=bool(rng.random() < 0.7),
        bias_reach=2**30 - 1 if rng.random() < 0.05 else int(10 ** rng.uniform(0, 5)),
        extreme=bool(rng.random() < 0.2),
        activation="none" if rng.random() < 0.8 else str(rng.choice(["relu", "relu6"])),
    )


def random_models(seed: int, count: int) -> list[DepthwiseModel]:
    rng = np.random.default_rng([seed, 41])
    return [
        DepthwiseModel(shape=random_shape(rng), numbers=random_numbers(rng), seed=int(rng.integers(1 << 30)))
        for _ in range(count)
    ]


def kernels_used(found: list[str]) -> Counter[str]:
    """C functions; those for results that end at their zero point count as the others."""
    return Counter(name.replace("_least_", "_") for joined in found for name in joined.split("+"))


def test_whole_tensors(tmp_path: Path) -> None:
    outcomes = run_all(random_models(1, LAYERS), "mps2-an386", tmp_path, "speed", images=1)
    used = kernels_used([name for outcome in outcomes for name in outcome.kernels])
    for name in ("cg_depthwise3x3_s8_dsp", "cg_depthwise_taps_s8_dsp", "cg_depthwise_conv2d_s8"):
        assert used[name] >= 3, used


def test_narrow_weights(tmp_path: Path) -> None:
    """Size takes them wherever it can: a byte of constants is worth fifty instructions to it."""
    nine = {"kernel": (3, 3), "dilation": (1, 1), "multiplier": 1}
    models = [
        replace(
            model, shape=replace(model.shape, **nine, image=(*model.shape.image[:2], 4 + 4 * (index % 5)))
        )
        for index, model in enumerate(random_models(6, 6))
    ]
    outcomes = run_all(models, "mps2-an386", tmp_path, "size", images=1)
    used = kernels_used([name for outcome in outcomes for name in outcome.kernels])
    assert used["cg_depthwise_narrow_s8_dsp"] >= 3, used


@pytest.fixture
def free_flash(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels are chosen by instructions alone: for one layer, code of a kernel is seldom worth its bytes."""
    monkeypatch.setitem(FLASH_WORTH, "balanced", 0)  # pyright: ignore[reportArgumentType]


@pytest.mark.usefixtures("free_flash")
def test_in_place(tmp_path: Path) -> None:
    same_size = {"kernel": (3, 3), "stride": 1, "dilation": (1, 1), "padding": "SAME", "multiplier": 1}
    models = [replace(model, shape=replace(model.shape, **same_size)) for model in random_models(2, LAYERS)]
    outcomes = run_all(models, "mps2-an386", tmp_path, "balanced", images=1)
    used = kernels_used([name for outcome in outcomes for name in outcome.kernels])
    assert used["cg_depthwise3x3_in_place_s8_dsp"] >= 2, used


@pytest.mark.usefixtures("free_flash")
def test_rows_of_blocks(tmp_path: Path) -> None:
    models = [
        replace(model, shape=replace(model.shape, batch=1, padding="SAME"), narrow=2)
        for model in random_models(3, ROWS)
    ]
    outcomes = run_all(models, "mps2-an386", tmp_path, "balanced", images=1)
    used = kernels_used([name for outcome in outcomes for name in outcome.kernels])
    for name in ("cg_depthwise3x3_s8_dsp_row", "cg_depthwise_taps_s8_dsp_row"):
        assert used[name] >= 1, used


def test_wide_images_are_computed_in_stripes(tmp_path: Path) -> None:
    shapes = [
        Shape(image=(5, 90, 4)),
        Shape(image=(6, 131, 6)),
        Shape(image=(5, 101, 4), stride=2),
        Shape(image=(7, 122, 9), stride=2),
        Shape(image=(6, 85, 8), padding="VALID"),
    ]
    models = [DepthwiseModel(shape=shape, seed=seed) for seed, shape in enumerate(shapes)]
    models += [replace(model, layers=2) for model in models]
    outcomes = run_all(models, "mps2-an386", tmp_path, "speed", images=1)
    used = kernels_used([name for outcome in outcomes for name in outcome.kernels])
    assert used["cg_depthwise3x3_s8_dsp"] >= 5, used
    assert used["cg_depthwise3x3_rows_s8_dsp"] >= 2, used


def test_predictions_hold(tmp_path: Path) -> None:
    """Within a tenth of what was measured, for layers as networks have them."""
    models = [
        DepthwiseModel(shape=Shape(image=(24, 24, 1), stride=stride, multiplier=8)) for stride in (1, 2)
    ]
    models += [
        DepthwiseModel(shape=Shape(image=image, stride=stride, kernel=kernel))
        for image, stride, kernel in (
            ((24, 24, 16), 1, (3, 3)),
            ((12, 12, 32), 1, (3, 3)),
            ((25, 5, 64), 1, (3, 3)),
            ((12, 12, 57), 1, (3, 3)),
            ((48, 48, 8), 2, (3, 3)),
            ((12, 12, 32), 2, (3, 3)),
            ((14, 14, 16), 1, (5, 5)),
            ((14, 14, 18), 2, (5, 1)),
        )
    ]
    for outcome in run_all(models, "mps2-an386", tmp_path, "speed", images=1):
        assert outcome.measured is not None
        assert outcome.predicted is not None
        assert abs(outcome.measured - outcome.predicted) < 0.1 * outcome.measured, outcome
