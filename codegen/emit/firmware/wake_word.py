"""Tables of the features of MLPerf Tiny's streaming wake word: window, turns of the transform, mel bands.

By definition: a Hamming window of 1,024 samples at 16 kHz, 40 triangles that are evenly apart in mel (1127
ln(1 + f / 700)) between 0 and 8 kHz (github.com/mlcommons/tiny, streaming_wakeword).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

WINDOW, STEP, BANDS = 1024, 512, 40
_RATE_HZ = 16_000


@dataclass(frozen=True, kw_only=True, slots=True)
class MelBands:
    """Weights that are not 0, one band behind the other; first bin and number of bins of each band."""

    weights: NDArray[np.float32]
    starts: NDArray[np.uint16]
    counts: NDArray[np.uint16]


def hamming() -> NDArray[np.float32]:
    """Factors of the samples of a window, periodic."""
    return (0.54 - 0.46 * np.cos(2 * np.pi * np.arange(WINDOW) / WINDOW)).astype(np.float32)


def twiddles() -> NDArray[np.float32]:
    """Cosine and negative sine of 2 pi k / WINDOW for k below WINDOW / 2, interleaved."""
    angles = 2 * np.pi * np.arange(WINDOW // 2) / WINDOW
    return np.stack([np.cos(angles), -np.sin(angles)], axis=1).astype(np.float32).ravel()


def mel_bands() -> MelBands:
    """The bands by bins of the power spectrum; bin 0 belongs to none."""
    bins = _mel(np.arange(1, WINDOW // 2, dtype=np.float64) * (_RATE_HZ / WINDOW))
    edges = np.linspace(0.0, _mel(np.array(_RATE_HZ / 2)), BANDS + 2)
    rows: list[NDArray[np.float64]] = []
    starts: list[int] = []
    for low, middle, high in zip(edges, edges[1:], edges[2:], strict=False):
        weights = np.minimum((bins - low) / (middle - low), (high - bins) / (high - middle))
        [inside] = np.nonzero(weights > 0)
        rows.append(weights[inside])
        starts.append(int(inside[0]) + 1)
    return MelBands(
        weights=np.concatenate(rows).astype(np.float32),
        starts=np.array(starts, np.uint16),
        counts=np.array([len(row) for row in rows], np.uint16),
    )


def _mel(hertz: NDArray[np.float64]) -> NDArray[np.float64]:
    return 1127.0 * np.log1p(hertz / 700.0)
