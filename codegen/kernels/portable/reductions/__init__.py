"""Reductions by dense blocks: what the kernels of instruction sets share.

Start with `by_blocks.py`."""

from codegen.kernels.portable.reductions import by_blocks

__all__ = ["by_blocks"]
