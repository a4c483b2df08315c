"""Operators of two int8 arguments on cores with the DSP extension: MAXIMUM, MINIMUM, MUL, PRELU.

Start with `elements.py`."""

from codegen.kernels.dsp.pairs import elements

__all__ = ["elements"]
