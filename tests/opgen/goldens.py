"""The stored outputs: one archive with an index of names, digests and shapes, and all bytes in a row."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tests.opgen.sketch import Arrays

GOLDENS = Path(__file__).with_name("goldens.npz")


@dataclass(frozen=True, kw_only=True, slots=True)
class Golden:
    """What an engine gave for one model, and which bytes that model had."""

    sha256: str
    engine: str
    outputs: tuple[Arrays, ...]


def digest(model: bytes) -> str:
    """SHA-256 of a model file, in hex."""
    return hashlib.sha256(model).hexdigest()


def write(goldens: Mapping[str, Golden], path: Path = GOLDENS) -> None:
    """Store goldens by model name."""
    index = {
        name: [
            golden.sha256,
            golden.engine,
            [[[str(y.dtype), y.shape] for y in case] for case in golden.outputs],
        ]
        for name, golden in goldens.items()
    }
    data = b"".join(y.tobytes() for golden in goldens.values() for case in golden.outputs for y in case)
    text = json.dumps(index, separators=(",", ":")).encode()
    np.savez_compressed(path, index=np.frombuffer(text, np.uint8), data=np.frombuffer(data, np.uint8))


def read(path: Path = GOLDENS) -> dict[str, Golden]:
    """All goldens by model name."""
    with np.load(path) as archive:
        index, data = json.loads(archive["index"].tobytes()), archive["data"].tobytes()
    goldens: dict[str, Golden] = {}
    at = 0
    for name, (sha256, engine, cases) in index.items():
        outputs: list[Arrays] = []
        for case in cases:
            arrays, at = _take(data, at, case)
            outputs.append(arrays)
        goldens[name] = Golden(sha256=sha256, engine=engine, outputs=tuple(outputs))
    return goldens


def _take(data: bytes, at: int, kinds: Sequence[tuple[str, Sequence[int]]]) -> tuple[Arrays, int]:
    arrays: list[np.ndarray] = []
    for dtype, shape in kinds:
        count = int(np.prod(shape, dtype=np.int64))
        arrays.append(np.frombuffer(data, dtype, count, at).reshape(shape))
        at += count * np.dtype(dtype).itemsize
    return tuple(arrays), at
