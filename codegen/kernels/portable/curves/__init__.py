"""Portable kernels of curves by tables."""

from codegen.kernels.portable.curves.by_table import KERNELS

__all__ = ["KERNELS"]
