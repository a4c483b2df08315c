"""Weights as the ARMv7-M convolutions read them: in runs whose sums fit 16 bits.

The layout is stated in runtime_c/include/cg_kernels_v7m.h.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from codegen.kernels.contract import LinkedConstant
from codegen.kernels.v7m.layer import Channels
from codegen.kernels.v7m.requantize import LAST

RUN_PAIRS = 8
"""Most pairs of weights in a run: CG_RUN_PAIRS_V7M."""
HIGHEST, LOWEST = 32768, -32767
"""Sums of a run stay within these: plus 32767 the lower pixel's fits 16 bits, less 1 the upper one's does."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Runs:
    """Pairs of weights [O, P, 2], and which of them begin a run [O, P]; the first of a channel does."""

    pairs: NDArray[np.int8]
    starts: NDArray[np.bool_]

    @property
    def counts(self) -> NDArray[np.int64]:
        """Runs of every channel."""
        return self.starts.sum(axis=1, dtype=np.int64)


def runs_of(weights: NDArray[np.int8]) -> Runs:
    """The fewest runs of weights [O, K], padded with a zero where K is odd: each as long as its sums allow,
    whatever int8 pixels it meets."""
    padded = np.pad(weights, ((0, 0), (0, weights.shape[1] % 2)))
    pairs = padded.reshape(len(padded), -1, 2)
    wide = pairs.astype(np.int64)
    high = np.maximum(127 * wide, -128 * wide).sum(axis=2)
    low = np.minimum(127 * wide, -128 * wide).sum(axis=2)
    starts = np.zeros(high.shape, np.bool_)
    run = np.zeros((3, len(padded)), np.int64)
    for pair in range(high.shape[1]):
        alone = np.stack((high[:, pair], low[:, pair], np.ones(len(padded), np.int64)))
        longer = run + alone
        new = (longer[0] > HIGHEST) | (longer[1] < LOWEST) | (longer[2] > RUN_PAIRS) | (pair == 0)
        starts[:, pair] = new
        run = np.where(new, alone, longer)
    return Runs(pairs=np.ascontiguousarray(pairs), starts=starts)


def weight_bytes(runs: Runs) -> NDArray[np.int8]:
    """Weights with a byte behind each run's first pair."""
    starts = runs.starts.reshape(-1)
    places = 2 * np.arange(len(starts)) + np.cumsum(starts) - starts
    found = np.zeros(2 * len(starts) + int(starts.sum()), np.uint8)
    pairs = runs.pairs.reshape(-1, 2).view(np.uint8)
    found[places] = pairs[:, 0]
    # The byte stands between a run's first pair and its second.
    found[places + 1] = pairs[:, 1]
    begins = np.flatnonzero(starts)
    lengths = np.diff(np.append(begins, len(starts)))
    per_channel = runs.starts.shape[1]
    is_last = (begins + lengths) % per_channel == 0
    found[places[begins] + 2] = 2 * (lengths - 1) + is_last
    return found.view(np.int8)


def channel_words(channels: Channels, runs: Runs) -> NDArray[np.int32]:
    """CG_CONV_WORDS_V7M words of every channel."""
    upper = channels.bias.astype(np.int64) + runs.counts
    whole = channels.bias.astype(np.int64) + (upper << 16) - 32767 * runs.counts
    sums = (np.stack((whole, upper), axis=1) & 0xFFFFFFFF).astype(np.uint32).view(np.int32)
    bits = np.zeros(len(upper), np.int64)
    bits[-1] = LAST
    return np.concatenate((sums, channels.requantization.words(bits)), axis=1).reshape(-1)


def linked(channels: Channels, runs: Runs) -> tuple[LinkedConstant, LinkedConstant]:
    """Both constants of a convolution."""
    return (
        LinkedConstant(
            role="weights",
            data=weight_bytes(runs),
            alignment=1,
            layout="channel by channel in pairs of weights, a run length behind the first pair of a run",
        ),
        LinkedConstant(
            role="channels",
            data=channel_words(channels, runs),
            alignment=4,
            layout="channel by channel: two words of bias, then requantization",
        ),
    )
