"""Operators of two int8 arguments on cores with the DSP extension: element by element, products of matrices.

Start with `pairwise.py`."""

from codegen.kernels.dsp.pairs import matrices, pairwise

__all__ = ["matrices", "pairwise"]
