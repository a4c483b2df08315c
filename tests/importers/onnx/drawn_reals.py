"""Random quantised networks, as `drawn` has them: of Resize, Softmax and curves, and of layers whose weights
have a zero point."""

from typing import Any

import numpy as np
from numpy.random import Generator

from tests.importers.onnx.drawn import Builder, Draft, Network, make_node, weighted

_PLACES = ("align_corners", "asymmetric", "half_pixel", "pytorch_half_pixel")


def _resize(*, nearest: bool) -> Builder:
    def build(rng: Generator, batch: int) -> Network:
        draft = Draft(rng, batch)
        places = (((batch, 3, 5, 4), (2, 3)), ((batch, 5, 4, 3), (1, 2)), ((5 * batch, 6), (0, 1)))
        shape, axes = places[0 if nearest else int(rng.integers(3))]
        draft.integers("x", shape, draft.scale(-12, 7))
        for what in ("s", "z"):
            draft.constants[f"y_{what}"] = draft.constants[f"x_{what}"]
        if rng.random() < 0.5:
            draft.meaning("y", np.float32(draft.constants["x_s"] * 2.0 ** rng.uniform(-1, 1)), draft.zero())
        times = np.ones(len(shape), np.float32)
        times[list(axes)] = rng.choice((2.0, 3.0) if nearest else (0.5, 0.75, 1.5, 2.0, 2.4, 3.0), 2)
        draft.constants["times"] = times
        names = ["x_r", "", "times"]
        if not nearest and rng.random() < 0.5:
            draft.constants["sizes"] = np.floor(times * shape).astype(np.int64)
            names = ["x_r", "", "", "sizes"]
            del draft.constants["times"]
        how: dict[str, Any] = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
        if not nearest:
            how = {"coordinate_transformation_mode": str(rng.choice(_PLACES))}
        draft.nodes.append(
            make_node("Resize", names, ["real"], mode="nearest" if nearest else "linear", **how)
        )
        return draft.finish("resize_nearest" if nearest else "resize_linear")

    return build


def _softmax(rng: Generator, batch: int) -> Network:
    draft = Draft(rng, batch)
    draft.integers("x", (4 * batch, int(rng.integers(2, 40))), draft.scale(-7, 0))
    low = 0 if np.dtype(draft.dtype).kind == "u" else -128
    draft.meaning("y", np.float32(1 / 256), low if rng.random() < 0.7 else draft.zero())
    draft.nodes.append(make_node("Softmax", ["x_r"], ["real"], axis=-1))
    names = ["x", "x_s", "x_z", "y_s", "y_z"]
    integer = make_node("QLinearSoftmax", names, ["y"], domain="com.microsoft", axis=-1, opset=13)
    return draft.finish("softmax", integer)


def _curve(op: str, low: float = -7, **attributes: Any) -> Builder:
    def build(rng: Generator, batch: int) -> Network:
        draft = Draft(rng, batch)
        draft.integers("x", (2 * batch, 3, 50), draft.scale(low, -3))
        draft.meaning("y", draft.scale(-8, -3), draft.zero())
        draft.nodes.append(make_node(op, ["x_r"], ["real"], **attributes))
        return draft.finish(op.lower())

    return build


def _asymmetric_conv(rng: Generator, batch: int) -> Network:
    draft = Draft(rng, batch, np.uint8)
    inputs, outputs, side = int(rng.integers(2, 7)), int(rng.integers(1, 9)), int(rng.integers(1, 4))
    image = draft.scale(-12, 2)
    draft.integers("x", (batch, inputs, 6, 7), image)
    weighted(draft, (outputs, inputs, side, side), 0, image, inputs * side * side)
    zero = int(rng.integers(90, 160))
    draft.constants["w"] = (draft.constants["w"].astype(np.int16) + 128).astype(np.uint8)
    draft.constants["w_z"] = np.full(draft.constants["w_s"].shape, zero, np.uint8)
    more = {"pads": [side // 2] * 4, "kernel_shape": [side, side]}
    draft.nodes.append(make_node("Conv", ["x_r", "w_r", "b_r"], ["real"], **more))
    names = ["x", "x_s", "x_z", "w", "w_s", "w_z", "y_s", "y_z", "b"]
    return draft.finish("asymmetric_conv", make_node("QLinearConv", names, ["y"], **more))


def _asymmetric_matmul(rng: Generator, batch: int) -> Network:
    draft = Draft(rng, batch, np.uint8)
    inputs, outputs = int(rng.integers(3, 60)), int(rng.integers(2, 9))
    image = draft.scale(-12, 2)
    draft.integers("x", (6 * batch, inputs), image)
    weighted(draft, (inputs, outputs), 1, image, inputs)
    draft.without_bias()
    draft.constants["w"] = (draft.constants["w"].astype(np.int16) + 128).astype(np.uint8)
    draft.constants["w_z"] = np.full(draft.constants["w_s"].shape, int(rng.integers(90, 160)), np.uint8)
    draft.nodes.append(make_node("MatMul", ["x_r", "w_r"], ["real"]))
    names = ["x", "x_s", "x_z", "w", "w_s", "w_z", "y_s", "y_z"]
    return draft.finish("asymmetric_matmul", make_node("QLinearMatMul", names, ["y"]))


BUILDERS: tuple[Builder, ...] = (
    _resize(nearest=True),
    _resize(nearest=False),
    _softmax,
    _curve("HardSigmoid"),
    _curve("HardSwish"),
    _curve("Exp"),
    _asymmetric_conv,
    _asymmetric_matmul,
)


def network(seed: int, batch: int = 1) -> Network:
    """Network number `seed`, as `drawn.network`."""
    return BUILDERS[seed % len(BUILDERS)](np.random.default_rng([18, seed]), batch)


EXACT = 48
"""Networks 0 to 47 are those that a test compares in each bit."""
