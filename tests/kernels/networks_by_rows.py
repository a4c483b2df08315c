"""Random networks bound to kernels that go row by row, and which rows their windows read."""

from codegen.ir import DType
from codegen.kernels import fused, kernels_of_step
from codegen.kernels.primfunc import PrimFunc
from codegen.kernels.rows import Stage
from tests.kernels.calling import ANY_TARGET
from tests.search.chains import random_chain


def row_prims(seed: int) -> tuple[PrimFunc, ...]:
    """The first steps of a random network, as many as blocks can run."""
    module = random_chain(seed, 2 + seed % 6, dtype=DType.FLOAT32 if seed % 4 == 3 else DType.INT8)
    data = {id_: constant.data for id_, constant in module.constants.items()}
    found: list[PrimFunc] = []
    for let in module.main.body:
        kernel = next(k for k in kernels_of_step(let) if k.refusal(let, ANY_TARGET) is None)
        bound = kernel.bind(let, data, let.var.name)
        if not fused.can_fuse(bound):
            break
        found.append(bound)
    return tuple(found) or row_prims(seed + 1000)


def window_taps(stage: Stage, result: int, *, rows: bool) -> list[int]:
    """Positions that a result row or column reads, straight from the definition of a window."""
    axis = stage.rows if rows else stage.columns
    places = (result * axis.stride - axis.pad + tap * axis.dilation for tap in range(axis.window))
    return [place for place in places if 0 <= place < axis.extent]
