"""Trains, quantises and writes the shipped example: `python examples/digits/train.py`.

Needs scikit-learn (`pip install '.[train]'` in the checkout) for its 1797 handwritten digits of 8x8
pixels. Writes `digits.tflite` and `digits_test.npz` (`x`: held-out images as int8 inputs, `labels`) beside
this script.
"""

from collections.abc import Iterator
from pathlib import Path

import network
import numpy as np
import quantise
from sklearn.datasets import load_digits

from codegen.importers import load
from codegen.ir.evaluate import evaluate

SEED = 1
HELD_OUT = 200
EPOCHS = 60
BATCH = 64
RATE = 4e-3
FOLDER = Path(__file__).parent


def shifted(images: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Images moved by up to one pixel each way, all of a batch alike."""
    padded = np.pad(images, ((0, 0), (1, 1), (1, 1), (0, 0)))
    row, column = rng.integers(0, 3, 2)
    return padded[:, row : row + images.shape[1], column : column + images.shape[2]]


def batches(count: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Indices of all samples in random order, a batch at a time."""
    order = rng.permutation(count)
    yield from (order[start : start + BATCH] for start in range(0, count, BATCH))


def train(images: np.ndarray, labels: np.ndarray, rng: np.random.Generator) -> network.Weights:
    """Adam (Kingma and Ba, 2015) with a rate that falls to 0 along a cosine."""
    weights = network.initial(rng)
    first = {name: np.zeros_like(value) for name, value in weights.items()}
    second = {name: np.zeros_like(value) for name, value in weights.items()}
    step, steps = 0, EPOCHS * -(-len(labels) // BATCH)
    for _ in range(EPOCHS):
        for chosen in batches(len(labels), rng):
            rate = RATE * 0.5 * (1 + np.cos(np.pi * step / steps))
            step += 1
            found = network.gradients(weights, shifted(images[chosen], rng), labels[chosen])
            for name, gradient in found.items():
                first[name] += 0.1 * (gradient - first[name])
                second[name] += 0.001 * (gradient * gradient - second[name])
                direction = (first[name] / (1 - 0.9**step)) / (
                    np.sqrt(second[name] / (1 - 0.999**step)) + 1e-8
                )
                weights[name] = (weights[name] - rate * direction).astype(np.float32)
    return weights


def int8_accuracy(path: Path, images: np.ndarray, labels: np.ndarray) -> float:
    """Accuracy of the written file by this project's reference evaluation."""
    module = load(path)
    hits = [
        int(np.argmax(evaluate(module, module.main, [image[np.newaxis]])[0])) == label
        for image, label in zip(images, labels, strict=True)
    ]
    return float(np.mean(hits))


def main() -> None:
    """Train, write, report."""
    digits = load_digits()
    rng = np.random.default_rng(SEED)
    order = rng.permutation(len(digits.target))
    held_out, seen = order[:HELD_OUT], order[HELD_OUT:]
    images = (digits.images[..., np.newaxis] / quantise.BRIGHTEST).astype(np.float32)
    weights = train(images[seen], digits.target[seen], rng)
    guesses = network.forward(weights, images[held_out])["classes"].argmax(1)
    model = quantise.write_model(weights, images[seen])
    path = FOLDER / "digits.tflite"
    path.write_bytes(model)
    x, labels = quantise.stored_images(digits.images[held_out]), digits.target[held_out].astype(np.uint8)
    np.savez_compressed(FOLDER / "digits_test.npz", x=x, labels=labels)
    print(f"parameters     {sum(value.size for value in weights.values())}")
    print(f"held out       {HELD_OUT} of {len(order)} images")
    print(f"float accuracy {np.mean(guesses == digits.target[held_out]):.1%}")
    print(f"int8 accuracy  {int8_accuracy(path, x, labels):.1%}")
    print(f"model file     {len(model)} bytes")


if __name__ == "__main__":
    main()
