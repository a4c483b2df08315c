"""Memory and time that one file may ask for, counted from shapes before anything is allocated."""

from codegen.importers.limits import (
    MAX_FOLDED_EFFORT,
    MAX_PIXELS,
    MAX_PIXELS_TOGETHER,
    MAX_SIDE,
    RAISE,
    STATED,
    ByteLimits,
)
from codegen.importers.reporting import AlreadyReported, Refused
from codegen.ir import Call, TensorType
from codegen.ir.ops.base.operands import effort


class Budget:
    """Counts the values of one file, and the work of those of its steps that fold to constants."""

    def __init__(self, limits: ByteLimits = STATED) -> None:
        self._most_bytes = limits.values
        self._value_bytes = 0
        self._pixels = 0
        self._folded_effort = 0

    def value(self, kind: TensorType) -> None:
        """Count a value that is an input or that an operator computes.

        Raises Refused E305 for an image beyond `MAX_SIDE` or `MAX_PIXELS`, and where the value brings the
        file beyond `MAX_PIXELS_TOGETHER` or the limit of bytes, but only there.
        """
        if len(kind.shape) == 4:
            _need_small_image(*kind.shape[:3])
            self._pixels_of(*kind.shape[:3])
        before, self._value_bytes = self._value_bytes, self._value_bytes + kind.size_bytes
        if before <= self._most_bytes < self._value_bytes:
            raise Refused(
                "E305",
                f"the inputs and what operators compute have {self._value_bytes:,} bytes together with this "
                f"one, up to {self._most_bytes:,} are imported",
                f"give a model of smaller images or fewer layers; {RAISE}",
            )

    @property
    def counted(self) -> tuple[int, int]:
        """Bytes and pixels of all values so far."""
        return self._value_bytes, self._pixels

    def back_to(self, counted: tuple[int, int]) -> None:
        """Forget values of steps that are given up for others, which count anew: they meet a limit again."""
        self._value_bytes, self._pixels = counted

    def _pixels_of(self, batch: int, rows: int, columns: int) -> None:
        before, self._pixels = self._pixels, self._pixels + batch * rows * columns
        if before <= MAX_PIXELS_TOGETHER < self._pixels:
            raise Refused(
                "E305",
                f"images that are inputs or computed have {self._pixels:,} pixels together with this one, "
                f"up to {MAX_PIXELS_TOGETHER:,} are imported",
                "give a model of smaller images or fewer layers",
            )

    def folded(self, call: Call, result: TensorType) -> None:
        """Count a step on constants alone, which is evaluated before any C is written.

        Raises Refused E305 where it brings the file beyond `MAX_FOLDED_EFFORT`, AlreadyReported from then on.
        """
        if self._folded_effort > MAX_FOLDED_EFFORT:
            raise AlreadyReported
        self._folded_effort += effort(call.op, call.attrs, call.types, result)
        if self._folded_effort > MAX_FOLDED_EFFORT:
            raise Refused(
                "E305",
                f"steps on constants alone take {self._folded_effort:,} elementary operations with this one, "
                f"up to {MAX_FOLDED_EFFORT:,} are folded",
                "let the converter fold constants, or store these weights as they are used",
            )


def _need_small_image(batch: int, rows: int, columns: int) -> None:
    if max(rows, columns) > MAX_SIDE or batch * rows * columns > MAX_PIXELS:
        raise Refused(
            "E305",
            f"{'an image' if batch == 1 else f'{batch:,} images'} of {rows:,} x {columns:,} pixels, up to "
            f"{MAX_PIXELS:,} pixels and {MAX_SIDE:,} rows or columns are imported",
            "give a model of smaller images, or a longer signal in pieces",
            reason=f"images of more than {MAX_PIXELS:,} pixels, or {MAX_SIDE:,} rows or columns",
        )
