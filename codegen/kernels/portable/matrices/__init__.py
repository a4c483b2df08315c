"""Products of two matrices that are computed at run time: in portable C, and what fast kernels share.

Start with `batch_matmul.py`."""

from codegen.kernels.portable.matrices import batch_matmul, rounded

__all__ = ["batch_matmul", "rounded"]
