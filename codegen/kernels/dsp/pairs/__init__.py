"""Operators of two int8 arguments on cores with the DSP extension: element by element, products of matrices.

Start with `elements.py`."""

from codegen.kernels.dsp.pairs import elements, matrices

__all__ = ["elements", "matrices"]
