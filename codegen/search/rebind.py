"""Binds steps to other kernels once devices are planned: what is demanded of memory stays demanded."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from codegen.kernels.primfunc import PrimFunc
from codegen.kernels.registry import Kernel


def rebound(kernel: Kernel, prim: PrimFunc, constants: Mapping[str, np.ndarray]) -> PrimFunc | None:
    """The step of `prim` bound to `kernel`, with the demands that `prim` has, which are planned already.

    None where the two differ in demands: a kernel's own would come too late, one on a workspace is about
    bytes that another kernel has not, and a kernel that drives a device is the only one that does.
    """
    if not prim.device.is_free or any(demand.workspace is not None for demand in prim.memory):
        return None
    bound = kernel.bind(prim.let, constants, prim.name)
    if bound.memory or not bound.device.is_free:
        return None
    return replace(bound, memory=prim.memory) if prim.memory else bound
