"""Stripes of columns and bands of rows of the 3x3 depthwise convolution: workspaces, instructions."""

from dataclasses import dataclass

from codegen.kernels.base.walk import Fields
from codegen.kernels.base.window import WindowShape
from codegen.kernels.dsp.depthwise.channels import GROUP

BAND_ROWS = 4
"""Result rows computed together at stride 1."""
IN_PLACE_ROWS = 2
"""Result rows computed together where they replace the image."""
BAND_LINES, IN_PLACE_LINES, ROW_LINES = 6, 4, 3
"""Image rows in the workspace: for a band, for one in place, for one row."""
LIMIT_BYTES = {BAND_LINES: 2048, ROW_LINES: 1248}
"""Largest workspace by its lines: wider images are computed in stripes of columns."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ColumnTile:
    """Columns of the result at a time; bytes of one channel's lines for them, and of all in the workspace."""

    columns: int
    plane_bytes: int
    workspace_bytes: int

    @property
    def fields(self) -> Fields:
        """Fields of a `cg_dw_tile`."""
        return (("columns", self.columns), ("plane_bytes", self.plane_bytes))


def words(columns: int, stride: int) -> int:
    """Words of a line that so many columns of results read, a pair at a time: `words_of` in C."""
    return stride * -(-columns // 2) + 1


def band_tile(window: WindowShape) -> ColumnTile:
    """Tile for bands of rows in pairs; an image with fewer rows lacks the last lines."""
    height = min(BAND_ROWS, window.result[1])
    missing = BAND_LINES - (2 * -(-height // 2) + 2)
    return _tile(window, BAND_LINES, missing)


def in_place_tile(window: WindowShape) -> ColumnTile:
    """Tile for bands of two rows as wide as the image."""
    return _tile(window, IN_PLACE_LINES, 0, whole=True)


def row_tile(window: WindowShape, *, planes: int = GROUP) -> ColumnTile:
    """Tile for single rows of `planes` channels."""
    return _tile(window, ROW_LINES, 0, planes=planes)


def _tile(
    window: WindowShape, lines: int, missing_lines: int, *, planes: int = GROUP, whole: bool = False
) -> ColumnTile:
    """Tile of the fewest stripes, as even as multiples of four are, whose lines do not take too many
    bytes."""
    width, stripes = window.result[2], 1
    while True:
        columns = -(-width // stripes // 4) * 4
        plane_bytes = 4 * lines * words(min(columns, width), window.stride[1])
        workspace_bytes = planes * plane_bytes - 4 * missing_lines
        if whole or columns == 4 or workspace_bytes <= LIMIT_BYTES[lines]:
            return ColumnTile(columns=columns, plane_bytes=plane_bytes, workspace_bytes=workspace_bytes)
        stripes += 1


def rounding_instructions(window: WindowShape) -> int:
    """Instructions that rounding as ONNX does adds to the short way: 5 for four results, two rows of two
    columns."""
    batch, height, width, depth = window.result
    return batch * depth * 5 * -(-height // 2) * -(-width // 2)


def widened(rows: int, pairs: int, depth: int, behind: int = 0) -> int:
    """Instructions to widen `rows` rows of four channels, two rows at a time; `behind`: words of padding
    behind."""
    return 12 + -(-rows // 2) * (42 + pairs * (24 if depth % GROUP == 0 else 34) + 6 * behind)


def _two_rows(columns: int, *, saved: bool) -> int:
    """Instructions of two rows of a channel's results, two columns at a time, and an odd one. `saved`: one
    fewer a result."""
    return 20 + columns // 2 * (53 if saved else 57) + columns % 2 * (27 if saved else 29)


@dataclass(frozen=True, kw_only=True, slots=True)
class _LineWords:
    """Words of a line: those with a pixel of the image, and those of padding alone."""

    inside: int
    padding: int


def _line_words(window: WindowShape, left: int, columns: int, widest: int) -> _LineWords:
    """Words of a line that `columns` results from `left` on need, as `start_stripe` in C. The last pair may
    be a pixel and padding."""
    across = window.axes[1]
    origin = left * across.stride - across.pad
    lead = int(origin < 0)
    needed = (columns - 1) * across.stride + 3 - lead
    count = max(0, min(across.extent - origin - lead, needed))
    every = words(widest, across.stride)
    inside = min(-(-(lead + count) // 2), every)
    return _LineWords(inside=inside, padding=every - inside)


def band_instructions(window: WindowShape, tile: ColumnTile, rows: int, *, saved: bool) -> int:
    """Predicted instructions of a call: lines widened and results computed, by stripe, band, group and
    channel."""
    batch, height, width, depth = window.result
    stride, groups = window.stride[0], -(-depth // GROUP)
    down = window.axes[0]
    total = 0
    for left in range(0, width, tile.columns):
        columns = min(tile.columns, width - left)
        line = _line_words(window, left, columns, min(tile.columns, width))
        every = line.inside + line.padding
        for top in range(0, height, rows):
            bottom = min(top + rows, height)
            first, end = down.span(top, bottom)
            lines, padding = end - first, (bottom - top - 1) * stride + 3 - (end - first)
            if rows > 1:
                lined = widened(lines + padding, line.inside, depth, line.padding)
                channel = 17 + -(-(bottom - top) // 2) * _two_rows(columns, saved=saved)
            else:
                one = 36 + line.inside * (15 if depth % GROUP == 0 else 21) + 6 * line.padding
                lined = lines * one + padding * (24 + 6 * every)
                channel = 29 + -(-columns // 2) * (56 if saved else 61) // 2
            total += 150 + groups * (50 + lined) + depth * channel
    return batch * total


def in_place_instructions(window: WindowShape, *, saved: bool) -> int:
    """Predicted instructions of a call: every image row is widened once, two of four lines are kept."""
    batch, height, width, depth = window.result
    groups, line = -(-depth // GROUP), _line_words(window, 0, width, width)
    bands = -(-height // IN_PLACE_ROWS)
    lined = widened(2 * (bands + 1), line.inside, depth, line.padding)
    channel = 7 + _two_rows(width, saved=saved)
    kept = 75 + 10 * (line.inside + line.padding)
    return batch * groups * (lined + bands * (kept + GROUP * channel))
