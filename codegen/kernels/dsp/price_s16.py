"""Instructions of the int16 kernels on the DSP extension: counted in the assembly (tile_s16_dsp.S), fitted to
single layers measured on QEMU (gcc 12 -O3) for the C that copies windows (conv2d_s16_dsp.c)."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import accumulate
from types import MappingProxyType

from codegen.kernels.base.window import WindowShape

COSTS: Mapping[str, float] = MappingProxyType(
    {
        "layer": 130,
        "row": 53.8,
        "tile": 31.6,
        "tile of runs": 15.5,
        "run": 33,
        "run word": 4.26,
        "window": 82.3,
        "inner row": 74.3,
        "outer row": 22.9,
        "words": 23,
        "word": 3.56,
        "cleared word": 4.72,
        "odd row": 27.2,
        "odd tap": 20.8,
        "odd tap outside": 11.4,
        "odd value": 11.3,
        "odd value outside": 9.76,
    }
)
"""Instructions in C for each call, row of results, tile; for each tile copied by runs, run of four windows,
word of each; for each window copied alone, row of taps inside the image and outside, run of words, word, word
of padding; where channels are odd, row of taps, tap and value of one, inside the image and outside."""
FULLY_CONNECTED, FULLY_CONNECTED_ROW = 30, 12
"""Instructions in C for each call and each row of a FULLY_CONNECTED."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Layer:
    """Sizes of a layer on which the assembly's loops depend."""

    channels: int
    values: int
    """Weights of a channel."""
    is_clamped: bool
    rounds_even: bool = False
    """Results are rounded as ONNX does, by float32."""


def tiles(pixels: int) -> tuple[int, ...]:
    """Pixels of each tile of a row: fours, then three together or single ones."""
    rest = pixels % 4
    return (4,) * (pixels // 4) + ((3,) if rest == 3 else (1,) * rest)


def _pairs(layer: Layer) -> tuple[int, int, int, int]:
    """(pairs of channels, turns of four words, words left, 1 if the last pair has one channel)."""
    words = (layer.values + 1) // 2
    return (layer.channels + 1) // 2, words // 4, words % 4, layer.channels % 2


def _four(layer: Layer) -> int:
    """Instructions of all channels of a tile of four pixels."""
    pairs, turns, rest, odd = _pairs(layer)
    scaled = 49 if layer.rounds_even else 30
    pair = 10 + 55 * turns + 3 + 16 * rest + scaled + (50 if layer.is_clamped else 8) + 16
    return 15 + 2 * layer.rounds_even + pairs * pair - 8 + 8 - 4 * odd


def _one(layer: Layer) -> int:
    """Instructions of all channels of one pixel."""
    pairs, turns, rest, odd = _pairs(layer)
    scaled = 20 if layer.rounds_even else 11
    pair = 4 + 20 * turns + 3 + 8 * rest + scaled + (14 if layer.is_clamped else 2) + 10
    return 12 + 2 * layer.rounds_even + pairs * pair - 5 + 5 - odd


def rows_instructions(rows: int, layer: Layer) -> int:
    """Predicted instructions of one FULLY_CONNECTED, row by row."""
    return FULLY_CONNECTED + rows * (FULLY_CONNECTED_ROW + _one(layer))


def conv_instructions(window: WindowShape, layer: Layer) -> int:
    """Predicted instructions of one convolution."""
    rows = window.result[0] * window.result[1]
    computed = sum(_four(layer) if size > 1 else _one(layer) for size in tiles(window.result[2]))
    around = sum(COSTS[what] * count for what, count in copied(window).items())
    return rows * computed + round(around)


def copied(window: WindowShape) -> Mapping[str, int]:
    """How often each of `COSTS` arises."""
    down, _ = window.axes
    counts: Counter[str] = Counter(layer=1)
    row = tiles(window.result[2])
    starts = list(accumulate(row, initial=0))[:-1]
    by_runs = [is_by_runs(window, start, size) for start, size in zip(starts, row, strict=True)]
    # Rows with as many tap rows inside the image are alike.
    for inner, alike in Counter(down.inner).items():
        one = _copied_row(window, inner, zip(starts, row, by_runs, strict=True))
        for what, count in one.items():
            counts[what] += alike * count
    return {what: count * (1 if what == "layer" else window.result[0]) for what, count in counts.items()}


def _copied_row(window: WindowShape, inner: int, row: Iterable[tuple[int, int, bool]]) -> Counter[str]:
    """Counts for one row of results, `inner` tap rows of which are inside the image. `row` has for each tile
    its start, its pixels, and whether it is copied by runs."""
    down, across = window.axes
    counts: Counter[str] = Counter(row=1)
    for start, size, is_fast in row:
        counts["tile"] += 1
        if is_fast:
            words = across.window * window.image[3] // 2
            counts.update({"tile of runs": 1, "run": down.window, "run word": 4 * inner * words})
            counts["cleared word"] += 4 * (down.window - inner) * words
            continue
        columns = [min(start + pixel, start + size - 1) for pixel in range(4 if size > 1 else 1)]
        for x in columns:
            _count_window(counts, window, inner, across.inner[x])
    return counts


def is_by_runs(window: WindowShape, column: int, size: int) -> bool:
    """True if the windows of a tile of `size` pixels from `column` on are copied four at a time."""
    across = window.axes[1]
    first = column * across.stride - across.pad
    last = first + (size - 1) * across.stride + across.window
    return (
        size > 1
        and across.dilation == 1
        and window.image[3] % 2 == 0
        and first >= 0
        and last <= across.extent
    )


def _count_window(counts: Counter[str], window: WindowShape, rows: int, taps: int) -> None:
    """Count one window copied alone, `rows` rows of `taps` taps of which are inside the image."""
    height, width = window.window
    channels = window.image[3]
    if rows == 0 or taps == 0:
        rows = taps = 0
    counts["window"] += 1
    if channels % 2:
        inside = rows * taps
        counts.update({"odd row": height, "odd tap": inside, "odd value": inside * channels})
        left_out = height * width - inside
        counts.update({"odd tap outside": left_out, "odd value outside": left_out * channels})
        return
    words = channels // 2
    counts.update({"inner row": rows, "outer row": height - rows})
    counts["words"] += rows * (1 if window.dilation[1] == 1 else taps)
    counts["word"] += rows * taps * words
    counts["cleared word"] += (height * width - rows * taps) * words
