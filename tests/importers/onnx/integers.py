"""Digests of the integers that onnxruntime gives for drawn networks."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

RECORD = Path(__file__).with_name("integers.npz")
"""`digests`, one a network; `reals`, of `drawn_reals.EXACT`; `chain`, the outputs of the chain:
`python -m tests.importers.onnx.record`."""


def digest(outputs: Sequence[np.ndarray]) -> int:
    """Eight bytes of the SHA-256 of types, shapes and elements."""
    found = hashlib.sha256()
    for output in outputs:
        found.update(f"{output.dtype}{output.shape}".encode() + np.ascontiguousarray(output).tobytes())
    return int.from_bytes(found.digest()[:8], "little")
