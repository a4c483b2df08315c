"""Bounds of every import: a file may declare anything, and these keep time and memory small.

They lie far above any network for a microcontroller: a hostile file meets them, a real one does not. Whoever
knows the model can raise those of bytes (`--model-limit`).
"""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class ByteLimits:
    """Bytes up to which a model is imported."""

    values: int = 112 << 20
    """All values together: the graph's inputs and what its operators compute, folded or at run time."""
    constants: int = 128 << 20
    """The file, the constants in files beside it, those that its tensors use together, and one tensor. The
    importer holds the file and one copy of its constants at most."""

    @property
    def made(self) -> int:
        """Bytes that nodes may make of constants, 8 a number."""
        return self.constants * 2


STATED = ByteLimits()
"""Limits for a user who states none."""

RAISE = "`--model-limit BYTES` raises this, for several times as much memory of this machine"
"""Advice for a model with more bytes."""


def byte_limits(most: int | None) -> ByteLimits:
    """The limits where values, and constants, have up to `most` bytes; None: the stated ones."""
    return STATED if most is None else ByteLimits(values=most, constants=most)


MAX_SIDE = 1 << 16
"""Rows or columns of an image (a value of four dimensions), rows of a FULLY_CONNECTED."""

MAX_PIXELS = 1 << 20
"""Rows times columns of all images of a batch: 1024 x 1024, detectors take 640 x 640. Memory that planning
takes grows with them, its time with those of all values together."""

MAX_PIXELS_TOGETHER = 1 << 24
"""Pixels of all values together, at most: planning time grows with pixels, not with their channels."""

MAX_FOLDED_EFFORT = 16 << 20
"""Effort (`codegen.ir.ops.base.operands`: about elements and multiply-accumulates) of all steps on constants
alone: they are evaluated before any C is written."""

MAX_RANK = 8
"""Dimensions of a tensor (TFLite's own kernels stop at 6 or 8)."""

MAX_PARTS = 1024
"""Parts that one SPLIT_V lists."""

MAX_TENSORS = 8192
MAX_OPERATORS = 4096
MAX_BUFFERS = 16384
MAX_OPERATOR_CODES = 1024
MAX_ENTRY_POINTS = 256
MAX_SUBGRAPHS = 1024

MAX_OPERANDS = 32768
"""Inputs and outputs of all operators together."""

MAX_CHANNEL_SCALES = 1 << 20
"""Scales of all tensors together."""

MAX_OPTION_BYTES = 65536
"""Bytes of one custom operator's options."""

MAX_NAME_BYTES = 65536
"""Bytes of one name."""

MAX_NAMES_BYTES = 16 << 20
"""Bytes of all names together; names may share bytes in the file."""

MAX_MESSAGES = 500
"""Messages printed for one file; the rest is counted."""

MAX_LOOP_STEPS = 1 << 18
"""Steps that all iterations of a loop run together at most: some seconds of the reference in NumPy."""
