"""The example's network in float32, forwards and backwards, in NumPy alone.

image 8x8x1 -> conv 3x3 x16 relu -+-> depthwise 3x3 relu -> pointwise x16 relu -+-> add
                                  +---------------------------------------------+
-> average pool 2x2 -> conv 3x3 VALID x24 relu -> fully connected x10 -> softmax
"""

from collections.abc import Mapping

import numpy as np

Weights = dict[str, np.ndarray]
Values = dict[str, np.ndarray]

FEATURES = 16
DEEP_FEATURES = 24
CLASSES = 10
SHAPES: Mapping[str, tuple[int, ...]] = {
    "stem": (3, 3, 1, FEATURES),
    "depthwise": (3, 3, FEATURES),
    "pointwise": (1, 1, FEATURES, FEATURES),
    "deep": (3, 3, FEATURES, DEEP_FEATURES),
    "classes": (2 * 2 * DEEP_FEATURES, CLASSES),
}
"""Weights by layer; each layer also has a bias `<layer>_bias` as long as its last extent."""


def initial(rng: np.random.Generator) -> Weights:
    """Random weights, scaled so that variance is kept through a ReLU (He et al., 2015)."""
    weights: Weights = {}
    for layer, shape in SHAPES.items():
        taps = int(np.prod(shape[:2] if layer == "depthwise" else shape[:-1]))
        weights[layer] = (rng.standard_normal(shape) * np.sqrt(2 / taps)).astype(np.float32)
        weights[f"{layer}_bias"] = np.zeros(shape[-1], np.float32)
    return weights


def _padded(x: np.ndarray, border: int) -> np.ndarray:
    return np.pad(x, ((0, 0), (border, border), (border, border), (0, 0)))


def _taps(kernel: np.ndarray) -> list[tuple[int, int]]:
    return [(row, column) for row in range(kernel.shape[0]) for column in range(kernel.shape[1])]


def _convolve(x: np.ndarray, kernel: np.ndarray, border: int) -> np.ndarray:
    """Stride 1, `border` zeros around the image; a kernel of three axes is depthwise."""
    padded = _padded(x, border)
    height, width = (padded.shape[axis + 1] - kernel.shape[axis] + 1 for axis in (0, 1))
    parts = (
        (padded[:, row : row + height, column : column + width], kernel[row, column])
        for row, column in _taps(kernel)
    )
    return sum(part * tap if tap.ndim == 1 else part @ tap for part, tap in parts)


def _convolve_back(
    x: np.ndarray, kernel: np.ndarray, border: int, gradient: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Gradients of the image and of the kernel."""
    padded = _padded(x, border)
    height, width = gradient.shape[1:3]
    back, kernel_gradient = np.zeros_like(padded), np.zeros_like(kernel)
    for row, column in _taps(kernel):
        view = np.s_[:, row : row + height, column : column + width]
        tap = kernel[row, column]
        if tap.ndim == 1:
            back[view] += gradient * tap
            kernel_gradient[row, column] = np.einsum("nhwc,nhwc->c", padded[view], gradient)
        else:
            back[view] += gradient @ tap.T
            kernel_gradient[row, column] = np.tensordot(padded[view], gradient, ((0, 1, 2), (0, 1, 2)))
    inner = np.s_[:, border : padded.shape[1] - border, border : padded.shape[2] - border]
    return back[inner], kernel_gradient


def _relu(x: np.ndarray) -> np.ndarray:
    return np.maximum(x, 0)


def forward(weights: Weights, images: np.ndarray) -> Values:
    """Every layer's result for images of shape (n, 8, 8, 1)."""
    v: Values = {"image": images}
    v["stem"] = _relu(_convolve(images, weights["stem"], 1) + weights["stem_bias"])
    v["depthwise"] = _relu(_convolve(v["stem"], weights["depthwise"], 1) + weights["depthwise_bias"])
    v["pointwise"] = _relu(_convolve(v["depthwise"], weights["pointwise"], 0) + weights["pointwise_bias"])
    v["sum"] = v["stem"] + v["pointwise"]
    count, height, width, features = v["sum"].shape
    v["pool"] = v["sum"].reshape(count, height // 2, 2, width // 2, 2, features).mean((2, 4))
    v["deep"] = _relu(_convolve(v["pool"], weights["deep"], 0) + weights["deep_bias"])
    v["classes"] = v["deep"].reshape(count, -1) @ weights["classes"] + weights["classes_bias"]
    return v


def gradients(weights: Weights, images: np.ndarray, labels: np.ndarray) -> Weights:
    """Gradients of the mean cross entropy of softmax."""
    v = forward(weights, images)
    count = len(labels)
    odds = np.exp(v["classes"] - v["classes"].max(1, keepdims=True))
    error = odds / odds.sum(1, keepdims=True)
    error[np.arange(count), labels] -= 1
    error /= count
    found: Weights = {}
    found["classes"] = v["deep"].reshape(count, -1).T @ error
    found["classes_bias"] = error.sum(0)
    back = (error @ weights["classes"].T).reshape(v["deep"].shape)
    back = _layer_back(found, weights, v, "deep", "pool", 0, back)
    back = back.repeat(2, 1).repeat(2, 2) / 4
    branch = _layer_back(found, weights, v, "pointwise", "depthwise", 0, back)
    branch = _layer_back(found, weights, v, "depthwise", "stem", 1, branch)
    _layer_back(found, weights, v, "stem", "image", 1, back + branch)
    return found


def _layer_back(
    found: Weights, weights: Weights, v: Values, layer: str, source: str, border: int, back: np.ndarray
) -> np.ndarray:
    """Gradient of a convolution's image; its weights' gradients go to `found`."""
    back = back * (v[layer] > 0)
    found[f"{layer}_bias"] = back.sum((0, 1, 2))
    back, found[layer] = _convolve_back(v[source], weights[layer], border, back)
    return back
