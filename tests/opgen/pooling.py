"""AVERAGE_POOL_2D, MAX_POOL_2D and MEAN, int8 and float32."""

from tests.opgen.convolutions import ACTIVATIONS, Window, draw_image, draw_window
from tests.opgen.dice import Dice
from tests.opgen.sketch import Drawn, Sketch, Value


def append_pool(sketch: Sketch, name: str, x: Value, window: Window) -> Value:
    """A pool of `x`; both sides have one quantisation, as the engines demand."""
    y = sketch.tensor((x.shape[0], *window.result, x.shape[3]), x.affine)
    return sketch.op(
        name,
        [x],
        y,
        padding=window.padding,
        stride_h=window.stride[0],
        stride_w=window.stride[1],
        filter_height=window.kernel[0],
        filter_width=window.kernel[1],
        activation=sketch.dice.pick(ACTIVATIONS),
    )


def _pool(dice: Dice, name: str, *, quantised: bool) -> Drawn:
    sketch, window = Sketch(dice), draw_window(dice, dilated=False)
    x = draw_image(sketch, window, dice.integer(1, 9), quantised=quantised)
    return sketch.finish(append_pool(sketch, name, x, window))


def average_pool(dice: Dice, quantised: bool) -> Drawn:
    """AVERAGE_POOL_2D."""
    return _pool(dice, "AVERAGE_POOL_2D", quantised=quantised)


def max_pool(dice: Dice, quantised: bool) -> Drawn:
    """MAX_POOL_2D."""
    return _pool(dice, "MAX_POOL_2D", quantised=quantised)


def mean(dice: Dice, quantised: bool) -> Drawn:
    """MEAN over any axes, written from either end; the usual global pooling in half of the draws."""
    sketch = Sketch(dice)
    rank = dice.pick((4, 4, 4, 4, 4, 3, 3, 2, 1, 5))
    shape = dice.integers(1, 9 if rank < 5 else 4, rank)
    most = rank if dice.chance(25) else max(1, rank - 2)
    axes = [1, 2] if rank == 4 and dice.chance(60) else dice.shuffled(range(rank))[: dice.integer(1, most)]
    keep = dice.chance(50)
    result = [1 if axis in axes else extent for axis, extent in enumerate(shape) if keep or axis not in axes]
    affine = sketch.affine() if quantised else None
    x = sketch.input(shape, affine)
    other = sketch.near(affine) if affine and dice.chance(60) else affine
    y = sketch.tensor(result, other)
    written = sketch.constant([axis - rank if dice.chance(25) else axis for axis in axes])
    return sketch.finish(sketch.op("MEAN", [x, written], y, keep_dims=keep))
