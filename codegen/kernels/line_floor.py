"""A floor of the bytes of a block's lines, found without a simulation, step by step from its end.

What a step has to see at once depends on the steps behind it alone. So a block that grows at its front keeps
what is known of the rest, and all blocks that end with one step cost as much as the longest of them.
"""

from functools import lru_cache

from codegen.ir import Var
from codegen.kernels.fused import delivery, stage_of
from codegen.kernels.primfunc import PrimFunc
from codegen.kernels.rows import Axis, Stage, joined

_Span = tuple[int, int]


class _Wanted:
    """What the steps so far read of one value: rows, columns, rows that one of them sees at once."""

    __slots__ = ("columns", "kept", "rows")

    def __init__(self) -> None:
        self.rows: _Span = (0, 0)
        self.columns: _Span = (0, 0)
        self.kept = 1


class LineFloor:
    """The lines of a block that grows at its front, without stripes."""

    def __init__(self, streamed: str | None = None) -> None:
        """`streamed`: the argument that is delivered row by row, whose lines count where a step reads it."""
        self._streamed = streamed
        self._arguments: dict[str, tuple[Var, _Wanted]] = {}
        self._inner_bytes = 0
        self._is_empty = True

    @property
    def arguments(self) -> tuple[Var, ...]:
        """Values that the steps so far read but do not compute."""
        return tuple(var for var, _ in self._arguments.values())

    @property
    def bytes(self) -> int:
        """A floor of the bytes of lines: the rows that some reader of a stage has to see at once."""
        delivered = self._arguments.get(self._streamed) if self._streamed is not None else None
        if delivered is None:
            return self._inner_bytes
        return self._inner_bytes + _line_bytes(delivery(delivered[0]), delivered[1])

    def grow(self, prim: PrimFunc) -> None:
        """Put `prim`, which has a row kernel, in front of the steps so far, which read its result."""
        sources = {arg.name: arg for arg in prim.let.call.args if isinstance(arg, Var)}
        stage = stage_of(prim, dict.fromkeys(sources, -1))
        if self._is_empty:
            rows, columns = (0, stage.rows.count), (0, stage.columns.count)
        else:
            _, wanted = self._arguments.pop(prim.let.var.name)
            rows, columns = wanted.rows, wanted.columns
            self._inner_bytes += _line_bytes(stage, wanted)
        self._is_empty = False
        for name, var in sources.items():
            _, read = self._arguments.setdefault(name, (var, _Wanted()))
            span, most = _rows_read(stage.rows, *rows)
            read.rows = joined(read.rows, span)
            read.columns = joined(read.columns, stage.columns.cover(*columns))
            read.kept = max(read.kept, most)


@lru_cache(maxsize=1 << 12)
def _rows_read(axis: Axis, start: int, stop: int) -> tuple[_Span, int]:
    """Rows that results [start, stop) read, and the most that one of them sees at once."""
    return axis.span(start, stop), axis.most_at_once(start, stop)


def _line_bytes(stage: Stage, wanted: _Wanted) -> int:
    start, stop = wanted.columns
    return wanted.kept * (stop - start) * stage.pixel_bytes
